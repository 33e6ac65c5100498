//! Going through origins in the time that there is.
//!
//! Effects in order: what is to be done with an origin; what that sends; the cursor. Whatever a walk dies after, whoever comes next does at most
//! once more what was done since the cursor was stored, and all of that may be done twice.

use std::time::Duration;

use dragline_domain::frontier::{IterationRow, OriginCursor, Walk};
use dragline_domain::url::Origin;

use crate::World;
use crate::wake::Convoy;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CursorMoved, Iterations, MoveCursor, Origins};

/// Origins are listed so many at a time, and a cursor is stored after so many: more would be done again after a crash.
const ORIGINS_PAGE: usize = 500;

/// When a step stops going through origins, by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(Option<Duration>);

impl Until {
    /// The end of a step that begins now.
    pub(crate) fn of(world: &impl World) -> Self {
        Self(world.timing().walk.map(|walk| world.clock().monotonic().saturating_add(walk)))
    }

    /// Asked after each origin, not before: each walk passes one at least, so that it comes to its end in any case.
    pub(crate) fn is_over(self, world: &impl World) -> bool {
        self.0.is_some_and(|end| world.clock().monotonic() >= end)
    }
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    /// It is through.
    Through,
    /// Its time is over. The cursor says where to go on.
    OutOfTime,
    /// Somebody else does the same work, and goes on with it.
    Elsewhere,
}

/// A piece of work that goes through origins: up to which it is done, and up to which the iteration's row says so.
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
    /// Goes on where the iteration's row says.
    pub(crate) fn resume(world: &'w W, iteration: &'w IterationRow, walk: Walk, until: Until) -> Self {
        let stored = iteration.cursors.of(walk).clone();
        Self { world, iteration, walk, until, reached: stored.clone(), stored, passed_since: 0 }
    }

    /// Up to which origin it is done.
    pub(crate) const fn reached(&self) -> &OriginCursor {
        &self.reached
    }

    /// The next origins that the store knows; none when it is through.
    pub(crate) async fn next_page(&self) -> PortResult<Vec<Origin>> {
        match &self.reached {
            OriginCursor::Done => Ok(Vec::new()),
            begun => self.world.frontier().list_origins(&self.iteration.crawl, begun.last(), ORIGINS_PAGE).await,
        }
    }

    /// An origin is done with.
    pub(crate) fn pass(&mut self, origin: &Origin) {
        self.reached = OriginCursor::After(origin.clone());
        self.passed_since += 1;
    }

    /// Whether the cursor is to be stored before anything else is done.
    pub(crate) fn is_to_rest(&self) -> bool {
        self.passed_since >= ORIGINS_PAGE || self.until.is_over(self.world)
    }

    /// Sends what was done, and stores how far that is. How the walk ended, unless it goes on.
    pub(crate) async fn rest(&mut self, convoy: &mut Convoy) -> PortResult<Option<WalkEnd>> {
        convoy.send(self.world).await?;
        Ok(match self.store().await? {
            CursorMoved::Elsewhere => Some(WalkEnd::Elsewhere),
            CursorMoved::Moved => self.until.is_over(self.world).then_some(WalkEnd::OutOfTime),
        })
    }

    /// Everything is done.
    pub(crate) fn finish(&mut self) {
        self.reached = OriginCursor::Done;
    }

    /// Everything is done, and is to be done once more from its beginning.
    pub(crate) fn begin_anew(&mut self) {
        self.reached = OriginCursor::NotBegun;
    }

    /// Stores how far it came.
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
