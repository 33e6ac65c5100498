//! A polite crawl takes no longer than its delays add up to, and no less.

use std::time::{Duration, Instant};

use dragline_end_to_end::dragline::{Crawl, binary};
use dragline_testkit::site::{GeneratedSite, Site};

use crate::witness::assert_done;

/// The pages are small: how fast they are read, which an unoptimised build does slowly, is no part
/// of the pace.
const SITE: GeneratedSite = GeneratedSite { pages: 0, links_per_page: 20, bytes_per_page: 1_000, seed: 1 };

/// How much longer than the delays it may take from the first request to the last.
const OVERHEAD_MAX: f64 = 0.02;

/// The longest start and end of the process together, which take 0.05 s where nothing else runs.
const START_AND_END_MAX: Duration = Duration::from_secs(1);

/// How often a crawl may be late.
const TRIES: usize = 3;

/// How late the server may see the first request on a busy machine. Later ones do not add to it.
const LATENESS: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_hundred_pages_take_as_long_as_their_delays_of_50_ms() {
    assert_takes_as_long_as_its_delays(400, Duration::from_millis(50)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_pages_take_as_long_as_their_delays_of_200_ms() {
    assert_takes_as_long_as_its_delays(50, Duration::from_millis(200)).await;
}

/// Crawls up to [`TRIES`] times: a crawler that is late is late each time, a machine that others
/// use only at times.
async fn assert_takes_as_long_as_its_delays(pages: u32, delay: Duration) {
    let mut late = Vec::new();
    while late.len() < TRIES {
        match crawl(pages, delay).await {
            Ok(()) => return,
            Err(figures) => late.push(figures),
        }
    }
    panic!("too slow: {}", late.join("; "));
}

/// Crawls once. Returns the figures if it was slow.
async fn crawl(pages: u32, delay: Duration) -> Result<(), String> {
    // Building it is no part of the crawl.
    let _built = binary();
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let site = Site::builder().generated(GeneratedSite { pages, ..SITE }).start().await.expect("a port is free");
    let delay_ms = format!("{}ms", delay.as_millis());
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", &delay_ms]);

    #[expect(clippy::disallowed_methods, reason = "the test's own clock is the witness against the crawler's")]
    let began = Instant::now();
    assert_done(&crawl.run().await);
    let took = began.elapsed();

    let arrivals: Vec<Instant> = site.log().iter().map(|access| access.arrived).collect();
    assert_eq!(arrivals.len(), pages as usize + 1, "robots.txt, and each page once");
    // With the request for robots.txt there are as many delays as pages.
    let (seen, delays) = (arrivals[arrivals.len() - 1] - arrivals[0], delay * pages);
    let figures =
        format!("{pages} pages at {delay:?} took {took:?}, of which {seen:?} from the first request to the last");
    assert!(seen + LATENESS >= delays, "too fast: {figures}");
    let is_in_time = seen <= delays.mul_f64(1.0 + OVERHEAD_MAX) && took - seen <= START_AND_END_MAX;
    if is_in_time { Ok(()) } else { Err(figures) }
}
