//! The external limits of a turn, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dragline_domain::frontier::{Release, TakeRefused};

use super::memory::SegmentMemory;

/// The share of the iteration's budget and of memory that one turn may use.
#[derive(Clone, Debug)]
pub struct TurnLimits {
    /// Pages, if the definition limits them.
    pub pages: u64,
    /// Bytes of bodies, if the definition limits them.
    pub bytes: u64,
    /// A segment takes no more visits once its object reaches this size, in bytes.
    pub segment_bytes: u64,
    /// The memory for segments in progress, shared by all turns.
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

/// Tells turns that others wait for one of them to end. Each then ends sooner, so that slow sites
/// do not hold up quick ones.
#[derive(Clone, Debug, Default)]
pub struct Crowd(Arc<AtomicBool>);

impl Crowd {
    /// Tells turns that others wait.
    pub fn others_wait(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Tells turns that nobody waits, or no longer.
    pub fn nobody_waits(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether others wait.
    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Tells turns to end soon: they start nothing new, and commit what is under way.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Sends the signal.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the signal was sent.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a turn ended. In every case its ticket is done: if the lease was not released, the sweeper
/// sends another ticket once it has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It was refused the lease.
    Refused(TakeRefused),
    /// The lease was released.
    Released(Release),
    /// Another worker took the lease over, and repeats everything that was not committed.
    Fenced,
    /// The lease became too old while a visit waited for room on this machine, so the visit was not
    /// made. The next holder of the lease repeats everything that was not committed.
    LeaseTooOld,
}
