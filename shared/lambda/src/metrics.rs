//! The log line of each invocation: its time and usage, and, if something went wrong, metrics in
//! CloudWatch's embedded format.
//!
//! CloudWatch bills a metric for each hour in which it is reported, so only counts other than zero
//! are metrics: alarms treat missing ones as zero. The function is their only dimension. A crawl or
//! an origin never is: each set of dimensions is billed.

use std::io::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::used::InvocationUsage;

/// The namespace of all functions' metrics.
const NAMESPACE: &str = "Dragline";

const DIMENSION: &str = "Function";

/// A count of one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metric {
    /// Its name.
    pub(crate) name: &'static str,
    /// The count.
    pub(crate) count: usize,
}

/// Writes the line of an invocation that ended at this time.
pub(crate) fn publish(function: &str, at: Timestamp, metrics: &[Metric], took: Duration, used: &InvocationUsage) {
    // Standard output lives as long as the process.
    _ = writeln!(std::io::stdout(), "{}", line(function, at, metrics, took, used));
}

fn line(function: &str, at: Timestamp, metrics: &[Metric], took: Duration, used: &InvocationUsage) -> Value {
    let mut line = Map::new();
    line.insert(DIMENSION.to_owned(), function.into());
    line.insert("TookMillis".to_owned(), u64::try_from(took.as_millis()).unwrap_or(u64::MAX).into());
    line.insert("Used".to_owned(), json!(used));
    let told: Vec<&Metric> = metrics.iter().filter(|metric| metric.count > 0).collect();
    if !told.is_empty() {
        let definitions: Vec<Value> = told.iter().map(|metric| json!({"Name": metric.name, "Unit": "Count"})).collect();
        let about = json!({
            "Timestamp": at.as_millisecond(),
            "CloudWatchMetrics": [{"Namespace": NAMESPACE, "Dimensions": [[DIMENSION]], "Metrics": definitions}],
        });
        line.insert("_aws".to_owned(), about);
        line.extend(told.iter().map(|metric| (metric.name.to_owned(), metric.count.into())));
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::used::tests::example;

    const TOOK: Duration = Duration::from_millis(250);

    fn metric_line(failed: usize, refused: usize) -> Value {
        let at = Timestamp::from_millisecond(1_795_000_000_123).unwrap();
        let metrics = [Metric { name: "Failed", count: failed }, Metric { name: "Refused", count: refused }];
        line("crawler", at, &metrics, TOOK, &example())
    }

    #[test]
    fn counts_are_metrics_with_the_function_as_their_only_dimension() {
        let expected = json!({
            "_aws": {
                "Timestamp": 1_795_000_000_123_u64,
                "CloudWatchMetrics": [{
                    "Namespace": "Dragline",
                    "Dimensions": [["Function"]],
                    "Metrics": [{"Name": "Refused", "Unit": "Count"}],
                }],
            },
            "Function": "crawler",
            "Refused": 3,
            "TookMillis": 250,
            "Used": example(),
        });
        assert_eq!(metric_line(0, 3), expected);
    }

    #[test]
    fn no_metric_is_reported_if_all_is_well() {
        assert_eq!(metric_line(0, 0), json!({"Function": "crawler", "TookMillis": 250, "Used": example()}));
    }
}
