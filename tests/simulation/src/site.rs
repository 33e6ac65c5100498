//! Two small sites drawn from a seed, which link to each other, and a fetcher that asks them in simulated time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::url::CrawlUrl;
use dragline_pipeline::ports::clock::Clock;
use dragline_pipeline::ports::fetcher::{FetchRequest, Fetched, FetchedResponse, Fetcher};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sha1::{Digest as _, Sha1};

use crate::ports::SimulatedClock;

/// The sites' names.
pub(crate) const HOSTS: [&str; 2] = ["http://a.example", "http://b.example"];

/// From a request to its answer.
const LATENCY: Duration = Duration::from_millis(40);

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Duration,
    pub(crate) url: String,
    pub(crate) status: u16,
}

/// What the sites are, and who asked what.
pub(crate) struct Site {
    /// Where each page leads.
    links: BTreeMap<String, Vec<String>>,
    /// Asked for the first time, these fail.
    flaky: BTreeSet<String>,
    asked: Mutex<Vec<Asked>>,
}

impl Site {
    pub(crate) fn generate(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed ^ 0x5173);
        let counts = HOSTS.map(|_| dice.random_range(3..7));
        let mut links = BTreeMap::new();
        let mut flaky = BTreeSet::from([format!("{}/robots.txt", HOSTS[1])]);
        for (host, count) in HOSTS.into_iter().zip(counts) {
            for page in 0..count {
                let url = if page == 0 { format!("{host}/") } else { format!("{host}/{page}") };
                let mut out = vec![format!("{host}/{}", page + 1), format!("{host}/private/{page}")];
                for _ in 0..dice.random_range(0..3) {
                    let to = dice.random_range(0..HOSTS.len());
                    out.push(format!("{}/{}", HOSTS[to], dice.random_range(1..counts[to])));
                }
                if dice.random_bool(0.15) {
                    flaky.insert(url.clone());
                }
                links.insert(url, out);
            }
        }
        Self { links, flaky, asked: Mutex::default() }
    }

    /// Where a page leads.
    pub(crate) fn links_of(&self, url: &str) -> Vec<String> {
        self.links.get(url).cloned().unwrap_or_default()
    }

    /// The requests so far, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, url: &str, at: Duration) -> (u16, String) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = asked.iter().all(|before| before.url != url);
        let (status, body) = match self.links.get(url) {
            _ if is_first && self.flaky.contains(url) => (503, "busy".to_owned()),
            Some(links) => (200, page(url, links)),
            None if url.ends_with("/robots.txt") => (200, "User-agent: *\nDisallow: /private/\n".to_owned()),
            None => (404, "no such page".to_owned()),
        };
        asked.push(Asked { at, url: url.to_owned(), status });
        (status, body)
    }
}

fn page(url: &str, links: &[String]) -> String {
    let mut html = format!("<title>{url}</title><p>the text of {url}");
    for link in links {
        let _ = write!(html, "<a href='{link}'>link</a>");
    }
    html
}

/// Asks the sites.
pub(crate) struct Asking {
    pub(crate) site: Arc<Site>,
    pub(crate) clock: SimulatedClock,
}

impl Fetcher for Asking {
    async fn fetch(&self, request: FetchRequest) -> Fetched {
        let url: &CrawlUrl = &request.url;
        let (status, body) = self.site.answer(&url.to_string(), self.clock.monotonic());
        self.clock.sleep(LATENCY).await;
        let response = FetchedResponse {
            status,
            reason: "Said".to_owned(),
            headers: vec![("content-type".to_owned(), b"text/html; charset=utf-8".to_vec())],
            decoded_sha1: Sha1::digest(body.as_bytes()).into(),
            decoded_bytes: body.len() as u64,
            body: Bytes::from(body),
            truncated: None,
        };
        Fetched {
            request_headers: Vec::new(),
            remote: None,
            first_byte: Some(LATENCY),
            elapsed: LATENCY,
            result: Ok(response),
        }
    }
}
