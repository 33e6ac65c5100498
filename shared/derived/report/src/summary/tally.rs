//! Counts an iteration's log, row by row.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use dragline_domain::capture::CrawlType;
use dragline_domain::change::ChangeKind;
use dragline_domain::doubt::Doubt;
use dragline_domain::frontier::LeftoverReason;
use dragline_domain::outcome::Outcome;
use dragline_domain::refusal::Refusal;
use dragline_domain::scripted;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::LogRow;
use serde::{Deserialize, Serialize};

use crate::summary::figures::{CanonicalsDoubted, Figures, NotCrawled, OutcomeCount, ScriptedPages, Slow};

/// The number of slowest URLs in the figures.
const SLOWEST: usize = 5;

/// The number of reasons for not crawling in the figures, those with the most URLs first.
const REASONS_MAX: usize = 20;

/// The number of canonical URLs among which the most frequent is sought: the first ones found.
const CANONICALS_MAX: usize = 1_000;

/// Running totals of an iteration's log. Their size depends on the number of deciding rules, not on
/// the number of URLs. They can be stored and continued.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    outcomes: BTreeMap<Outcome, u64>,
    requests: u64,
    pages: u64,
    body_bytes: u64,
    bodies_cut: u64,
    changes: BTreeMap<ChangeKind, u64>,
    remade: u64,
    /// The slowest first.
    slowest: Vec<Slow>,
    /// By outcome and rule.
    #[serde(with = "pairs")]
    not_crawled: HashMap<(Outcome, Option<String>), Reason>,
    /// Absent in what an earlier version stored.
    #[serde(default)]
    refusals: BTreeMap<Refusal, u64>,
    doubted: BTreeMap<Doubt, DoubtCounts>,
    scripted: ScriptedPages,
}

/// Pages with an implausible canonical URL, for one reason.
#[derive(Debug, Default, Serialize, Deserialize)]
struct DoubtCounts {
    pages: u64,
    /// The number of pages by canonical URL.
    by_canonical: BTreeMap<String, u64>,
}

/// URLs that were not requested for one reason.
#[derive(Debug, Serialize, Deserialize)]
struct Reason {
    urls: u64,
    example: String,
}

/// Serialises a map with non-text keys as a list.
mod pairs {
    use std::collections::HashMap;
    use std::hash::Hash;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &HashMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<HashMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Eq + Hash,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl Tally {
    /// Adds a row of the log.
    pub fn add(&mut self, visit: LogRow) {
        if visit.crawl_type == CrawlType::Reparse {
            self.remade += 1;
            return;
        }
        self.body_bytes += visit.body_bytes.unwrap_or(0);
        self.bodies_cut += u64::from(visit.is_cut());
        if visit.r#final {
            *self.outcomes.entry(visit.outcome).or_default() += 1;
            if let Some(refusal) = Refusal::from_answer(visit.outcome, visit.status) {
                *self.refusals.entry(refusal).or_default() += 1;
            }
            self.pages += u64::from(visit.record.is_some());
            if let Some((doubt, canonical)) = visit.detail.as_deref().and_then(Doubt::from_detail) {
                self.doubted.entry(doubt).or_default().add(canonical);
            }
            if visit.detail.as_deref().and_then(scripted::element_from_detail).is_some() {
                self.scripted.add(&visit.url);
            }
            if let Some(change) = visit.change {
                *self.changes.entry(change.kind).or_default() += 1;
            }
        }
        match visit.duration_ms {
            Some(duration_ms) => {
                self.requests += 1;
                self.add_slow(Slow { url: visit.url, duration_ms });
            }
            None if visit.r#final => self.add_reason((visit.outcome, visit.detail), visit.url),
            None => {}
        }
    }

    fn add_slow(&mut self, slow: Slow) {
        self.slowest.push(slow);
        self.slowest.sort_by(|a, b| b.duration_ms.cmp(&a.duration_ms).then_with(|| a.url.cmp(&b.url)));
        self.slowest.truncate(SLOWEST);
    }

    fn add_reason(&mut self, why: (Outcome, Option<String>), url: String) {
        let reason = self.not_crawled.entry(why).or_insert_with(|| Reason { urls: 0, example: url.clone() });
        reason.urls += 1;
        if url < reason.example {
            reason.example = url;
        }
    }

    /// Returns the totals, with the counters of the origins' rows, which must be those of the
    /// latest iteration. The causes and the number of unvisited URLs are left empty.
    #[must_use]
    pub fn figures(self, progress: &Progress) -> Figures {
        let mut not_crawled: Vec<_> = self.not_crawled.into_iter().collect();
        not_crawled.sort_by(|(a_why, a), (b_why, b)| (Reverse(a.urls), a_why).cmp(&(Reverse(b.urls), b_why)));
        not_crawled.truncate(REASONS_MAX);
        let not_crawled = not_crawled.into_iter().map(|((outcome, detail), Reason { urls, example })| NotCrawled {
            outcome: outcome.code(),
            name: outcome.name().to_owned(),
            detail,
            urls,
            example,
        });
        let mut outcomes: Vec<_> = self.outcomes.into_iter().collect();
        outcomes.sort_by_key(|&(outcome, urls)| (Reverse(urls), outcome));
        let mut leftovers: Vec<_> = progress.leftovers.iter().copied().filter(|(_, urls)| *urls > 0).collect();
        leftovers.sort_by_key(|(reason, urls)| (Reverse(*urls), reason.name()));
        let mut canonicals_doubted: Vec<_> =
            self.doubted.into_iter().filter_map(|(why, doubted)| doubted.into_figure(why)).collect();
        canonicals_doubted.sort_by_key(|doubted| (Reverse(doubted.pages), doubted.why));
        Figures {
            waiting: progress.waiting(),
            stuck: Some(progress.parser.stuck),
            drifted: Some(progress.parser.drifted),
            causes: Vec::new(),
            outcomes: outcomes.into_iter().map(|(outcome, urls)| outcome_count(outcome, urls)).collect(),
            refusals: self.refusals,
            requests: self.requests,
            pages: self.pages,
            changes: self.changes,
            remade: self.remade,
            unvisited: None,
            body_bytes: self.body_bytes,
            bodies_cut: self.bodies_cut,
            slowest: self.slowest,
            not_crawled: not_crawled.collect(),
            leftovers,
            is_kept_out: progress.leftovers.iter().any(|(reason, _)| *reason == LeftoverReason::LoggedOut),
            canonicals_doubted,
            scripted: self.scripted,
            links_beyond_budget: Some(progress.parser.links_beyond_budget),
            links_nofollow: Some(progress.parser.links_nofollow),
            urls_stripped: Some(progress.parser.found_stripped),
        }
    }
}

impl DoubtCounts {
    fn add(&mut self, canonical: &str) {
        self.pages += 1;
        if self.by_canonical.len() < CANONICALS_MAX || self.by_canonical.contains_key(canonical) {
            *self.by_canonical.entry(canonical.to_owned()).or_default() += 1;
        }
    }

    fn into_figure(self, why: Doubt) -> Option<CanonicalsDoubted> {
        let pages = self.pages;
        let most = self.by_canonical.into_iter().min_by(|(a, of_a), (b, of_b)| (of_b, a).cmp(&(of_a, b)));
        most.map(|(canonical, named_by)| CanonicalsDoubted { why, pages, canonical, named_by })
    }
}

fn outcome_count(outcome: Outcome, urls: u64) -> OutcomeCount {
    let (name, class) = (outcome.name().to_owned(), outcome.class().name().to_owned());
    OutcomeCount { outcome: outcome.code(), name, class, urls }
}

#[cfg(test)]
mod tests {
    use dragline_domain::change::VisitChange;
    use dragline_formats::warc::Truncation;
    use dragline_ports::reader::RecordPlace;

    use super::*;
    use crate::samples::visit;

    fn record() -> RecordPlace {
        RecordPlace { object: "raw/a".to_owned().try_into().unwrap(), offset: 0, length: 1 }
    }

    /// Returns a visit with a request of this duration.
    fn asked(url: &str, outcome: Outcome, duration_ms: u64) -> LogRow {
        LogRow { duration_ms: Some(duration_ms), ..decided(url, outcome, None) }
    }

    /// Returns a visit without a request.
    fn decided(url: &str, outcome: Outcome, detail: Option<&str>) -> LogRow {
        LogRow { detail: detail.map(str::to_owned), ..visit(url, outcome) }
    }

    fn tally(visits: impl IntoIterator<Item = LogRow>) -> Figures {
        let mut tally = Tally::default();
        visits.into_iter().for_each(|visit| tally.add(visit));
        tally.figures(&Progress::default())
    }

    #[test]
    fn a_visit_that_is_retried_counts_as_a_request_but_not_as_an_outcome() {
        let page = LogRow { record: Some(record()), body_bytes: Some(100), ..asked("/a", Outcome::FileIngested, 5) };
        let again = LogRow { r#final: false, ..asked("/a", Outcome::RequestTimeout, 9) };
        let figures = tally([again, page]);
        assert_eq!((figures.requests, figures.pages, figures.body_bytes), (2, 1, 100));
        let outcomes: Vec<_> =
            figures.outcomes.iter().map(|counted| (&*counted.name, &*counted.class, counted.urls)).collect();
        assert_eq!(outcomes, [("file_ingested", "content", 1)]);
        assert_eq!(figures.not_crawled, [], "both were requested");
    }

    #[test]
    fn refusals_are_counted_by_their_status() {
        let refused =
            |url: &str, status| LogRow { status: Some(status), ..asked(url, Outcome::BlockedAtRequestOfRemote, 5) };
        let figures = tally([refused("/a", 401), refused("/b", 200), refused("/c", 401), refused("/d", 403)]);
        let counted: Vec<_> = figures.refusals.into_iter().collect();
        assert_eq!(counted, [(Refusal::Noindex, 1), (Refusal::LogIn, 2), (Refusal::Denied, 1)]);
    }

    #[test]
    fn changes_are_counted_by_kind() {
        let changed = |kind| {
            let change = Some(VisitChange { kind, parts: Vec::new() });
            LogRow { change, ..asked("/a", Outcome::FileIngested, 5) }
        };
        let retried = LogRow { r#final: false, ..changed(ChangeKind::Changed) };
        let figures = tally([changed(ChangeKind::New), changed(ChangeKind::Gone), changed(ChangeKind::New), retried]);
        let counted: Vec<_> = figures.changes.into_iter().collect();
        assert_eq!(counted, [(ChangeKind::New, 2), (ChangeKind::Gone, 1)], "as they ended");
    }

    #[test]
    fn a_rebuilt_document_is_not_a_visit() {
        let remade = LogRow {
            crawl_type: CrawlType::Reparse,
            r#final: false,
            record: Some(record()),
            body_bytes: Some(100),
            ..decided("/a", Outcome::FileIngested, None)
        };
        let figures = tally([remade.clone(), remade]);
        assert_eq!(figures.remade, 2);
        assert_eq!((figures.requests, figures.pages, figures.body_bytes), (0, 0, 0));
        assert_eq!(
            (figures.outcomes, figures.not_crawled),
            (Vec::new(), Vec::new()),
            "nor a URL that was not requested"
        );
    }

    #[test]
    fn bodies_that_were_cut_for_their_size_are_counted() {
        let cut = |why| LogRow { truncated: Some(why), ..asked("/a", Outcome::FileIngested, 5) };
        let (length, time) = (Truncation::Length, Truncation::Time);
        let figures = tally([cut(length), cut(time), cut(length), asked("/b", Outcome::FileIngested, 5)]);
        assert_eq!(figures.bodies_cut, 2, "no larger limit would have kept what broke off");
    }

    #[test]
    fn only_the_slowest_are_named() {
        let figures = tally((0..9).map(|n| asked(&format!("/{n}"), Outcome::FileIngested, if n < 2 { 50 } else { n })));
        let slowest: Vec<_> = figures.slowest.iter().map(|slow| (&*slow.url, slow.duration_ms)).collect();
        assert_eq!(slowest, [("/0", 50), ("/1", 50), ("/8", 8), ("/7", 7), ("/6", 6)], "ties in order of their URLs");
    }

    #[test]
    fn reasons_are_counted_by_outcome_and_rule() {
        let robots = |url| decided(url, Outcome::BlockedByRobotsTxt, Some("line 2"));
        let figures = tally([robots("/z"), decided("/b", Outcome::BudgetExhausted, None), robots("/c")]);
        let reasons: Vec<_> = figures.not_crawled.iter().map(|reason| (reason.urls, &*reason.example)).collect();
        assert_eq!(reasons, [(2, "/c"), (1, "/b")], "the most frequent first, each with its first URL");
    }

    #[test]
    fn reasons_without_leftovers_are_left_out() {
        use dragline_domain::frontier::LeftoverReason::{BudgetExhausted, OriginGivenUp, Stopped};
        let leftovers = vec![(Stopped, 0), (OriginGivenUp, 2), (BudgetExhausted, 7)];
        let figures = Tally::default().figures(&Progress { leftovers, ..Progress::default() });
        let expected = [(BudgetExhausted, 7), (OriginGivenUp, 2)];
        assert_eq!(figures.leftovers, expected, "most URLs first");
    }
}
