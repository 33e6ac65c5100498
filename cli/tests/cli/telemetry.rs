//! Telemetry of `dragline crawl`.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};

use super::collector::{Collector, Manner, Received, Seen, names};
use super::{Ran, command, ran};

fn site(asked: &Asked) -> Vec<Step> {
    match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "User-agent: *\nDisallow: /private"),
        "/" => html("<a href='/a?page=2&token=s3cret'>a</a> <a href=/gone>gone</a> <a href=/private>private</a>"),
        "/gone" => reply(404, &[], "no"),
        _ => html("<p>Words"),
    }
}

/// Crawls a site with these variables.
fn crawl(directory: &Path, url: &str, variables: &[(&str, &str)]) -> Ran {
    let arguments = ["crawl", url, "--allow-private", "--delay", "0s", "--quiet", "--crawl", "docs"];
    ran(command(directory, &arguments).envs(variables.iter().copied()))
}

fn spans(received: &[Received]) -> Vec<Seen> {
    received.iter().flat_map(Received::spans).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_and_figures_of_a_crawl_are_sent() {
    let site = HostileSite::start(site).await;
    let url = site.url("/");
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::start(Manner::Takes);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20hush"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ];
    let ran = tokio::task::block_in_place(|| crawl(directory.path(), &url, &variables));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);

    let received = collector.all();
    for request in &received {
        assert!(request.head.contains("authorization: Bearer hush"), "{}", request.head);
        assert!(request.head.contains("content-type: application/x-protobuf"), "{}", request.head);
        let body = String::from_utf8_lossy(&request.body);
        assert!(!body.contains("s3cret") && !body.contains("hush"), "a secret is sent to {}", request.path);
    }
    let seen = spans(&received);
    assert_eq!(names(&seen), BTreeSet::from(["GET", "commit", "parse", "sweep", "turn", "visit"]), "{seen:#?}");
    let sender = &seen[0].sender;
    assert_eq!(
        ["service.name", "deployment.environment.name"].map(|name| sender[name].as_str()),
        ["dragline", "test"],
        "{sender:?}"
    );
    let port = site.url("").rsplit(':').next().unwrap_or_default().to_owned();
    for (path, name, outcome, status) in [
        ("/", "GET", "file_ingested", Some("200")),
        ("/a?page=REDACTED&token=REDACTED", "GET", "file_ingested", Some("200")),
        ("/gone", "GET", "file_not_found", Some("404")),
        ("/private", "visit", "blocked_by_robots_txt", None),
    ] {
        let visits: Vec<_> =
            seen.iter().filter(|seen| seen.attributes.get("url.full") == Some(&site.url(path))).collect();
        let [visit] = visits.as_slice() else { panic!("{path} is visited once: {visits:#?}") };
        let attribute = |name: &str| visit.attributes.get(name).map(String::as_str);
        assert_eq!(
            (visit.span.name.as_str(), attribute("dragline.outcome"), attribute("http.response.status_code")),
            (name, Some(outcome), status),
            "{path}"
        );
        let known = ["dragline.crawl", "server.address", "server.port"].map(attribute);
        assert_eq!(known, [Some("docs"), Some("127.0.0.1"), Some(port.as_str())], "{path}");
        assert_eq!(attribute("http.request.method"), status.map(|_| "GET"), "{path}");
        assert_eq!(attribute("http.response.body.size").is_some(), status.is_some(), "{path}");
        let turn = seen.iter().find(|turn| turn.span.span_id == visit.span.parent_span_id);
        let turn = turn.unwrap_or_else(|| panic!("{path} is part of a turn: {seen:#?}"));
        assert_eq!((turn.span.name.as_str(), &turn.span.trace_id), ("turn", &visit.span.trace_id), "{path}");
        assert!(turn.span.start_time_unix_nano <= visit.span.start_time_unix_nano, "{path}");
    }
    let values = received.iter().map(Received::values).rfind(|values| !values.is_empty()).expect("figures are sent");
    let value = |name: &str| values.get(&(name.to_owned(), Some("docs".to_owned()))).copied();
    for (name, expected) in [
        ("dragline_iteration", 1),
        ("dragline_iteration_running", 0),
        ("dragline_urls_crawled", 3),
        ("dragline_visits_processed", 4),
        ("dragline_origins_open", 0),
        ("dragline_notices_waiting", 0),
    ] {
        assert_eq!(value(name), Some(expected), "{name} in {values:?}");
    }
    assert!(values[&("dragline_disk_free_bytes".to_owned(), None)] > 0, "{values:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_fails_costs_a_crawl_nothing_and_is_said_once() {
    let site = HostileSite::start(site).await;
    let url = site.url("/");
    // A port where nobody listens.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let nobody = format!("http://{}", listener.local_addr().expect("it listens"));
    drop(listener);
    let (fails, hangs) = (Collector::start(Manner::Fails), Collector::start(Manner::Hangs));
    let cases = [
        (nobody.as_str(), "500", &["spans cannot be sent to", "metrics cannot be sent to"][..], "refused"),
        (&fails.url, "500", &["spans cannot be sent to", "it answered with status 500"], "status 500"),
        (&hangs.url, "100", &["spans cannot be sent to", "metrics cannot be sent to"], "it hangs"),
        (&hangs.url, "60000", &["the last spans and metrics were not taken within 3 s"], "it hangs for long"),
        (
            "http://ada:hush@[",
            "500",
            &["spans are not sent: OTEL_EXPORTER_OTLP_ENDPOINT is no URL of a collector"],
            "no URL",
        ),
    ];
    for (endpoint, timeout_ms, expected, why) in cases {
        let directory = tempfile::tempdir().unwrap();
        // Spans are sent one by one, so that sending fails again and again.
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", timeout_ms),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
        ];
        let ran = tokio::task::block_in_place(|| crawl(directory.path(), &url, &variables));
        assert_eq!(ran.code, Some(0), "{why}: the crawl is not changed: {}", ran.stderr);
        for text in expected {
            assert!(ran.stderr.contains(text), "{why}: `{text}` in {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("hush"), "{why}: a password is said: {}", ran.stderr);
        for kind in ["spans", "metrics"] {
            let said = ran.stderr.lines().filter(|line| line.starts_with(kind)).count();
            assert!(said <= 1, "{why}: {kind} once: {}", ran.stderr);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_unless_it_is_asked_for() {
    let site = HostileSite::start(site).await;
    let url = site.url("/");
    let collector = Collector::start(Manner::Takes);
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    for (variables, expected, why) in [
        (vec![endpoint, ("OTEL_SDK_DISABLED", "true")], &[][..], "disabled"),
        (vec![endpoint, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")], &[], "no exporter"),
        (vec![endpoint, ("OTEL_TRACES_SAMPLER", "always_off")], &["/v1/metrics"], "no span is sampled"),
        (vec![endpoint, ("OTEL_METRICS_EXPORTER", "none")], &["/v1/traces"], "only spans"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let ran = tokio::task::block_in_place(|| crawl(directory.path(), &url, &variables));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{why}");
        let mut paths: Vec<_> = collector.all().into_iter().map(|request| request.path).collect();
        paths.dedup();
        assert_eq!(paths, expected, "{why}");
    }
}
