//! The searcher's process, with doubles of the Runtime API and of AWS around it.

use dragline_testkit::functions::{Answer, Deployed};
use serde_json::{Value, json};

fn get(path: &str, query: &str) -> Value {
    json!({
        "version": "2.0", "rawPath": path, "rawQueryString": query,
        "requestContext": {"http": {"method": "GET", "path": path}},
    })
}

#[tokio::test]
async fn the_first_request_is_for_an_event() {
    let process = Deployed::start(env!("CARGO_BIN_EXE_searcher"), "Searcher").await;
    assert_eq!(process.asked(), 0, "requests to the network before the first event");
}

#[tokio::test]
async fn invalid_requests_are_refused_without_calling_aws() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_searcher"), "Searcher").await;
    let Answer::Reply(reply) = process.invoke(get("/docs", "q=%22open")).await else { panic!("a reply") };
    assert_eq!(reply["statusCode"], 400);
    assert_eq!(reply["headers"]["content-type"], "application/json");
    let body: Value = serde_json::from_str(reply["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["error"], "the query is not valid: the quotation mark is not closed");
    assert_eq!(process.asked(), 0);
}

#[tokio::test]
async fn an_index_that_cannot_be_read_fails_the_invocation() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_searcher"), "Searcher").await;
    let answer = process.invoke(get("/docs", "q=word")).await;
    assert!(matches!(answer, Answer::Failure(_)), "AWS refuses what it needs: {answer:?}");
    assert!(process.asked() > 0, "AWS was asked");
}
