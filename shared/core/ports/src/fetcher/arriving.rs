//! The bytes of bodies under way, for people who watch a crawl.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes of bodies that are arriving. Clones share the count.
///
/// ```
/// # use dragline_ports::fetcher::ArrivingBytes;
/// let arriving = ArrivingBytes::default();
/// let mut body = arriving.begin();
/// body.add(3);
/// assert_eq!(arriving.get(), 3);
/// drop(body);
/// assert_eq!(arriving.get(), 0, "it has arrived, or never will");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ArrivingBytes(Arc<AtomicU64>);

impl ArrivingBytes {
    /// Returns the number of bytes so far of all bodies under way, as received.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Begins a body.
    #[must_use]
    pub fn begin(&self) -> ArrivingBody {
        ArrivingBody { all: self.clone(), bytes: 0 }
    }
}

/// A body that is arriving. Once it is dropped, its bytes do not count any more.
#[derive(Debug)]
pub struct ArrivingBody {
    all: ArrivingBytes,
    bytes: u64,
}

impl ArrivingBody {
    /// Adds bytes that arrived.
    pub fn add(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        self.bytes += bytes;
        self.all.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for ArrivingBody {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
