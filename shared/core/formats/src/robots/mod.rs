//! robots.txt (RFC 9309): a site's rules for crawlers.
//!
//! Three steps, each a pure function. [`RobotsRecord::from_fetch`] says what a fetch of robots.txt
//! means, in a form to be stored; [`RobotsRecord::policy`] builds the rules from it once;
//! [`RobotsPolicy::verdict`] answers for one URL, with the reason. Fetching, following redirects
//! and keeping the copy are up to the caller.

mod broken_off;
mod cost;
mod octets;
mod parse;
mod pattern;
mod policy;
mod record;
mod rules;
mod text;
mod uses;
mod verdict;

#[cfg(test)]
mod tests;

use std::time::Duration;

use dragline_domain::use_preferences::UseStatement;
use pattern::Pattern;
pub use policy::{Missing, RobotsPolicy, Unreadable};
pub use record::{RobotsFetch, RobotsRecord};
use rules::RuleIndex;
pub use uses::Licence;
use uses::UseRules;
pub use verdict::{Rule, RuleKind, Verdict};

/// The limit on a robots.txt, in bytes, cut at the end of a line: RFC 9309 section 2.5 requires at
/// least 500 KiB.
pub const BODY_BYTES_MAX: usize = 512 * 1024;

/// The limit on redirects of a robots.txt, also to other hosts (RFC 9309 section 2.3.1.2).
pub const REDIRECTS_MAX: usize = 5;

/// How long a copy may be used, even while robots.txt cannot be read (RFC 9309 section 2.4).
pub const COPY_AGE_MAX: Duration = Duration::from_hours(24);

/// The limit on the rules of one group; later ones are left out, like lines past
/// [`BODY_BYTES_MAX`].
pub const RULES_MAX: usize = 20_000;

/// The rules of one robots.txt for one crawler.
///
/// ```
/// use dragline_formats::robots::Robots;
/// let robots = Robots::parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/map", "ShelfBot");
/// assert!(!robots.verdict("/private/notes").is_allowed());
/// assert!(robots.verdict("/private/map").is_allowed());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Robots {
    rules: RuleIndex,
    crawl_delay: Option<Duration>,
    uses: UseRules,
}

impl Robots {
    /// Parses a robots.txt for the crawler with this product token (see
    /// [`product_token`](dragline_domain::definition::product_token)).
    ///
    /// Every body is accepted: lines that are not rules are skipped, so a web page served as
    /// robots.txt forbids nothing.
    #[must_use]
    pub fn parse(body: &[u8], product_token: &str) -> Self {
        parse::parse(body, product_token)
    }

    /// Decides whether a URL of this origin may be fetched, by its path and query.
    ///
    /// The rule with the longest pattern decides; among equally long ones, one that allows (RFC
    /// 9309 section 2.2.2).
    #[must_use]
    pub fn verdict(&self, path_and_query: &str) -> Verdict<'_> {
        if is_robots_txt(path_and_query) {
            return Verdict::RobotsTxt;
        }
        let target = octets::target(path_and_query);
        let mut best = self.rules.best_match(&target.plain);
        if let Some(slashes_undone) = &target.query_slashes_undone {
            best = best.max(self.rules.best_match(slashes_undone));
        }
        best.map_or(Verdict::NoRule, |ranked| Verdict::Rule(ranked.rule()))
    }

    /// Returns the delay between two requests that our group demands, at most
    /// [`DELAY_MAX`](dragline_domain::politeness::DELAY_MAX); `None` if it demands none.
    ///
    /// Not in the RFC, but many sites use it.
    #[must_use]
    pub const fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Returns what our group says of the use of a URL of this origin, by its path and query, and
    /// the licences that the file names.
    ///
    /// Of each form the lines with the longest matching path count, all of them
    /// (draft-ietf-aipref-attach-04 section 3.1).
    ///
    /// ```
    /// use dragline_formats::robots::Robots;
    /// let robots = Robots::parse(b"User-agent: *\nContent-Usage: /blog/ train-ai=n", "ShelfBot");
    /// assert_eq!(robots.uses("/blog/1")[0].text, "line 2: Content-Usage: /blog/ train-ai=n");
    /// assert!(robots.uses("/about").is_empty());
    /// ```
    #[must_use]
    pub fn uses(&self, path_and_query: &str) -> Vec<UseStatement> {
        if self.uses.is_empty() { Vec::new() } else { self.uses.statements(&octets::target(path_and_query)) }
    }

    /// Returns the licences that the file names, for everybody, in order.
    #[must_use]
    pub fn licences(&self) -> &[Licence] {
        &self.uses.licences
    }
}

/// Whether a URL of an origin, by its path and query, matches a pattern as in a rule of robots.txt
/// (RFC 9309 section 2.2.3).
#[must_use]
pub fn matches_pattern(pattern: &str, path_and_query: &str) -> bool {
    Pattern::new(pattern).matches(&octets::target(path_and_query))
}

/// Returns at most `count_max` sitemaps that a robots.txt names, as written. They belong to no
/// group (RFC 9309 section 2.2.4).
///
/// ```
/// use dragline_formats::robots::sitemaps;
/// assert_eq!(sitemaps(b"Sitemap: https://a.example/s.xml # all", 9), ["https://a.example/s.xml"]);
/// ```
#[must_use]
pub fn sitemaps(body: &[u8], count_max: usize) -> Vec<String> {
    parse::sitemaps(body, count_max)
}

/// The path of robots.txt (RFC 9309 section 2.3).
pub const ROBOTS_PATH: &str = "/robots.txt";

/// The path of the sitemap of most sites. No standard has it, but servers and generators of sites
/// do, and search engines are told of it by hand.
pub const SITEMAP_PATH: &str = "/sitemap.xml";

/// Whether this is robots.txt, which is always allowed (RFC 9309 section 2.2.2).
fn is_robots_txt(path_and_query: &str) -> bool {
    path_and_query == ROBOTS_PATH
}
