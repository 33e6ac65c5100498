//! Metrics in CloudWatch's embedded format: a line of the log that CloudWatch counts.
//!
//! The function is the only dimension. A crawl or an origin never is one: each set of dimensions is billed.

use std::io::Write as _;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Where the metrics of all functions are.
const NAMESPACE: &str = "Dragline";

const DIMENSION: &str = "Function";

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Time.
    Milliseconds,
}

/// A number that was measured in one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// What it is called.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The number.
    pub value: u64,
}

impl Metric {
    /// So many of them.
    #[must_use]
    pub fn count(name: &'static str, count: usize) -> Self {
        Self { name, unit: Unit::Count, value: u64::try_from(count).unwrap_or(u64::MAX) }
    }
}

/// Publishes what an invocation of a function measured.
pub fn publish(function: &str, at: Timestamp, metrics: &[Metric]) {
    // Standard output is gone only with the process.
    _ = writeln!(std::io::stdout(), "{}", embedded(function, at, metrics));
}

fn embedded(function: &str, at: Timestamp, metrics: &[Metric]) -> Value {
    let unit = |unit| match unit {
        Unit::Count => "Count",
        Unit::Milliseconds => "Milliseconds",
    };
    let definitions: Vec<Value> =
        metrics.iter().map(|metric| json!({"Name": metric.name, "Unit": unit(metric.unit)})).collect();
    let mut line = Map::new();
    let about = json!({
        "Timestamp": at.as_millisecond(),
        "CloudWatchMetrics": [{"Namespace": NAMESPACE, "Dimensions": [[DIMENSION]], "Metrics": definitions}],
    });
    line.insert("_aws".to_owned(), about);
    line.insert(DIMENSION.to_owned(), function.into());
    line.extend(metrics.iter().map(|metric| (metric.name.to_owned(), metric.value.into())));
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_the_function_as_their_only_dimension() {
        let at = Timestamp::from_millisecond(1_795_000_000_123).unwrap();
        let took = Metric { name: "Took", unit: Unit::Milliseconds, value: 250 };
        let expected = json!({
            "_aws": {
                "Timestamp": 1_795_000_000_123_u64,
                "CloudWatchMetrics": [{
                    "Namespace": "Dragline",
                    "Dimensions": [["Function"]],
                    "Metrics": [{"Name": "Messages", "Unit": "Count"}, {"Name": "Took", "Unit": "Milliseconds"}],
                }],
            },
            "Function": "crawler",
            "Messages": 3,
            "Took": 250,
        });
        assert_eq!(embedded("crawler", at, &[Metric::count("Messages", 3), took]), expected);
    }
}
