//! The memory used by segments in progress, for all turns of a process together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory for segments in progress. Turns that share it hold clones of it.
///
/// It never blocks. When little is left, a segment that has used its equal share takes no more
/// visits, is committed, and frees its memory. So each may exceed its share by its last bodies.
#[derive(Clone, Debug)]
pub struct SegmentMemory {
    bytes_max: u64,
    used: Arc<SharedUse>,
}

#[derive(Debug, Default)]
struct SharedUse {
    bytes: AtomicU64,
    segments: AtomicU64,
}

/// The memory that one segment uses; dropping it frees the memory.
#[derive(Debug)]
pub(super) struct MemoryUse {
    used: Arc<SharedUse>,
    bytes: u64,
}

impl SegmentMemory {
    /// Returns a memory for this many bytes of objects.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        Self { bytes_max, used: Arc::default() }
    }

    /// Begins a segment.
    pub(super) fn begin(&self) -> MemoryUse {
        self.used.segments.fetch_add(1, Ordering::Relaxed);
        MemoryUse { used: Arc::clone(&self.used), bytes: 0 }
    }

    /// Returns the size up to which a segment's object may grow and still take visits: unlimited
    /// until half is used, then an equal share.
    pub(super) fn part(&self) -> u64 {
        let half = self.bytes_max / 2;
        if self.used.bytes.load(Ordering::Relaxed) < half {
            return u64::MAX;
        }
        half / self.used.segments.load(Ordering::Relaxed).max(1)
    }
}

impl Default for SegmentMemory {
    /// 96 MiB. Objects grow by doubling, so in the end twice as much is used.
    fn default() -> Self {
        Self::new(96 << 20)
    }
}

impl MemoryUse {
    /// Records the current size of the object.
    pub(super) fn grow_to(&mut self, bytes: u64) {
        self.used.bytes.fetch_add(bytes.saturating_sub(self.bytes), Ordering::Relaxed);
        self.bytes = self.bytes.max(bytes);
    }
}

impl Drop for MemoryUse {
    fn drop(&mut self) {
        self.used.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.used.segments.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_end_early_while_memory_is_short() {
        let memory = SegmentMemory::new(200);
        let (mut one, mut two) = (memory.begin(), memory.clone().begin());
        one.grow_to(99);
        assert_eq!(memory.part(), u64::MAX, "enough is left");
        two.grow_to(1);
        assert_eq!(memory.part(), 50, "half is used: an equal share for each of two");
        let others: Vec<_> = (0..8).map(|_| memory.begin()).collect();
        assert_eq!(memory.part(), 10);
        drop(others);
        one.grow_to(120);
        assert_eq!(memory.part(), 50);
        drop(one);
        assert_eq!(memory.part(), u64::MAX, "it was committed");
        drop(two);
        assert_eq!((memory.used.bytes.load(Ordering::Relaxed), memory.used.segments.load(Ordering::Relaxed)), (0, 0));
    }

    /// Sixty turns at sites of large files, whose segments would take 8 MB each.
    #[test]
    fn segments_of_any_number_of_turns_stay_within_the_memory() {
        let (memory, page) = (SegmentMemory::default(), 3 << 19);
        let mut open: Vec<(MemoryUse, u64)> = (0..60).map(|_| (memory.begin(), 0)).collect();
        let mut peak = 0;
        for _ in 0..20 {
            for (taken, bytes) in &mut open {
                if *bytes >= memory.part().min(8 << 20) {
                    (*taken, *bytes) = (memory.begin(), 0);
                }
                *bytes += page;
                taken.grow_to(*bytes);
                peak = peak.max(memory.used.bytes.load(Ordering::Relaxed));
            }
        }
        assert!(peak <= 200 << 20, "{peak} bytes");
        assert!(peak >= 48 << 20, "{peak} bytes: the memory is used");
    }
}
