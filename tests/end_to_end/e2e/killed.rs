//! A crawl that is killed repeatedly loses nothing, repeats nothing and stays polite.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use dragline_end_to_end::archive;
use dragline_end_to_end::crawl_log::endings;
use dragline_end_to_end::debian::DebianSite;
use dragline_end_to_end::dragline::{Crawl, reach, wait};
use dragline_end_to_end::schedule::too_close;
use dragline_end_to_end::seed::seeded;
use dragline_end_to_end::walk::{Beside, walk};
use dragline_testkit::site::{Access, Directory, Site};
use rand::RngExt;

use crate::witness::{assert_complete, assert_done};

const KILLS: usize = 10;
const DELAY: Duration = Duration::from_millis(40);
/// The delay in the slow site's robots.txt. Far enough above [`LATENESS`] to detect two
/// simultaneous requests.
const CRAWL_DELAY: Duration = Duration::from_millis(250);
/// How late the server may see a request on a busy machine.
const LATENESS: Duration = Duration::from_millis(200);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_killed_ten_times_visits_every_page_politely_and_no_committed_one_again() {
    let mut rng = seeded();
    let scratch = tempfile::tempdir().unwrap();
    let mut sites = Vec::new();
    let mut expected = BTreeMap::new();
    // The slow site is a part of a manual, large enough that both sites are busy during the kills.
    let tutorial = Directory::new(DebianSite::Python.directory().join("tutorial"));
    let slow =
        Site::builder().delay(DELAY / 2).robots(format!("User-agent: *\nCrawl-delay: {}", CRAWL_DELAY.as_secs_f64()));
    let manual = Directory::new(DebianSite::Python.directory());
    for (directory, site, delay) in [(tutorial, slow, CRAWL_DELAY), (manual, Site::builder(), DELAY)] {
        let site = site.content(directory.clone()).start().await.unwrap();
        let visited = walk(&directory, &site.url(), Beside::Nothing);
        sites.push((site, visited.len(), delay));
        expected.extend(visited);
    }
    let seeds: Vec<_> = sites.iter().map(|(site, ..)| site.url()).collect();
    let seeds: Vec<_> = seeds.iter().map(String::as_str).collect();
    let crawl = Crawl::new(&scratch.path().join("data"), &seeds, &["--delay", "40ms", "--concurrency", "1"]);
    let requests_so_far = || sites.iter().map(|(site, ..)| site.log().len()).collect::<Vec<_>>();

    // Each kill comes after a number of requests since the start, at a random moment between two of
    // them, so that all fall before the end. Requests are counted at the quick site, which is by
    // far the larger one and ends last.
    let (counted, pages, _) = &sites[1];
    let requests_max = pages / (KILLS * 2);
    let mut committed = Vec::new();
    for _ in 0..KILLS {
        let mut running = crawl.start();
        let requests = counted.log().len() + rng.random_range(1..=requests_max);
        reach(&mut running, counted, requests).await;
        // This does not wait for anything to happen: it draws the moment of the kill between two
        // requests.
        tokio::time::sleep(DELAY.mul_f64(rng.random_range(0.0..1.0))).await;
        running.start_kill().unwrap();
        assert_eq!(wait(running).await.code, None, "it was killed while running");
        // The server reads what the dead crawler sent long before the export runs.
        let finished: BTreeSet<_> = endings(&crawl.log(), 1).into_keys().map(ToOwned::to_owned).collect();
        committed.push((requests_so_far(), finished));
    }
    assert_done(&crawl.run().await);

    assert_complete(&crawl.log(), 1, &expected);
    for (n, (site, _, delay)) in sites.iter().enumerate() {
        let accesses = site.log();
        for (requests, finished) in &committed {
            assert_none_asked_again(&accesses[requests[n]..], finished, &site.url());
        }
        let arrivals: Vec<Instant> = accesses.iter().map(|access| access.arrived).collect();
        if let Some((first, second)) = too_close(&arrivals, *delay, LATENESS) {
            panic!("requests {first} to {second} came too fast: {:#?}", &accesses[first..=second]);
        }
    }
    archive::check(&archive::warc_files(crawl.data()), scratch.path());
}

fn assert_none_asked_again(later: &[Access], finished: &BTreeSet<String>, site: &str) {
    let site = site.trim_end_matches('/');
    for access in later {
        let url = format!("{site}{}", access.target);
        assert!(!finished.contains(&url), "{url} was committed before the kill, yet requested again");
    }
}
