//! The row of a registered domain: how many of its hosts are crawled at once, and the queue for a
//! place.
//!
//! One server often serves all hosts of a domain. Each host has its own pace, and together they may
//! be too much for it. So a worker takes one of the domain's places together with a host, in the
//! same transaction, and gives both back together.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::host::{HostHolder, HostRequest, HostWaiter, PLACE_KEPT, line_up};
use crate::ids::LeaseToken;
use crate::time::{self, after, is_set_back};

/// The longest that a place is held: the length of a turn, whatever its timings.
const HELD_MAX: Duration = Duration::from_hours(1);

/// When to try again if the queue is full.
const LOOK_AGAIN: Duration = Duration::from_mins(2);

/// The hosts of a registered domain that are being crawled, and the turns that wait for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DomainRow {
    /// How many hosts may be crawled at once, by the definition of the last worker.
    pub places: u16,
    /// The holders of places. If definitions differ, there may be more holders than places.
    pub holders: Vec<HostHolder>,
    /// The queue, the next one first; at most [`WAITING_MAX`](super::WAITING_MAX).
    pub waiting: Vec<HostWaiter>,
    /// When a place was last given back or lost: it is reserved for the next in the queue for
    /// [`PLACE_KEPT`].
    pub freed_at: Timestamp,
    /// The time at which the row was written, by the writer's clock.
    pub written_at: Timestamp,
}

/// A domain without a free place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainBusy {
    /// When to try again, unless a ticket comes before.
    pub until: Timestamp,
    /// The row to write, with the worker in the queue.
    pub row: DomainRow,
}

impl DomainRow {
    const fn new(places: u16, now: Timestamp) -> Self {
        Self { places, holders: Vec::new(), waiting: Vec::new(), freed_at: now, written_at: now }
    }

    /// Whether this token's bearer has a place.
    #[must_use]
    pub fn is_held_by(&self, token: &LeaseToken) -> bool {
        self.holders.iter().any(|holder| holder.token == *token)
    }

    /// Returns the row for a clock that says `now`, and may have been set back since the row was
    /// written.
    fn by_clock(&self, now: Timestamp) -> Self {
        let by_clock = |time| time::by_clock(time, self.written_at, now, HELD_MAX);
        let holders = self.holders.iter().map(|held| HostHolder { until: by_clock(held.until), ..held.clone() });
        let written_at = if is_set_back(self.written_at, now) { now } else { self.written_at };
        Self { holders: holders.collect(), freed_at: by_clock(self.freed_at), written_at, ..self.clone() }
    }

    /// Takes one of `places` places, if necessary from a holder whose time is over, or from this
    /// predecessor, whose lease was taken over.
    ///
    /// # Errors
    /// [`DomainBusy`] if there is none, or if it is reserved for another turn.
    pub fn take(
        row: Option<&Self>,
        places: u16,
        ask: &HostRequest,
        predecessor: Option<&LeaseToken>,
    ) -> Result<Self, Box<DomainBusy>> {
        let seen = row;
        let mut row = seen.map_or_else(|| Self::new(places, ask.now), |row| row.by_clock(ask.now));
        if row.is_held_by(&ask.token) {
            // An earlier try, whose answer was lost.
            return Ok(row);
        }
        row.places = places;
        row.written_at = ask.now;
        let holder = HostHolder { token: ask.token.clone(), until: ask.until };
        if let Some(place) = row.holders.iter_mut().find(|held| predecessor == Some(&held.token)) {
            // Another worker continues the visit.
            *place = holder;
            return Ok(row);
        }
        row.drop_the_dead(ask);
        let free = row.free();
        let place = row.waiting.iter().position(|waiting| waiting.origin == ask.waiter.origin);
        let ahead = place.unwrap_or(row.waiting.len());
        if free == 0 {
            let until = row.holders.iter().map(|holder| holder.until).min();
            return Err(row.busy(until.unwrap_or(ask.now).max(after(ask.now, PLACE_KEPT)), ask, seen));
        }
        if ahead >= free {
            let kept_until = after(row.freed_at, PLACE_KEPT);
            if kept_until > ask.now {
                return Err(row.busy(kept_until, ask, seen));
            }
            // The waiting turns that were sent tickets did not come. The next ones get theirs when
            // another place is free.
            row.waiting.drain(..free);
        }
        row.waiting.retain(|waiting| waiting.origin != ask.waiter.origin);
        row.holders.push(holder);
        Ok(row)
    }

    fn drop_the_dead(&mut self, ask: &HostRequest) {
        let before = self.holders.len();
        self.holders.retain(|holder| holder.until > ask.now || ask.alive.contains(&holder.token));
        if self.holders.len() < before {
            self.freed_at = ask.now;
        }
    }

    fn free(&self) -> usize {
        usize::from(self.places).saturating_sub(self.holders.len())
    }

    /// Keeps the row as it was seen if only its time would change: otherwise each turn that finds
    /// the queue full would write it at every try.
    fn busy(mut self, until: Timestamp, ask: &HostRequest, seen: Option<&Self>) -> Box<DomainBusy> {
        let is_called = line_up(&mut self.waiting, &ask.waiter);
        let until = if is_called { until } else { until.min(after(ask.now, LOOK_AGAIN)) };
        let written_at = seen.map_or(self.written_at, |seen| seen.written_at);
        let unwritten = Self { written_at, ..self };
        let row = if seen == Some(&unwritten) { unwritten } else { Self { written_at: ask.now, ..unwritten } };
        Box::new(DomainBusy { until, row })
    }

    /// Returns the row after the bearer of this token gave its place back; `None` if it has none.
    #[must_use]
    pub fn give_back(&self, token: &LeaseToken, now: Timestamp) -> Option<Self> {
        let mut row = self.by_clock(now);
        row.holders.retain(|holder| holder.token != *token);
        let is_given = row.holders.len() < self.holders.len();
        is_given.then_some(Self { freed_at: now, written_at: now, ..row })
    }

    /// Returns the turn to be sent a ticket now that another place is free. The turns before it
    /// were sent theirs when earlier places became free.
    #[must_use]
    pub fn next(&self) -> Option<&HostWaiter> {
        self.waiting.get(self.free().checked_sub(1)?)
    }
}

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;
