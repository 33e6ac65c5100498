//! Host names of the maximum length.

use dragline_domain::definition::Within;
use dragline_domain::outcome::Outcome::FileIngested;
use dragline_testkit::hostile::{HostileSite, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::tight;

const SITE: &str = "site.test";

/// A host name of the site with this many characters.
fn host_of(length: usize) -> String {
    let below = length - SITE.len() - 1;
    let text: String = (1..=below).map(|n| if n % 50 == 0 && n < below { '.' } else { 'h' }).collect();
    format!("{text}.{SITE}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_to_the_longest_names_are_followed() {
    let lengths = [200, 247, 248, 250, 253];
    let site = HostileSite::start(move |asked| {
        let port = asked.field("host").and_then(|host| host.rsplit_once(':')).map_or("80", |(_, port)| port).to_owned();
        match asked.target.as_str() {
            "/robots.txt" => reply(404, &[], ""),
            "/" => html(links(lengths.map(|length| format!("http://{}:{port}/long", host_of(length))))),
            _ => html("a page"),
        }
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.named(SITE, "/")], |draft| {
        tight(draft);
        draft.scope.within = Within::Domain;
    }))
    .await;
    for length in lengths {
        let row = crawled.row(&site.named(&host_of(length), "/long"));
        assert_eq!(row.outcome, FileIngested, "a host of {length} characters: {:?}", row.detail);
    }
    assert!(crawled.every_record().len() > lengths.len(), "stored records can be read");
}
