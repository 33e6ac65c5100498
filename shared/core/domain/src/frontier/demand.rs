//! URLs on demand: the conditions for a named URL, which its links inherit.

use serde::{Deserialize, Serialize};

use super::Claimable;
use crate::definition::UrlPattern;
use crate::url::CrawlUrl;
use jiff::Timestamp;

/// The conditions for URLs that a user names. Their links inherit it, so everything reached from
/// them is subject to the same demand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demand {
    /// The pattern that a link's target must match to be queued; `None` for any target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<UrlPattern>,
    /// Patterns of targets that are not queued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<UrlPattern>,
    /// The greatest distance in links from the named URL, 0 for the URL alone; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The known URLs to visit.
    #[serde(default, skip_serializing_if = "Visits::are_of_due")]
    pub visits: Visits,
}

/// The known URLs of earlier iterations to visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visits {
    /// Those that are due.
    #[default]
    Due,
    /// All, due or not.
    All,
}

impl Visits {
    /// Returns which known URLs may be claimed at this time.
    #[must_use]
    pub const fn claimable(self, now: Timestamp) -> Claimable {
        match self {
            Self::Due => Claimable::Due(now),
            Self::All => Claimable::All,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn are_of_due(&self) -> bool {
        *self == Self::Due
    }
}

/// The reason why a demand is too long to be stored with each URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DemandTooLong {
    /// The total size of its patterns in bytes exceeds [`Demand::PATTERN_BYTES_MAX`].
    #[error("the patterns of a demand have {0} bytes together, but at most {max} are allowed", max = Demand::PATTERN_BYTES_MAX)]
    PatternBytes(usize),
    /// The number of its patterns to skip exceeds [`Demand::SKIP_MAX`].
    #[error("a demand has {0} patterns to skip, but at most {max} are allowed", max = Demand::SKIP_MAX)]
    Skip(usize),
}

impl Demand {
    /// The limit on the total size of its patterns, in bytes: it is stored with each waiting URL.
    pub const PATTERN_BYTES_MAX: usize = 500;

    /// The limit on the patterns to skip.
    pub const SKIP_MAX: usize = 20;

    /// The limit on its size as JSON, in bytes: quotes and backslashes in patterns are escaped, and
    /// each pattern has two quotes and a comma.
    pub const JSON_BYTES_MAX: usize = 2 * Self::PATTERN_BYTES_MAX + 3 * Self::SKIP_MAX + 80;

    /// Returns the demand if it is short enough to be stored with URLs.
    ///
    /// # Errors
    /// [`DemandTooLong`].
    pub fn validate(self) -> Result<Self, DemandTooLong> {
        let bytes = self.pattern_bytes();
        match self.skip.len() {
            _ if bytes > Self::PATTERN_BYTES_MAX => Err(DemandTooLong::PatternBytes(bytes)),
            skip if skip > Self::SKIP_MAX => Err(DemandTooLong::Skip(skip)),
            _ => Ok(self),
        }
    }

    /// Whether to queue a link to the target, at this distance from the named URL in links.
    #[must_use]
    pub fn covers(&self, target: &CrawlUrl, depth: u32) -> bool {
        self.depth.is_none_or(|max| depth <= max)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(target.as_str()))
            && !self.skips(target)
    }

    /// Whether one of the patterns to skip matches.
    #[must_use]
    pub fn skips(&self, target: &CrawlUrl) -> bool {
        self.skip.iter().any(|pattern| pattern.is_match(target.as_str()))
    }

    /// Returns an upper bound of its size as JSON, in bytes.
    pub(super) fn json_bytes_max(&self) -> usize {
        2 * self.pattern_bytes() + 3 * self.skip.len() + 80
    }

    fn pattern_bytes(&self) -> usize {
        self.pattern.iter().chain(&self.skip).map(|pattern| pattern.as_str().len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::UrlRules;

    fn pattern(text: &str) -> UrlPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_link_is_queued_if_pattern_depth_and_skip_allow_it() {
        let news = || Demand { pattern: Some(pattern("/news/")), ..Demand::default() };
        let cases = [
            (Demand::default(), "/any", 9, true, "nothing limits it"),
            (news(), "/news/1", 9, true, "it matches"),
            (news(), "/sport/1", 1, false, "it does not match"),
            (Demand { skip: vec![pattern(r"\?")], ..news() }, "/news/1?print", 1, false, "it matches, and is skipped"),
            (
                Demand { skip: vec![pattern("x"), pattern("1$")], ..news() },
                "/news/1",
                1,
                false,
                "the second one skips it",
            ),
            (Demand { depth: Some(0), ..Demand::default() }, "/any", 1, false, "one page"),
            (Demand { depth: Some(1), ..Demand::default() }, "/any", 1, true, "a page and its links"),
            (Demand { depth: Some(1), ..news() }, "/news/2", 2, false, "it matches, too far away"),
        ];
        for (demand, target, depth, expected, why) in cases {
            let target = CrawlUrl::parse(&format!("https://a.example{target}"), &UrlRules::default()).unwrap();
            assert_eq!(demand.covers(&target, depth), expected, "{target}: {why}");
        }
    }

    #[test]
    fn no_demand_exceeds_its_upper_bound() {
        let quotes = "\"".repeat(20);
        let skip = vec![pattern(&"\"".repeat(24)); Demand::SKIP_MAX];
        let longest = Demand { pattern: Some(pattern(&quotes)), skip, depth: Some(u32::MAX), visits: Visits::All };
        let single = vec![pattern("\""); Demand::SKIP_MAX];
        let many = Demand { pattern: None, skip: single, depth: None, visits: Visits::Due };
        for demand in [longest, many, Demand::default()] {
            let json = serde_json::to_string(&demand).unwrap();
            assert!(json.len() <= demand.json_bytes_max(), "{} bytes: {json}", json.len());
            assert!(demand.json_bytes_max() <= Demand::JSON_BYTES_MAX);
            assert_eq!(serde_json::from_str::<Demand>(&json).unwrap(), demand);
            assert!(demand.validate().is_ok());
        }
        for (skip, expected) in [
            (vec![pattern(&"x".repeat(251)); 2], DemandTooLong::PatternBytes(502)),
            (vec![pattern("x"); 21], DemandTooLong::Skip(21)),
        ] {
            assert_eq!(Demand { skip, ..Demand::default() }.validate(), Err(expected));
        }
    }
}
