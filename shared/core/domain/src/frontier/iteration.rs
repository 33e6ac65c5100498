//! The row of an iteration: its status, the exact count of open origins and the budget left.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Cursors, Decided, LeftoverReason, OriginCursor, Task, Walk};
use crate::ids::{CrawlId, Iteration, TriggerId};

/// One run of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IterationRow {
    /// The crawl.
    pub crawl: CrawlId,
    /// Its number.
    pub number: Iteration,
    /// The version of the definition that it uses, even if a newer one is stored meanwhile. `None`
    /// in a row of an older program, which uses the stored definition.
    pub version: Option<u32>,
    /// Its status. `Closed` is final.
    pub status: IterationStatus,
    /// The number of open origins, plus 1 while the scheduler's token is out. At 0 the iteration
    /// can be closed, and 0 is final.
    pub open: u64,
    /// The number of origins that were opened in it, each counted once. Counted from 0 in a row of
    /// an older program.
    #[serde(default)]
    pub origins: u64,
    /// How many origins had joined the crawl when it began; `None` in a row of an older program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined_before: Option<u64>,
    /// The budget that is not reserved; `None` parts are unlimited.
    pub budget: Reserve,
    /// Whether the scheduler still owes seeds: it returns the token when every seed is added.
    pub token_out: bool,
    /// When the sweeper should send the trigger's command again; `None` once the token is returned.
    pub due: Option<Timestamp>,
    /// The trigger that started it.
    pub trigger: TriggerId,
    /// When it started.
    pub started_at: Timestamp,
    /// The deadline at which it is stopped; `None` for no limit.
    pub ends_at: Option<Timestamp>,
    /// When it closed; `None` until then.
    pub closed_at: Option<Timestamp>,
    /// When it was pruned, after which only referenced data remains stored. `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned_at: Option<Timestamp>,
    /// The progress of walks through origins. Empty in a row of an older program.
    #[serde(default)]
    pub cursors: Cursors,
    /// Its task. A row of an older program is a crawl.
    #[serde(default)]
    pub task: Task,
}

/// The status of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationStatus {
    /// It gives out leases.
    Open,
    /// It gives out no leases until it is resumed. Parsing continues.
    Paused,
    /// It gives out no more leases: the remaining work becomes leftovers, origin by origin.
    Stopping,
    /// It is over.
    Closed,
}

impl IterationStatus {
    /// Whether leases are given out.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open)
    }

    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
            Self::Closed => "closed",
        }
    }

    /// Returns the status with this name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Open, Self::Paused, Self::Stopping, Self::Closed].into_iter().find(|status| status.name() == name)
    }
}

/// A request to change a running iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusChange {
    /// Give out no leases for now.
    Pause,
    /// Give out leases again.
    Resume,
    /// End it with the work done so far.
    Stop,
}

/// An amount of pages and bytes: the rest of a budget, requested or reserved. A `None` part is
/// unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reserve {
    /// Requests for pages.
    pub pages: Option<u64>,
    /// Bytes of bodies as received.
    pub bytes: Option<u64>,
}

impl Reserve {
    /// Whether one of its limited parts is used up.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.pages == Some(0) || self.bytes == Some(0)
    }

    /// Returns the rest after this much was used; never below zero.
    #[must_use]
    pub fn spend(self, pages: u64, bytes: u64) -> Self {
        Self {
            pages: self.pages.map(|left| left.saturating_sub(pages)),
            bytes: self.bytes.map(|left| left.saturating_sub(bytes)),
        }
    }
}

/// Returns how much of the request can be granted: no more than is left.
fn grant(left: Option<u64>, wanted: Option<u64>) -> Option<u64> {
    left.map(|left| wanted.map_or(left, |wanted| wanted.min(left)))
}

fn add(left: Option<u64>, more: Option<u64>) -> Option<u64> {
    left.map(|left| left.saturating_add(more.unwrap_or(0)))
}

/// The result of a request to begin an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationBegun {
    /// It began now, or this trigger began it earlier. Seeds are missing while the scheduler's
    /// token is out.
    Iteration(IterationRow),
    /// Another trigger's iteration is still running.
    Busy(IterationRow),
}

/// Decides a trigger's request to begin an iteration, from the one that it began earlier, if any,
/// and the crawl's latest one. `row` creates the row of a new iteration with this number.
#[must_use]
pub fn begin_iteration(
    earlier: Option<IterationRow>,
    latest: Option<&IterationRow>,
    row: impl FnOnce(Iteration) -> IterationRow,
) -> Decided<IterationBegun> {
    match (earlier, latest) {
        (Some(earlier), _) => Decided::Leave(IterationBegun::Iteration(earlier)),
        (None, Some(running)) if running.status != IterationStatus::Closed => {
            Decided::Leave(IterationBegun::Busy(running.clone()))
        }
        (None, Some(last)) => Decided::Write(IterationBegun::Iteration(row(last.number.next()))),
        (None, None) => Decided::Write(IterationBegun::Iteration(row(Iteration::FIRST))),
    }
}

impl IterationRow {
    /// Creates the row of a new iteration: open, with the scheduler's token out.
    #[must_use]
    pub fn begin(
        crawl: CrawlId,
        number: Iteration,
        trigger: TriggerId,
        budget: Reserve,
        now: Timestamp,
        ends_at: Option<Timestamp>,
        due: Timestamp,
    ) -> Self {
        Self {
            crawl,
            number,
            version: None,
            status: IterationStatus::Open,
            open: 1,
            origins: 0,
            joined_before: None,
            budget,
            token_out: true,
            due: Some(due),
            trigger,
            started_at: now,
            ends_at,
            closed_at: None,
            pruned_at: None,
            cursors: Cursors::default(),
            task: Task::Crawl,
        }
    }

    /// Reserves part of the budget: at most the requested amount, and at least something of each
    /// limited part. `None` if nothing is left.
    ///
    /// If a part is limited, the search for holders starts again, as there is a new holder.
    #[must_use]
    pub fn reserve(&self, wanted: Reserve) -> Option<(Reserve, Self)> {
        if self.budget.is_spent() {
            return None;
        }
        let reserved =
            Reserve { pages: grant(self.budget.pages, wanted.pages), bytes: grant(self.budget.bytes, wanted.bytes) };
        let budget = self.budget.spend(reserved.pages.unwrap_or(0), reserved.bytes.unwrap_or(0));
        let cursors = match budget {
            Reserve { pages: None, bytes: None } => self.cursors.clone(),
            Reserve { .. } => self.cursors.clone().with(Walk::Holders, OriginCursor::NotBegun),
        };
        Some((reserved, Self { budget, cursors, ..self.clone() }))
    }

    /// Returns how much a turn may request: a fair share of each limited part among the open
    /// origins, at most `most`.
    #[must_use]
    pub fn share(&self, most: Reserve) -> Reserve {
        let part = |left: Option<u64>, most: Option<u64>| {
            let fair = left.map(|left| (left / self.open.max(1)).max(1));
            fair.map(|fair| most.map_or(fair, |most| most.min(fair)))
        };
        Reserve { pages: part(self.budget.pages, most.pages), bytes: part(self.budget.bytes, most.bytes) }
    }

    /// Returns why origins that nobody works on must be given up; `None` if they must not.
    ///
    /// If the reason is a spent budget, nothing is given up while anybody holds a lease, as the
    /// unused part of its reservation comes back.
    #[must_use]
    pub fn gives_up(&self) -> Option<LeftoverReason> {
        match self.status {
            IterationStatus::Stopping => Some(LeftoverReason::Stopped),
            IterationStatus::Open if self.budget.is_spent() => Some(LeftoverReason::BudgetExhausted),
            IterationStatus::Open | IterationStatus::Paused | IterationStatus::Closed => None,
        }
    }

    /// Returns a turn's unused reservation to the budget.
    #[must_use]
    pub fn give_back(&self, rest: Reserve) -> Self {
        let budget = Reserve { pages: add(self.budget.pages, rest.pages), bytes: add(self.budget.bytes, rest.bytes) };
        Self { budget, ..self.clone() }
    }

    /// Returns the scheduler's token. `None` if it was returned already.
    #[must_use]
    pub fn return_token(&self) -> Option<Self> {
        self.token_out.then(|| Self { open: self.open - 1, token_out: false, due: None, ..self.clone() })
    }

    /// Counts one more open origin. `None` once the count has reached zero or the iteration has
    /// closed; both are final.
    #[must_use]
    pub fn one_origin_more(&self) -> Option<Self> {
        (self.open > 0 && self.status != IterationStatus::Closed).then(|| Self { open: self.open + 1, ..self.clone() })
    }

    /// Counts one more open origin that was not open in this iteration before. `None` as for
    /// [`IterationRow::one_origin_more`].
    #[must_use]
    pub fn one_new_origin_more(&self) -> Option<Self> {
        self.one_origin_more().map(|row| Self { origins: row.origins.saturating_add(1), ..row })
    }

    /// Counts one open origin fewer.
    #[must_use]
    pub fn one_origin_less(&self) -> Self {
        debug_assert!(self.open > 0, "an origin was open");
        Self { open: self.open.saturating_sub(1), ..self.clone() }
    }

    /// Closes the iteration. `None` if origins are open, or if it is closed already.
    #[must_use]
    pub fn close(&self, now: Timestamp) -> Option<Self> {
        (self.open == 0 && self.status != IterationStatus::Closed).then(|| Self {
            status: IterationStatus::Closed,
            closed_at: Some(now),
            ..self.clone()
        })
    }

    /// Applies a change of status. `None` if the current status does not allow it: pausing requires
    /// an open iteration, resuming a paused one, and stopping one that is not over.
    #[must_use]
    pub fn change(&self, change: StatusChange) -> Option<Self> {
        use IterationStatus::{Open, Paused, Stopping};
        let status = match (change, self.status) {
            (StatusChange::Pause, Open) => Paused,
            (StatusChange::Resume, Paused) => Open,
            (StatusChange::Stop, Open | Paused) => Stopping,
            _ => return None,
        };
        Some(Self { status, ..self.clone() })
    }
}
