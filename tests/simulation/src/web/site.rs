//! The contents of the simulated web.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, Origin};

use super::{Page, RobotsPlan};

/// Some origins, and the seeds of their crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The origins.
    pub hosts: BTreeMap<Origin, Host>,
    /// The seeds of the crawl.
    pub seeds: Vec<CrawlUrl>,
}

/// One origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its robots.txt.
    pub robots: RobotsPlan,
    /// Its pages by path and query; everything else is 404.
    pub pages: BTreeMap<String, Page>,
    /// When it stops answering, counted from the beginning of the web; `None` if never.
    pub dies_at: Option<Duration>,
}

impl Site {
    /// What is at a URL, if anything.
    #[must_use]
    pub fn page(&self, url: &CrawlUrl) -> Option<&Page> {
        self.hosts.get(&url.origin())?.pages.get(url.path_and_query())
    }
}
