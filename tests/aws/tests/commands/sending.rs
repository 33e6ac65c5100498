//! What the command sends to a stack, as its scheduler receives it.

use std::fs;

use dragline_aws_tests::{EmulatedStack, dragline};
use dragline_domain::definition::Definition;
use dragline_ports::frontier::{Crawls, PutCrawl};
use dragline_testkit::whole_crawls::definition;
use serde_json::json;

const DEFINITION: &str =
    "name: docs\nseeds: [https://docs.example/]\nbudget: {pages: 7}\nschedule: {cron: '0 8 * * *'}\n";

fn docs() -> Definition {
    definition(&["https://docs.example/".to_owned()], |draft| draft.name = "docs".parse().unwrap())
}

#[tokio::test]
async fn each_command_comes_as_the_message_that_the_scheduler_takes() {
    let stack = EmulatedStack::new().await;
    let put = PutCrawl { definition: docs(), seen: None, next: None };
    stack.frontier().put_crawl(&put).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("crawl.yaml"), DEFINITION).unwrap();
    let written = json!({
        "name": "docs",
        "seeds": ["https://docs.example/"],
        "budget": { "pages": 7 },
        "schedule": { "cron": "0 8 * * *" },
    });
    let of_crawl = json!({ "crawl": "docs" });
    let status = format!("`dragline status docs --stack {}`", stack.name());
    for (arguments, expected, said) in [
        (&["start", "docs"][..], json!({ "start": of_crawl }), status.as_str()),
        (&["start", "-f", "crawl.yaml"], json!({ "definition": written }), &status),
        (
            &["start", "https://a.example/?utm_source=b"],
            json!({ "url": "https://a.example/?utm_source=b" }),
            "status a.example",
        ),
        (&["put", "crawl.yaml"], json!({ "put_crawl": { "definition": written } }), "T08:00:00Z, as scheduled by"),
        (&["pause", "docs"], json!({ "pause": of_crawl }), &status),
        (&["resume", "docs"], json!({ "resume": of_crawl }), &status),
        (&["stop", "docs"], json!({ "stop": of_crawl }), &status),
        (&["remove", "docs"], json!({ "remove": of_crawl }), &status),
        (&["prune", "--keep", "5", "--crawl", "docs"], json!({ "prune": { "crawl": "docs", "keep": 5 } }), &status),
        (
            &["prune", "--older-than", "90d", "--crawl", "docs"],
            json!({ "prune": { "crawl": "docs", "older_than": "7776000s" } }),
            &status,
        ),
    ] {
        let ran = dragline(directory.path(), &[arguments, &["--stack", stack.name()]].concat());
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        let (message, id) = stack.next_command().await;
        assert_eq!(message, expected, "{arguments:?}");
        assert!(ran.stdout.trim_end().ends_with(&id), "{arguments:?}: it names the message {id}: {}", ran.stdout);
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn nothing_is_asked_of_a_crawl_that_the_stack_does_not_know() {
    let stack = EmulatedStack::new().await;
    let directory = tempfile::tempdir().unwrap();
    for verb in ["start", "pause", "resume", "stop", "remove"] {
        let ran = dragline(directory.path(), &[verb, "docs", "--stack", stack.name()]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{verb}: {}", ran.stderr);
        assert!(ran.stderr.contains("there is no crawl `docs`"), "{verb}: {}", ran.stderr);
    }
}
