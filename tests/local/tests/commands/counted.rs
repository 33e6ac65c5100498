//! A frontier that counts its calls.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Mutex;

use dragline_local::SqliteFrontier;
use dragline_ports::error::PortResult;
use dragline_testkit::before::{Before, Behind};

/// The local frontier, with a count of the calls to each operation.
pub(crate) type Counted = Behind<Counter, SqliteFrontier>;

/// How often each operation was called since the last reading.
#[derive(Default)]
pub(crate) struct Counter(Mutex<BTreeMap<&'static str, usize>>);

impl Counter {
    /// How often these operations were called since the last reading, in their order. Resets all counts.
    pub(crate) fn calls<const N: usize>(&self, operations: [&str; N]) -> [usize; N] {
        let calls = std::mem::take(&mut *self.0.lock().unwrap());
        operations.map(|operation| calls.get(operation).copied().unwrap_or(0))
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
        *self.0.lock().unwrap().entry(operation).or_default() += 1;
        call.await
    }

    fn empties_first_page(&self) -> bool {
        true
    }
}
