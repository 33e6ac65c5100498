//! The publisher's process at the ticks of its rule, with doubles of the Runtime API and of AWS
//! around it.

use dragline_testkit::functions::{Answer, Deployed};
use serde_json::{Value, json};

#[tokio::test]
async fn a_tick_is_for_the_database_of_a_stack_that_has_one() {
    let tick: Value = serde_json::from_str(include_str!("../../../events/tick.json")).unwrap();
    for (secret, has_database, why) in
        [("", false, "there is nowhere to write to"), ("results/database", true, "its crawls are listed")]
    {
        let variables = [("DRAGLINE_SINK_SECRET", secret)];
        let mut process = Deployed::start_with(env!("CARGO_BIN_EXE_publisher"), "Publisher", variables).await;
        let answer = process.invoke(tick.clone()).await;
        if has_database {
            assert!(matches!(answer, Answer::Failure(_)), "AWS refuses everything: {answer:?}");
        } else {
            assert_eq!(answer, Answer::Reply(json!({"batchItemFailures": []})), "{why}");
        }
        assert_eq!(process.asked() > 0, has_database, "{why}");
    }
}
