//! What bounds a turn from outside, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dragline_domain::frontier::{Release, TakeRefused};

use super::memory::SegmentMemory;

/// What one turn may take: of the iteration's budget, and of memory.
#[derive(Clone, Debug)]
pub struct TurnLimits {
    /// Pages, where the definition limits them.
    pub pages: u64,
    /// Bytes of bodies, where the definition limits them.
    pub bytes: u64,
    /// A segment takes no more visits once its object is so large.
    pub segment_bytes: u64,
    /// What the segments in the making take together, of all turns that share it.
    pub memory: SegmentMemory,
    /// Whether others wait for the turn's place.
    pub crowd: Crowd,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            pages: 500,
            bytes: 256 << 20,
            segment_bytes: 8 << 20,
            memory: SegmentMemory::default(),
            crowd: Crowd::default(),
        }
    }
}

/// Tells turns that others wait until one of them ends: each then ends sooner, so that quick sites are not held up by slow ones.
#[derive(Clone, Debug, Default)]
pub struct Crowd(Arc<AtomicBool>);

impl Crowd {
    /// Others wait.
    pub fn others_wait(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Nobody does, or no more.
    pub fn nobody_waits(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether others wait.
    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Tells turns to end soon: nothing new is asked for, what is under way is committed.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Tells them.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether they were told.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a turn ended. In every case its ticket is done with: where the lease was not let go, the sweeper sends another once it has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It never began.
    Refused(TakeRefused),
    /// The lease was let go.
    Released(Release),
    /// Another worker took the lease over; what was not committed by then is its to do again.
    Fenced,
    /// The lease became too old while a visit waited for room on this machine, so that it was not made. What was not committed by then is left to
    /// whoever takes the lease over.
    LeaseTooOld,
}
