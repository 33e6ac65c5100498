//! A polite crawl takes no longer than its delays add up to, and no less.

use std::time::{Duration, Instant};

use dragline_end_to_end::dragline::{Crawl, binary};
use dragline_testkit::site::{GeneratedSite, Site};

use crate::witness::assert_done;

/// How late the server may see a request on a busy machine.
const LATENESS: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_takes_as_long_as_its_delays() {
    // Building it is no part of the crawl.
    binary();
    for (pages, delay_ms) in [(200, 50), (50, 200)] {
        let delay = Duration::from_millis(delay_ms);
        let scratch = tempfile::tempdir().unwrap();
        let site = Site::builder().generated(GeneratedSite::benchmark(pages)).start().await.unwrap();
        let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", &format!("{delay_ms}ms")]);

        #[expect(clippy::disallowed_methods, reason = "the test's own clock is the witness against the crawler's")]
        let began = Instant::now();
        assert_done(&crawl.run().await);
        let took = began.elapsed();

        let arrivals: Vec<Instant> = site.log().iter().map(|access| access.arrived).collect();
        assert_eq!(arrivals.len(), pages as usize + 1, "robots.txt, and each page once");
        let between = arrivals[arrivals.len() - 1] - arrivals[0];
        eprintln!("{pages} pages at {delay:?}: {took:?}, {between:?} from robots.txt to the last page");
        let least = delay * pages;
        assert!(between + LATENESS >= least, "{pages} pages at {delay:?} came within {between:?}");
        assert!(took <= least.mul_f64(1.02), "{pages} pages at {delay:?} took {took:?}, {between:?} as the server saw it");
    }
}
