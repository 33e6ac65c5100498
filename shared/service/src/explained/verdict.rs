//! Which rule decides on a URL, and the answer.

use dragline_domain::address::{self, AddressPolicy};
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{ReadAs, SeedDistance};
use dragline_domain::policy::{BlockRule, Decision};
use dragline_domain::url::CrawlUrl;
use dragline_domain::use_preferences::{Purpose, UseStatement, decide};
use dragline_formats::robots::RobotsRecord;
use dragline_pipeline::context::CrawlContext;
use dragline_pipeline::crawl::RefusedAddress;
use serde::Serialize;

use super::stored::StoredUrl;

/// A site's robots.txt, or why it must not be fetched.
pub type SiteRobots = Result<RobotsRecord, RefusedAddress>;

/// The kinds of rules, in the order of application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Which URLs belong to the crawl.
    Scope,
    /// Signs of a crawler trap: a site that generates URLs without end.
    Trap,
    /// URLs that the definition excludes.
    DoNotCrawl,
    /// Which query parameters a URL may have.
    QueryParameters,
    /// Addresses that Dragline does not connect to.
    PrivateAddress,
    /// The site's robots.txt.
    RobotsTxt,
    /// What the site says of the use of its pages, for the purpose of the crawl.
    UseReserved,
}

impl RuleKind {
    /// Returns its name in sentences.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Trap => "trap limits",
            Self::DoNotCrawl => "do_not_crawl",
            Self::QueryParameters => "query parameters",
            Self::PrivateAddress => "private address",
            Self::RobotsTxt => "robots.txt",
            Self::UseReserved => "reserved use",
        }
    }
}

/// Whether a URL would be crawled, and why or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It would be crawled.
    Crawl {
        /// The answer of robots.txt, on one line.
        robots: String,
    },
    /// It would not be crawled.
    Blocked {
        /// The kind of the first blocking rule.
        by: RuleKind,
        /// The rule, on one line.
        rule: String,
    },
}

impl Verdict {
    /// Returns whether the URL would be crawled.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Crawl { .. })
    }
}

/// Returns the verdict of the rules that apply before robots.txt; `None` if none of them blocks the
/// URL.
///
/// The URL counts as found at `found`: as a seed if only a crawl knows its depth.
pub(super) fn before_robots(
    context: &CrawlContext,
    (url, found_at): (&CrawlUrl, SeedDistance),
    addresses: AddressPolicy,
) -> Option<Verdict> {
    let by = match context.decide(url, found_at.depth, found_at.requisite_steps, ReadAs::Typed) {
        Decision::Crawl => return private_address(url, addresses),
        Decision::OutOfScope(rule) => return Some(Verdict::Blocked { by: RuleKind::Scope, rule: rule.to_string() }),
        Decision::Blocked(rule) => rule,
    };
    let kind = match by {
        BlockRule::Trap(_) => RuleKind::Trap,
        BlockRule::DoNotCrawl { .. } => RuleKind::DoNotCrawl,
        BlockRule::QueryParameters(_) => RuleKind::QueryParameters,
    };
    Some(Verdict::Blocked { by: kind, rule: by.to_string() })
}

impl Verdict {
    /// Returns the verdict on a URL whose robots.txt is not obeyed.
    pub(super) fn without_robots(self) -> Self {
        match self {
            Self::Blocked { by: RuleKind::RobotsTxt, rule } => {
                Self::Crawl { robots: format!("not obeyed, by `--ignore-robots`: {rule}") }
            }
            verdict => verdict,
        }
    }
}

fn private_address(url: &CrawlUrl, addresses: AddressPolicy) -> Option<Verdict> {
    let refused = match address::literal_address(url) {
        Some(ip) => address::check(addresses, ip).err().map(|refused| refused.to_string()),
        None => address::check_name(addresses, url.host()).err().map(|refused| refused.to_string()),
    };
    refused.map(|rule| Verdict::Blocked { by: RuleKind::PrivateAddress, rule })
}

/// Returns the verdict of robots.txt on a URL that no other rule blocks.
pub(super) fn by_robots(robots: &SiteRobots, product_token: &str, url: &CrawlUrl) -> Verdict {
    let record = match robots {
        Err(RefusedAddress(rule)) => {
            return Verdict::Blocked { by: RuleKind::PrivateAddress, rule: rule.clone() };
        }
        Ok(record) => record,
    };
    let policy = record.policy(product_token);
    let verdict = policy.verdict(url.path_and_query());
    if verdict.is_allowed() {
        Verdict::Crawl { robots: verdict.to_string() }
    } else {
        Verdict::Blocked { by: RuleKind::RobotsTxt, rule: verdict.to_string() }
    }
}

/// What applies to a URL now: the verdict, and what robots.txt and its licence say of its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Whether it would be crawled.
    pub verdict: Verdict,
    /// The statements about its use in robots.txt and the licence that this names; empty if they do
    /// not decide, or say nothing.
    pub uses: Vec<UseStatement>,
}

impl Ruling {
    /// Returns the ruling on a URL that a rule before robots.txt blocks.
    pub(super) const fn before_robots(verdict: Verdict) -> Self {
        Self { verdict, uses: Vec::new() }
    }

    /// Returns a verdict together with what is said of the use of the URL, which blocks it if that
    /// reserves the purpose of the crawl.
    pub(super) fn with_uses(verdict: Verdict, purpose: Option<Purpose>, uses: Vec<UseStatement>) -> Self {
        let reserved =
            purpose.filter(|_| verdict.is_allowed()).and_then(|purpose| decide(purpose, &uses).reserved_by());
        let verdict = match reserved {
            Some(statement) => Verdict::Blocked { by: RuleKind::UseReserved, rule: statement.to_string() },
            None => verdict,
        };
        Self { verdict, uses }
    }
}

/// The answer. The field names are those of `explain --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The URL as requested.
    pub url: String,
    /// The URL as given, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Whether it would be crawled.
    pub allowed: bool,
    /// The kind of the blocking rule; `None` if there is none.
    pub blocked_by: Option<RuleKind>,
    /// The deciding rule.
    pub rule: String,
    /// The maximum number of links from a seed; `None` for no limit.
    pub max_depth: Option<u32>,
    /// The purpose of the crawl; `None` if it claims none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// What robots.txt and the licence that it names say of its use.
    #[serde(rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseStatement>,
    /// The URL's state in a stored crawl; `None` for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl: Option<StoredUrl>,
}

impl Explanation {
    /// Returns the answer for `given`, whose normal form is `url`.
    #[must_use]
    pub fn new(given: &str, url: &CrawlUrl, ruling: Ruling, definition: &Definition) -> Self {
        let Ruling { verdict, uses } = ruling;
        let (max_depth, purpose) = (definition.scope.max_depth, definition.purpose);
        let allowed = verdict.is_allowed();
        let (blocked_by, rule) = match verdict {
            Verdict::Crawl { robots } => (None, robots),
            Verdict::Blocked { by, rule } => (Some(by), rule),
        };
        let url = url.as_str().to_owned();
        let given = (given != url).then(|| given.to_owned());
        Self { url, given, allowed, blocked_by, rule, max_depth, purpose, uses, crawl: None }
    }

    /// Returns the same answer with the URL's state in a crawl.
    #[must_use]
    pub fn with_crawl(self, crawl: Option<StoredUrl>) -> Self {
        Self { crawl, ..self }
    }
}
