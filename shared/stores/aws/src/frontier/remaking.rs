//! Writes to the tables for remaking documents. Each write holds only while its premises are
//! unchanged: the progress, and that no iteration began.

use std::collections::HashMap;

use dragline_domain::frontier::{Counts, IterationStatus, OriginKey, SegmentId, SegmentRow, SegmentState};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::remake::{Recount, RemadeVisit, RemakeState};
use jiff::Timestamp;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Item, Role, Write};
use crate::errors::StoreError;
use crate::meter::capacity::ReadKind;
use crate::rows::remade::RemadeCandidate;
use crate::rows::remake::{Intent, RemakeRow};
use crate::rows::{counts, inbox, keys, segment};
use crate::tables::{SORT, Table};

/// The state of the crawl's latest iteration.
pub(crate) enum Latest {
    /// None is open, and the next one would have this number.
    Closed(Iteration),
    /// It is open.
    Open(Iteration),
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteResult {
    Done,
    /// A row that it was based on has changed.
    Changed,
}

impl DynamoFrontier {
    /// Reads the progress of remaking, for decisions.
    pub(crate) async fn remake_row(&self, crawl: &CrawlId) -> Result<RemakeRow, StoreError> {
        RemakeRow::read(self.db.get(&keys::remake(crawl)).await?)
    }

    /// Returns whether an iteration is open. A negative answer holds until the next one begins:
    /// zero is final.
    pub(crate) async fn latest_end(&self, crawl: &CrawlId) -> Result<Latest, StoreError> {
        Ok(match self.latest(crawl).await? {
            Some(open) if open.status != IterationStatus::Closed => Latest::Open(open.number),
            Some(closed) => Latest::Closed(closed.number.next()),
            None => Latest::Closed(Iteration::FIRST),
        })
    }

    /// Writes the progress, or the intent, if the row is as it was read and this iteration did not
    /// begin.
    pub(crate) async fn put_remake(
        &self,
        crawl: &CrawlId,
        next: Iteration,
        (before, state, intent): (&RemakeRow, &RemakeState, Option<&Intent>),
    ) -> Result<WriteResult, StoreError> {
        let writes = [check_not_begun(crawl, next), before.put(crawl, state, intent)?];
        Ok(write_result(self.db.transact(&writes).await?.is_ok()))
    }

    /// Does the same, with the changed counts of a segment's documents.
    pub(crate) async fn put_remade(
        &self,
        segment: &SegmentRow,
        next: Iteration,
        (before, state, recount): (&RemakeRow, &RemakeState, &Recount),
    ) -> Result<WriteResult, StoreError> {
        let (origin, crawl) = (&segment.id.origin, &segment.id.origin.crawl);
        let mut writes = vec![check_not_begun(crawl, next), before.put(crawl, state, None)?];
        // If the origin was opened in a later iteration, the counters of this one are not needed.
        if let Some(item) = self.db.get(&keys::inbox(origin)).await? {
            let counted = inbox::read(&item)?;
            let recounted = counted.recounted(recount);
            if counted.iteration == segment.iteration && recounted != counted {
                writes.push(inbox::recount(origin, &counted, &recounted));
                let more = Counts::from_inbox_change(Some(&counted), &recounted);
                writes.extend(counts::add(origin, segment.iteration, &more));
            }
        }
        Ok(write_result(self.db.transact(&writes).await?.is_ok()))
    }

    /// Deletes the row if it is as it was read.
    pub(crate) async fn end_remake_row(&self, crawl: &CrawlId, before: &RemakeRow) -> Result<WriteResult, StoreError> {
        Ok(write_result(self.db.write(&before.delete(crawl)).await?.is_ok()))
    }

    /// Lists an origin's parsed segments in commit order: at most `limit` after one.
    pub(crate) async fn parsed_segments(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> Result<Vec<SegmentRow>, StoreError> {
        let mut range = keys::segments(origin);
        range.after = after.map(|after| keys::segment(after).sort);
        let mut parsed = Vec::new();
        while parsed.len() < limit {
            let page = self.db.first(&range, limit - parsed.len(), ReadKind::Consistent).await?;
            for item in &page.items {
                let row = segment::read(&keys::segment_id(origin, Fields(item).text(SORT)?)?, item)?;
                if row.state == SegmentState::Processed {
                    parsed.push(row);
                }
            }
            match page.next {
                Some(next) => range.after = Some(next),
                None => break,
            }
        }
        Ok(parsed)
    }

    /// Returns the candidates of visits, without missing ones.
    pub(crate) async fn load_visit_candidates(
        &self,
        origin: &OriginKey,
        visits: &[&RemadeVisit],
    ) -> Result<HashMap<u32, Item>, StoreError> {
        let key = |visit: &RemadeVisit| keys::candidate(origin, visit.document.url.path_and_query());
        let found = self.db.get_all(visits.iter().map(|visit| key(visit)).collect(), ReadKind::Consistent).await?;
        let items = visits.iter().filter_map(|visit| Some((visit.document.n, found.get(&key(visit))?.clone())));
        Ok(items.collect())
    }

    /// Updates candidates of remade documents, each with the time when its URL last changed.
    /// Returns for each whether it was updated; not if it has changed since it was read.
    pub(crate) async fn change_candidates(
        &self,
        changes: &[(RemadeCandidate<'_>, Option<Timestamp>)],
    ) -> Result<Vec<WriteResult>, StoreError> {
        let table = self.db.table(Table::Candidates);
        let mut done = vec![WriteResult::Done; changes.len()];
        let (mut statements, mut places) = (Vec::new(), Vec::new());
        for (n, (candidate, changed_at)) in changes.iter().enumerate() {
            if let Some(statement) = candidate.change(table, *changed_at)? {
                statements.push(statement);
                places.push(n);
            }
        }
        for (n, answer) in places.into_iter().zip(self.db.execute_all(&statements).await?) {
            if let Some(done) = done.get_mut(n) {
                *done = write_result(answer.is_ok());
            }
        }
        Ok(done)
    }

    /// Returns the rounds of an operation that decides again if another writer was faster.
    pub(crate) fn rounds(&self) -> crate::backoff::Rounds {
        self.db.rounds()
    }
}

const fn write_result(is_done: bool) -> WriteResult {
    if is_done { WriteResult::Done } else { WriteResult::Changed }
}

/// Checks that an iteration did not begin.
fn check_not_begun(crawl: &CrawlId, number: Iteration) -> Write {
    let absent = Expression::new("attribute_not_exists(#sk)");
    Write::check(Role::Iteration, &keys::iteration(crawl, number), &Item::new(), absent)
}
