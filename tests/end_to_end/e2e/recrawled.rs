//! A second run revisits everything without fetching unchanged pages again.

use dragline_end_to_end::crawl_log::endings;
use dragline_end_to_end::dragline::Crawl;
use dragline_testkit::site::{GeneratedSite, Site};

use crate::witness::assert_done;

const SITE: GeneratedSite = GeneratedSite { pages: 120, links_per_page: 10, bytes_per_page: 5_000, seed: 4 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_asks_only_for_what_has_changed() {
    let scratch = tempfile::tempdir().unwrap();
    let site = Site::builder().generated(SITE).start().await.unwrap();
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", "0s", "--concurrency", "4"]);
    assert_done(&crawl.run().await);
    let first_run = site.log().len();

    assert_done(&crawl.run().await);

    let pages: Vec<_> =
        site.log().split_off(first_run).into_iter().filter(|access| access.target != "/robots.txt").collect();
    for access in &pages {
        assert!(access.is_conditional(), "{} was requested unconditionally", access.target);
        assert_eq!((access.status.as_u16(), access.body_bytes), (304, 0), "{}", access.target);
    }
    let log = crawl.log();
    let second = endings(&log, 2);
    assert_eq!((second.len(), pages.len()), (120, 120), "every page is revisited exactly once");
    for (url, entry) in second {
        assert_eq!(entry.outcome, 34, "{url} did not change");
    }
}
