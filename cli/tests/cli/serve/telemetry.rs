//! Telemetry of a server.

use super::*;
use crate::collector::{Attributes, Collector, Manner, Values};

/// The parent of a request, as a caller sends it.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// Reads the text of Prometheus.
fn values(text: &str) -> Values {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let value = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        let (name, crawl) = match name.split_once("{crawl=\"") {
            Some((name, crawl)) => (name, Some(crawl.trim_end_matches("\"}").to_owned())),
            None => (name, None),
        };
        ((name.to_owned(), crawl), value.parse().expect("a number"))
    };
    samples.map(value).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_sends_spans_of_its_calls_and_the_figures_of_its_metrics() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let collector = Collector::start(Manner::Takes);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("OTEL_SERVICE_NAME", "crawls"),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "50"),
    ];
    tokio::task::block_in_place(|| {
        let server = Server::start_with(directory.path(), &[], &variables);
        server.send("POST", "/crawls", &docs(&site));
        server.send("POST", "/crawls/docs/iterations", &json!({}));
        server.wait_until_over("docs", 1);
        let traced = format!("traceparent: 00-{TRACE}-{PARENT}-01\r\n");
        let page = server.call_with("GET", "/crawls/docs/pages?limit=1&cursor=s3cret", &traced, "");
        assert_eq!(page.status, 400, "the cursor is none: {}", page.body);
        let mut expected = values(&server.get("/metrics").body);
        let disk = ("dragline_disk_free_bytes".to_owned(), None);
        // A notice of the end may just have been sent.
        let notices = ("dragline_notices_waiting".to_owned(), Some("docs".to_owned()));
        assert!(expected.remove(&notices).is_some());
        assert!(expected.remove(&disk).is_some_and(|bytes| bytes > 0));

        let (mut calls, mut has_crawled, mut has_figures) = (Vec::new(), false, false);
        while calls.is_empty() || !has_crawled || !has_figures {
            let received = collector.next();
            assert!(!String::from_utf8_lossy(&received.body).contains("s3cret"), "a query is sent");
            for seen in received.spans() {
                assert_eq!(seen.sender["service.name"], "crawls");
                has_crawled |= seen.attributes.get("url.full") == Some(&site.url("/a"));
                if seen.span.name == "GET /crawls/{name}/pages" {
                    calls.push(seen);
                }
            }
            let mut figures = received.values();
            let has_both = figures.remove(&disk).is_some() && figures.remove(&notices).is_some();
            has_figures |= has_both && figures == expected;
        }
        let [call] = calls.as_slice() else { panic!("one call: {calls:#?}") };
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!((hex(&call.span.trace_id), hex(&call.span.parent_span_id)), (TRACE.to_owned(), PARENT.to_owned()));
        let expected = [
            ("http.request.method", "GET"),
            ("http.response.status_code", "400"),
            ("http.route", "/crawls/{name}/pages"),
            ("url.path", "/crawls/docs/pages"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(call.attributes, Attributes::from(expected));
    });
}
