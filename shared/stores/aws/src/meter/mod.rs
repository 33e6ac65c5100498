//! Counts of requests to AWS for the bill: calls by service and operation, and capacity units of
//! DynamoDB.
//!
//! Units are computed from the items' sizes by AWS's rules ([`capacity`]), because emulators report
//! other numbers.

pub(crate) mod capacity;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Sub;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

use self::capacity::{ReadUnits, WriteUnits};
use crate::tables::Table;

/// An operation of a service, in AWS's terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// `DynamoDB`, `S3`, `SQS`, `SNS`.
    pub service: String,
    /// For example `TransactWriteItems`.
    pub operation: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.service, self.operation)
    }
}

/// The usage since a meter began. Only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests sent, including retries.
    pub calls: BTreeMap<Call, u64>,
    /// DynamoDB's write request units, including those of a table's indexes.
    pub writes: BTreeMap<Table, WriteUnits>,
    /// DynamoDB's read request units.
    pub reads: BTreeMap<Table, ReadUnits>,
}

impl Usage {
    /// Returns the usage since an earlier reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            calls: grown(&self.calls, &earlier.calls),
            writes: grown(&self.writes, &earlier.writes),
            reads: grown(&self.reads, &earlier.reads),
        }
    }

    /// Returns the write units of all tables.
    #[must_use]
    pub fn writes_of_all(&self) -> WriteUnits {
        self.writes.values().copied().sum()
    }

    /// Returns the read units of all tables.
    #[must_use]
    pub fn reads_of_all(&self) -> ReadUnits {
        self.reads.values().copied().sum()
    }
}

/// Returns the counts that grew, and by how much.
fn grown<K, V>(now: &BTreeMap<K, V>, earlier: &BTreeMap<K, V>) -> BTreeMap<K, V>
where
    K: Clone + Ord,
    V: Copy + Default + PartialEq + Sub<Output = V>,
{
    let more = now.iter().map(|(key, &count)| (key.clone(), count - earlier.get(key).copied().unwrap_or_default()));
    more.filter(|(_, count)| *count != V::default()).collect()
}

/// A meter. Clones share their counts.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    usage: Arc<Mutex<Usage>>,
}

impl Meter {
    /// Returns a meter at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the usage so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.lock().clone()
    }

    pub(crate) fn add_writes(&self, table: Table, units: WriteUnits) {
        *self.lock().writes.entry(table).or_default() += units;
    }

    pub(crate) fn add_reads(&self, table: Table, units: ReadUnits) {
        *self.lock().reads.entry(table).or_default() += units;
    }

    /// Returns the counts. Nothing panics while they are held.
    fn lock(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[dyn_dispatch_hint]
impl Intercept for Meter {
    fn name(&self) -> &'static str {
        "Meter"
    }

    /// Counts each attempt, as each is billed.
    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(metadata) = config.load::<Metadata>() {
            let call = Call { service: metadata.service().to_owned(), operation: metadata.name().to_owned() };
            *self.lock().calls.entry(call).or_default() += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_since_a_reading_is_the_growth() {
        let meter = Meter::new();
        meter.add_writes(Table::Log, WriteUnits(3));
        meter.add_reads(Table::Crawls, ReadUnits { halves: 2 });
        let earlier = meter.usage();
        assert_eq!(earlier.since(&earlier), Usage::default(), "nothing since itself");
        meter.add_writes(Table::Log, WriteUnits(4));
        meter.add_writes(Table::Frontier, WriteUnits(1));
        let more = meter.usage().since(&earlier);
        let expected = BTreeMap::from([(Table::Frontier, WriteUnits(1)), (Table::Log, WriteUnits(4))]);
        assert_eq!((more.writes, more.reads), (expected, BTreeMap::new()), "no table that was not used");
        assert_eq!(meter.usage().writes_of_all(), WriteUnits(8));
    }
}
