//! Beginning iterations, claiming, seeding.

use std::rc::Rc;

use dragline_domain::frontier::{
    AddTodo, CandidateState, ChunkKey, Claim, Claimable, Claimer, Decided, IterationBegun, IterationRow,
    IterationStatus, OriginRows, Reserve, SeedDistance, Seeding, SeedingMark, StatusChange, TodoPlace, TodoSource,
    UrlHistory, begin_iteration, claim, seed,
};
use dragline_domain::ids::Iteration;
use dragline_domain::politeness::Pace;

use crate::invariants::Invariant;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::{OriginNumber, Page};
use crate::state::{State, TriggerNumber, now};

/// The delay of every origin.
/// No delay: time stands still, and one would never be over.
const PACE: Pace = Pace::new(std::time::Duration::ZERO);

/// What happens to an origin's todo.
impl Model {
    pub(super) fn add(count: usize) -> AddTodo {
        AddTodo { count: count as u64, pace: PACE, now: now(), due: now() }
    }

    /// The iteration that a trigger's command is about; `None` if another trigger's runs.
    pub(crate) fn begin_iteration(&self, state: &mut State, trigger: TriggerNumber) -> Option<Rc<IterationRow>> {
        let begun = state.begun[trigger].filter(|_| !self.lacks(Mutation::BeginForgetsTriggers));
        let latest = state.latest().map(|row| (**row).clone()).map(|row| {
            let is_unseen = self.lacks(Mutation::BeginBesideARunningOne);
            IterationRow { status: if is_unseen { IterationStatus::Closed } else { row.status }, ..row }
        });
        let earlier = begun.and_then(|number| state.iteration(number)).map(|row| (**row).clone());
        let budget = Reserve { pages: self.config.pages_max, bytes: None };
        let (crawl, id) = (self.keys[0].crawl.clone(), self.triggers[trigger].clone());
        let row = |number| IterationRow::begin(crawl, number, id, budget, now(), None, now());
        let row = match begin_iteration(earlier, latest.as_ref(), row) {
            Decided::Leave(IterationBegun::Iteration(row)) => return Some(Rc::new(row)),
            Decided::Leave(IterationBegun::Busy(_)) | Decided::Write(IterationBegun::Busy(_)) => return None,
            Decided::Write(IterationBegun::Iteration(row)) => row,
        };
        let is_running = state.latest().is_some_and(|row| row.status != IterationStatus::Closed);
        if is_running || state.begun[trigger].is_some() {
            state.broken = Some(Invariant::OneIterationATrigger);
            return None;
        }
        let number = row.number;
        state.begun[trigger] = Some(number);
        state.put_iteration(if self.lacks(Mutation::BeginWithoutToken) {
            IterationRow { open: 0, token_out: false, due: None, ..row }
        } else {
            row
        });
        state.iteration(number).cloned()
    }

    /// Claims a page, due or not. Returns whether the claimer owns it now.
    pub(crate) fn claim(&self, state: &mut State, number: Iteration, page: Page, claimer: &Claimer) -> bool {
        let mut candidate = state.candidates.get(&page).cloned();
        if let Some(candidate) = candidate.as_mut().filter(|_| self.lacks(Mutation::ClaimOnceForEver)) {
            candidate.queued_in = number;
        }
        let decided = claim(candidate.as_ref(), &UrlHistory::default(), number, claimer, Claimable::All, None);
        let is_taken = matches!(decided, Decided::Leave(Claim::Taken { .. }));
        if matches!(decided, Decided::Write(_)) || is_taken && self.lacks(Mutation::ClaimerOverwritten) {
            let claimed = CandidateState {
                queued_in: number,
                claimed_by: claimer.clone(),
                found_at: SeedDistance { depth: 0, requisite_steps: 0 },
                nearer: Vec::new(),
                due_at: None,
                last_visit: None,
                blocked_by: None,
            };
            Rc::make_mut(&mut state.candidates).insert(page, claimed);
        }
        match decided {
            Decided::Write(_) => true,
            Decided::Leave(Claim::Own { .. }) if *claimer == Claimer::recrawl() => {
                !self.lacks(Mutation::RecrawlNotOwnAgain)
            }
            Decided::Leave(Claim::Own { .. }) => !self.lacks(Mutation::ClaimNotOwnAgain),
            Decided::Leave(Claim::Taken { .. } | Claim::Nearer { .. } | Claim::NotDue) => {
                self.lacks(Mutation::ClaimOfOthers)
            }
        }
    }

    /// Adds a trigger's seeds to an origin once, and opens it.
    pub(crate) fn seed_origin(
        &self,
        state: &mut State,
        number: Iteration,
        trigger: TriggerNumber,
        origin: OriginNumber,
        pages: &[Page],
    ) {
        let Some(iteration) = state.iteration(number).map(|row| self.as_to_opening(row)) else { return };
        let rows = state.rows(origin).map(|rows| self.as_to_opened(rows));
        let place = (number, origin, trigger);
        let is_marked = state.seedings.contains(&place) && !self.lacks(Mutation::SeedTwice);
        let mark = if is_marked { SeedingMark::There } else { SeedingMark::Absent };
        let add = Self::add(pages.len());
        let seeding = Seeding::new(&self.triggers[trigger], 0);
        let Ok((rows, opened)) = seed(rows.as_ref(), &iteration, mark, &seeding, &add) else { return };
        Rc::make_mut(&mut state.seedings).insert(place);
        state.origins[origin] = Some(Rc::new(rows));
        if let Some(row) = opened {
            state.put_iteration(row);
        }
        let source = TodoSource::seeds(&seeding);
        self.put_chunk(
            state,
            origin,
            ChunkKey { iteration: number, place: TodoPlace::by_depth(0), source, part: 0 },
            pages.to_vec(),
        );
    }

    /// An iteration's row, for opening an origin.
    pub(super) fn as_to_opening(&self, row: &IterationRow) -> IterationRow {
        if self.lacks(Mutation::OpenOnceOver) {
            return IterationRow { open: row.open.max(1), status: IterationStatus::Open, ..row.clone() };
        }
        row.clone()
    }

    /// An origin's rows, for opening it if it is closed.
    pub(super) fn as_to_opened(&self, rows: &OriginRows) -> OriginRows {
        let mut rows = rows.clone();
        if self.lacks(Mutation::OpenWhatIsOpen) {
            rows.lease.state = dragline_domain::frontier::LeaseState::Closed;
        }
        rows
    }

    /// Puts a chunk if it is absent.
    pub(super) fn put_chunk(&self, state: &mut State, origin: OriginNumber, key: ChunkKey, pages: Vec<Page>) {
        let todo = Rc::make_mut(&mut state.todo);
        if !pages.is_empty() && (self.lacks(Mutation::ChunkOverwritten) || !todo.contains_key(&(origin, key.clone()))) {
            todo.insert((origin, key), pages);
        }
    }

    /// Returns the scheduler's token.
    pub(crate) fn return_token(&self, state: &mut State, number: Iteration) {
        let Some(row) = state.iteration(number) else { return };
        let is_unasked = self.lacks(Mutation::TokenReturnedTwice) && row.open > 0;
        let row = IterationRow { token_out: row.token_out || is_unasked, ..(**row).clone() };
        if let Some(returned) = row.return_token() {
            state.put_iteration(returned);
        }
    }

    /// The iteration after a command of the user; `None` where it does not fit the status.
    pub(crate) fn changed(&self, row: &IterationRow, change: StatusChange) -> Option<IterationRow> {
        let mut asked = row.clone();
        if self.lacks(Mutation::StopWhatIsOver) && row.status == IterationStatus::Closed {
            asked.status = IterationStatus::Open;
        }
        if self.lacks(Mutation::ResumeWhatIsStopping) && row.status == IterationStatus::Stopping {
            asked.status = IterationStatus::Paused;
        }
        asked.change(change)
    }

    /// Carries out a command of the user.
    pub(crate) fn change_status(&self, state: &mut State, number: Iteration, change: StatusChange) {
        use IterationStatus::{Closed, Stopping};
        let Some(row) = state.iteration(number) else { return };
        let Some(changed) = self.changed(row, change) else { return };
        let is_back = row.status == Closed || row.status == Stopping && changed.status != Closed;
        if is_back {
            state.broken = Some(Invariant::EndIsFinal);
        }
        state.put_iteration(changed);
    }
}
