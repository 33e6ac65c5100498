//! Ctrl-C ends a crawl cleanly: nothing that was fetched is lost.

use std::collections::BTreeMap;

use dragline_end_to_end::dragline::{Crawl, interrupt, reach, wait};
use dragline_end_to_end::walk::Expected;
use dragline_testkit::site::{GeneratedSite, Site};

use crate::witness::{assert_complete, assert_done};

const SITE: GeneratedSite = GeneratedSite { pages: 150, links_per_page: 10, bytes_per_page: 5_000, seed: 3 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_stops_cleanly_and_the_next_run_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let site = Site::builder().generated(SITE).start().await.unwrap();
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", "10ms", "--concurrency", "1"]);

    let mut running = crawl.start();
    reach(&mut running, &site, 50).await;
    interrupt(&running);
    let ended = wait(running).await;
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(site.log().len() < 140, "it stops early");

    assert_done(&crawl.run().await);
    let pages = SITE.paths().map(|path| (format!("{}{path}", site.url().trim_end_matches('/')), Expected::Page));
    assert_complete(&crawl.log(), 1, &pages.collect::<BTreeMap<_, _>>());

    let mut times_asked = BTreeMap::new();
    for access in site.log().iter().filter(|access| access.target != "/robots.txt") {
        *times_asked.entry(access.target.clone()).or_insert(0) += 1;
    }
    times_asked.retain(|_, &mut times| times != 1);
    assert_eq!(times_asked, BTreeMap::new(), "a clean stop commits what it has fetched, so nothing is requested twice");
}
