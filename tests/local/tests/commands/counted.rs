//! A frontier that counts its calls.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_local::SqliteFrontier;
use dragline_ports::error::PortResult;
use dragline_testkit::before::{Before, Behind};

/// The local frontier, with a count of the calls to each operation.
pub(crate) type Counted = Behind<Counter, SqliteFrontier>;

/// How often each operation was called since the last reading, and how many calls are under way.
#[derive(Default)]
pub(crate) struct Counter {
    calls: Mutex<BTreeMap<&'static str, usize>>,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

impl Counter {
    /// How often these operations were called since the last reading, in their order. Resets all
    /// counts.
    pub(crate) fn calls<const N: usize>(&self, operations: [&str; N]) -> [usize; N] {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap());
        operations.map(|operation| calls.get(operation).copied().unwrap_or(0))
    }

    /// The most calls that were under way at the same time since the last reading.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most.swap(0, Ordering::Relaxed)
    }
}

impl Before for Counter {
    async fn pass<T: Send>(
        &self,
        operation: &'static str,
        _subject: impl Display + Send,
        _instead: Option<T>,
        call: impl Future<Output = PortResult<T>> + Send,
    ) -> PortResult<T> {
        let operation = operation.trim_start_matches("frontier.");
        *self.calls.lock().unwrap().entry(operation).or_default() += 1;
        let under_way = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(under_way, Ordering::Relaxed);
        // Whoever calls as well comes before the answer, however fast that is.
        tokio::task::yield_now().await;
        let answer = call.await;
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    fn empties_first_page(&self) -> bool {
        true
    }
}
