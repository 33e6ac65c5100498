//! The row of a host: its current crawler, and when the next request may start.
//!
//! A lease belongs to one crawl and one origin, but politeness is owed to a host, whoever sends the
//! requests. So a worker takes a host together with a lease, in the same transaction, and gives it
//! back on release. Commits do not write this row: the host is taken for as long as a turn can
//! last.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Lease, OriginKey};
use crate::ids::{Iteration, LeaseToken, Turn};
use crate::politeness::{Pace, RETRY_AFTER_MAX};
use crate::time::{self, after, between, is_set_back};

/// How long a free host is reserved for the next in the queue; then any worker may take it. A
/// ticket arrives sooner, unless it is lost.
pub const PLACE_KEPT: Duration = Duration::from_secs(30);

/// The limit on turns in the queue. Others try again later.
pub const WAITING_MAX: usize = 16;

/// How long a host must go without requests for its back-off to be forgotten.
const BACK_OFF_KEPT: Duration = Duration::from_secs(3600);

/// The holder of a host, and when the next request may start.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostRow {
    /// The holder, which alone may send requests; `None` if there is none.
    pub holder: Option<HostHolder>,
    /// The earliest start of the next request, by the clock that wrote the row.
    pub free_from: Timestamp,
    /// The time by that clock when the row was written.
    pub written_at: Timestamp,
    /// The pace of the current or last holder. Its back-off applies to all.
    pub pace: Pace,
    /// The queue, the next one first; at most [`WAITING_MAX`].
    pub waiting: Vec<HostWaiter>,
}

/// The worker that may send requests to a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostHolder {
    /// The token of the lease with which it was taken.
    pub token: LeaseToken,
    /// When its bearer will have stopped sending requests. Never renewed.
    pub until: Timestamp,
}

/// A turn that waits for a host, with the data for its ticket.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostWaiter {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// The turn.
    pub turn: Turn,
    /// Its delay, which may be longer than that of the host's last holder.
    #[serde(with = "super::millis")]
    pub delay: Duration,
}

/// A worker's request to take a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// The turn, to be queued if the host is busy.
    pub waiter: HostWaiter,
    /// Its token.
    pub token: LeaseToken,
    /// When it will have stopped sending requests, whatever happens.
    pub until: Timestamp,
    /// Tokens of turns in the same process, which are known to be alive whatever the clock says.
    /// They may hold this host, or others of its domain.
    pub alive: Vec<LeaseToken>,
    /// How many hosts of its registered domain may be crawled at once. `None` if it has no domain,
    /// or if the worker has a place there already.
    pub hosts_per_domain: Option<u16>,
    /// The pace known to the worker.
    pub pace: Pace,
    /// The current time.
    pub now: Timestamp,
}

/// A host that cannot be taken now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostBusy {
    /// When it will be free at the latest, if nobody else takes it.
    pub until: Timestamp,
    /// The row to write, with the worker in the queue.
    pub row: HostRow,
}

impl HostRow {
    /// Creates the row of a host without any request so far.
    #[must_use]
    pub const fn new(pace: Pace, now: Timestamp) -> Self {
        Self { holder: None, free_from: now, written_at: now, pace, waiting: Vec::new() }
    }

    /// Whether this token's bearer holds it.
    #[must_use]
    pub fn is_held_by(&self, token: &LeaseToken) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.token == *token)
    }

    /// Returns the row for a clock that says `now`, and may have been set back since the row was
    /// written.
    #[must_use]
    pub fn by_clock(&self, now: Timestamp) -> Self {
        let by_clock = |time| time::by_clock(time, self.written_at, now, RETRY_AFTER_MAX.max(self.pace.delay()));
        let holder = self.holder.clone().map(|holder| HostHolder { until: by_clock(holder.until), ..holder });
        let written_at = if is_set_back(self.written_at, now) { now } else { self.written_at };
        Self { holder, free_from: by_clock(self.free_from), written_at, ..self.clone() }
    }

    /// Returns when a worker with this delay may send a request, if nobody holds the host. The last
    /// holder kept its own delay; a longer one counts from the same request.
    #[must_use]
    pub fn earliest(&self, delay: Duration) -> Timestamp {
        after(self.free_from, delay.saturating_sub(self.pace.delay()))
    }

    /// Takes the host, if necessary from a holder whose time is over, or from this predecessor,
    /// whose lease was taken over.
    ///
    /// # Errors
    /// [`HostBusy`] if another worker holds it, if it is too early, or if another turn is next.
    pub fn take(
        row: Option<&Self>,
        ask: &HostRequest,
        predecessor: Option<&LeaseToken>,
    ) -> Result<Self, Box<HostBusy>> {
        let mut row = row.map_or_else(|| Self::new(ask.pace, ask.now), |row| row.by_clock(ask.now));
        if row.is_held_by(&ask.token) {
            // An earlier try, whose answer was lost.
            return Ok(row);
        }
        let was_held = row.holder.is_some();
        match &row.holder {
            // Another worker continues the visit.
            Some(holder) if predecessor == Some(&holder.token) => {}
            Some(holder) => {
                let over = after(holder.until, row.pace.delay());
                let is_alive = ask.alive.contains(&holder.token);
                let until = if is_alive { over.max(after(ask.now, PLACE_KEPT)) } else { over };
                if until > ask.now {
                    return Err(row.busy(until, ask));
                }
                row.free_from = row.free_from.max(until);
                row.stand_in_line(ask)?;
            }
            None => row.stand_in_line(ask)?,
        }
        let earliest = row.earliest(ask.pace.delay());
        row.waiting.retain(|waiting| waiting.origin != ask.waiter.origin);
        let back_off = if between(row.free_from, ask.now) < BACK_OFF_KEPT { row.pace } else { ask.pace };
        row.pace = Pace { base_delay: ask.pace.base_delay, ..back_off };
        // If a clock was set, the dead holder may have sent a request just now.
        row.free_from = if was_held { earliest.max(after(ask.now, row.pace.delay())) } else { earliest };
        row.written_at = ask.now;
        row.holder = Some(HostHolder { token: ask.token.clone(), until: ask.until });
        Ok(row)
    }

    /// Lets a worker pass if it is not too early, and it is next, or the turn that was next did not
    /// come.
    fn stand_in_line(&mut self, ask: &HostRequest) -> Result<(), Box<HostBusy>> {
        let earliest = self.earliest(ask.pace.delay());
        let other = self.waiting.first().filter(|next| next.origin != ask.waiter.origin);
        let kept_until = other.map(|next| after(self.earliest(next.delay), PLACE_KEPT));
        let until = kept_until.map_or(earliest, |kept_until| kept_until.max(earliest));
        if until > ask.now {
            return Err(self.busy(until, ask));
        }
        if kept_until.is_some() {
            self.waiting.remove(0);
        }
        Ok(())
    }

    fn busy(&self, until: Timestamp, ask: &HostRequest) -> Box<HostBusy> {
        let mut row = self.clone();
        // A turn that does not fit into the queue tries again at the same time.
        line_up(&mut row.waiting, &ask.waiter);
        Box::new(HostBusy { until, row })
    }

    /// Returns the row after its holder released it, free from `free_from` at the earliest. `None`
    /// if the bearer of this token does not hold it.
    #[must_use]
    pub fn give_back(&self, token: &LeaseToken, free_from: Timestamp, pace: Pace, now: Timestamp) -> Option<Self> {
        let row = self.by_clock(now);
        let free_from = row.free_from.max(free_from);
        let back = Self { holder: None, free_from, written_at: now, pace, waiting: row.waiting };
        self.is_held_by(token).then_some(back)
    }

    /// Returns the turn to be sent a ticket now that nobody holds the host.
    #[must_use]
    pub fn next(&self) -> Option<&HostWaiter> {
        if self.holder.is_some() { None } else { self.waiting.first() }
    }

    /// Returns the row once all holders and waiting turns are known to be dead. The time of the
    /// dead holder's last request is unknown, and the clock may have been set, so a whole delay is
    /// kept from now on.
    #[must_use]
    pub fn void(&self, now: Timestamp) -> Self {
        let row = self.by_clock(now);
        Self {
            holder: None,
            free_from: row.free_from.max(after(now, row.pace.delay())),
            written_at: now,
            pace: row.pace,
            waiting: Vec::new(),
        }
    }

    /// Returns the row once the lease with which it was taken is void. That lease had the latest
    /// pace.
    #[must_use]
    pub fn void_with(row: Option<&Self>, lease: &Lease, now: Timestamp) -> Self {
        let row = row.map_or_else(|| Self::new(lease.pace, now), |row| row.void(now));
        Self { free_from: row.free_from.max(lease.free_from(now)), pace: lease.pace, ..row }
    }
}

/// Adds a turn to the queue, or updates its origin's turn there. `false` if there is no room.
pub(super) fn line_up(waiting: &mut Vec<HostWaiter>, waiter: &HostWaiter) -> bool {
    match waiting.iter().position(|known| known.origin == waiter.origin) {
        Some(place) => waiting[place] = waiter.clone(),
        None if waiting.len() < WAITING_MAX => waiting.push(waiter.clone()),
        None => return false,
    }
    true
}

#[cfg(test)]
#[path = "host_tests.rs"]
pub(super) mod tests;
