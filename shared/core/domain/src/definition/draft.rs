//! A definition as it was written, with defaults for the rest.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    AccessRule, Condition, HostPattern, Identity, ItemType, Line, MainRule, Nofollow, Noindex, NotifyRule, Provenance,
    Recrawl, Render, Schedule, Sink, UrlPattern, UserAgent,
};
use crate::content::ContentLevel;
use crate::ids::CrawlId;
use crate::url::{CrawlUrl, Origin, UrlRules};
use crate::use_preferences::Purpose;

/// A definition before its checks: any field may have any value, and [`super::Definition::new`]
/// reports the mistakes.
///
/// The [`Key`](super::Key) of a field gives its purpose and valid values. The defaults are set
/// here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// [`Key::Name`](super::Key::Name).
    pub name: CrawlId,
    /// [`Key::Seeds`](super::Key::Seeds).
    pub seeds: Vec<CrawlUrl>,
    /// [`Key::Sitemaps`](super::Key::Sitemaps).
    #[serde(default)]
    pub sitemaps: Sitemaps,
    /// [`Key::Feeds`](super::Key::Feeds).
    #[serde(default, skip_serializing_if = "Feeds::are_ignored")]
    pub feeds: Feeds,
    /// [`Key::Requisites`](super::Key::Requisites).
    #[serde(default, skip_serializing_if = "Requisites::are_ignored")]
    pub requisites: Requisites,
    /// What is done with links that lead out of it.
    #[serde(default, skip_serializing_if = "Links::are_ignored")]
    pub links: Links,
    /// The URLs that belong to it.
    #[serde(default)]
    pub scope: Scope,
    /// When an iteration stops although URLs are left.
    #[serde(default)]
    pub budget: Budget,
    /// [`Key::DoNotCrawl`](super::Key::DoNotCrawl).
    #[serde(default)]
    pub do_not_crawl: Vec<DoNotCrawl>,
    /// [`Key::UrlQueryParameters`](super::Key::UrlQueryParameters).
    #[serde(default)]
    pub url_query_parameters: Vec<QueryRule>,
    /// [`Key::StripQueryParameters`](super::Key::StripQueryParameters).
    #[serde(default)]
    pub strip_query_parameters: UrlRules,
    /// The limits for sites that generate endless URLs.
    #[serde(default)]
    pub traps: TrapLimits,
    /// How gently each origin is crawled.
    #[serde(default)]
    pub politeness: Politeness,
    /// The limits of a request.
    #[serde(default)]
    pub fetch: Fetch,
    /// [`Key::Access`](super::Key::Access).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<AccessRule>,
    /// [`Key::Content`](super::Key::Content).
    #[serde(default)]
    pub content: ContentLevel,
    /// [`Key::UserAgent`](super::Key::UserAgent).
    #[serde(default)]
    pub user_agent: UserAgent,
    /// The provenance that is written into the archive.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub archive: Provenance,
    /// [`Key::Canonical`](super::Key::Canonical).
    #[serde(default, skip_serializing_if = "Canonical::is_obeyed")]
    pub canonical: Canonical,
    /// [`Key::Soft404`](super::Key::Soft404).
    #[serde(default, skip_serializing_if = "Soft404::are_ignored")]
    pub soft_404: Soft404,
    /// Which pages are rendered in a browser.
    #[serde(default, skip_serializing_if = "Render::is_default")]
    pub render: Render,
    /// [`Key::Purpose`](super::Key::Purpose).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// [`Key::Items`](super::Key::Items).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemType>,
    /// [`Key::Main`](super::Key::Main).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub main: Vec<MainRule>,
    /// When a known URL is fetched again.
    #[serde(default)]
    pub recrawl: Recrawl,
    /// When an iteration begins by itself. `None`: only on command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// [`Key::Notify`](super::Key::Notify).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notify: Vec<NotifyRule>,
    /// Where results are written, besides the store.
    #[serde(default, skip_serializing_if = "Sink::is_empty")]
    pub sink: Sink,
    /// Who the crawl says it is, in a way that sites can verify.
    #[serde(default, skip_serializing_if = "Identity::is_empty")]
    pub identity: Identity,
    /// [`Key::User`](super::Key::User).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Line>,
    /// The hosts whose robots.txt is read and not obeyed, as they belong to who said so. No key of
    /// a definition says it: only a command does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_robots: Vec<HostPattern>,
    /// Whether links that are marked `nofollow` are followed. No key of a definition says it
    /// either.
    #[serde(default, skip_serializing_if = "Nofollow::is_obeyed")]
    pub nofollow: Nofollow,
    /// Whether pages are kept that ask for noindex. No key of a definition says it either.
    #[serde(default, skip_serializing_if = "Noindex::is_obeyed")]
    pub noindex: Noindex,
}

impl Draft {
    /// Returns the largest number of links between a seed and a URL that is crawled; `None` without
    /// a limit.
    #[must_use]
    pub const fn depth_max(&self) -> Option<u32> {
        match self.sitemaps {
            Sitemaps::Only => Some(0),
            Sitemaps::Ignore | Sitemaps::Follow => self.scope.max_depth,
        }
    }

    /// Whether the robots.txt of an origin is not obeyed.
    #[must_use]
    pub fn ignores_robots(&self, origin: &Origin) -> bool {
        self.ignore_robots.iter().any(|host| host.includes(origin))
    }

    /// Creates a crawl of these seeds with all defaults, named after the first one's host and port;
    /// without seeds, `crawl`.
    #[must_use]
    pub fn for_seeds(seeds: Vec<CrawlUrl>) -> Self {
        Self {
            name: seeds.first().map_or_else(CrawlId::default, |seed| CrawlId::for_origin(&seed.origin())),
            seeds,
            sitemaps: Sitemaps::default(),
            feeds: Feeds::default(),
            requisites: Requisites::default(),
            links: Links::default(),
            scope: Scope::default(),
            budget: Budget::default(),
            do_not_crawl: Vec::new(),
            url_query_parameters: Vec::new(),
            strip_query_parameters: UrlRules::default(),
            traps: TrapLimits::default(),
            politeness: Politeness::default(),
            fetch: Fetch::default(),
            access: Vec::new(),
            content: ContentLevel::default(),
            user_agent: UserAgent::default(),
            archive: Provenance::default(),
            canonical: Canonical::default(),
            soft_404: Soft404::default(),
            render: Render::default(),
            purpose: None,
            items: Vec::new(),
            main: Vec::new(),
            recrawl: Recrawl::default(),
            schedule: None,
            notify: Vec::new(),
            sink: Sink::default(),
            identity: Identity::default(),
            user: None,
            ignore_robots: Vec::new(),
            nofollow: Nofollow::default(),
            noindex: Noindex::default(),
        }
    }
}

/// The URLs that belong to a crawl: those within reach of a seed that are not excluded and, if
/// there are patterns to include, match one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    /// [`Key::ScopeWithin`](super::Key::ScopeWithin).
    pub within: Within,
    /// [`Key::ScopeInclude`](super::Key::ScopeInclude).
    pub include: Vec<UrlPattern>,
    /// [`Key::ScopeExclude`](super::Key::ScopeExclude).
    pub exclude: Vec<UrlPattern>,
    /// [`Key::ScopeMaxDepth`](super::Key::ScopeMaxDepth).
    pub max_depth: Option<u32>,
}

/// How to treat the sitemaps of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sitemaps {
    /// Ignore them. One that a page links to is a file like others; its entries are followed.
    #[default]
    Ignore,
    /// The robots.txt of each seed's site is a seed, too, and the sitemaps that it names are
    /// visited.
    Follow,
    /// Like `Follow`, and links of pages are not followed: what no sitemap lists is not visited.
    Only,
}

impl Sitemaps {
    /// Returns whether the sitemaps that robots.txt names are visited.
    #[must_use]
    pub const fn are_followed(self) -> bool {
        matches!(self, Self::Follow | Self::Only)
    }

    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Follow => "follow",
            Self::Only => "only",
        }
    }
}

impl fmt::Display for Sitemaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is done with links that lead out of the crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// [`Key::LinksExternal`](super::Key::LinksExternal).
    #[serde(default)]
    pub external: ExternalLinks,
}

impl Links {
    const fn are_ignored(&self) -> bool {
        matches!(self.external, ExternalLinks::Ignore)
    }
}

/// Whether links to what is not crawled are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExternalLinks {
    /// They are recorded.
    #[default]
    Ignore,
    /// Each target is asked for, to find out whether it is there.
    Check,
}

impl ExternalLinks {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Check => "check",
        }
    }
}

impl fmt::Display for ExternalLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How to treat the feeds of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feeds {
    /// As files like others: one that a page names is visited, and its entries are not.
    #[default]
    Ignore,
    /// Those that pages name are visited, and so are their entries.
    Follow,
}

impl Feeds {
    /// Returns whether the entries of feeds are visited.
    #[must_use]
    pub const fn are_followed(self) -> bool {
        matches!(self, Self::Follow)
    }

    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Follow => "follow",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn are_ignored(&self) -> bool {
        *self == Self::Ignore
    }
}

impl fmt::Display for Feeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How to treat the requisites of pages: pictures, styles, scripts, fonts, sound and video.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requisites {
    /// As mere links of the page.
    #[default]
    Ignore,
    /// They are visited and archived with their page, wherever they are.
    Fetch,
}

impl Requisites {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Fetch => "fetch",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn are_ignored(&self) -> bool {
        *self == Self::Ignore
    }
}

impl fmt::Display for Requisites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How to treat a page that declares another URL canonical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Canonical {
    /// It is a copy if that URL leads to a similar page.
    #[default]
    Obey,
    /// It stands for itself, like any other page.
    Ignore,
}

impl Canonical {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Obey => "obey",
            Self::Ignore => "ignore",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_obeyed(&self) -> bool {
        *self == Self::Obey
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How to treat servers that answer for missing pages with a good status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Soft404 {
    /// Every answer with a good status is a page.
    #[default]
    Ignore,
    /// Request an address that cannot exist from them; pages with a similar answer are missing.
    Detect,
}

impl Soft404 {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Detect => "detect",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn are_ignored(&self) -> bool {
        *self == Self::Ignore
    }
}

impl fmt::Display for Soft404 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The part of a URL that must equal a seed's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Within {
    /// Scheme, host and port.
    Origin,
    /// The host, with or without `www.`, by http and https; the port, if one is written.
    #[default]
    Site,
    /// The host, with any scheme and port.
    Host,
    /// The registered domain, such as `example.co.uk`, with every host below it. A host without
    /// one, such as an address, stands for itself.
    Domain,
}

impl Within {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Origin => "origin",
            Self::Site => "site",
            Self::Host => "host",
            Self::Domain => "domain",
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// When an iteration stops although URLs are left. `None` means no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// [`Key::BudgetPages`](super::Key::BudgetPages).
    pub pages: Option<u64>,
    /// [`Key::BudgetPagesPerOrigin`](super::Key::BudgetPagesPerOrigin).
    pub pages_per_origin: Option<u64>,
    /// [`Key::BudgetRequisitesPerPage`](super::Key::BudgetRequisitesPerPage).
    pub requisites_per_page: u32,
    /// [`Key::BudgetOriginsPerPage`](super::Key::BudgetOriginsPerPage).
    pub origins_per_page: u32,
    /// [`Key::BudgetOrigins`](super::Key::BudgetOrigins).
    pub origins: u64,
    /// [`Key::BudgetBytes`](super::Key::BudgetBytes).
    pub bytes: Option<u64>,
    /// [`Key::BudgetDuration`](super::Key::BudgetDuration).
    pub duration: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            pages: None,
            pages_per_origin: None,
            requisites_per_page: 500,
            origins_per_page: 500,
            origins: 100_000,
            bytes: None,
            duration: None,
        }
    }
}

/// URLs that are in scope but never fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoNotCrawl {
    /// The condition for these URLs.
    pub when: Condition,
    /// The reason: one line, shown to anyone who asks.
    pub reason: String,
}

/// Allowed query parameters. If there are rules, a URL with a query is crawled only if one of them
/// covers the URL and allows all of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryRule {
    /// The condition for the URLs that it covers; `None`: all.
    #[serde(default)]
    pub when: Option<Condition>,
    /// The allowed names, as decoded text, case-sensitive. Empty: no query at all.
    pub allow: Vec<String>,
}

/// The limits for sites that generate endless URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrapLimits {
    /// [`Key::TrapsSegmentRepeatsMax`](super::Key::TrapsSegmentRepeatsMax).
    pub segment_repeats_max: u32,
    /// [`Key::TrapsSegmentsMax`](super::Key::TrapsSegmentsMax).
    pub segments_max: u32,
    /// [`Key::TrapsUrlBytesMax`](super::Key::TrapsUrlBytesMax).
    pub url_bytes_max: u32,
    /// [`Key::TrapsFruitlessPagesMax`](super::Key::TrapsFruitlessPagesMax).
    pub fruitless_pages_max: u16,
    /// [`Key::TrapsExcept`](super::Key::TrapsExcept).
    pub except: Vec<UrlPattern>,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self {
            segment_repeats_max: 2,
            segments_max: 20,
            url_bytes_max: 2_048,
            fruitless_pages_max: 1_000,
            except: Vec::new(),
        }
    }
}

/// How gently each origin is crawled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Politeness {
    /// [`Key::PolitenessDelay`](super::Key::PolitenessDelay).
    pub delay: Duration,
    /// [`Key::PolitenessConcurrency`](super::Key::PolitenessConcurrency).
    pub concurrency: u16,
    /// [`Key::PolitenessHostsPerDomain`](super::Key::PolitenessHostsPerDomain).
    pub hosts_per_domain: u16,
    /// [`Key::PolitenessPatience`](super::Key::PolitenessPatience).
    pub patience: Duration,
    /// [`Key::PolitenessFailures`](super::Key::PolitenessFailures).
    pub failures: u8,
    /// [`Key::PolitenessRobotsMaxAge`](super::Key::PolitenessRobotsMaxAge).
    pub robots_max_age: Duration,
    /// [`Key::PolitenessBytesPerSecond`](super::Key::PolitenessBytesPerSecond).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            concurrency: 1,
            hosts_per_domain: 4,
            patience: Duration::from_mins(15),
            failures: 5,
            robots_max_age: Duration::from_mins(30),
            bytes_per_second: None,
        }
    }
}

/// The limits of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fetch {
    /// [`Key::FetchConnectTimeout`](super::Key::FetchConnectTimeout).
    pub connect_timeout: Duration,
    /// [`Key::FetchFirstByteTimeout`](super::Key::FetchFirstByteTimeout).
    pub first_byte_timeout: Duration,
    /// [`Key::FetchTimeout`](super::Key::FetchTimeout).
    pub timeout: Duration,
    /// [`Key::FetchRetries`](super::Key::FetchRetries).
    pub retries: u8,
    /// [`Key::FetchHeaderBytesMax`](super::Key::FetchHeaderBytesMax).
    pub header_bytes_max: usize,
    /// [`Key::FetchBodyBytesMax`](super::Key::FetchBodyBytesMax).
    pub body_bytes_max: usize,
    /// [`Key::FetchFileBytesMax`](super::Key::FetchFileBytesMax).
    pub file_bytes_max: u64,
    /// [`Key::FetchDecodedBytesMax`](super::Key::FetchDecodedBytesMax).
    pub decoded_bytes_max: u64,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(20),
            timeout: Duration::from_secs(60),
            retries: 2,
            header_bytes_max: 64 << 10,
            body_bytes_max: 10 << 20,
            file_bytes_max: 100 << 20,
            decoded_bytes_max: 50 << 20,
        }
    }
}
