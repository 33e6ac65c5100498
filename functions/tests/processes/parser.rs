//! The parser's process, with doubles of the Runtime API and of AWS around it.

use dragline_testkit::functions::{Answer, Deployed, batch, failed_from};
use serde_json::json;

const MALFORMED: &str = include_str!("../../../events/segments-malformed.json");

const MALFORMED_MESSAGES: usize = 3;

const GOOD: &str = include_str!("../../../events/segments.json");

#[tokio::test]
async fn the_first_request_is_for_an_event() {
    let process = Deployed::start(env!("CARGO_BIN_EXE_parser"), "Parser").await;
    assert_eq!(process.asked(), 0, "requests to the network before the first event");
}

#[tokio::test]
async fn malformed_messages_are_not_delivered_again() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_parser"), "Parser").await;
    let answer = process.invoke(batch(&[MALFORMED])).await;
    assert_eq!(answer, Answer::Reply(json!({"batchItemFailures": []})));
    assert_eq!(process.asked(), 0, "nothing is asked of AWS for them");
}

#[tokio::test]
async fn only_failed_messages_of_a_batch_are_delivered_again() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_parser"), "Parser").await;
    let event = batch(&[MALFORMED, GOOD]);
    let expected = failed_from(&event, MALFORMED_MESSAGES);
    assert_eq!(process.invoke(event).await, expected, "AWS refuses what the valid ones need");
    assert!(process.asked() > 0, "AWS was asked");
}
