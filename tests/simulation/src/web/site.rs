//! What there is on the simulated web.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, Origin};

use super::{Page, RobotsPlan};

/// Some origins and where a crawl of them begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The origins.
    pub hosts: BTreeMap<Origin, Host>,
    /// Where a crawl begins.
    pub seeds: Vec<CrawlUrl>,
}

/// One origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its robots.txt.
    pub robots: RobotsPlan,
    /// Its pages by path and query. Whatever else is asked for is not there (404).
    pub pages: BTreeMap<String, Page>,
    /// From when on it answers nothing any more, counted from the web's beginning; absent: never.
    pub dies_at: Option<Duration>,
}

impl Site {
    /// What stands behind a URL; absent: nothing.
    #[must_use]
    pub fn page(&self, url: &CrawlUrl) -> Option<&Page> {
        self.hosts.get(&url.origin())?.pages.get(url.path_and_query())
    }
}
