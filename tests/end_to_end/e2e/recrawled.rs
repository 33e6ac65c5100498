//! A second run revisits everything without fetching unchanged pages again.

use std::io::{Read, Write};
use std::net::TcpStream;

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

/// The body that the site sends to a client that knows no content coding.
fn plain_body(site: &Site, path: &str) -> Vec<u8> {
    let url = site.url();
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut connection = TcpStream::connect(host).expect("the site is there");
    write!(connection, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("it reads");
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a header ends");
    answer.split_off(end + 4)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_page_has_the_body_that_the_server_sent_when_it_was_new() {
    let scratch = tempfile::tempdir().unwrap();
    let small = GeneratedSite { pages: 12, ..SITE };
    let site = Site::builder().generated(small).gzip().start().await.unwrap();
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", "0s"]);
    assert_done(&crawl.run().await);
    assert_done(&crawl.run().await);

    let log = crawl.log();
    assert_eq!(endings(&log, 2).values().filter(|entry| entry.outcome == 34).count(), 12, "nothing changed");
    tokio::task::block_in_place(|| {
        for path in small.paths() {
            let url = format!("{}{path}", site.url().trim_end_matches('/'));
            let sent = plain_body(&site, &path);
            assert!(sent.len() >= small.bytes_per_page, "{url}: {} bytes", sent.len());
            for iteration in [1, 2] {
                assert!(crawl.body(&url, iteration) == sent, "{url}, in iteration {iteration}");
            }
        }
    });
}
