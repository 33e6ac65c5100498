//! Notices for people about events of a crawl.

use std::collections::BTreeMap;
use std::future::Future;

use dragline_domain::change::{ChangeKind, changes_in_words};
use dragline_domain::frontier::{IterationRow, LeftoverReason, OriginKey};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::no_answer::NoAnswer;
use dragline_domain::shown::{one_line, plural};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::PortResult;
use super::fetcher::BodyLimit;
use super::publications::ReportPlace;

/// The limit on a notice's text, in characters.
const WORDS_CHARS_MAX: usize = 1_000;

/// An event that a person may want to know about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// An iteration closed.
    IterationClosed(ClosedIteration),
    /// An iteration was due to begin while the last one was still running.
    StartSkipped {
        /// The trigger of the skipped iteration.
        trigger: TriggerId,
        /// The iteration that is running.
        running: IterationRow,
    },
    /// The report on an iteration is published.
    ReportWritten {
        /// The crawl.
        crawl: CrawlId,
        /// The iteration.
        iteration: Iteration,
        /// Its place.
        place: ReportPlace,
        /// The number of its findings, by kind; kinds without findings are absent.
        findings: BTreeMap<String, u64>,
    },
    /// An origin was given up, or ended with work left.
    OriginEnded {
        /// The origin.
        origin: OriginKey,
        /// The reason.
        reason: LeftoverReason,
        /// URLs left.
        count: u64,
    },
    /// A capture broke the parser.
    Stuck {
        /// The origin.
        origin: OriginKey,
        /// The capture and the failure.
        detail: String,
    },
    /// The fields of the items of pages changed, so their template has changed.
    Drifted {
        /// The origin.
        origin: OriginKey,
        /// The change, and a page with it.
        detail: String,
    },
    /// Origins joined the scope. Only the first ones of an iteration have a notice of their own.
    OriginJoined {
        /// The origin that redirects there.
        from: OriginKey,
        /// The first origin that joined.
        origin: dragline_domain::url::Origin,
        /// How many joined with it, itself included.
        #[serde(default = "one")]
        count: u64,
    },
    /// Some URLs of a command were left out, while its others are visited.
    UrlsRefused {
        /// The crawl.
        crawl: CrawlId,
        /// How many.
        urls: u64,
        /// Why the first one was left out.
        detail: String,
    },
    /// A sitemap yields nothing.
    SitemapUseless {
        /// The origin that has the sitemap or names it.
        origin: OriginKey,
        /// The sitemap and the reason.
        detail: String,
    },
    /// Only the beginning of a body was kept, as it is larger than a limit.
    BodyCut {
        /// The origin.
        origin: OriginKey,
        /// The URL.
        url: String,
        /// The limit.
        limit: BodyLimit,
    },
    /// robots.txt could not be read. Either it is tried again, or the origin is given up.
    RobotsUnreadable {
        /// The origin.
        origin: OriginKey,
        /// The reason.
        detail: String,
    },
}

/// An iteration that closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedIteration {
    /// The iteration.
    #[serde(flatten)]
    pub row: IterationRow,
    /// What its visits changed in the current state of the site, by kind. Empty while the notice is
    /// stored, as the sum is computed when it is sent; also if that fails, or if the next iteration
    /// has begun and the changes are no longer known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<ChangeKind, u64>,
    /// How many URLs are left over, by reason, over all origins: only the first origin that ends
    /// for a reason has its own notice. Empty while the notice is stored, as the sum is computed
    /// when it is sent; also if that fails.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub leftovers: BTreeMap<LeftoverReason, u64>,
    /// How many links were not followed because the budget of the iteration (pages or origins) or
    /// of the page was spent. 0 under the same conditions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub links_beyond_budget: u64,
    /// How many origins joined the scope during it. 0 under the same conditions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origins_joined: u64,
    /// How many bodies were cut for their size; only the first of them has its own notice. 0 under
    /// the same conditions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bodies_cut: u64,
    /// How many documents are STUCK; only the first for each reason has its own notice. 0 under the
    /// same conditions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stuck: u64,
}

/// The count in a notice that an earlier version stored.
const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ClosedIteration {
    /// Returns its text for people.
    fn words(&self) -> String {
        let changes = changes_in_words(&self.changes).map_or_else(String::new, |changes| format!(": {changes}"));
        let left = self.leftovers.iter().map(|(reason, count)| {
            let urls = plural(*count, "URL");
            format!("; {urls} left over: {}", reason.words())
        });
        let left = left.collect::<String>();
        let beyond = match self.links_beyond_budget {
            0 => String::new(),
            links => format!("; {} not followed: beyond the budget", plural(links, "link")),
        };
        let joined = match self.origins_joined {
            0 => String::new(),
            origins => format!("; {} joined", plural(origins, "origin")),
        };
        let cut = match self.bodies_cut {
            0 => String::new(),
            bodies => format!("; {} cut at a limit of size", plural(bodies, "answer")),
        };
        let stuck = match self.stuck {
            0 => String::new(),
            documents => format!("; {} stuck", plural(documents, "document")),
        };
        format!("iteration {} is over{changes}{left}{beyond}{joined}{cut}{stuck}", self.row.number)
    }
}

impl From<IterationRow> for ClosedIteration {
    fn from(row: IterationRow) -> Self {
        let (changes, leftovers) = (BTreeMap::new(), BTreeMap::new());
        Self { row, changes, leftovers, links_beyond_budget: 0, origins_joined: 0, bodies_cut: 0, stuck: 0 }
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
            | Self::BodyCut { origin, .. }
            | Self::RobotsUnreadable { origin, .. }
            | Self::OriginJoined { from: origin, .. } => &origin.crawl,
        }
    }

    /// Returns its text for people, on one line with control characters escaped. It does not name
    /// the crawl; callers with several add that.
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
                let left = (*count > 0).then(|| format!("; {} left over", plural(*count, "URL")));
                format!("{}: {}{}", origin.origin, reason.words(), left.unwrap_or_default())
            }
            Self::Stuck { origin, detail } => format!("{}: stuck: {detail}", origin.origin),
            Self::Drifted { origin, detail } => format!("{}: pages changed: {detail}", origin.origin),
            Self::SitemapUseless { detail, .. } => format!("a sitemap gives nothing: {detail}"),
            // The URL may be long; the text is cut at its end.
            Self::BodyCut { url, limit, .. } => format!("a body was cut, as {}; the first: {url}", limit.words()),
            Self::OriginJoined { from, origin, count: ..=1 } => {
                format!("{origin} joined the crawl: {} redirects there", from.origin)
            }
            Self::OriginJoined { from, origin, count } => {
                format!("{origin} and {} more joined the crawl: {} redirects there", count - 1, from.origin)
            }
            Self::UrlsRefused { urls, detail, .. } => {
                format!("{} left out; the first: {detail}", plural(*urls, "demanded URL"))
            }
            Self::RobotsUnreadable { origin, detail } => format!("{}: {detail}", origin.origin),
        };
        one_line(&words, WORDS_CHARS_MAX)
    }

    /// Returns the reason that all notices of this kind share, which people need to read only once
    /// in an iteration. `None` if each notice of this kind is news.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::OriginEnded { reason, .. } => Some(reason.name()),
            Self::BodyCut { limit, .. } => Some(limit.name()),
            Self::OriginJoined { .. } => Some("a seed moved"),
            Self::RobotsUnreadable { detail, .. } => {
                Some(NoAnswer::from_detail(detail).map_or("answer that gives no rules", NoAnswer::words))
            }
            Self::IterationClosed(_)
            | Self::ReportWritten { .. }
            | Self::StartSkipped { .. }
            | Self::Stuck { .. }
            | Self::Drifted { .. }
            | Self::SitemapUseless { .. }
            | Self::UrlsRefused { .. } => None,
        }
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
            Self::BodyCut { .. } => "body_cut",
            Self::OriginJoined { .. } => "origin_joined",
            Self::UrlsRefused { .. } => "urls_refused",
            Self::RobotsUnreadable { .. } => "robots_unreadable",
        }
    }
}

/// A channel for notices to people.
pub trait Notifier: Send + Sync {
    /// Sends a notice, possibly twice after a crash. It came to be owed at `since`, which is the
    /// same at each try: with the crawl and the kind, it identifies the notice. Steps call this
    /// only through `tell`, as no step may fail because of it.
    fn notify(&self, notice: Notice, since: Timestamp) -> impl Future<Output = PortResult<()>> + Send;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dragline_domain::frontier::Reserve;
    use dragline_domain::ids::Iteration;

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
    fn the_end_of_an_iteration_counts_leftovers_and_cut_bodies() {
        let Notice::IterationClosed(closed) = closed(&[(ChangeKind::New, 12)]) else { panic!("it closed") };
        let leftovers = [(LeftoverReason::Stopped, 1), (LeftoverReason::OriginGivenUp, 2_000)].into();
        let (links_beyond_budget, origins_joined, bodies_cut, stuck) = (39_500, 1, 3, 2);
        let counted = ClosedIteration { leftovers, links_beyond_budget, origins_joined, bodies_cut, stuck, ..closed };
        let notice = Notice::IterationClosed(counted);
        let expected = "iteration 1 is over: 12 new; 1 URL left over: stopped; \
                        2,000 URLs left over: given up after too many failures; \
                        39,500 links not followed: beyond the budget; 1 origin joined; 3 answers cut at a limit of size; \
                        2 documents stuck";
        assert_eq!(notice.words(), expected);
        let stored = serde_json::to_string(&notice).unwrap();
        assert_eq!(serde_json::from_str::<Notice>(&stored).unwrap(), notice);
    }

    #[test]
    fn notices_of_many_origins_share_a_few_reasons() {
        let origin =
            |n| OriginKey { crawl: "docs".parse().unwrap(), origin: format!("https://h{n}.example").parse().unwrap() };
        let robots = |n, detail: String| Notice::RobotsUnreadable { origin: origin(n), detail };
        for (notice_of, why) in [
            (
                (&|n| robots(n, NoAnswer::HostNotFound.detail(&format!("h{n}.example")))) as &dyn Fn(u32) -> Notice,
                "no host",
            ),
            (&|n| robots(n, format!("status {n}")), "the server chooses the words"),
            (
                &|n| Notice::OriginJoined { from: origin(n), origin: origin(n + 1).origin, count: u64::from(n) },
                "seeds move alike",
            ),
            (
                &|n| Notice::OriginEnded {
                    origin: origin(n),
                    reason: LeftoverReason::RobotsUnreadable,
                    count: u64::from(n),
                },
                "they end alike",
            ),
        ] {
            let reasons: BTreeSet<_> = (0..100).map(|n| notice_of(n).reason()).collect();
            assert_eq!((reasons.len(), reasons.contains(&None)), (1, false), "{why}");
        }
        let away = robots(1, NoAnswer::TimedOut.detail("h1.example"));
        assert_ne!(away.reason(), robots(1, "status 503".to_owned()).reason(), "each reason is told");
    }

    #[test]
    fn a_notice_stored_by_an_earlier_version_is_still_read() {
        let Notice::IterationClosed(ClosedIteration { row, .. }) = closed(&[]) else { panic!("it closed") };
        let kept = serde_json::json!({ "iteration_closed": row });
        assert_eq!(serde_json::from_value::<Notice>(kept).unwrap(), closed(&[]));
    }

    #[test]
    fn notices_are_one_escaped_line() {
        let origin = OriginKey { crawl: "example".parse().unwrap(), origin: "https://example.org".parse().unwrap() };
        let joined: dragline_domain::url::Origin = "https://www.example.org".parse().unwrap();
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
                Notice::OriginJoined { from: origin.clone(), origin: joined.clone(), count: 1 },
                "https://www.example.org joined the crawl: https://example.org redirects there",
            ),
            (
                Notice::BodyCut {
                    origin: origin.clone(),
                    url: "https://example.org/v".to_owned(),
                    limit: BodyLimit::Received,
                },
                "a body was cut, as it is larger than `fetch.body_bytes_max`: raise `fetch.body_bytes_max` to keep all of such \
                 bodies; the first: https://example.org/v",
            ),
            (
                Notice::OriginJoined { from: origin.clone(), origin: joined, count: 3 },
                "https://www.example.org and 2 more joined the crawl: https://example.org redirects there",
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
