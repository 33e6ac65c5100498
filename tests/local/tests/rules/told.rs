//! What a site may have any number of, and people are told of twenty times: the rest costs nothing.

use std::fmt::Write as _;
use std::time::Duration;

use dragline_domain::definition::Sitemaps;
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};
use dragline_testkit::whole_crawls::definition;

use super::ahead::answered;
use super::counting::crawl_counted;

/// A site whose robots.txt names this many sitemaps, none of which is there.
struct Lost(usize);

impl Fetcher for Lost {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let took = Duration::from_millis(1);
        match request.url.path_and_query() {
            "/" => answered(200, "a page".to_owned(), took),
            "/robots.txt" => {
                let mut named = String::new();
                for n in 0..self.0 {
                    writeln!(named, "Sitemap: https://a.example/sitemap-{n}.xml").unwrap();
                }
                answered(200, named, took)
            }
            _ => answered(404, String::new(), took),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_people_are_not_told_of_any_more_is_not_marked_either() {
    let definition = definition(&["https://a.example/".to_owned()], |draft| draft.sitemaps = Sitemaps::Follow);
    let crawl = crawl_counted(Lost(90), &definition).await;
    let told = crawl.notices.iter().filter(|notice| notice.kind() == "sitemap_useless").count();
    assert_eq!(told, 20, "{:?}", crawl.notices);
    // Each with a mark of its own and one of its place, and some for parses at the same time.
    let marks = crawl.calls["frontier.mark_told"];
    assert!(marks <= 20 * 2 + 20, "{marks} marks");
}
