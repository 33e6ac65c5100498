//! The lease row of an origin, and the operations of its holder.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ending::closed_with_leftovers;
use super::{
    ChunkKey, GiveUpOutcome, Inbox, IterationRow, Leftover, LeftoverReason, OriginRows, RecrawlCursor, Reserve,
    close_with_leftovers,
};
use crate::ids::{Iteration, LeaseToken, Turn};
use crate::missing_page::MissingPage;
use crate::politeness::{DELAY_MAX, Pace, Patience, RETRY_AFTER_MAX, RobotsUse};
use crate::time::{self, after, honest};
use crate::use_preferences::{RslFile, TdmFile};

/// The row by which an origin is leased, written by its holder and by those that wake, open or
/// close the origin.
///
/// `taken` and `segments` only grow within an iteration; `turn` only ever grows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// The iteration in which it is or was last open.
    pub iteration: Iteration,
    /// The number of the visit that is due, under way, or was the last.
    pub turn: Turn,
    /// Its state.
    pub state: LeaseState,
    /// The earliest start of the next request to the origin, by the clock that wrote it. Use
    /// [`Self::free_from`] with another clock.
    pub not_before: Timestamp,
    /// The time by that clock when the row was written. Absent in a row of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_at: Option<Timestamp>,
    /// How many leases in a row expired without a commit.
    pub attempts: u32,
    /// The pace of requests to the origin.
    pub pace: Pace,
    /// How much of the crawler's patience is used up. Rows of older versions have a number in
    /// `patience`.
    #[serde(rename = "tried", default)]
    pub patience: Patience,
    /// The first page of this iteration that worked, to be requested again before the origin is
    /// given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worked: Option<String>,
    /// The origin's response for an address that cannot exist, in this iteration or an earlier one;
    /// `None` if it was never requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<MissingPage>>,
    /// What the origin's `/.well-known/tdmrep.json` said, in this iteration or an earlier one;
    /// `None` if it was never requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tdm: Option<Box<TdmFile>>,
    /// What the RSL file said that the origin's robots.txt names, in this iteration or an earlier
    /// one; `None` if none was ever requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rsl: Option<Box<RslFile>>,
    /// Whether a page was requested since robots.txt was last fetched.
    #[serde(default, skip_serializing_if = "RobotsUse::is_used")]
    pub robots: RobotsUse,
    /// Why the origin takes no more work in this iteration; `None` while it does.
    pub ending: Option<LeftoverReason>,
    /// The outcome of waiting URLs without a request; `None` if they are left over, or while there
    /// is no ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Box<GiveUpOutcome>>,
    /// The progress of visiting the candidates of earlier iterations.
    pub cursor: RecrawlCursor,
    /// The todo chunk being consumed; `None` between chunks.
    pub chunk: Option<ChunkPosition>,
    /// Chunks that were left before their end, as their next URLs were pages and no pages were left
    /// to request. They go on once there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parked: Vec<ChunkPosition>,
    /// The depth of the todo being consumed, in links from a seed.
    pub depth: u32,
    /// Whether the origin waits for its segments to be parsed before it goes deeper.
    pub barrier: Barrier,
    /// URLs to be tried again, as many as [`Retry::fits`] allows.
    pub retries: Vec<Retry>,
    /// How many todo URLs are consumed, of those that the inbox counts as added.
    pub taken: u64,
    /// How many segments were committed.
    pub segments: u64,
    /// The crawlers' counters, for progress.
    pub counters: CrawlerCounters,
}

/// The state of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// A ticket of its turn may take it.
    Ready,
    /// A worker holds it.
    Leased(Holder),
    /// There is nothing to fetch until its segments are parsed.
    Idle,
    /// Nothing is left in this iteration.
    Closed,
}

/// The holder of a lease, its end, and the budget that is reserved for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// The fence: only its bearer may commit.
    pub token: LeaseToken,
    /// When the lease expires; others may take over a delay later. Commits renew it.
    pub until: Timestamp,
    /// The rest of the reserved budget.
    pub reserved: Reserve,
}

/// A position in a todo chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChunkPosition {
    /// The chunk.
    pub key: ChunkKey,
    /// How many of its entries have been consumed.
    pub offset: u32,
}

/// Whether an origin may go deeper. Matters only if the definition limits the depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// It may.
    #[default]
    Open,
    /// The remaining URLs are deeper than unparsed segments: the origin is woken only once they are
    /// all parsed.
    Waiting,
}

/// A URL to be tried again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Retry {
    /// The URL within its origin, and its known data.
    pub entry: super::TodoEntry,
    /// Its depth.
    pub depth: u32,
    /// How often it was tried in this iteration, not counting the requests before a follow-up.
    pub tries: u8,
    /// When it may be tried again.
    pub not_before: Timestamp,
}

/// The crawlers' counters for an origin in an iteration. They only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CrawlerCounters {
    /// Committed requests, including those that were sent again, but not robots.txt.
    pub requests: u64,
    /// Requests that count against the page budget: those for pages.
    pub pages: u64,
    /// URLs that were deferred to another try.
    pub retries: u64,
    /// Bytes of bodies as received.
    pub body_bytes: u64,
    /// Bodies of which only the beginning was kept, as they exceeded a limit.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub bodies_cut: u64,
}

/// A worker's request to take a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeRequest {
    /// The turn in its ticket.
    pub turn: Turn,
    /// The worker's token, never used before.
    pub token: LeaseToken,
    /// When its lease ends unless a commit renews it.
    pub until: Timestamp,
    /// When it will have stopped sending requests, whatever it commits until then: it holds the
    /// host until this time.
    pub host_until: Timestamp,
    /// Tokens of turns in the same process, which are known to be alive whatever the clock says.
    pub alive: Vec<LeaseToken>,
    /// How many hosts of one registered domain may be crawled at once.
    pub hosts_per_domain: u16,
    /// The budget that it requests; it gets less if less is left.
    pub wanted: Reserve,
    /// The current time.
    pub now: Timestamp,
}

/// The reason why a lease was not granted. The ticket is deleted in every case: whoever makes the
/// origin ready sends another one, and a worker that was refused because of the host sends it
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TakeRefused {
    /// The ticket is for another turn: late, or delivered twice.
    #[error("the ticket is for another turn")]
    OtherTurn,
    /// Another worker holds it.
    #[error("another worker holds the lease")]
    Held,
    /// It is too early.
    #[error("the origin must not be asked before {0}")]
    NotBefore(Timestamp),
    /// Its host is held by another turn, must be left alone, or is reserved for the turn that is
    /// next.
    #[error("the host is not available before {until}")]
    HostBusy {
        /// When to try again.
        until: Timestamp,
    },
    /// There is nothing to do, or not yet.
    #[error("the origin has nothing to do")]
    NothingToDo,
    /// The iteration is paused, stopping or closed.
    #[error("the iteration is not open")]
    NotOpen,
    /// The iteration's budget is spent or reserved for other origins.
    #[error("the budget is spent or reserved for others")]
    NoBudget,
}

/// How a holder releases its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Release {
    /// Work is left: another turn follows, not before this time.
    Wake {
        /// When the next turn may start sending requests.
        not_before: Timestamp,
    },
    /// There is nothing to fetch until segments are parsed.
    Idle,
    /// Nothing is left.
    Close,
    /// The rest is given up; the lease's `ending` is the reason.
    CloseWithLeftovers,
}

/// The rows after a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedRows {
    /// The origin's rows.
    pub rows: OriginRows,
    /// The iteration's row.
    pub iteration: IterationRow,
    /// The leftovers; `None` unless it was [`Release::CloseWithLeftovers`]. With it, every chunk of
    /// the origin in this iteration is deleted.
    pub leftover: Option<Leftover>,
}

/// The reason why a holder could not release its lease in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseRefused {
    /// Another worker holds the lease.
    #[error("another worker holds the lease")]
    Fenced,
    /// A parser wrote to the inbox since it was read: read and decide again.
    #[error("the inbox changed")]
    Changed,
}

impl Retry {
    /// Returns when it may be tried again, by a clock that says `now`: no try waits longer than
    /// [`DELAY_MAX`], unless a clock was set back.
    #[must_use]
    pub fn free_from(&self, now: Timestamp) -> Timestamp {
        honest(self.not_before, now, DELAY_MAX)
    }

    /// The limit on the URLs of an origin that wait for another try.
    pub const COUNT_MAX: usize = 32;
    /// The limit on their size as JSON, in bytes: the whole row is written with every commit. The
    /// longest URL fits.
    pub const BYTES_MAX: usize = 16 << 10;
    /// The most bytes that a retry takes besides its entry.
    const FIELDS_BYTES_MAX: usize = 100;

    /// Whether there is room for another waiting URL. Without room, it keeps the outcome of its
    /// last try.
    #[must_use]
    pub fn fits<'r>(waiting: impl IntoIterator<Item = &'r Self>, entry: &super::TodoEntry) -> bool {
        let (count, bytes) = Self::sizes(waiting.into_iter().map(|retry| &retry.entry).chain([entry]));
        count <= Self::COUNT_MAX && bytes <= Self::BYTES_MAX
    }

    /// Whether these take up so little room that other visits may start before they are committed:
    /// each of those may have to wait as well.
    #[must_use]
    pub fn leave_room<'r>(waiting: impl IntoIterator<Item = &'r Self>) -> bool {
        let (count, bytes) = Self::sizes(waiting.into_iter().map(|retry| &retry.entry));
        count < Self::COUNT_MAX / 4 && bytes < Self::BYTES_MAX / 4
    }

    /// Returns the number of entries, and their total size in bytes.
    fn sizes<'r>(entries: impl Iterator<Item = &'r super::TodoEntry>) -> (usize, usize) {
        let sizes = entries.map(|entry| entry.json_bytes_max() + Self::FIELDS_BYTES_MAX);
        sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
    }
}

const _: () = assert!(
    super::TodoEntry::WITH_FOLLOW_UP_JSON_BYTES_MAX + Retry::FIELDS_BYTES_MAX <= Retry::BYTES_MAX,
    "the longest fits"
);

impl Lease {
    /// Creates the lease of an origin that opens, for the first time or for another iteration.
    ///
    /// Candidates are visited only if an earlier iteration can have left some.
    #[must_use]
    pub fn opened(previous: Option<&Self>, iteration: Iteration, pace: Pace, now: Timestamp) -> Self {
        let not_before = previous.map_or(now, |lease| lease.free_from(now).max(now));
        if let Some(same) = previous.filter(|lease| lease.iteration == iteration) {
            return Self {
                turn: same.turn.next(),
                state: LeaseState::Ready,
                not_before,
                written_at: Some(now),
                barrier: Barrier::Open,
                ..same.clone()
            };
        }
        Self {
            iteration,
            turn: previous.map_or(Turn(1), |lease| lease.turn.next()),
            state: LeaseState::Ready,
            not_before,
            written_at: Some(now),
            attempts: 0,
            pace,
            patience: Patience::FULL,
            worked: None,
            missing: previous.and_then(|lease| lease.missing.clone()),
            tdm: previous.and_then(|lease| lease.tdm.clone()),
            rsl: previous.and_then(|lease| lease.rsl.clone()),
            robots: RobotsUse::Used,
            ending: None,
            given_up: None,
            cursor: if previous.is_some() { RecrawlCursor::Start } else { RecrawlCursor::End },
            chunk: None,
            parked: Vec::new(),
            depth: 0,
            barrier: Barrier::Open,
            retries: Vec::new(),
            taken: 0,
            segments: 0,
            counters: CrawlerCounters::default(),
        }
    }

    /// Returns its holder, if any.
    #[must_use]
    pub const fn holder(&self) -> Option<&Holder> {
        match &self.state {
            LeaseState::Leased(holder) => Some(holder),
            LeaseState::Ready | LeaseState::Idle | LeaseState::Closed => None,
        }
    }

    /// Whether this token's bearer holds it. The fence is the token, not the clock.
    #[must_use]
    pub fn is_held_by(&self, token: &LeaseToken) -> bool {
        self.holder().is_some_and(|holder| holder.token == *token)
    }

    /// Returns when the next request may be sent to the origin, by a clock that says `now`.
    ///
    /// That clock may have been set back since the row was written.
    #[must_use]
    pub fn free_from(&self, now: Timestamp) -> Timestamp {
        let longest = RETRY_AFTER_MAX.max(self.pace.delay());
        match self.written_at {
            Some(written_at) => time::by_clock(self.not_before, written_at, now, longest),
            None => honest(self.not_before, now, longest),
        }
    }

    /// Records that no request may start before this time, by a clock that says `now`.
    pub const fn wait_until(&mut self, not_before: Timestamp, now: Timestamp) {
        self.not_before = not_before;
        self.written_at = Some(now);
    }

    /// Whether nobody holds it, or the lease expired at least a delay ago.
    #[must_use]
    pub fn is_free(&self, now: Timestamp) -> bool {
        self.holder().is_none_or(|holder| after(holder.until, self.pace.delay()) < now)
    }

    /// Returns when the sweeper should check it: by then a ticket or a holder must be lost. `None`
    /// if there is nothing to check.
    #[must_use]
    pub fn due(&self, grace: std::time::Duration) -> Option<Timestamp> {
        match &self.state {
            LeaseState::Ready => Some(after(self.not_before, grace)),
            LeaseState::Leased(holder) => Some(after(after(holder.until, self.pace.delay()), grace)),
            LeaseState::Idle | LeaseState::Closed => None,
        }
    }

    /// Whether todo, retries or candidates for recrawl are left, as far as the two rows say.
    #[must_use]
    pub fn has_work(&self, inbox: &Inbox) -> bool {
        inbox.added > self.taken || !self.retries.is_empty() || self.cursor != RecrawlCursor::End
    }

    /// Whether URLs are waiting for an outcome without a request, as the origin was given up.
    #[must_use]
    pub fn has_urls_to_end(&self, inbox: &Inbox) -> bool {
        self.given_up.is_some() && (inbox.added > self.taken || !self.retries.is_empty())
    }

    /// Takes the lease for a turn, or takes it over from a holder whose time is over, and reserves
    /// part of the iteration's budget.
    ///
    /// A takeover keeps the reservation, waits a delay after the lease's end, and counts as an
    /// attempt.
    ///
    /// # Errors
    /// [`TakeRefused`] with the reason.
    pub fn take(&self, iteration: &IterationRow, take: &TakeRequest) -> Result<(Self, IterationRow), TakeRefused> {
        if self.turn != take.turn || self.iteration != iteration.number {
            return Err(TakeRefused::OtherTurn);
        }
        if !iteration.status.is_open() {
            return Err(TakeRefused::NotOpen);
        }
        let (attempts, not_before, reserved, robots, iteration) = match &self.state {
            // A clock that was set back would not reach the stored time for long. Here the holder
            // waits, or records when the next turn begins.
            LeaseState::Ready if self.not_before > take.now && self.free_from(take.now) == self.not_before => {
                return Err(TakeRefused::NotBefore(self.not_before));
            }
            LeaseState::Ready => {
                let (reserved, iteration) = iteration.reserve(take.wanted).ok_or(TakeRefused::NoBudget)?;
                (self.attempts, self.free_from(take.now), reserved, self.robots, iteration)
            }
            LeaseState::Leased(holder) => {
                let free_from = after(holder.until, self.pace.delay());
                if free_from >= take.now || take.alive.contains(&holder.token) {
                    return Err(TakeRefused::Held);
                }
                // The dead holder may have requested pages, even just now if a clock was set.
                let not_before = self.free_from(take.now).max(after(take.now, self.pace.delay()));
                (self.attempts + 1, not_before, holder.reserved, RobotsUse::Used, iteration.clone())
            }
            LeaseState::Idle | LeaseState::Closed => return Err(TakeRefused::NothingToDo),
        };
        let holder = Holder { token: take.token.clone(), until: take.until, reserved };
        let state = LeaseState::Leased(holder);
        let mut lease = Self { state, attempts, robots, barrier: Barrier::Open, ..self.clone() };
        lease.wait_until(not_before, take.now);
        Ok((lease, iteration))
    }

    /// Releases the lease: returns the rows afterwards, or why that is not possible.
    ///
    /// `self` is the stored row, `last` the holder's own copy (its state is ignored), `seen` the
    /// inbox from which the release was decided.
    ///
    /// # Errors
    /// [`ReleaseRefused`].
    pub fn release(
        &self,
        token: &LeaseToken,
        last: &Self,
        seen: &Inbox,
        inbox: &Inbox,
        iteration: &IterationRow,
        how: Release,
    ) -> Result<ReleasedRows, ReleaseRefused> {
        let Some(holder) = self.holder().filter(|holder| holder.token == *token) else {
            return Err(ReleaseRefused::Fenced);
        };
        let unchanged = inbox.added == seen.added && inbox.parsed == seen.parsed;
        let rest = holder.reserved;
        let mut lease = last.clone();
        let mut inbox = inbox.clone();
        let mut iteration = iteration.give_back(rest);
        let mut leftover = None;
        match how {
            Release::Wake { not_before } => {
                lease.state = LeaseState::Ready;
                lease.turn = self.turn.next();
                lease.not_before = not_before;
            }
            Release::Idle if unchanged => lease.state = LeaseState::Idle,
            Release::Close if unchanged && !lease.has_work(&inbox) && inbox.parsed == lease.segments => {
                lease.state = LeaseState::Closed;
                inbox.close();
                iteration = iteration.one_origin_less();
            }
            Release::CloseWithLeftovers if unchanged => {
                let closed = close_with_leftovers(&lease, &inbox, &iteration).ok_or(ReleaseRefused::Changed)?;
                (lease, inbox, iteration) = (closed.rows.lease, closed.rows.inbox, closed.iteration);
                leftover = Some(closed.leftover);
            }
            Release::Idle | Release::Close | Release::CloseWithLeftovers => return Err(ReleaseRefused::Changed),
        }
        Ok(ReleasedRows { rows: OriginRows { lease, inbox }, iteration, leftover })
    }

    /// Whether this stored row is the result of the same release in an earlier try whose answer was
    /// lost. Nobody else leaves the same row: a takeover counts as an attempt, and a commit as a
    /// segment.
    #[must_use]
    pub fn was_released(&self, last: &Self, seen: &Inbox, how: Release) -> bool {
        let lease = last.clone();
        let left = match how {
            Release::Wake { not_before } => {
                Self { state: LeaseState::Ready, turn: last.turn.next(), not_before, ..lease }
            }
            Release::Idle => Self { state: LeaseState::Idle, ..lease },
            Release::Close => Self { state: LeaseState::Closed, ..lease },
            Release::CloseWithLeftovers => closed_with_leftovers(last, seen),
        };
        *self == left
    }

    /// Makes the lease of a holder that is known to be dead ready again, without waiting for its
    /// end.
    ///
    /// Only a store that is opened by one process at a time can know that. The delay is kept from
    /// now on, as the time of the dead holder's last request is unknown. The reserved budget goes
    /// back.
    #[must_use]
    pub fn void(&self, iteration: &IterationRow, now: Timestamp) -> Option<(Self, IterationRow)> {
        let holder = self.holder()?;
        let lease = Self {
            state: LeaseState::Ready,
            turn: self.turn.next(),
            not_before: self.free_from(now).max(after(now, self.pace.delay())),
            written_at: Some(now),
            robots: RobotsUse::Used,
            ..self.clone()
        };
        Some((lease, iteration.give_back(holder.reserved)))
    }
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
