//! Walking through origins in the time available.
//!
//! Effects in order: the work on an origin; the messages that it sends; the cursor. After a crash
//! the next walk repeats at most the work since the cursor was stored, all of which may be done
//! twice.

use std::time::Duration;

use dragline_domain::frontier::{IterationRow, OriginCursor, Walk};
use dragline_domain::url::Origin;

use crate::wake::Convoy;
use crate::{CALLS_AT_ONCE, World};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CursorMoved, Iterations, MoveCursor, Origins};

/// How many origins are listed at a time, and after how many the cursor is stored: a larger number
/// would repeat more after a crash.
const ORIGINS_PAGE: usize = 500;

/// When a step stops walking through origins, by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(Option<Duration>);

impl Until {
    /// Returns the end for a step that begins now.
    pub(crate) fn end_of_walk(world: &impl World) -> Self {
        Self(world.timing().walk.map(|walk| world.clock().monotonic().saturating_add(walk)))
    }

    /// Whether the time is over. Callers ask after origins, not before: each walk passes at least
    /// one, so it ends in any case.
    pub(crate) fn is_over(self, world: &impl World) -> bool {
        self.0.is_some_and(|end| world.clock().monotonic() >= end)
    }
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    /// It is complete.
    Through,
    /// Its time is over. The cursor says where to continue.
    OutOfTime,
    /// Another worker does the same work, and continues it.
    Elsewhere,
}

/// A walk through origins: its progress, and the progress stored in the iteration's row.
pub(crate) struct Walker<'w, W> {
    world: &'w W,
    iteration: &'w IterationRow,
    walk: Walk,
    until: Until,
    stored: OriginCursor,
    reached: OriginCursor,
    passed_since: usize,
}

impl<'w, W: World> Walker<'w, W> {
    /// Continues where the iteration's row says.
    pub(crate) fn resume(world: &'w W, iteration: &'w IterationRow, walk: Walk, until: Until) -> Self {
        let stored = iteration.cursors.get(walk).clone();
        Self { world, iteration, walk, until, reached: stored.clone(), stored, passed_since: 0 }
    }

    /// Returns the last finished origin.
    pub(crate) const fn reached(&self) -> &OriginCursor {
        &self.reached
    }

    /// Returns the next origins of the store; none when the walk is complete.
    pub(crate) async fn next_page(&self) -> PortResult<Vec<Origin>> {
        match &self.reached {
            OriginCursor::Done => Ok(Vec::new()),
            begun => self.world.frontier().list_origins(&self.iteration.crawl, begun.last(), ORIGINS_PAGE).await,
        }
    }

    /// Records that an origin is finished.
    pub(crate) fn pass(&mut self, origin: &Origin) {
        self.reached = OriginCursor::After(origin.clone());
        self.passed_since += 1;
    }

    /// Records that origins are finished, in order. Returns whether to store the cursor before
    /// anything else.
    pub(crate) fn pass_all<'o>(&mut self, origins: impl IntoIterator<Item = &'o Origin>) -> bool {
        origins.into_iter().fold(false, |is_to_rest, origin| {
            self.pass(origin);
            self.is_to_rest() || is_to_rest
        })
    }

    /// Returns how many origins to work on concurrently. A walk without time left takes only the
    /// one that it must.
    pub(crate) fn origins_at_once(&self) -> usize {
        if self.until.is_over(self.world) { 1 } else { CALLS_AT_ONCE }
    }

    /// Whether to store the cursor before anything else.
    pub(crate) fn is_to_rest(&self) -> bool {
        self.passed_since >= ORIGINS_PAGE || self.until.is_over(self.world)
    }

    /// Sends pending tickets, and stores the cursor. Returns how the walk ended, unless it goes on.
    pub(crate) async fn rest(&mut self, convoy: &mut Convoy) -> PortResult<Option<WalkEnd>> {
        convoy.send(self.world).await?;
        Ok(match self.store().await? {
            CursorMoved::Elsewhere => Some(WalkEnd::Elsewhere),
            CursorMoved::Moved => self.until.is_over(self.world).then_some(WalkEnd::OutOfTime),
        })
    }

    /// Records that everything is finished.
    pub(crate) fn finish(&mut self) {
        self.reached = OriginCursor::Done;
    }

    /// Records that everything is finished, and has to be repeated from the beginning.
    pub(crate) fn start_over(&mut self) {
        self.reached = OriginCursor::NotBegun;
    }

    /// Stores the cursor.
    pub(crate) async fn store(&mut self) -> PortResult<CursorMoved> {
        if self.stored == self.reached {
            return Ok(CursorMoved::Moved);
        }
        let (IterationRow { crawl, number, .. }, to) = (self.iteration, self.reached.clone());
        let (crawl, seen) = (crawl.clone(), self.stored.clone());
        let moved = MoveCursor { crawl, iteration: *number, walk: self.walk, seen, to };
        let answer = self.world.frontier().move_cursor(&moved).await?;
        if answer == CursorMoved::Moved {
            self.stored = moved.to;
            self.passed_since = 0;
        }
        Ok(answer)
    }
}
