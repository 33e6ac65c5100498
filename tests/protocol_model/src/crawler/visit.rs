//! What a holder visits next: a retry, todo, or a candidate of an earlier iteration.

use dragline_domain::frontier::{
    ChunkKey, Claim, Claimable, Claimer, Decided, Position, RecrawlCursor, Retry, SegmentState, UrlHistory, claim,
};

use super::{Held, Term};
use crate::invariants::Invariant;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::Page;
use crate::state::{State, now};
use crate::store::path;

/// A page that was requested.
#[derive(Clone, Hash)]
pub(crate) struct Visit {
    pub page: Page,
    pub depth: u32,
    pub tries: u8,
    /// The lease's position in the todo once it is committed.
    pub after: Position,
    /// The chunk of which it is the last page.
    pub exhausts: Option<ChunkKey>,
}

/// Why there is nothing to visit.
pub(super) enum Dry {
    Empty,
    AtBarrier,
}

impl Visit {
    pub(super) fn is_recrawl(&self, held: &Held) -> bool {
        self.after.cursor != held.lease.cursor
    }
}

/// Returns what to visit next: a retry, todo, then candidates due for recrawl. Moves the position
/// past candidates that others queued.
pub(super) fn next_visit(model: &Model, state: &State, held: &Held, position: &mut Position) -> Result<Visit, Dry> {
    let Held { origin, lease, .. } = held;
    if let Some(Retry { entry, depth, tries, .. }) = lease.retries.first() {
        let page = entry.path_and_query[1..].parse().unwrap_or(Page::MAX);
        return Ok(Visit { page, depth: *depth, tries: *tries, after: position.clone(), exhausts: None });
    }
    let first = || state.todo.iter().find(|((of, key), _)| of == origin && key.iteration == lease.iteration);
    let begun = position.chunk.as_ref().map(|chunk| chunk.key.clone()).filter(|_| !model.lacks(Mutation::ChunkByOrder));
    let begun = begun.and_then(|key| state.todo.get_key_value(&(*origin, key)));
    if let Some(((_, key), pages)) = begun.or_else(first) {
        let inbox = state.rows(*origin).map(|rows| &rows.inbox).ok_or(Dry::Empty)?;
        let is_limited = model.config.depth_max.is_some() && !model.lacks(Mutation::BarrierLeftOut);
        if is_limited && position.is_barred(key.depth(), lease, inbox, 0) {
            return Err(Dry::AtBarrier);
        }
        let page = *pages.get(position.offset() as usize).ok_or(Dry::Empty)?;
        let exhausts = position.take_from(key, pages.len());
        return Ok(Visit { page, depth: key.depth(), tries: 0, after: position.clone(), exhausts });
    }
    let inbox = state.rows(*origin).map(|rows| &rows.inbox).ok_or(Dry::Empty)?;
    if position.is_recrawl_barred(lease, inbox, 0) {
        return Err(Dry::AtBarrier);
    }
    let page = next_due(model, state, held, &position.cursor);
    position.cursor = page.map_or(RecrawlCursor::End, |page| RecrawlCursor::After(path(page)));
    let page = page.ok_or(Dry::Empty)?;
    Ok(Visit { page, depth: 0, tries: 0, after: position.clone(), exhausts: None })
}

/// The next candidate of an earlier iteration that nobody else queued in this one.
fn next_due(model: &Model, state: &State, held: &Held, cursor: &RecrawlCursor) -> Option<Page> {
    let claimer = Claimer::recrawl();
    let is_own = |candidate| match claim(
        Some(candidate),
        &UrlHistory::default(),
        held.lease.iteration,
        &claimer,
        Claimable::Due(now()),
        None,
    ) {
        Decided::Write(_) => true,
        Decided::Leave(Claim::Own { .. }) => !model.lacks(Mutation::RecrawlNotOwnAgain),
        Decided::Leave(Claim::Taken { .. } | Claim::Nearer { .. } | Claim::NotDue) => false,
    };
    let is_ahead = |page: Page| match cursor {
        RecrawlCursor::Start => true,
        RecrawlCursor::After(last) => path(page) > *last,
        RecrawlCursor::In(place) => path(page) > place.after,
        RecrawlCursor::End => false,
    };
    let mut candidates = state.candidates.iter().filter(|(page, _)| model.config.site.origin_of[**page] == held.origin);
    candidates.find(|(page, candidate)| is_ahead(**page) && is_own(*candidate)).map(|(page, _)| *page)
}

/// The barrier: nothing deeper is requested than what is unparsed or will be retried.
pub(super) fn check_barrier(model: &Model, state: &mut State, held: &Held, visit: &Visit) {
    let mut segments = state.segments.iter();
    let is_unparsed = segments.any(|(key, segment)| {
        let is_own = key.iteration == held.lease.iteration && key.origin == held.origin;
        is_own && segment.depth < visit.depth && segment.row.state != SegmentState::Processed
    });
    let has_retry = held.lease.retries.iter().any(|retry| retry.depth < visit.depth);
    if model.config.depth_max.is_some() && (is_unparsed || has_retry) && held.term == Term::Running {
        state.broken = Some(Invariant::BarrierHeld);
    }
}
