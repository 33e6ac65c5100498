//! Telling people what happens.

use std::collections::BTreeMap;
use std::future::Future;

use dragline_domain::change::{ChangeKind, changes_in_words};
use dragline_domain::frontier::{IterationRow, LeftoverReason, OriginKey};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::shown::{one_line, plural};
use serde::{Deserialize, Serialize};

use super::error::PortResult;
use super::publications::ReportPlace;

/// The most characters of a notice's text.
const WORDS_CHARS_MAX: usize = 1_000;

/// Something that a person may want to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// An iteration closed.
    IterationClosed(ClosedIteration),
    /// An iteration should have begun while the last one was still running.
    StartSkipped {
        /// What asked for it.
        trigger: TriggerId,
        /// The iteration that is running.
        running: IterationRow,
    },
    /// The report on an iteration is there.
    ReportWritten {
        /// The crawl.
        crawl: CrawlId,
        /// The iteration.
        iteration: Iteration,
        /// Where it is.
        place: ReportPlace,
        /// How many of what an owner may want to change it names, by kind. Kinds of which there are none are left out.
        findings: BTreeMap<String, u64>,
    },
    /// An origin ended with work left.
    OriginEnded {
        /// Whose.
        origin: OriginKey,
        /// Why.
        reason: LeftoverReason,
        /// URLs left.
        count: u64,
    },
    /// A capture broke the parser.
    Stuck {
        /// Whose.
        origin: OriginKey,
        /// Which capture, and how.
        detail: String,
    },
    /// The items of pages have other fields than before: their template has changed.
    Drifted {
        /// Whose.
        origin: OriginKey,
        /// What changed, and on which page.
        detail: String,
    },
    /// An origin joined the scope.
    OriginJoined {
        /// The origin that redirects there.
        from: OriginKey,
        /// The one that joined.
        origin: dragline_domain::url::Origin,
    },
    /// URLs of a command were left out, while others of it are visited.
    UrlsRefused {
        /// The crawl.
        crawl: CrawlId,
        /// How many.
        urls: u64,
        /// Why the first one was.
        detail: String,
    },
    /// A sitemap gives nothing.
    SitemapUseless {
        /// Of the origin that has it, or names it.
        origin: OriginKey,
        /// Which sitemap, and why.
        detail: String,
    },
    /// robots.txt could not be read. It is tried again, or the origin is given up.
    RobotsUnreadable {
        /// Whose.
        origin: OriginKey,
        /// Why.
        detail: String,
    },
}

/// An iteration that closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedIteration {
    /// The iteration.
    #[serde(flatten)]
    pub row: IterationRow,
    /// What its visits changed in the current state of the site, by kind. Empty while the notice is kept, as they are added up when it is sent; and
    /// if they cannot be, or are no longer known because the next iteration began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<ChangeKind, u64>,
}

impl ClosedIteration {
    /// Returns its text for people.
    fn words(&self) -> String {
        let changes = changes_in_words(&self.changes).map_or_else(String::new, |changes| format!(": {changes}"));
        format!("iteration {} is over{changes}", self.row.number)
    }
}

impl From<IterationRow> for ClosedIteration {
    fn from(row: IterationRow) -> Self {
        Self { row, changes: BTreeMap::new() }
    }
}

impl Notice {
    /// Returns the crawl that it is about.
    #[must_use]
    pub const fn crawl(&self) -> &CrawlId {
        match self {
            Self::IterationClosed(ClosedIteration { row, .. }) | Self::StartSkipped { running: row, .. } => &row.crawl,
            Self::UrlsRefused { crawl, .. } | Self::ReportWritten { crawl, .. } => crawl,
            Self::OriginEnded { origin, .. }
            | Self::Stuck { origin, .. }
            | Self::Drifted { origin, .. }
            | Self::SitemapUseless { origin, .. }
            | Self::RobotsUnreadable { origin, .. }
            | Self::OriginJoined { from: origin, .. } => &origin.crawl,
        }
    }

    /// Returns its text for people, on one line with control characters escaped. It does not name the crawl: a caller with several adds that.
    #[must_use]
    pub fn words(&self) -> String {
        let words = match self {
            Self::IterationClosed(closed) => closed.words(),
            Self::ReportWritten { iteration, place, .. } => {
                format!("the report on iteration {iteration} is written: {}", place.link)
            }
            Self::StartSkipped { trigger, running } => {
                format!("{trigger} did not begin an iteration: iteration {} is still running", running.number)
            }
            Self::OriginEnded { origin, reason, count } => {
                format!("{}: {}; {} left over", origin.origin, reason.words(), plural(*count, "URL"))
            }
            Self::Stuck { origin, detail } => format!("{}: stuck: {detail}", origin.origin),
            Self::Drifted { origin, detail } => format!("{}: pages changed: {detail}", origin.origin),
            Self::SitemapUseless { detail, .. } => format!("a sitemap gives nothing: {detail}"),
            Self::OriginJoined { from, origin } => {
                format!("{origin} joined the crawl: {} redirects there", from.origin)
            }
            Self::UrlsRefused { urls, detail, .. } => {
                format!("{} left out; the first: {detail}", plural(*urls, "demanded URL"))
            }
            Self::RobotsUnreadable { origin, detail } => format!("{}: {detail}", origin.origin),
        };
        one_line(&words, WORDS_CHARS_MAX)
    }

    /// Returns the kind of notice in one word, for filters and keys.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::IterationClosed(_) => "iteration_closed",
            Self::ReportWritten { .. } => "report_written",
            Self::StartSkipped { .. } => "start_skipped",
            Self::OriginEnded { .. } => "origin_ended",
            Self::Stuck { .. } => "stuck",
            Self::Drifted { .. } => "drifted",
            Self::SitemapUseless { .. } => "sitemap_useless",
            Self::OriginJoined { .. } => "origin_joined",
            Self::UrlsRefused { .. } => "urls_refused",
            Self::RobotsUnreadable { .. } => "robots_unreadable",
        }
    }
}

/// Tells people.
pub trait Notifier: Send + Sync {
    /// Sends a notice. May send it twice after a crash. Steps call this only through `tell`, as no step may fail because of it.
    fn notify(&self, notice: Notice) -> impl Future<Output = PortResult<()>> + Send;
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::Reserve;
    use dragline_domain::ids::Iteration;
    use jiff::Timestamp;

    use super::*;

    fn closed(changes: &[(ChangeKind, u64)]) -> Notice {
        let (crawl, at, trigger) = ("docs".parse().unwrap(), Timestamp::UNIX_EPOCH, TriggerId("t".into()));
        let row = IterationRow::begin(crawl, Iteration::FIRST, trigger, Reserve::default(), at, None, at);
        Notice::IterationClosed(ClosedIteration { changes: changes.iter().copied().collect(), ..row.into() })
    }

    #[test]
    fn the_end_of_an_iteration_says_what_changed() {
        let changes = [(ChangeKind::New, 12), (ChangeKind::Gone, 1), (ChangeKind::Unchanged, 900)];
        for (notice, expected, why) in [
            (closed(&changes), "iteration 1 is over: 12 new, 1 gone", "what changed"),
            (closed(&changes[2..]), "iteration 1 is over: nothing changed", "all was visited in vain"),
            (closed(&[]), "iteration 1 is over", "it is not known"),
        ] {
            assert_eq!(notice.words(), expected, "{why}");
            let stored = serde_json::to_string(&notice).unwrap();
            assert_eq!(serde_json::from_str::<Notice>(&stored).unwrap(), notice, "{why}");
        }
    }

    #[test]
    fn a_notice_that_an_earlier_version_kept_is_still_read() {
        let Notice::IterationClosed(ClosedIteration { row, .. }) = closed(&[]) else { panic!("it closed") };
        let kept = serde_json::json!({ "iteration_closed": row });
        assert_eq!(serde_json::from_value::<Notice>(kept).unwrap(), closed(&[]));
    }

    #[test]
    fn notices_are_one_harmless_line() {
        let origin = OriginKey { crawl: "example".parse().unwrap(), origin: "https://example.org".parse().unwrap() };
        let joined = "https://www.example.org".parse().unwrap();
        for (notice, expected) in [
            (
                Notice::OriginEnded { origin: origin.clone(), reason: LeftoverReason::OriginGivenUp, count: 1_234 },
                "https://example.org: given up after too many failures; 1,234 URLs left over",
            ),
            (
                Notice::Stuck { origin: origin.clone(), detail: "https://example.org/a\u{1b}[2J\nbroke".to_owned() },
                "https://example.org: stuck: https://example.org/a\\u{1b}[2J broke",
            ),
            (
                Notice::OriginJoined { from: origin.clone(), origin: joined },
                "https://www.example.org joined the crawl: https://example.org redirects there",
            ),
            (
                Notice::RobotsUnreadable { origin, detail: "robots.txt answered 503".to_owned() },
                "https://example.org: robots.txt answered 503",
            ),
        ] {
            assert_eq!(notice.words(), expected);
        }
    }
}
