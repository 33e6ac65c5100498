//! The functions that take batches of messages.

use dragline_testkit::functions::{Answer, Deployed, batch, failed_from};
use serde_json::json;

/// A function that takes batches, with examples of its messages.
struct BatchFunction {
    binary: &'static str,
    name: &'static str,
    malformed: &'static str,
    malformed_messages: usize,
    good: &'static [&'static str],
}

const FUNCTIONS: [BatchFunction; 4] = [
    BatchFunction {
        binary: env!("CARGO_BIN_EXE_crawler"),
        name: "Crawler",
        malformed: include_str!("../../../events/tickets-malformed.json"),
        malformed_messages: 3,
        good: &[include_str!("../../../events/tickets.json")],
    },
    BatchFunction {
        binary: env!("CARGO_BIN_EXE_parser"),
        name: "Parser",
        malformed: include_str!("../../../events/segments-malformed.json"),
        malformed_messages: 3,
        good: &[include_str!("../../../events/segments.json")],
    },
    BatchFunction {
        binary: env!("CARGO_BIN_EXE_publisher"),
        name: "Publisher",
        malformed: include_str!("../../../events/publications-malformed.json"),
        malformed_messages: 5,
        good: &[include_str!("../../../events/publications.json")],
    },
    BatchFunction {
        binary: env!("CARGO_BIN_EXE_scheduler"),
        name: "Scheduler",
        malformed: include_str!("../../../events/commands-malformed.json"),
        malformed_messages: 6,
        good: &[include_str!("../../../events/command-url.json"), include_str!("../../../events/command-start.json")],
    },
];

#[tokio::test]
async fn the_first_request_is_for_an_event() {
    for BatchFunction { binary, name, .. } in FUNCTIONS {
        let process = Deployed::start(binary, name).await;
        assert_eq!(process.asked(), 0, "{name}: requests to the network before the first event");
    }
}

#[tokio::test]
async fn malformed_messages_are_not_delivered_again() {
    for BatchFunction { binary, name, malformed, .. } in FUNCTIONS {
        let mut process = Deployed::start(binary, name).await;
        let answer = process.invoke(batch(&[malformed])).await;
        assert_eq!(answer, Answer::Reply(json!({"batchItemFailures": []})), "{name}");
        assert_eq!(process.asked(), 0, "{name}: nothing is asked of AWS for them");
    }
}

#[tokio::test]
async fn only_failed_messages_of_a_batch_are_delivered_again() {
    for BatchFunction { binary, name, malformed, malformed_messages, good } in FUNCTIONS {
        let mut process = Deployed::start(binary, name).await;
        let event = batch(&[&[malformed], good].concat());
        let expected = failed_from(&event, malformed_messages);
        assert_eq!(process.invoke(event).await, expected, "{name}: AWS refuses what the valid ones need");
        assert!(process.asked() > 0, "{name}: AWS was asked");
    }
}
