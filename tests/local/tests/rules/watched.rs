//! What an observer of a crawl is shown: each visit, and what an origin waits for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_engine::local_world;
use dragline_formats::http_fields::Headers;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, FetchedResponse, Fetcher};
use dragline_ports::observer::{Event, Observer, Stage};
use dragline_testkit::whole_crawls::{Silent, crawl_in, definition};

/// The events shown, one per line.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Observer for Seen {
    fn observe(&self, event: &Event<'_>) {
        let line = match event {
            Event::Visited { url, visit, fetched, .. } => {
                let sent = if fetched.is_some() { "visited" } else { "not asked for" };
                format!("{sent} {} {} {:?}", url.path_and_query(), visit.outcome, visit.finality)
            }
            Event::Read { url, outcome, .. } => format!("read {} {outcome}", url.path_and_query()),
            Event::At { stage: Stage::Waiting { why, delay, .. }, .. } => {
                format!("waits {} {} {}ms", why.name(), delay.reason.name(), delay.time.as_millis())
            }
            Event::At { stage: Stage::Parsing { .. }, .. } => "at Parsing".to_owned(),
            Event::At { stage: Stage::Called { .. }, .. } => "at Called".to_owned(),
            Event::At { stage, .. } => format!("at {stage:?}"),
            Event::Began { batch, .. } => format!("began {}", batch.name()),
            Event::Ended { batch, .. } => format!("ended {}", batch.name()),
        };
        self.0.lock().unwrap().push(line);
    }
}

/// A status, a field and a body; or `None` if the server is out of reach.
type Answer = Option<(u16, &'static str, &'static str, &'static str)>;

/// Answers by path and how often it was requested before.
struct Script {
    answer: fn(&str, u32) -> Answer,
    asked: Mutex<BTreeMap<String, u32>>,
}

impl Fetcher for Script {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let path = request.url.path_and_query().to_owned();
        let earlier = {
            let mut asked = self.asked.lock().unwrap();
            let count = asked.entry(path.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let took = Duration::from_millis(1);
        let Some((status, name, value, body)) = (self.answer)(&path, earlier) else {
            return FetchOutcome::failed(FetchFailureKind::Connect, "connection refused", took);
        };
        let response = FetchedResponse {
            status,
            reason: String::new(),
            protocol: None,
            headers: Headers::from_iter([("content-type", "text/html"), (name, value)]),
            decoded_sha1: [0; 20],
            decoded_bytes: body.len() as u64,
            body: body.into(),
            truncated: None,
        };
        FetchOutcome {
            request_headers: Headers::from_iter([("host", "a.example")]),
            remote: None,
            first_byte: Some(took),
            elapsed: took,
            archived_at: None,
            unprocessed: None,
            result: Ok(response),
        }
    }
}

async fn seen(answer: fn(&str, u32) -> Answer) -> Vec<String> {
    let data = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
    let world = local_world(&store, Silent).watched_by(Arc::new(seen.clone()));
    let messages = world.queue.clone();
    let definition = definition(&["https://a.example/".to_owned()], |draft| {
        draft.politeness.delay = Duration::from_millis(100);
        draft.politeness.concurrency = 1;
        draft.politeness.patience = Duration::from_secs(60);
    });
    crawl_in(world, messages, Script { answer, asked: Mutex::default() }, &definition).await;
    let seen = seen.0.lock().unwrap();
    seen.clone()
}

const NO_RULES: Answer = Some((404, "x", "", ""));

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_visit_is_shown_and_what_parsing_makes_of_it() {
    let seen = seen(|path, _| match path {
        "/robots.txt" => Some((200, "x", "", "User-agent: *\nDisallow: /no")),
        "/" => Some((200, "x", "", "<a href=/a>a</a> <a href=/no>no</a>")),
        _ => Some((200, "x", "", "<link rel=canonical href=/>")),
    })
    .await;
    let is_of_url = |line: &&String| ["visited", "not asked for", "read"].iter().any(|word| line.starts_with(word));
    let of_urls: Vec<_> = seen.iter().filter(is_of_url).collect();
    let expected = [
        "visited / file_ingested Final",
        "visited /a file_ingested Final",
        "not asked for /no blocked_by_robots_txt Final",
        "read /a not_canonical",
    ];
    assert_eq!(of_urls, expected.iter().collect::<Vec<_>>(), "{seen:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_batch_of_a_step_is_shown_with_its_end() {
    let seen = seen(|path, _| if path == "/robots.txt" { NO_RULES } else { Some((200, "x", "", "")) }).await;
    let place = |line: &str| {
        let found = seen.iter().position(|seen| seen == line);
        found.unwrap_or_else(|| panic!("{line} in {seen:#?}"))
    };
    for (one, next, why) in [
        ("began turn", "visited / file_ingested Final", "what is visited is part of a turn"),
        ("visited / file_ingested Final", "began commit", "it is committed afterwards"),
        ("began commit", "ended commit", "which ends"),
        ("ended commit", "ended turn", "before the turn"),
        ("began commit", "began parse", "what is committed is parsed, and the commit's end is shown a moment later"),
        ("began parse", "ended parse", "which ends"),
        ("began sweep", "ended sweep", "a sweep finds that it is over"),
    ] {
        assert!(place(one) < place(next), "{why}: {one}, {next} in {seen:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_origin_waits_for_is_shown_and_that_it_is_done_with() {
    type Case = (fn(&str, u32) -> Answer, &'static [&'static str], &'static str);
    let cases: [Case; 7] = [
        (
            |path, _| if path == "/robots.txt" { NO_RULES } else { Some((200, "x", "", "")) },
            &["at Robots", "waits delay definition 100ms"],
            "the definition's delay",
        ),
        (
            |path, _| match path {
                "/robots.txt" => Some((200, "x", "", "User-agent: *\nCrawl-delay: 0.3")),
                _ => Some((200, "x", "", "")),
            },
            &["waits delay crawl_delay 300ms"],
            "robots.txt's",
        ),
        (
            |path, earlier| match path {
                "/robots.txt" => NO_RULES,
                _ if earlier == 0 => Some((503, "x", "", "")),
                _ => Some((200, "x", "", "")),
            },
            &["visited / server_unavailable Retried", "waits retry definition 100ms", "visited / file_ingested Final"],
            "another try of a URL that is refused alone",
        ),
        (
            |path, earlier| match path {
                "/robots.txt" => NO_RULES,
                "/" => Some((200, "x", "", "<a href=/a>a</a> <a href=/b>b</a>")),
                _ if earlier == 0 => Some((503, "x", "", "")),
                _ => Some((200, "x", "", "")),
            },
            &["visited /b server_unavailable Retried", "waits delay back_off 2000ms", "visited /a file_ingested Final"],
            "the back-off after refusals",
        ),
        (
            |path, earlier| match path {
                "/robots.txt" => NO_RULES,
                _ if earlier == 0 => Some((429, "retry-after", "3", "")),
                _ => Some((200, "x", "", "")),
            },
            &["waits retry_after definition 100ms", "visited / file_ingested Final"],
            "a Retry-After",
        ),
        (
            |path, earlier| match path {
                "/robots.txt" => NO_RULES,
                _ if earlier == 0 => None,
                _ => Some((200, "x", "", "")),
            },
            &["visited / connection_failed Retried", "waits retry definition 100ms", "visited / file_ingested Final"],
            "another try of the last URL",
        ),
        (
            |path, earlier| match path {
                "/robots.txt" if earlier == 0 => Some((500, "x", "", "")),
                "/robots.txt" => NO_RULES,
                _ => Some((200, "x", "", "")),
            },
            &["at Robots", "waits robots_unreadable definition 100ms", "visited / file_ingested Final"],
            "a robots.txt that cannot be read",
        ),
    ];
    for (answer, expected, why) in cases {
        let seen = seen(answer).await;
        // The parser reads what was fetched at the same time as the turn ends.
        let is_of_turn = |line: &String| !["at Parsing", "began", "ended"].iter().any(|word| line.starts_with(word));
        let seen: Vec<_> = seen.into_iter().filter(is_of_turn).collect();
        let mut rest = seen.iter();
        for line in expected {
            assert!(rest.any(|seen| seen == line), "{why}: {line} in {seen:#?}");
        }
        assert_eq!(seen.last().map(String::as_str), Some("at Done"), "{why}: {seen:#?}");
    }
}
