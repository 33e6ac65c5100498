//! The data of earlier iterations about a URL, and a visit's effect on the current state of its
//! page.
//!
//! The current state of a site is, for each URL that is shown, the document of its last good visit.
//! A candidate refers to that document; a visit decides whether it stays, is replaced, or is no
//! longer shown. Failures never hide it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LastCapture, OriginKey, SegmentId};
use crate::ids::{Iteration, Turn};
use crate::outcome::Outcome;
use crate::recrawl::Absence;

/// An entry of a segment of an origin: a visit, with its capture and its document. Stored as an
/// array of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(Iteration, Turn, u64, u32)", into = "(Iteration, Turn, u64, u32)")]
pub struct VisitPlace {
    /// The iteration.
    pub iteration: Iteration,
    /// The turn that committed the segment.
    pub turn: Turn,
    /// The segment's number.
    pub segment: u64,
    /// The entry's number within the segment.
    pub n: u32,
}

impl VisitPlace {
    /// Returns the key of its segment, which belongs to this origin.
    #[must_use]
    pub fn segment_id(&self, origin: &OriginKey) -> SegmentId {
        SegmentId { origin: origin.clone(), turn: self.turn, n: self.segment }
    }
}

impl From<(Iteration, Turn, u64, u32)> for VisitPlace {
    fn from((iteration, turn, segment, n): (Iteration, Turn, u64, u32)) -> Self {
        Self { iteration, turn, segment, n }
    }
}

impl From<VisitPlace> for (Iteration, Turn, u64, u32) {
    fn from(place: VisitPlace) -> Self {
        (place.iteration, place.turn, place.segment, place.n)
    }
}

/// A digest of the rules for deciding on links: scope, limits, forbidden URLs, the origins in
/// scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RulesDigest(pub u32);

impl RulesDigest {
    /// The digest of no rules: decisions under it are made again.
    pub const NONE: Self = Self(0);
}

/// How the links of a document were decided: by which rules, and from which depth. Stored as an
/// array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(RulesDigest, u32)", into = "(RulesDigest, u32)")]
pub struct LinkDecisions {
    /// The rules; [`RulesDigest::NONE`] if some links were left for lack of budget.
    pub by: RulesDigest,
    /// The depth of the page at that time, in links from a seed.
    pub depth: u32,
}

impl From<(RulesDigest, u32)> for LinkDecisions {
    fn from((by, depth): (RulesDigest, u32)) -> Self {
        Self { by, depth }
    }
}

impl From<LinkDecisions> for (RulesDigest, u32) {
    fn from(decided: LinkDecisions) -> Self {
        (decided.by, decided.depth)
    }
}

/// Whether the document of a URL's last good visit belongs to the current state of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentStanding {
    /// It does.
    Shown,
    /// It does not: the server says that the page is gone (404, 410), or answers as it does for
    /// missing pages.
    Gone,
    /// It does not: robots.txt, the server or the definition forbids the URL.
    Withdrawn,
    /// It does not: when it was remade, the response turned out to be a wall ([`Outcome::is_wall`])
    /// or a missing page ([`Outcome::SoftNotFound`]). Nothing is compared with it.
    Walled,
}

impl DocumentStanding {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Shown, Self::Gone, Self::Withdrawn, Self::Walled];

    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Gone => "gone",
            Self::Withdrawn => "withdrawn",
            Self::Walled => "walled",
        }
    }

    /// Returns the standing with this name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.name() == name)
    }
}

/// The document of a URL's last good visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LastDocument {
    /// The visit that stored it.
    #[serde(rename = "p")]
    pub place: VisitPlace,
    /// Its outcome: a page, a redirect, a file of another type, a page with noindex.
    #[serde(rename = "o")]
    pub outcome: Outcome,
    /// Whether it is shown.
    #[serde(rename = "s")]
    pub standing: DocumentStanding,
    /// How its links were decided.
    #[serde(rename = "l")]
    pub links: LinkDecisions,
}

impl LastDocument {
    /// Whether it may have links: a page or a redirect.
    #[must_use]
    pub const fn may_link(&self) -> bool {
        !matches!(self.outcome, Outcome::StoredNotRead)
    }
}

/// The data of earlier iterations about a URL when it is queued; empty for a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UrlHistory {
    /// The data of the last good capture, for a conditional request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Box<LastCapture>>,
    /// The document of the last good visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<LastDocument>,
    /// The interval that led to the last visit that found the page; `None` if there was none, or if
    /// the page is due in every iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<u64>,
    /// Since when every visit has failed or found it gone; `None` if the last one found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Absence>,
}

impl UrlHistory {
    /// Returns the basis of a conditional request and of comparing its answer. `None` without a
    /// document that could stay unchanged. One whose use was reserved has no content to stay: if it
    /// is not reserved any more, only a whole answer shows it.
    #[must_use]
    pub fn comparable(&self) -> Option<&LastCapture> {
        self.last
            .as_deref()
            .filter(|last| last.outcome != Outcome::UseReserved)
            .filter(|_| self.document.is_some_and(|document| document.standing != DocumentStanding::Walled))
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The meaning of an outcome for the page at its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFinding {
    /// It has this content now.
    Content,
    /// It is unchanged.
    AsBefore,
    /// It is gone.
    Gone,
    /// It must not be visited.
    Forbidden,
    /// Nothing lasting.
    Nothing,
}

impl Outcome {
    /// Returns the meaning for the page. A page with noindex and a URL that the server refuses
    /// share an outcome; the caller knows whether there is a document.
    #[must_use]
    pub const fn page_finding(self) -> PageFinding {
        match self {
            Self::FileIngested
            | Self::StoredNotRead
            | Self::PermanentRedirect
            | Self::TemporaryRedirect
            | Self::NotCanonical
            | Self::Duplicate
            | Self::NeedsScript => PageFinding::Content,
            Self::FileDidNotChange | Self::LinkWorks => PageFinding::AsBefore,
            Self::FileGone | Self::FileNotFound | Self::SoftNotFound => PageFinding::Gone,
            Self::BlockedByRobotsTxt
            | Self::BlockedAtRequestOfRemote
            | Self::BlockedOriginByLocalPolicy
            | Self::BlockedUrlByLocalPolicy
            | Self::UseReserved
            | Self::CrawlerTrap => PageFinding::Forbidden,
            Self::UnknownError
            | Self::DatabaseError
            | Self::Cancelled
            | Self::SomeoneStoleMyWork
            | Self::ServerBlamedClient
            | Self::DidNotUnderstandAnswer
            | Self::AskedToTryAgain
            | Self::RateLimited
            | Self::ServerInternalError
            | Self::ServerUnavailable
            | Self::ConnectionFailed
            | Self::RequestTimeout
            | Self::ErrorReadingResponse
            | Self::BlockedByChallenge
            | Self::BlockedByLogin
            | Self::BlockedByConsent
            | Self::LoggedOut
            | Self::BlockedPrivateAddress
            | Self::OriginGivenUp
            | Self::BudgetExhausted => PageFinding::Nothing,
        }
    }
}

/// The effect of a visit on the current state of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// Nothing.
    Kept,
    /// The URL still shows the document; it is shown again if it was not.
    Confirmed,
    /// A new document is shown.
    Shown {
        /// The visit that stored it.
        place: VisitPlace,
        /// Its outcome.
        outcome: Outcome,
        /// How its links were decided.
        links: LinkDecisions,
        /// When it changed; `None` if it says the same as the previous one.
        changed_at: Option<Timestamp>,
    },
    /// The known document is no longer shown.
    Hidden(DocumentStanding),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_data_is_small_and_is_read_back() {
        assert_eq!(serde_json::to_string(&UrlHistory::default()).unwrap(), "{}");
        let place = VisitPlace { iteration: Iteration::FIRST, turn: Turn(7), segment: 2, n: 49 };
        let links = LinkDecisions { by: RulesDigest(9), depth: 3 };
        let document = LastDocument { place, outcome: Outcome::FileIngested, standing: DocumentStanding::Shown, links };
        let known = UrlHistory {
            last: None,
            document: Some(document),
            interval_ms: Some(7),
            away: Some(Absence::Gone { since: Timestamp::from_second(5).unwrap() }),
        };
        let stored = serde_json::to_string(&known).unwrap();
        let expected = r#"{"document":{"p":[1,7,2,49],"o":20,"s":"shown","l":[9,3]},"interval_ms":7,"away":{"gone":{"since":"1970-01-01T00:00:05Z"}}}"#;
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_str::<UrlHistory>(&stored).unwrap(), known);
        for standing in DocumentStanding::ALL {
            assert_eq!(DocumentStanding::from_name(standing.name()), Some(standing));
        }
    }

    #[test]
    fn only_lasting_answers_have_a_meaning() {
        for (outcomes, expected, why) in [
            (
                &[Outcome::RequestTimeout, Outcome::ServerInternalError, Outcome::RateLimited][..],
                PageFinding::Nothing,
                "failures",
            ),
            (&[Outcome::UnknownError], PageFinding::Nothing, "the parser broke on it"),
            (
                &[Outcome::BlockedByChallenge, Outcome::BlockedByLogin, Outcome::BlockedByConsent, Outcome::LoggedOut],
                PageFinding::Nothing,
                "a wall may not be shown the next time",
            ),
            (
                &[Outcome::FileNotFound, Outcome::FileGone, Outcome::SoftNotFound],
                PageFinding::Gone,
                "the server says so, in one way or another",
            ),
            (
                &[Outcome::BlockedByRobotsTxt, Outcome::BlockedUrlByLocalPolicy, Outcome::UseReserved],
                PageFinding::Forbidden,
                "a rule says so",
            ),
            (&[Outcome::FileDidNotChange], PageFinding::AsBefore, "304, or the same body"),
            (&[Outcome::LinkWorks], PageFinding::AsBefore, "it was not asked what is there"),
        ] {
            for outcome in outcomes {
                assert_eq!(outcome.page_finding(), expected, "{outcome}: {why}");
            }
        }
        let content = Outcome::ALL.iter().filter(|outcome| outcome.page_finding() == PageFinding::Content);
        assert!(content.clone().all(|outcome| outcome.is_contentful()), "content lasts");
        assert_eq!(content.count(), 7);
    }
}
