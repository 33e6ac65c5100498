//! A definition as it was written, with defaults for the rest.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Condition, Schedule, UrlPattern, UserAgent};
use crate::ids::CrawlId;
use crate::url::{CrawlUrl, UrlRules};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A definition before its checks: every field may be set, and [`super::Definition::new`] says what is wrong.
///
/// What each field is for, and its bounds, stand with its [`Key`](super::Key). Defaults stand here, and keys tell them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The crawl's name.
    pub name: CrawlId,
    /// Where it begins. At least one.
    pub seeds: Vec<CrawlUrl>,
    /// Which URLs belong to it.
    #[serde(default)]
    pub scope: Scope,
    /// When an iteration stops though URLs are left.
    #[serde(default)]
    pub budget: Budget,
    /// URLs in scope that are never fetched. The first rule that matches decides.
    #[serde(default)]
    pub do_not_crawl: Vec<DoNotCrawl>,
    /// Which query parameters a URL may have. Empty: any.
    #[serde(default)]
    pub url_query_parameters: Vec<QueryRule>,
    /// Which query parameters are taken out of every URL before anything else looks at it.
    #[serde(default)]
    pub strip_query_parameters: UrlRules,
    /// What looks like a site that makes up URLs without end.
    #[serde(default)]
    pub traps: TrapLimits,
    /// How gently each origin is asked.
    #[serde(default)]
    pub politeness: Politeness,
    /// What one request may cost.
    #[serde(default)]
    pub fetch: Fetch,
    /// By what name the crawler goes.
    #[serde(default)]
    pub user_agent: UserAgent,
    /// When a URL that is known is fetched again.
    #[serde(default)]
    pub recrawl: Recrawl,
    /// When an iteration begins by itself, where a schedule is obeyed. Absent: only when told to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

impl Draft {
    /// A crawl of these seeds with every default, named after the first one's host and port; without seeds, `crawl`.
    #[must_use]
    pub fn for_seeds(seeds: Vec<CrawlUrl>) -> Self {
        Self {
            name: seeds.first().map_or_else(CrawlId::default, |seed| CrawlId::for_origin(&seed.origin())),
            seeds,
            scope: Scope::default(),
            budget: Budget::default(),
            do_not_crawl: Vec::new(),
            url_query_parameters: Vec::new(),
            strip_query_parameters: UrlRules::default(),
            traps: TrapLimits::default(),
            politeness: Politeness::default(),
            fetch: Fetch::default(),
            user_agent: UserAgent::default(),
            recrawl: Recrawl::default(),
            schedule: None,
        }
    }
}

/// Which URLs belong to a crawl: those within reach of a seed, not excluded, and included if anything is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    /// How far from the seeds.
    pub within: Within,
    /// If there are any, the whole URL must match one.
    pub include: Vec<UrlPattern>,
    /// The whole URL must match none. Goes before `include`.
    pub exclude: Vec<UrlPattern>,
    /// The most links from a seed; 0 is the seeds alone. Absent: no limit.
    pub max_depth: Option<u32>,
}

/// What a URL must share with a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Within {
    /// Scheme, host and port.
    #[default]
    Origin,
    /// The host, with any scheme and port.
    Host,
    /// The domain that was registered, such as `example.co.uk`, with every host below it. A host that has none, such as
    /// an address, stands for itself.
    Domain,
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Origin => "origin",
            Self::Host => "host",
            Self::Domain => "domain",
        })
    }
}

/// When an iteration stops though URLs are left. What is absent has no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Pages fetched.
    pub pages: Option<u64>,
    /// Pages fetched from each origin.
    pub pages_per_origin: Option<u64>,
    /// Bytes of bodies, as received.
    pub bytes: Option<u64>,
    /// Time since the iteration began.
    pub duration: Option<Duration>,
}

/// URLs that are in scope and yet never fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoNotCrawl {
    /// Which URLs.
    pub when: Condition,
    /// Why not: one line, shown to whoever asks.
    pub reason: String,
}

/// Query parameters that a URL may have. Where there are rules, a URL with a query is crawled only if one of them covers
/// the URL and allows all of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryRule {
    /// Which URLs it covers. Absent: all.
    #[serde(default)]
    pub when: Option<Condition>,
    /// The names that are allowed, as decoded text, case kept. Empty: no query at all.
    pub allow: Vec<String>,
}

/// What looks like a site that makes up URLs without end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrapLimits {
    /// How often one path segment may stand in a URL, as `a` does twice in `/a/b/a`.
    pub segment_repeats_max: u32,
    /// How many segments the path may have; `/a/b` has two.
    pub segments_max: u32,
    /// How long the whole URL may be.
    pub url_bytes_max: u32,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self { segment_repeats_max: 2, segments_max: 20, url_bytes_max: 2_048 }
    }
}

/// How gently each origin is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Politeness {
    /// From the start of one request to the start of the next. A larger `Crawl-delay` of robots.txt goes before it.
    pub delay: Duration,
    /// Requests to one origin at the same time.
    pub concurrency: u16,
    /// Hosts of one registered domain that are asked at the same time, by all crawls together.
    pub hosts_per_domain: u16,
    /// How long an origin whose host cannot be reached is waited for, in all, before it is given up.
    pub patience: Duration,
    /// How long a robots.txt that was read is believed (RFC 9309 section 2.4 allows 24 hours).
    pub robots_max_age: Duration,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            concurrency: 1,
            hosts_per_domain: 4,
            patience: Duration::from_mins(15),
            robots_max_age: Duration::from_mins(30),
        }
    }
}

/// What one request may cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fetch {
    /// Name lookup, TCP and TLS together.
    pub connect_timeout: Duration,
    /// From the sent request to the end of the response header.
    pub first_byte_timeout: Duration,
    /// The whole exchange.
    pub timeout: Duration,
    /// The response header, all fields together.
    pub header_bytes_max: usize,
    /// The body as received. Cut beyond it.
    pub body_bytes_max: usize,
    /// The body with its content coding undone. Cut beyond it.
    pub decoded_bytes_max: u64,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(20),
            timeout: Duration::from_secs(60),
            header_bytes_max: 64 * KIB,
            body_bytes_max: 10 * MIB,
            decoded_bytes_max: 50 << 20,
        }
    }
}

/// When a URL that is known is fetched again: Nutch's adaptive rule, by which the interval grows while a page stays as it
/// is and shrinks when it changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recrawl {
    /// The interval that a new page starts with. Absent: every iteration fetches everything, and the others mean nothing.
    pub interval: Option<Duration>,
    /// What the interval never shrinks below.
    pub min: Duration,
    /// What the interval never grows above.
    pub max: Duration,
}

impl Default for Recrawl {
    fn default() -> Self {
        Self { interval: None, min: Duration::from_hours(1), max: Duration::from_hours(90 * 24) }
    }
}
