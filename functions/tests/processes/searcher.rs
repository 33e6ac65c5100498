//! The searcher's process, with doubles of the Runtime API and of AWS around it.

use dragline_testkit::functions::{Answer, Deployed};
use serde_json::{Value, json};

fn request(method: &str, path: &str, query: &str) -> Value {
    json!({
        "version": "2.0", "rawPath": path, "rawQueryString": query, "headers": {"host": "elsewhere.example"},
        "requestContext": {
            "domainName": "abc.lambda-url.us-east-1.on.aws",
            "http": {"method": method, "path": path, "sourceIp": "203.0.113.7"},
        },
    })
}

/// Returns the status of an answer and its body.
fn reply(answer: Answer) -> (u64, Value) {
    let Answer::Reply(reply) = answer else { panic!("a reply: {answer:?}") };
    assert_eq!(reply["isBase64Encoded"], false);
    let body = reply["body"].as_str().expect("a text");
    (reply["statusCode"].as_u64().expect("a status"), serde_json::from_str(body).unwrap_or_default())
}

#[tokio::test]
async fn the_first_request_is_for_an_event() {
    let process = Deployed::start(env!("CARGO_BIN_EXE_searcher"), "Searcher").await;
    assert_eq!(process.asked(), 0, "requests to the network before the first event");
}

#[tokio::test]
async fn what_is_refused_is_refused_without_calling_aws() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_searcher"), "Searcher").await;
    for (method, path, query, status, detail) in [
        ("GET", "/crawls/docs/search", "q=%22open", 400, "the query is not valid: the quotation mark is not closed"),
        ("GET", "/docs", "q=word", 404, "there is nothing here"),
        ("POST", "/crawls", "", 403, "here everybody is a reader, and that takes an editor"),
        ("G T", "/crawls", "", 400, "invalid HTTP method"),
    ] {
        let (answered, body) = reply(process.invoke(request(method, path, query)).await);
        assert_eq!((answered, body["detail"].as_str()), (status, Some(detail)), "{method} {path}");
    }
    let (status, description) = reply(process.invoke(request("GET", "/openapi.json", "")).await);
    assert_eq!((status, description["info"]["title"].as_str()), (200, Some("Dragline")));
    assert_eq!(process.asked(), 0);
}

#[tokio::test]
async fn what_aws_refuses_is_a_problem() {
    let mut process = Deployed::start(env!("CARGO_BIN_EXE_searcher"), "Searcher").await;
    for (path, query, expected) in
        [("/crawls/docs/search", "q=word", 503), ("/crawls/docs", "", 500), ("/crawls", "", 500)]
    {
        let (status, body) = reply(process.invoke(request("GET", path, query)).await);
        assert_eq!(status, expected, "{path}: {body}");
    }
    assert!(process.asked() > 0, "AWS was asked");
}
