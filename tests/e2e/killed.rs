//! A crawl that is killed again and again loses nothing, repeats nothing and stays polite.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use dragline_testkit::site::{Access, Directory, Site};
use dragline_tests::crawl_log::endings;
use dragline_tests::debian::DebianSite;
use dragline_tests::dragline::{Crawl, reach, wait};
use dragline_tests::schedule::too_close;
use dragline_tests::seed::seeded;
use dragline_tests::walk::walk;
use rand::Rng;

use crate::witness::{assert_complete, assert_done};

const KILLS: usize = 10;
const DELAY: Duration = Duration::from_millis(20);
/// How late the server may see a request on a busy machine.
const LATENESS: Duration = Duration::from_millis(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_killed_ten_times_visits_every_page_politely_and_no_committed_one_again() {
    let mut chance = seeded();
    let scratch = tempfile::tempdir().unwrap();
    let directory = Directory::new(DebianSite::Python.directory());
    let site = Site::builder().content(directory.clone()).start().await.unwrap();
    let expected = walk(&directory, &site.url());
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", "20ms", "--concurrency", "1"]);

    // Kills come after so many requests of each start, somewhere between two of them, so that all fall before the end.
    let requests_max = expected.len() / (KILLS * 2);
    let mut committed = Vec::new();
    for _ in 0..KILLS {
        let mut running = crawl.start();
        let requests = site.log().len() + chance.random_range(1..=requests_max);
        reach(&mut running, &site, requests).await;
        // Not a wait for something to happen: what is drawn is the kill's place between two requests.
        tokio::time::sleep(DELAY.mul_f64(chance.random_range(0.0..1.0))).await;
        running.start_kill().unwrap();
        assert_eq!(wait(running).await.code, None, "it was killed while running");
        // The server reads what the dead crawler had sent long before the export is made.
        let finished: BTreeSet<_> = endings(&crawl.log(), 1).into_keys().map(ToOwned::to_owned).collect();
        committed.push((site.log().len(), finished));
    }
    assert_done(&crawl.run().await);

    assert_complete(&crawl.log(), 1, &expected);
    let accesses = site.log();
    for (requests, finished) in &committed {
        assert_none_asked_again(&accesses[*requests..], finished, &site.url());
    }
    let arrivals: Vec<Instant> = accesses.iter().map(|access| access.arrived).collect();
    if let Some((first, second)) = too_close(&arrivals, DELAY, LATENESS) {
        panic!("requests {first} to {second} came too fast: {:#?}", &accesses[first..=second]);
    }
}

fn assert_none_asked_again(later: &[Access], finished: &BTreeSet<String>, site: &str) {
    let site = site.trim_end_matches('/');
    for access in later {
        let url = format!("{site}{}", access.target);
        assert!(!finished.contains(&url), "{url} was committed before the kill, yet asked for again");
    }
}
