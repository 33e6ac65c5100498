//! Settling and giving up origins that nobody holds, and closing iterations.

use std::rc::Rc;

use dragline_domain::frontier::{
    ClosedWithLeftovers, IterationRow, IterationStatus, Leftover, LeftoverReason, OriginRows, SettledRows, give_up,
    settle_origin,
};
use dragline_domain::ids::{Iteration, Turn};

use crate::invariants::Invariant;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::OriginNumber;
use crate::state::{State, now};

/// The result of settling an origin.
pub(crate) enum Settled {
    /// It is ready for this turn.
    Woken(Turn),
    /// It is closed.
    Closed,
    /// The rows changed since they were read.
    Changed,
}

impl Model {
    /// Settles an idle origin, deciding from the rows that were seen.
    pub(crate) fn settle(&self, state: &mut State, origin: OriginNumber, seen: &OriginRows) -> Settled {
        let number = seen.lease.iteration;
        let current = state.rows(origin).filter(|rows| rows.lease.iteration == number).cloned();
        let (Some(current), Some(row)) = (current, state.iteration(number).cloned()) else { return Settled::Changed };
        let asked = self.as_to_settling(&current, seen);
        let inbox = &current.inbox;
        match settle_origin(&asked, seen, &row) {
            None => Settled::Changed,
            Some(SettledRows::Woken(mut rows)) => {
                (rows.inbox.added, rows.inbox.parsed) = (inbox.added, inbox.parsed);
                let turn = rows.lease.turn;
                state.origins[origin] = Some(Rc::new(rows));
                Settled::Woken(turn)
            }
            Some(SettledRows::Closed(mut rows, row)) => {
                (rows.inbox.added, rows.inbox.parsed) = (inbox.added, inbox.parsed);
                state.origins[origin] = Some(Rc::new(rows));
                state.put_iteration(row);
                Settled::Closed
            }
            Some(SettledRows::ClosedWithLeftovers(mut closed)) => {
                (closed.rows.inbox.added, closed.rows.inbox.parsed) = (inbox.added, inbox.parsed);
                self.put_closed(state, origin, closed);
                Settled::Closed
            }
        }
    }

    fn as_to_settling(&self, current: &OriginRows, seen: &OriginRows) -> OriginRows {
        let mut asked = current.clone();
        if self.lacks(Mutation::SettleUnawareOfState) {
            asked.lease.state = seen.lease.state.clone();
        }
        if self.lacks(Mutation::SettleUnawareOfTurn) {
            asked.lease.turn = seen.lease.turn;
        }
        if self.lacks(Mutation::SettleUnawareOfTaken) {
            (asked.lease.taken, asked.lease.segments) = (seen.lease.taken, seen.lease.segments);
        }
        if self.lacks(Mutation::SettleUnawareOfAdded) {
            asked.inbox.added = seen.inbox.added;
        }
        if self.lacks(Mutation::SettleUnawareOfParsed) {
            asked.inbox.parsed = seen.inbox.parsed;
        }
        asked
    }

    /// Gives an origin up, deciding from the rows that were seen. Returns whether it is closed now.
    pub(crate) fn give_up(&self, state: &mut State, origin: OriginNumber, seen: &OriginRows, reason: LeftoverReason) {
        let number = seen.lease.iteration;
        let current = state.rows(origin).filter(|rows| rows.lease.iteration == number).cloned();
        let (Some(current), Some(row)) = (current, state.iteration(number).cloned()) else { return };
        let (mut asked, mut seen) = ((*current).clone(), seen.clone());
        if self.lacks(Mutation::GiveUpUnparsed) {
            asked.inbox.parsed = asked.lease.segments;
        }
        if self.lacks(Mutation::GiveUpUnawareOfLease) {
            (seen.lease.state, seen.lease.turn) = (asked.lease.state.clone(), asked.lease.turn);
        }
        if self.lacks(Mutation::GiveUpUnawareOfAdded) {
            asked.inbox.added = seen.inbox.added;
        }
        let at = if self.lacks(Mutation::GiveUpTheLiving) { long_after() } else { now() };
        let Some(mut closed) = give_up(&asked, &seen, &row, reason, at) else { return };
        if self.lacks(Mutation::GiveUpKeepsReserve) {
            closed.iteration.budget = row.budget;
        }
        (closed.rows.inbox.added, closed.rows.inbox.parsed) = (current.inbox.added, current.inbox.parsed);
        self.put_closed(state, origin, closed);
    }

    fn put_closed(&self, state: &mut State, origin: OriginNumber, closed: ClosedWithLeftovers) {
        self.put_leftover(state, origin, &closed.leftover);
        state.origins[origin] = Some(Rc::new(closed.rows));
        state.put_iteration(closed.iteration);
    }

    /// Puts a leftover if it is absent, and drops the origin's chunks.
    pub(super) fn put_leftover(&self, state: &mut State, origin: OriginNumber, leftover: &Leftover) {
        let Leftover { iteration, turn, count, .. } = *leftover;
        let leftovers = Rc::make_mut(&mut state.leftovers);
        if self.lacks(Mutation::LeftoverOverwritten) {
            leftovers.insert((iteration, origin, turn), count);
        }
        leftovers.entry((iteration, origin, turn)).or_insert(count);
        Rc::make_mut(&mut state.todo).retain(|(of, key), _| *of != origin || key.iteration != iteration);
    }

    /// An iteration's row once it is closed; `None` if it may not be closed.
    pub(crate) fn closed(&self, row: &IterationRow) -> Option<IterationRow> {
        let mut asked = row.clone();
        if self.lacks(Mutation::CloseWhileOpen) {
            asked.open = 0;
        }
        if self.lacks(Mutation::CloseAgain) {
            asked.status = IterationStatus::Open;
        }
        asked.close(now()).map(|closed| IterationRow { open: row.open, ..closed })
    }

    /// Closes an iteration with no open origin.
    pub(crate) fn close_iteration(&self, state: &mut State, number: Iteration) {
        let Some(closed) = state.iteration(number).and_then(|row| self.closed(row)) else { return };
        if state.iteration(number).is_some_and(|row| row.status == IterationStatus::Closed) {
            state.broken = Some(Invariant::EndIsFinal);
        }
        state.put_iteration(closed);
    }
}

/// A time at which every lease has run out.
fn long_after() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_000_000).expect("a time in range")
}
