//! Turns: taking a lease, committing segments, releasing the lease.

use std::rc::Rc;

use dragline_domain::capture::Finality;
use dragline_domain::frontier::{
    self, ChunkKey, Decided, Inbox, IterationRow, IterationStatus, Lease, LeaseState, LeftoverReason, ObjectKey,
    Release, ReleaseRefused, Reserve, SegmentRow, SegmentState, SegmentWork, TakeRequest, commit_segment,
};
use dragline_domain::ids::LeaseToken;

use crate::crawler::Held;
use crate::invariants::Invariant;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::Page;
use crate::state::{Segment, SegmentKey, State, Ticket, in_time, now, run_out};

/// A segment to commit.
#[derive(Clone)]
pub(crate) struct SegmentCommit<'c> {
    pub held: &'c Held,
    pub page: Page,
    pub depth: u32,
    pub finality: Finality,
    pub exhausts: Option<&'c ChunkKey>,
    pub work: SegmentWork,
    /// Why the origin takes no more; `None` while it does.
    pub ending: Option<LeftoverReason>,
}

/// The result of committing a segment.
pub(crate) enum Committed {
    /// It is committed; the holder's updated copy of the lease.
    Done(SegmentKey, Rc<Lease>),
    /// Another worker holds the lease.
    Fenced,
}

impl Model {
    /// Takes the lease of a ticket's turn, or takes it over. `None` if it is refused.
    pub(crate) fn take_lease(&self, state: &mut State, ticket: Ticket) -> Option<(LeaseToken, Lease)> {
        let (rows, row) = (state.rows(ticket.origin)?.clone(), state.iteration(ticket.iteration)?.clone());
        let asked = self.lease_as_to_taking(&rows.lease, &row);
        let take = TakeRequest {
            turn: if self.lacks(Mutation::TakeOfAnyTurn) { asked.turn } else { ticket.turn },
            token: fresh_token(state),
            until: in_time(),
            host_until: in_time(),
            wanted: row.share(Reserve { pages: Some(2), bytes: None }),
            now: now(),
            alive: Vec::new(),
            hosts_per_domain: 1,
        };
        let mut asked_row = (*row).clone();
        if self.lacks(Mutation::TakeWhenNotOpen) {
            asked_row.status = IterationStatus::Open;
        }
        if self.lacks(Mutation::TakeOverBudget) && asked_row.budget.is_spent() {
            asked_row.budget.pages = Some(1);
        }
        let (lease, mut after) = self.take_with_host(state, ticket, &asked, &asked_row, &take)?;
        if !row.status.is_open() {
            state.broken = Some(Invariant::LeasesOnlyWhileOpen);
        }
        after.status = row.status;
        state.put_iteration(after);
        self.put_lease(state, ticket.origin, lease.clone());
        Some((take.token, lease))
    }

    fn lease_as_to_taking(&self, lease: &Lease, row: &IterationRow) -> Lease {
        let mut asked = lease.clone();
        if self.lacks(Mutation::TakeOfAnyState) && lease.iteration == row.number {
            asked.state = LeaseState::Ready;
        }
        if let LeaseState::Leased(holder) = &mut asked.state {
            if self.lacks(Mutation::TakeFromTheLiving) {
                holder.until = run_out();
            }
            if self.lacks(Mutation::TakeoverReservesAgain) && lease.is_free(now()) {
                asked.state = LeaseState::Ready;
            }
        }
        asked
    }

    fn put_lease(&self, state: &mut State, origin: usize, lease: Lease) {
        if let Some(rows) = &mut state.origins[origin] {
            Rc::make_mut(rows).lease = lease;
        }
    }

    /// Commits a segment of one page.
    pub(crate) fn commit_segment(&self, state: &mut State, commit: &SegmentCommit<'_>) -> Committed {
        let Held { origin, token, lease, .. } = commit.held;
        let key = SegmentKey { iteration: lease.iteration, origin: *origin, turn: lease.turn, n: lease.segments };
        let row = self.segment_row(key, token);
        let mut after = lease.after_segment(&commit.work, in_time());
        after.ending = commit.ending.or(after.ending);

        let stored = state.rows(*origin).map(|rows| rows.lease.clone());
        let is_held = stored.as_ref().is_some_and(|lease| lease.is_held_by(token));
        let asked = if self.lacks(Mutation::CommitWithoutToken) { Some((**lease).clone()) } else { stored };
        let earlier = state.segments.get(&key).filter(|_| !self.lacks(Mutation::CommitOverASegment));
        let mut earlier = earlier.map(|segment| segment.row.clone());
        if let Some(earlier) = earlier.as_mut().filter(|_| self.lacks(Mutation::CommitOwnByKey)) {
            earlier.token = token.clone();
        }
        match commit_segment(asked.as_ref(), earlier.as_ref(), &row) {
            Decided::Leave(frontier::SegmentCommitted::Fenced) | Decided::Write(frontier::SegmentCommitted::Fenced) => {
                return Committed::Fenced;
            }
            Decided::Leave(frontier::SegmentCommitted::Done) => {
                let is_done = state.segments.get(&key).is_some_and(|segment| segment.row.token == *token);
                if !is_done {
                    state.broken = Some(Invariant::DoneIsDone);
                }
            }
            Decided::Write(frontier::SegmentCommitted::Done) => {
                if !is_held {
                    state.broken = Some(Invariant::HolderCommits);
                }
                let SegmentCommit { page, depth, finality, .. } = *commit;
                let segment = Segment { row, page, depth, finality, documents: None };
                Rc::make_mut(&mut state.segments).insert(key, segment);
                if let Some(exhausted) = commit.exhausts.filter(|_| !self.lacks(Mutation::ChunkStays)) {
                    Rc::make_mut(&mut state.todo).remove(&(*origin, exhausted.clone()));
                }
                self.put_lease(state, *origin, after.clone());
            }
        }
        Committed::Done(key, Rc::new(after))
    }

    fn segment_row(&self, key: SegmentKey, token: &LeaseToken) -> SegmentRow {
        let id = self.segment_id(key);
        SegmentRow {
            object: ObjectKey::for_segment(&id, key.iteration, token),
            id,
            iteration: key.iteration,
            token: token.clone(),
            state: SegmentState::Crawled { part: 0 },
            object_bytes: 1,
            entries: 1,
            put_off: 0,
            committed_at: now(),
            attempts: 0,
            parsing: None,
            due: Some(now()),
        }
    }

    /// Releases a lease in this way, decided from the inbox that was seen.
    pub(crate) fn release(
        &self,
        state: &mut State,
        held: &Held,
        seen: &Inbox,
        how: Release,
    ) -> Result<(), ReleaseRefused> {
        let Held { origin, token, lease, .. } = held;
        let Some(rows) = state.rows(*origin).cloned() else { return Err(ReleaseRefused::Fenced) };
        let Some(row) = state.iteration(lease.iteration).cloned() else { return Err(ReleaseRefused::Fenced) };
        let stored = if self.lacks(Mutation::ReleaseWithoutToken) { &**lease } else { &rows.lease };
        let mut asked = rows.inbox.clone();
        if self.lacks(Mutation::ReleaseUnawareOfAdded) {
            asked.added = seen.added;
        }
        if self.lacks(Mutation::ReleaseUnawareOfParsed) {
            asked.parsed = seen.parsed;
        }
        let mut released = stored.release(token, lease, seen, &asked, &row, how)?;
        (released.rows.inbox.added, released.rows.inbox.parsed) = (rows.inbox.added, rows.inbox.parsed);
        if self.lacks(Mutation::ReleaseKeepsReserve) {
            released.iteration.budget = row.budget;
        }
        if let Some(leftover) = &released.leftover {
            self.put_leftover(state, *origin, leftover);
        }
        state.origins[*origin] = Some(Rc::new(released.rows));
        state.put_iteration(released.iteration);
        self.give_host_back(state, token);
        Ok(())
    }
}

/// A token that nobody bears and no row holds.
fn fresh_token(state: &State) -> LeaseToken {
    let is_used = |token: &LeaseToken| {
        state.crawlers.iter().filter_map(|crawler| crawler.held()).any(|held| held.token == *token)
            || state.origins.iter().flatten().any(|rows| rows.lease.is_held_by(token))
            || state.host.as_ref().is_some_and(|host| host.is_held_by(token))
            || state.domain.as_ref().is_some_and(|domain| domain.is_held_by(token))
            || state.segments.values().any(|segment| segment.row.token == *token)
    };
    (1..).map(LeaseToken::from_bits).find(|token| !is_used(token)).expect("there are more tokens than segments")
}
