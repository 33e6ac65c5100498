//! Decides at reading time whether pages with a canonical URL are copies, by the latest endings of
//! the URLs in the chain.

use std::collections::{BTreeSet, HashMap};

use dragline_domain::canonical::{CanonicalWay, Ending, Verdict};
use dragline_domain::capture::{Finality, LogEntry, SegmentLog};
use dragline_domain::ids::CrawlId;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{CandidateRow, LogRow};

use super::rows::Copy;
use crate::frontier::DynamoFrontier;
use crate::rows::known::KnownUrl;

/// Whether an outcome may change once the ending of a canonical URL is known.
const fn may_change(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::FileIngested | Outcome::FileDidNotChange | Outcome::NotCanonical)
}

/// The state of the URLs that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecidingState {
    /// Their last endings.
    LastEnding,
    /// The pages that they show now.
    Now,
}

/// The data for deciding about the pages of a crawl.
#[derive(Clone, Copy)]
pub(super) struct Canonicals<'s> {
    pub(super) frontier: &'s DynamoFrontier,
    pub(super) crawl: &'s CrawlId,
    pub(super) by: DecidingState,
}

impl Canonicals<'_> {
    /// Decides about the visits of a segment, whose rows are in log order.
    pub(super) async fn decide_visits(self, log: &SegmentLog, mut rows: Vec<LogRow>) -> PortResult<Vec<LogRow>> {
        let undecided = |entry: &LogEntry| entry.visit.finality == Finality::Final && may_change(entry.visit.outcome);
        // A visit without a change lacks its target, and no visit has the print of its text.
        let wanted = |entry: &&LogEntry| entry.unchanged_since.is_some() || entry.redirect.is_some();
        let wanted = log.entries.iter().filter(|entry| undecided(entry)).filter(wanted);
        let known = self.load(wanted.map(|entry| entry.url.clone()).collect()).await?;
        let mut pages = Vec::new();
        for (n, entry) in log.entries.iter().enumerate().filter(|(_, entry)| undecided(entry)) {
            let page = match entry.unchanged_since {
                Some(_) => known.get(&entry.url).cloned().flatten(),
                None => {
                    let leads_to = entry.redirect.as_ref().map(|redirect| redirect.target.clone());
                    let ending = Ending::new(entry.url.clone(), entry.visit.outcome, None, leads_to);
                    Some(match known.get(&entry.url) {
                        Some(Some(now)) => ending.like(now),
                        _ => ending,
                    })
                }
            };
            pages.extend(page.map(|page| (n, page)));
        }
        for (n, canonical, verdict) in self.decide(pages).await? {
            let is_copy = verdict == Verdict::Copy;
            let was_read = log.entries[n].unchanged_since.is_none();
            let row = &mut rows[n];
            row.outcome = decided(is_copy, was_read);
            match verdict {
                Verdict::Copy => row.detail = Some(format!("its canonical URL is {canonical}")),
                Verdict::Stands(doubt) if log.entries[n].visit.outcome == Outcome::NotCanonical => {
                    row.detail = doubt.map(|doubt| doubt.detail(canonical.as_str()));
                }
                Verdict::Stands(_) => {}
            }
        }
        Ok(rows)
    }

    /// Decides about known URLs, whose rows are in the same order.
    pub(super) async fn decide_candidates(
        self,
        known: &[KnownUrl],
        mut rows: Vec<CandidateRow>,
    ) -> PortResult<Vec<CandidateRow>> {
        let urls = rows.iter().map(|row| CrawlUrl::try_from(row.url.clone()).ok());
        let endings = urls.zip(known).map(|(url, known)| self.by.ending(url?, known));
        let pages = endings.enumerate().filter_map(|(n, page)| Some((n, page?))).collect();
        for (n, _, verdict) in self.decide(pages).await? {
            let is_copy = verdict == Verdict::Copy;
            let known = &known[n];
            let fetched_at = known.known.last.as_ref().map(|capture| capture.fetched_at);
            rows[n].last_outcome = Some(decided(is_copy, known.last.map(|last| last.at) == fetched_at));
        }
        Ok(rows)
    }

    /// Decides about current pages: returns for each of them, in order, whether it is a copy.
    pub(super) async fn are_copies(self, pages: &[(CrawlUrl, KnownUrl)]) -> PortResult<Vec<Copy>> {
        let endings = pages.iter().map(|(url, known)| self.by.ending(url.clone(), known));
        let undecided = endings.enumerate().filter_map(|(n, page)| Some((n, page?))).collect();
        let mut copies = vec![Copy::Original; pages.len()];
        for (n, _, verdict) in self.decide(undecided).await? {
            copies[n] = if verdict == Verdict::Copy { Copy::OfAnother } else { Copy::Original };
        }
        Ok(copies)
    }

    /// For pages with a canonical URL, returns that URL, and the verdict.
    async fn decide(self, pages: Vec<(usize, Ending)>) -> PortResult<Vec<(usize, CrawlUrl, Verdict)>> {
        let undecided = pages.into_iter().filter(|(_, page)| page.is_undecided());
        let mut ways: Vec<_> = undecided.map(|(n, page)| (n, CanonicalWay::from(page))).collect();
        let canonicals: Vec<CrawlUrl> = ways.iter().filter_map(|(_, way)| way.next().cloned()).collect();
        let mut known: HashMap<CrawlUrl, Option<Ending>> = HashMap::new();
        loop {
            for (_, way) in &mut ways {
                while let Some(ending) = way.next().and_then(|next| known.get(next)) {
                    way.add(ending.clone());
                }
            }
            let wanted: BTreeSet<CrawlUrl> = ways.iter().filter_map(|(_, way)| way.next().cloned()).collect();
            if wanted.is_empty() {
                break;
            }
            known.extend(self.load(wanted).await?);
        }
        Ok(ways.into_iter().zip(canonicals).map(|((n, way), canonical)| (n, canonical, way.verdict())).collect())
    }

    /// Returns the last endings of URLs, without those that have not ended.
    async fn load(self, urls: BTreeSet<CrawlUrl>) -> PortResult<HashMap<CrawlUrl, Option<Ending>>> {
        let urls: Vec<CrawlUrl> = urls.into_iter().collect();
        let known = self.frontier.load_known_urls(self.crawl, &urls).await?;
        let endings = urls.into_iter().map(|url| {
            let ending = known.get(&url).and_then(|known| self.by.ending(url.clone(), known));
            (url, ending)
        });
        Ok(endings.collect())
    }
}

impl DecidingState {
    /// Returns the target of a known URL; `None` if it has none yet, or is not shown.
    fn ending(self, url: CrawlUrl, known: &KnownUrl) -> Option<Ending> {
        let leads_to = known.leads_to.clone();
        match self {
            Self::LastEnding => {
                let of_body = known.known.last.as_ref().map(|capture| capture.outcome);
                Some(Ending::new(url, known.last?.outcome, of_body, leads_to).with(known.text, known.namers))
            }
            Self::Now => {
                let document = known.shown()?;
                Some(Ending::new(url, document.outcome, None, leads_to).with(known.text, known.namers))
            }
        }
    }
}

/// Returns the outcome of a page with a canonical URL.
const fn decided(is_copy: bool, was_read: bool) -> Outcome {
    match (is_copy, was_read) {
        (true, _) => Outcome::NotCanonical,
        (false, true) => Outcome::FileIngested,
        (false, false) => Outcome::FileDidNotChange,
    }
}
