//! The [`Remaking`] over a stack.
//!
//! Effects in order, for each segment: the intent is recorded; then the documents, the log and the
//! candidates are put; then the progress and the iteration's counters, in one transaction. After a
//! crash at any point, a repetition writes the same, and counts by the recorded intent. Each write
//! holds only while the replaced row is as it was read, so rows that others delete stay deleted.
//! The first and last write are refused once an iteration begins: the segment is then put again
//! when the work continues, together with everything compared with it.

mod changes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dragline_domain::capture::{Finality, LogEntry};
use dragline_domain::change::VisitChange;
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow, StateChange};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::remake::{Recount, RemadeVisit, RemakeJob, RemakeState, Rewrite};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};
use jiff::Timestamp;
use tokio::sync::Mutex;

use self::changes::LastChanges;
use crate::documents::S3Documents;
use crate::errors::{StoreError, at};
use crate::frontier::{DynamoFrontier, Latest, WriteResult};
use crate::rows::remade::RemadeCandidate;
use crate::rows::remake::{Intent, RemakeRow};

/// Remakes the documents of a stack.
#[derive(Clone)]
pub struct DynamoRemaking {
    frontier: DynamoFrontier,
    documents: S3Documents,
    last_changes: Arc<Mutex<LastChanges>>,
}

impl DynamoRemaking {
    /// Returns the adapter for these stores.
    #[must_use]
    pub fn new(frontier: DynamoFrontier, documents: S3Documents) -> Self {
        Self { frontier, documents, last_changes: Arc::default() }
    }
}

impl Remaking for DynamoRemaking {
    async fn begin_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<RemakeBegun> {
        at("begin making documents again", crawl, async {
            // Earlier reads belong to another walk.
            *self.last_changes.lock().await = LastChanges::default();
            let mut rounds = self.frontier.rounds();
            loop {
                rounds.begin().await?;
                let next = match self.frontier.latest_end(crawl).await? {
                    Latest::Open(open) => return Ok(RemakeBegun::Busy(open)),
                    Latest::Closed(next) => next,
                };
                let row = self.frontier.remake_row(crawl).await?;
                if let Some(stopped) = row.state.as_ref().filter(|stopped| stopped.job == *job) {
                    return Ok(RemakeBegun::From(stopped.clone()));
                }
                let begun = RemakeState::begin(job.clone());
                if self.frontier.put_remake(crawl, next, (&row, &begun, None)).await? == WriteResult::Done {
                    return Ok(RemakeBegun::From(begun));
                }
            }
        })
        .await
    }

    async fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> PortResult<Vec<SegmentRow>> {
        at("list segments", origin, self.frontier.parsed_segments(origin, after, limit)).await
    }

    async fn replace(&self, replacement: Replacement<'_>) -> PortResult<ReplaceResult> {
        at("replace documents", &replacement.segment.id, async {
            let mut rounds = self.frontier.rounds();
            loop {
                rounds.begin().await?;
                if let Some(replaced) = self.try_to_replace(replacement).await? {
                    return Ok(replaced);
                }
            }
        })
        .await
    }

    async fn end_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<()> {
        at("end making documents again", crawl, async {
            let mut rounds = self.frontier.rounds();
            loop {
                rounds.begin().await?;
                let row = self.frontier.remake_row(crawl).await?;
                let is_other = row.state.as_ref().is_none_or(|state| state.job != *job);
                if is_other || self.frontier.end_remake_row(crawl, &row).await? == WriteResult::Done {
                    return Ok(());
                }
            }
        })
        .await
    }
}

impl DynamoRemaking {
    /// Tries to replace a segment's documents; `None` if a row has changed since it was read.
    async fn try_to_replace(&self, replacement: Replacement<'_>) -> Result<Option<ReplaceResult>, StoreError> {
        let Replacement { segment, state, .. } = replacement;
        let crawl = &segment.id.origin.crawl;
        let row = self.frontier.remake_row(crawl).await?;
        match row.state.as_ref().filter(|stored| stored.job == state.job) {
            None => return Ok(Some(ReplaceResult::Superseded)),
            Some(stored) if stored.has_passed(&segment.id) => return Ok(Some(ReplaceResult::Done(stored.done))),
            Some(_) => {}
        }
        let next = match self.frontier.latest_end(crawl).await? {
            Latest::Open(open) => return Ok(Some(ReplaceResult::Busy(open))),
            Latest::Closed(next) => next,
        };
        let Some((row, intent)) = self.intend(&row, replacement, next).await? else { return Ok(None) };
        self.put(replacement).await?;
        let written = self.frontier.put_remade(segment, next, (&row, &intent.state, &intent.recount)).await?;
        Ok((written == WriteResult::Done).then_some(ReplaceResult::Done(intent.state.done)))
    }

    /// Records the intent, unless an earlier try did. Returns the row and the intent; `None` if the
    /// row has changed meanwhile.
    async fn intend(
        &self,
        row: &RemakeRow,
        Replacement { segment, visits, state }: Replacement<'_>,
        next: Iteration,
    ) -> Result<Option<(RemakeRow, Intent)>, StoreError> {
        let is_of_segment = |intent: &&Intent| intent.state.job == state.job && intent.state.after == state.after;
        if let Some(earlier) = row.intent.as_ref().filter(is_of_segment) {
            return Ok(Some((row.clone(), earlier.clone())));
        }
        let crawl = &segment.id.origin.crawl;
        let intent = Intent { state: state.clone(), recount: self.recount(segment, visits).await? };
        if visits.is_empty() {
            return Ok(Some((row.clone(), intent)));
        }
        let Some(before) = &row.state else { return Ok(None) };
        if self.frontier.put_remake(crawl, next, (row, before, Some(&intent))).await? == WriteResult::Changed {
            return Ok(None);
        }
        let row = self.frontier.remake_row(crawl).await?;
        Ok((row.intent.as_ref() == Some(&intent)).then_some((row, intent)))
    }

    /// Returns the counts of the visits that are still stored.
    async fn recount(&self, segment: &SegmentRow, visits: &[RemadeVisit]) -> Result<Recount, StoreError> {
        let mut recount = Recount::default();
        if visits.iter().all(|visit| visit.recount.less == visit.recount.more && visit.change == Rewrite::Keep) {
            return Ok(recount);
        }
        let Some(log) = self.frontier.logged(segment).await? else {
            visits.iter().for_each(|visit| recount.add(&visit.recount));
            return Ok(recount);
        };
        for entry in &log.entries {
            let Some(visit) = find_visit(visits, entry) else { continue };
            recount.add(&visit.recount);
            if let Rewrite::With(change) = &visit.change {
                let kind = |change: &Option<_>| change.as_ref().map(|change: &VisitChange| change.kind);
                recount.add_change(kind(&entry.change), kind(change));
            }
        }
        Ok(recount)
    }

    /// Puts the documents, the log and the candidates of the visits that are still stored.
    async fn put(&self, Replacement { segment, visits, .. }: Replacement<'_>) -> Result<(), StoreError> {
        if visits.is_empty() {
            return Ok(());
        }
        let place = |stored: &Document| -> Document {
            let made = visits.iter().find(|visit| is_visit(visit, stored.n, &stored.url));
            made.map_or_else(|| stored.clone(), |visit| visit.document.clone())
        };
        let changed = self.documents.change(segment, |stored| stored.iter().map(place).collect()).await?;
        let Some(changed) = changed else { return Ok(()) };
        let is_there = |visit: &&RemadeVisit| changed.after.iter().any(|stored| is_visit(visit, stored.n, &stored.url));
        let visits: Vec<&RemadeVisit> = visits.iter().filter(is_there).collect();
        let finals = self.frontier.change_log(segment, |entries| {
            let mut finals: Vec<(u32, bool)> = Vec::new();
            for entry in entries.iter_mut() {
                if let Some(visit) = visits.iter().copied().find(|visit| is_visit(visit, entry.n, &entry.url)) {
                    finals.push((entry.n, entry.visit.finality == Finality::Final));
                    rewrite(entry, visit);
                }
            }
            finals
        });
        let finals: HashMap<u32, bool> = finals.await?.into_iter().flatten().collect();
        self.put_candidates(segment, visits, &finals).await
    }

    async fn put_candidates(
        &self,
        segment: &SegmentRow,
        mut visits: Vec<&RemadeVisit>,
        finals: &HashMap<u32, bool>,
    ) -> Result<(), StoreError> {
        let mut rounds = self.frontier.rounds();
        while !visits.is_empty() {
            rounds.begin().await?;
            let items = self.frontier.load_visit_candidates(&segment.id.origin, &visits).await?;
            let mut changes = Vec::with_capacity(visits.len());
            for &visit in &visits {
                let Some(item) = items.get(&visit.document.n) else { continue };
                let is_final = finals.get(&visit.document.n).copied();
                let candidate = RemadeCandidate { segment, visit, is_final, item };
                changes.push((candidate, self.changed_at(&candidate).await?));
            }
            let written = self.frontier.change_candidates(&changes).await?;
            let open = changes.iter().zip(written).filter(|(_, written)| *written == WriteResult::Changed);
            let open: HashSet<u32> = open.map(|((candidate, _), _)| candidate.visit.document.n).collect();
            visits.retain(|visit| open.contains(&visit.document.n));
        }
        Ok(())
    }

    /// Returns when a candidate's URL last changed, if this document is its last good one; `None`
    /// if unknown.
    async fn changed_at(&self, candidate: &RemadeCandidate<'_>) -> Result<Option<Timestamp>, StoreError> {
        match candidate.visit.state {
            StateChange::Shown { changed_at: Some(at), .. } => Ok(Some(at)),
            StateChange::Shown { changed_at: None, .. } if candidate.is_last()? => {
                let mut last_changes = self.last_changes.lock().await;
                last_changes.read_until(&self.frontier, &candidate.segment.id).await?;
                Ok(last_changes.get(&candidate.visit.document.url))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a visit is the one with this number and URL.
fn is_visit(visit: &RemadeVisit, n: u32, url: &CrawlUrl) -> bool {
    visit.document.n == n && visit.document.url == *url
}

fn find_visit<'v>(visits: &'v [RemadeVisit], entry: &LogEntry) -> Option<&'v RemadeVisit> {
    visits.iter().find(|visit| is_visit(visit, entry.n, &entry.url))
}

/// Writes the visit's outcome, target and change into the log.
fn rewrite(entry: &mut LogEntry, visit: &RemadeVisit) {
    entry.visit.outcome = visit.document.outcome;
    entry.visit.detail.clone_from(&visit.document.detail);
    entry.redirect.clone_from(&visit.redirect);
    if let Rewrite::With(change) = &visit.change {
        entry.change.clone_from(change);
    }
}
