//! Sample pages, fetched as in a crawl.

use std::fmt;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::address::AddressPolicy;
use dragline_domain::capture::{CrawlType, Exchange, Finality, Visit};
use dragline_domain::frontier::{ReadAs, Sighting, UrlHistory};
use dragline_domain::ids::CrawlId;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_end_to_end::debian::DebianSite;
use dragline_http::{HttpConfig, HttpFetcher};
use dragline_ports::fetcher::{FetchLimits, FetchOutcome, FetchRequest, FetchedResponse, Fetcher};
use dragline_testkit::site::{Content, Directory, GeneratedSite, Site};
use tokio::runtime::{Builder, Runtime};

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// 20 KB with 50 links, as in benchmarks of whole crawls.
    Generated,
    /// A long page of Python's manual, with much inline markup.
    Python,
    /// A page of `PostgreSQL`'s manual.
    Postgresql,
}

impl Sample {
    pub(crate) const ALL: [Self; 3] = [Self::Generated, Self::Python, Self::Postgresql];

    fn at(self) -> (Box<dyn Content>, &'static str) {
        let of = |debian: DebianSite| Box::new(Directory::new(debian.directory()));
        match self {
            Self::Generated => (Box::new(GeneratedSite::benchmark(10_001).content()), "/page/1.html"),
            Self::Python => (of(DebianSite::Python), "/library/functions.html"),
            Self::Postgresql => (of(DebianSite::Postgresql), "/sql-select.html"),
        }
    }

    /// Returns the exchange that fetched it.
    pub(crate) fn fetched(self) -> FetchOutcome {
        static FETCHED: [OnceLock<FetchOutcome>; 3] = [const { OnceLock::new() }; 3];
        let fetch = || {
            let (content, path) = self.at();
            let fetches = Fetches::new(content);
            fetches.runtime.block_on(fetches.fetcher.fetch(fetches.request(path)))
        };
        FETCHED[self as usize].get_or_init(fetch).clone()
    }

    /// Returns its response.
    pub(crate) fn response(self) -> FetchedResponse {
        let response = self.fetched().result.expect("the site answers");
        assert_eq!(response.status, 200, "{self} is there");
        response
    }

    /// Returns its body, which is in memory.
    pub(crate) fn body(self) -> Bytes {
        self.response().readable_body()
    }

    /// Returns its URL.
    pub(crate) fn url(self) -> CrawlUrl {
        url(&format!("https://bench.example{}", self.at().1))
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Generated => "generated",
            Self::Python => "python",
            Self::Postgresql => "postgresql",
        })
    }
}

/// A fetcher, and a site for it on another thread.
pub(crate) struct Fetches {
    pub(crate) runtime: Runtime,
    pub(crate) fetcher: HttpFetcher,
    site: String,
}

impl Fetches {
    /// Starts with the generated site.
    pub(crate) fn begin() -> Self {
        Self::new(Sample::Generated.at().0)
    }

    fn new(content: Box<dyn Content>) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        // The thread ends with the process.
        thread::spawn(move || {
            runtime().block_on(async {
                let site = Site::builder().content(content).without_log().start().await.expect("a port is free");
                tell.send(site.url()).expect("the other thread waits for it");
                std::future::pending::<()>().await;
            });
        });
        let config = HttpConfig { address_policy: AddressPolicy::AllowPrivate, ..HttpConfig::new("bench/1.0") };
        let fetcher = HttpFetcher::new(&config).expect("the configuration is good");
        Self { runtime: runtime(), fetcher, site: told.recv().expect("the site starts") }
    }

    /// Returns a request for a path.
    pub(crate) fn request(&self, path: &str) -> FetchRequest {
        let limits = FetchLimits {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(20),
            total_timeout: Duration::from_mins(1),
            header_bytes_max: 64 << 10,
            body_bytes_max: 10 << 20,
            file_bytes_max: Some(100 << 20),
            decoded_bytes_max: 50 << 20,
        };
        let url = url(&format!("{}{}", self.site.trim_end_matches('/'), path));
        FetchRequest::new(url, limits)
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

pub(crate) fn url_rules() -> UrlRules {
    UrlRules::default()
}

pub(crate) fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text, &url_rules()).expect("a good URL")
}

pub(crate) fn crawl() -> CrawlId {
    "bench".parse().expect("a good name")
}

/// Returns a successful visit of a linked URL.
pub(crate) fn visit() -> Visit {
    let body = Sample::Generated.response();
    let exchange = Exchange {
        robots: dragline_domain::capture::RobotsStand::Approved,
        elapsed: Duration::from_millis(1),
        resends: 0,
        first_byte_ms: Some(1),
        remote: None,
        body_bytes: body.body.len_bytes(),
        decoded_sha1: None,
        decoded_bytes: body.decoded_bytes,
        status: None,
        rendering: None,
    };
    Visit {
        sighting: Sighting {
            depth: 1,
            via: Some(url("https://bench.example/")),
            requisite_steps: 0,
            read_as: ReadAs::Typed,
        },
        redirects: 0,
        crawl_type: CrawlType::Queued,
        tries: 1,
        outcome: Outcome::FileIngested,
        finality: Finality::Final,
        detail: None,
        exchange: Some(Box::new(exchange)),
        known: UrlHistory::default(),
        demand: None,
        missing: None,
        uses: Vec::new(),
    }
}
