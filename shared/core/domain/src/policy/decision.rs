//! The decision about a URL, and the rule behind it.

use std::fmt;

use super::{Policy, Trap};
use crate::definition::{Condition, Within};

/// The decision about a URL. [`fmt::Display`] gives one line that explains it to users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision<'p> {
    /// It is crawled.
    Crawl,
    /// It does not belong to the crawl: only the link is recorded.
    OutOfScope(ScopeRule<'p>),
    /// It belongs to the crawl but is never fetched: it becomes a candidate with the outcome
    /// `blocked_url_by_local_policy`.
    Blocked(BlockRule<'p>),
}

/// The rule that excludes a URL from a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeRule<'p> {
    /// It is out of the seeds' reach.
    NotWithin(Within),
    /// A pattern excludes it.
    Exclude {
        /// Its index, counted from 0.
        entry: usize,
        /// The pattern as written.
        pattern: &'p str,
    },
    /// There are patterns to include, and none matches.
    NotIncluded,
    /// It is a requisite, and requisites are not fetched.
    Requisites,
    /// It is too many requisites away from a page.
    RequisiteSteps {
        /// How many it is away.
        steps: u8,
    },
    /// Links out of scope are not checked.
    NotChecked,
    /// It is the target of too many redirects in a row.
    CheckRedirects {
        /// The number of redirects.
        redirects: u32,
    },
    /// It is a sitemap below too many indexes.
    SitemapIndexes {
        /// The number of indexes.
        indexes: u32,
    },
    /// It is a further part of a feed, after too many others.
    FeedParts {
        /// The number of parts before it.
        parts: u32,
    },
    /// Only what sitemaps list is crawled, and a page links to it.
    NotListed,
    /// It is too many links away from a seed.
    Depth {
        /// Its depth.
        depth: u32,
        /// The limit.
        max: u32,
    },
}

/// The rule that prevents a URL of the crawl from being fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockRule<'p> {
    /// It looks like one of an endless number of URLs.
    Trap(Trap),
    /// A `do_not_crawl` rule matches.
    DoNotCrawl {
        /// Its index, counted from 0.
        entry: usize,
        /// The rule's condition.
        condition: &'p Condition,
        /// The user's reason.
        reason: &'p str,
    },
    /// Its query parameters are not allowed.
    QueryParameters(QueryRefusal),
}

/// The reason why a URL's query parameters are not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryRefusal {
    /// No rule covers the URL.
    NotCovered,
    /// Rules cover it, but none allows all of its parameters.
    NotAllowed,
}

impl fmt::Display for Decision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crawl => f.write_str("to be crawled"),
            Self::OutOfScope(rule) => write!(f, "out of scope: {rule}"),
            Self::Blocked(rule) => write!(f, "blocked: {rule}"),
        }
    }
}

impl fmt::Display for ScopeRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWithin(within) => write!(f, "scope.within ({within}): not the {within} of any seed"),
            Self::Exclude { entry, pattern } => write!(f, "scope.exclude entry {} ({pattern}) matches", entry + 1),
            Self::Requisites => f.write_str("requisites (ignore): only pages need it"),
            Self::RequisiteSteps { steps } => {
                write!(
                    f,
                    "requisites: {steps} of them in a row, and at most {} are visited",
                    Policy::REQUISITE_STEPS_MAX
                )
            }
            Self::SitemapIndexes { indexes } => {
                write!(
                    f,
                    "{indexes} sitemap indexes in a row, and at most {} are followed",
                    Policy::SITEMAP_INDEXES_MAX
                )
            }
            Self::FeedParts { parts } => {
                write!(f, "{parts} further parts of a feed in a row, and at most {} are read", Policy::FEED_PARTS_MAX)
            }
            Self::NotChecked => f.write_str("links.external (ignore): it is not asked whether it is there"),
            Self::CheckRedirects { redirects } => {
                write!(f, "{redirects} redirects in a row, and at most {} are followed", Policy::CHECK_REDIRECTS_MAX)
            }
            Self::NotIncluded => f.write_str("scope.include: no entry matches"),
            Self::NotListed => f.write_str("sitemaps (only): no sitemap lists it"),
            Self::Depth { depth, max } => write!(f, "scope.max_depth ({max}): {depth} links from a seed"),
        }
    }
}

impl fmt::Display for BlockRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trap(trap) => write!(f, "{}: {trap}", trap.key()),
            Self::DoNotCrawl { entry, condition, reason } => {
                write!(f, "do_not_crawl entry {} ({condition}): {reason}", entry + 1)
            }
            Self::QueryParameters(refusal) => write!(f, "url_query_parameters: {refusal}"),
        }
    }
}

impl fmt::Display for QueryRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotCovered => "no entry covers this URL, and it has a query",
            Self::NotAllowed => "no entry that covers this URL allows all of its parameters",
        })
    }
}
