//! The policy of an origin, whether or not its robots.txt could be read.

use std::fmt;
use std::time::Duration;

use dragline_domain::no_answer::NoAnswer;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_domain::use_preferences::UseStatement;
use serde::{Deserialize, Serialize};

use super::verdict::Verdict;
use super::{Licence, REDIRECTS_MAX, Robots, is_robots_txt};

/// The reason why there is no robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The status says that there is none.
    Status(u16),
    /// It was still a redirect after [`REDIRECTS_MAX`] of them.
    TooManyRedirects,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "robots.txt answered {status}"),
            Self::TooManyRedirects => write!(f, "robots.txt redirects more than {REDIRECTS_MAX} times"),
        }
    }
}

/// The reason why a robots.txt that may exist could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// The status means that the server cannot answer now.
    Status(u16),
    /// There was no complete response.
    Failed {
        /// The error, for people, on one line.
        detail: String,
    },
    /// The response was not the file but a wall, which demands a person, an account or consent.
    Walled {
        /// The wall and how it was recognised, for people, on one line.
        detail: String,
    },
}

impl Unreadable {
    /// Whether it will probably persist for more than a few seconds ([`NoAnswer::is_lasting`]).
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Status(_) | Self::Walled { .. } => false,
            Self::Failed { detail } => NoAnswer::from_detail(detail).is_some_and(NoAnswer::is_lasting),
        }
    }
}

impl Unreadable {
    /// Returns how the request failed: in the requester's words if there was no response.
    #[must_use]
    pub fn failure(&self) -> String {
        match self {
            Self::Failed { detail } if NoAnswer::from_detail(detail).is_some() => detail.clone(),
            Self::Failed { .. } | Self::Status(_) | Self::Walled { .. } => self.to_string(),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "robots.txt answered {status}"),
            Self::Failed { detail } => write!(f, "robots.txt could not be fetched ({detail})"),
            Self::Walled { detail } => write!(f, "robots.txt was answered by {detail}"),
        }
    }
}

/// The meaning of an origin's robots.txt, or of its absence, for one crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsPolicy {
    /// There is none: everything may be fetched.
    AllowAll(Missing),
    /// There may be one, but it could not be read: nothing may be fetched.
    DisallowAll(Unreadable),
    /// There is one, with these rules.
    Rules(Robots),
}

impl RobotsPolicy {
    /// Decides whether a URL of this origin may be fetched, by its path and query, with the reason.
    #[must_use]
    pub fn verdict(&self, path_and_query: &str) -> Verdict<'_> {
        match self {
            Self::Rules(robots) => robots.verdict(path_and_query),
            _ if is_robots_txt(path_and_query) => Verdict::RobotsTxt,
            Self::AllowAll(why) => Verdict::Missing(why),
            Self::DisallowAll(why) => Verdict::Unreadable(why),
        }
    }

    /// Returns [`Robots::uses`]; nothing without rules.
    #[must_use]
    pub fn uses(&self, path_and_query: &str) -> Vec<UseStatement> {
        match self {
            Self::Rules(robots) => robots.uses(path_and_query),
            Self::AllowAll(_) | Self::DisallowAll(_) => Vec::new(),
        }
    }

    /// Returns the licence that is read for an origin, with the URL of its file: the first that
    /// robots.txt names and that is of the same site; `None` if there is none.
    #[must_use]
    pub fn licence_within_site(&self, origin: &Origin) -> Option<(&Licence, CrawlUrl)> {
        let Self::Rules(robots) = self else { return None };
        robots.licences().iter().find_map(|licence| Some((licence, licence.url_within_site(origin)?)))
    }

    /// Returns [`Robots::crawl_delay`]; `None` without rules.
    #[must_use]
    pub const fn crawl_delay(&self) -> Option<Duration> {
        match self {
            Self::Rules(robots) => robots.crawl_delay(),
            Self::AllowAll(_) | Self::DisallowAll(_) => None,
        }
    }
}
