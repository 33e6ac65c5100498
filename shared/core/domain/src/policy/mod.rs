//! The decision whether to crawl a URL, and the rule behind it.
//!
//! A [`Policy`] is a definition's rules, compiled once; [`Policy::decide`] is called for every link
//! that is found. It does not cover private addresses: they are refused whatever a definition says.

mod allowed;
mod decision;
mod query;
#[cfg(test)]
mod tests;
mod traps;

pub use allowed::AllowedOrigins;
pub use decision::{BlockRule, Decision, QueryRefusal, ScopeRule};
pub use traps::{Trap, trap};

use std::collections::HashSet;

use regex::{RegexSet, RegexSetBuilder};

use crate::definition::{
    Definition, DoNotCrawl, Draft, ExternalLinks, Requisites, Sitemaps, TrapLimits, UrlPattern, Within,
};
use crate::frontier::CHECK_DEPTH;
use crate::url::CrawlUrl;
use query::QueryRules;

/// The compiled rules of a definition.
#[derive(Clone, Debug)]
pub struct Policy {
    requisites: Requisites,
    external_links: ExternalLinks,
    within: Within,
    /// `None`: everything is included.
    include: Option<RegexSet>,
    /// `None`: nothing is excluded.
    exclude: Option<RegexSet>,
    max_depth: Option<u32>,
    sitemaps: Sitemaps,
    traps: TrapLimits,
    /// `None`: no URL is free of the limits.
    free_of_traps: Option<RegexSet>,
    /// Seeds that look like traps: the user wants them all the same.
    trap_seeds: HashSet<CrawlUrl>,
    do_not_crawl: Vec<DoNotCrawl>,
    query_rules: QueryRules,
}

/// The patterns of a definition need too much memory once compiled. A [`Definition`] never causes
/// this, as its checks compile them.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the patterns of a definition are too large together")]
pub struct PolicyError(#[source] regex::Error);

impl Policy {
    /// The limit on the memory for all patterns of `include`, or of `exclude`, in bytes.
    pub const COMPILED_BYTES_MAX: usize = 16 << 20;

    /// The limit on requisites in a row: style sheets may import each other without end.
    pub const REQUISITE_STEPS_MAX: u8 = 5;

    /// The limit on sitemap indexes in a row, though the protocol allows only one.
    pub const SITEMAP_INDEXES_MAX: u32 = 5;

    /// The limit on further parts of a feed in a row: an archive of years may be behind it.
    pub const FEED_PARTS_MAX: u32 = 5;

    /// Compiles a definition's rules.
    ///
    /// # Errors
    /// None in practice: the checks of a definition have compiled its rules.
    pub fn compile(definition: &Definition) -> Result<Self, PolicyError> {
        Self::compile_draft(definition)
    }

    /// Compiles rules whose conditions are known to have limited depth.
    pub(crate) fn compile_draft(draft: &Draft) -> Result<Self, PolicyError> {
        let scope = &draft.scope;
        Ok(Self {
            requisites: draft.requisites,
            external_links: draft.links.external,
            within: scope.within,
            include: pattern_set(&scope.include)?,
            exclude: pattern_set(&scope.exclude)?,
            max_depth: scope.max_depth,
            sitemaps: draft.sitemaps,
            traps: draft.traps.clone(),
            free_of_traps: pattern_set(&draft.traps.except)?,
            trap_seeds: draft.seeds.iter().filter(|seed| trap(seed, &draft.traps).is_some()).cloned().collect(),
            do_not_crawl: draft.do_not_crawl.clone(),
            query_rules: QueryRules::new(&draft.url_query_parameters),
        })
    }

    /// Decides whether to crawl a URL that is this many links from a seed (0 for a seed itself).
    ///
    /// The rules apply in this order, and the first that objects decides: within reach, exclude,
    /// include, depth, traps (except for seeds), `do_not_crawl`, query parameters.
    #[must_use]
    pub fn decide(&self, url: &CrawlUrl, depth: u32, allowed: &AllowedOrigins) -> Decision<'_> {
        if let Some(rule) = self.scope_rule(url, depth, allowed) {
            return Decision::OutOfScope(rule);
        }
        match self.block_rule(url) {
            Some(rule) => Decision::Blocked(rule),
            None => Decision::Crawl,
        }
    }

    /// Decides whether to visit a requisite that is this many requisites away from a page. Its site
    /// does not matter, and the limits for endless sites do not apply: there are no more requisites
    /// than pages name.
    ///
    /// The rules apply in this order: whether requisites are fetched, exclude, steps,
    /// `do_not_crawl`.
    #[must_use]
    pub fn decide_requisite(&self, url: &CrawlUrl, steps: u8) -> Decision<'_> {
        if self.requisites == Requisites::Ignore {
            return Decision::OutOfScope(ScopeRule::Requisites);
        }
        if let Some(rule) = self.excluded(url) {
            return Decision::OutOfScope(rule);
        }
        if steps > Self::REQUISITE_STEPS_MAX {
            return Decision::OutOfScope(ScopeRule::RequisiteSteps { steps });
        }
        self.forbidden(url).map_or(Decision::Crawl, Decision::Blocked)
    }

    /// The limit on redirects in a row from a URL that is only checked, as browsers have it.
    pub const CHECK_REDIRECTS_MAX: u32 = 20;

    /// Decides whether to ask for a URL that is not visited as a page, at this depth, only to find
    /// out whether it is there. It may be anywhere.
    ///
    /// The rules apply in this order: whether links are checked, exclude, the number of redirects,
    /// `do_not_crawl`.
    #[must_use]
    pub fn decide_check(&self, url: &CrawlUrl, depth: u32) -> Decision<'_> {
        if self.external_links == ExternalLinks::Ignore {
            return Decision::OutOfScope(ScopeRule::NotChecked);
        }
        if let Some(rule) = self.excluded(url) {
            return Decision::OutOfScope(rule);
        }
        let redirects = depth.saturating_sub(CHECK_DEPTH);
        if redirects > Self::CHECK_REDIRECTS_MAX {
            return Decision::OutOfScope(ScopeRule::CheckRedirects { redirects });
        }
        self.forbidden(url).map_or(Decision::Crawl, Decision::Blocked)
    }

    /// Decides whether to visit a URL that is named as a sitemap, after this many indexes in a row,
    /// or a robots.txt that names sitemaps. `include` and `max_depth` are about pages: they apply
    /// to the listed URLs.
    ///
    /// The rules apply in this order: within reach, exclude, the number of indexes, traps,
    /// `do_not_crawl`, query parameters.
    #[must_use]
    pub fn decide_sitemap(&self, url: &CrawlUrl, indexes: u32, allowed: &AllowedOrigins) -> Decision<'_> {
        let is_too_far = indexes > Self::SITEMAP_INDEXES_MAX;
        self.decide_list(url, is_too_far.then_some(ScopeRule::SitemapIndexes { indexes }), allowed)
    }

    /// Decides whether to visit a URL that is named as a feed, or as a further part of one after
    /// this many others. As for sitemaps, `include` and `max_depth` apply to what it lists.
    ///
    /// The rules apply in the same order.
    #[must_use]
    pub fn decide_feed(&self, url: &CrawlUrl, parts: u32, allowed: &AllowedOrigins) -> Decision<'_> {
        let is_too_far = parts > Self::FEED_PARTS_MAX;
        self.decide_list(url, is_too_far.then_some(ScopeRule::FeedParts { parts }), allowed)
    }

    /// Decides whether to visit a list of URLs, which may be too far from where the lists begin.
    fn decide_list<'p>(
        &'p self,
        url: &CrawlUrl,
        too_far: Option<ScopeRule<'p>>,
        allowed: &AllowedOrigins,
    ) -> Decision<'p> {
        if !allowed.contains(url) {
            return Decision::OutOfScope(ScopeRule::NotWithin(self.within));
        }
        if let Some(rule) = self.excluded(url) {
            return Decision::OutOfScope(rule);
        }
        if let Some(rule) = too_far {
            return Decision::OutOfScope(rule);
        }
        self.block_rule(url).map_or(Decision::Crawl, Decision::Blocked)
    }

    /// Returns the rule by which a URL is left alone, wherever it was found: a pattern of
    /// `exclude`, or one of `do_not_crawl`; `None` if there is none.
    #[must_use]
    pub fn exclusion(&self, url: &CrawlUrl) -> Option<Decision<'_>> {
        let excluded = self.excluded(url).map(Decision::OutOfScope);
        excluded.or_else(|| self.forbidden(url).map(Decision::Blocked))
    }

    fn excluded(&self, url: &CrawlUrl) -> Option<ScopeRule<'_>> {
        // `is_match` stops at the first match of any pattern; only for an excluded URL do we find
        // out which one matched.
        let exclude = self.exclude.as_ref().filter(|exclude| exclude.is_match(url.as_str()))?;
        let entry = exclude.matches(url.as_str()).iter().next().unwrap_or_default();
        let pattern = exclude.patterns().get(entry).map_or("", String::as_str);
        Some(ScopeRule::Exclude { entry, pattern })
    }

    fn scope_rule(&self, url: &CrawlUrl, depth: u32, allowed: &AllowedOrigins) -> Option<ScopeRule<'_>> {
        if !allowed.contains(url) {
            return Some(ScopeRule::NotWithin(self.within));
        }
        if let Some(rule) = self.excluded(url) {
            return Some(rule);
        }
        if self.include.as_ref().is_some_and(|include| !include.is_match(url.as_str())) {
            return Some(ScopeRule::NotIncluded);
        }
        if self.sitemaps == Sitemaps::Only && depth > 0 {
            return Some(ScopeRule::NotListed);
        }
        self.max_depth.filter(|&max| depth > max).map(|max| ScopeRule::Depth { depth, max })
    }

    fn block_rule(&self, url: &CrawlUrl) -> Option<BlockRule<'_>> {
        let is_free = || self.trap_seeds.contains(url) || self.is_free_of_traps(url);
        if let Some(trap) = trap(url, &self.traps).filter(|_| !is_free()) {
            return Some(BlockRule::Trap(trap));
        }
        self.forbidden(url).or_else(|| self.query_rules.refusal(url).map(BlockRule::QueryParameters))
    }

    /// Whether no limit for endless sites applies to a URL, as the user says.
    #[must_use]
    pub fn is_free_of_traps(&self, url: &CrawlUrl) -> bool {
        self.free_of_traps.as_ref().is_some_and(|free| free.is_match(url.as_str()))
    }

    fn forbidden(&self, url: &CrawlUrl) -> Option<BlockRule<'_>> {
        let (entry, rule) = self.do_not_crawl.iter().enumerate().find(|(_, rule)| rule.when.matches(url))?;
        Some(BlockRule::DoNotCrawl { entry, condition: &rule.when, reason: &rule.reason })
    }
}

/// `None` without patterns: even an empty set takes time to build whenever a definition is read.
fn pattern_set(patterns: &[UrlPattern]) -> Result<Option<RegexSet>, PolicyError> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = RegexSetBuilder::new(patterns.iter().map(UrlPattern::as_str));
    set.size_limit(Policy::COMPILED_BYTES_MAX).build().map(Some).map_err(PolicyError)
}
