//! The usage of AWS by an invocation, for estimates of the bill (`docs/measurements/bill.md`).

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_aws::Usage;
use serde::Serialize;

/// The usage of an invocation, apart from its duration, which Lambda reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvocationUsage {
    /// Its messages: each was received, and is deleted or delivered again.
    messages: usize,
    /// The CPU time of the process.
    cpu_micros: u64,
    /// Requests to AWS, by service and operation.
    calls: BTreeMap<String, u64>,
    /// DynamoDB write units by table.
    write_units: BTreeMap<&'static str, u64>,
    /// Twice the DynamoDB read units by table.
    read_half_units: BTreeMap<&'static str, u64>,
}

impl InvocationUsage {
    /// Returns the usage of an invocation with this many messages.
    pub(crate) fn new(messages: usize, cpu: Duration, usage: &Usage) -> Self {
        Self {
            messages,
            cpu_micros: u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX),
            calls: usage.calls.iter().map(|(call, &count)| (call.to_string(), count)).collect(),
            write_units: usage.writes.iter().map(|(table, units)| (table.suffix(), units.0)).collect(),
            read_half_units: usage.reads.iter().map(|(table, units)| (table.suffix(), units.halves)).collect(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use dragline_aws::{Call, ReadUnits, Table, WriteUnits};
    use serde_json::json;

    use super::*;

    /// Returns a sample: two messages, three calls, and units of two tables.
    pub(crate) fn example() -> InvocationUsage {
        let call = |operation: &str| Call { service: "DynamoDB".to_owned(), operation: operation.to_owned() };
        let usage = Usage {
            calls: BTreeMap::from([(call("GetItem"), 2), (call("Query"), 1)]),
            writes: BTreeMap::from([(Table::Log, WriteUnits(5))]),
            reads: BTreeMap::from([(Table::Crawls, ReadUnits { halves: 3 })]),
        };
        InvocationUsage::new(2, Duration::from_micros(1_500), &usage)
    }

    #[test]
    fn usage_is_reported_by_operation_and_table() {
        let expected = json!({
            "messages": 2,
            "cpuMicros": 1_500,
            "calls": {"DynamoDB.GetItem": 2, "DynamoDB.Query": 1},
            "writeUnits": {"log": 5},
            "readHalfUnits": {"crawls": 3},
        });
        assert_eq!(serde_json::to_value(example()).unwrap(), expected, "as the bill reads it");
    }
}
