//! The sweeper's process, with doubles of the Runtime API and of AWS around it.

use dragline_testkit::functions::{Answer, Deployed, batch};
use serde_json::{Value, json};

#[tokio::test]
async fn the_first_request_is_for_an_event() {
    let process = Deployed::start(env!("CARGO_BIN_EXE_sweeper"), "Sweeper").await;
    assert_eq!(process.asked(), 0, "requests to the network before the first event");
}

#[tokio::test]
async fn messages_are_left_alone() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_sweeper"), "Sweeper").await;
    let answer = process.invoke(batch(&[include_str!("../../../events/segments-malformed.json")])).await;
    assert_eq!(answer, Answer::Reply(json!({"batchItemFailures": []})));
}

#[tokio::test]
async fn a_sweep_that_fails_is_a_failed_invocation_and_the_next_one_goes_on() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_sweeper"), "Sweeper").await;
    let tick: Value = serde_json::from_str(include_str!("../../../events/tick.json")).unwrap();
    for _ in 0..2 {
        let answer = process.invoke(tick.clone()).await;
        assert!(matches!(answer, Answer::Failure(_)), "AWS refuses everything: {answer:?}");
    }
}
