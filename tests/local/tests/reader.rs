//! What people see of a data directory: the reader's rows, the summary and the views.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{at, commit, figures, origin, take};
use dragline_domain::capture::{
    CrawlType, Exchange, FileEntry, Finality, LogEntry, RecordKind, RedirectEntry, SegmentLog, Visit,
};
use dragline_domain::document::{Disposition, Document, Link, LinkKind, Page, Rel};
use dragline_domain::frontier::{
    CandidateUpdate, Claimable, Claimer, LastCapture, LinkDecisions, ReadAs, RulesDigest, SegmentRow, ShorterWays,
    Sighting, StateChange, UrlHistory, VisitPlace, VisitResult, VisitTarget,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, Spelling};
use dragline_local::{LocalStore, Reading};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::{Candidates, ClaimRequest, CrawlLog};
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_ports::row::Row;
use dragline_testkit::whole_crawls::every_row;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use tempfile::TempDir;

fn url(path: &str) -> CrawlUrl {
    CrawlUrl::try_from(format!("https://a.example{path}")).unwrap()
}

/// A visit that sent a request, which took this long and was answered with this status.
fn visited(n: u32, path: &str, outcome: Outcome, answer: (u64, Option<u16>)) -> LogEntry {
    let (elapsed_ms, status) = answer;
    let exchange = Exchange {
        robots: dragline_domain::capture::RobotsStand::Approved,
        elapsed: Duration::from_millis(elapsed_ms),
        resends: 0,
        first_byte_ms: status.map(|_| elapsed_ms / 2),
        remote: status.map(|_| "192.0.2.1:443".parse().unwrap()),
        body_bytes: status.map_or(0, |_| 200),
        decoded_sha1: status.map(|_| "ab".repeat(20)),
        decoded_bytes: 300,
        status: None,
        rendering: None,
    };
    let file = status.map(|_| FileEntry {
        record: RecordKind::Response,
        offset: u64::from(n) * 1_000,
        length: 900,
        content_type: Some("text/html".into()),
        body_bytes: 200,
        payload_sha1: [1; 20],
        etag: Some("\"e\"".into()),
        last_modified: None,
        truncated: None,
    });
    let visit = Visit {
        sighting: Sighting { depth: n, via: (n > 0).then(|| url("/")), requisite_steps: 0, read_as: ReadAs::Typed },
        redirects: 0,
        crawl_type: CrawlType::Queued,
        tries: 1,
        outcome,
        finality: Finality::Final,
        detail: None,
        exchange: Some(Box::new(exchange)),
        known: UrlHistory::default(),
        demand: None,
        missing: None,
        uses: Vec::new(),
    };
    let at = at(i64::from(n));
    LogEntry {
        n,
        url: url(path),
        at,
        visit,
        status,
        file: file.map(Box::new),
        redirect: None,
        unchanged_since: None,
        change: None,
    }
}

/// A URL that was never asked for.
fn blocked(n: u32, path: &str, outcome: Outcome, detail: Option<&str>) -> LogEntry {
    let mut entry = visited(n, path, outcome, (0, None));
    entry.visit = Visit { tries: 0, detail: detail.map(str::to_owned), exchange: None, ..entry.visit };
    entry
}

fn log(segment: &SegmentRow) -> SegmentLog {
    let mut moved = visited(1, "/old", Outcome::PermanentRedirect, (40, Some(301)));
    moved.redirect = Some(RedirectEntry { target: url("/new"), is_permanent: true, source: LinkKind::Redirect });
    let mut again = visited(2, "/slow", Outcome::RequestTimeout, (30_000, None));
    again.visit.finality = Finality::Retried;
    again.visit.detail = Some("no answer in 30 s".into());
    SegmentLog {
        segment: segment.id.clone(),
        iteration: segment.iteration,
        object: segment.object.clone(),
        committed_at: segment.committed_at,
        agent: "dragline/0.1".into(),
        entries: vec![
            visited(0, "/", Outcome::FileIngested, (120, Some(200))),
            moved,
            again,
            visited(3, "/slow", Outcome::RequestTimeout, (20_000, None)),
            blocked(4, "/private", Outcome::BlockedByRobotsTxt, Some("line 3: Disallow: /private")),
            blocked(5, "/cart?a", Outcome::BlockedUrlByLocalPolicy, Some("rule 1: path starts with `/cart`")),
            blocked(6, "/cart?b", Outcome::BlockedUrlByLocalPolicy, Some("rule 1: path starts with `/cart`")),
        ],
    }
}

fn home() -> Document {
    let link = |kind, target: CrawlUrl, disposition| Link {
        kind,
        target,
        disposition,
        spelling: Spelling::Whole,
        rel: Rel::Follow,
        anchor: None,
    };
    let elsewhere = CrawlUrl::try_from("https://b.example/".to_owned()).unwrap();
    Document {
        page: Some(Page { title: Some("Home".into()), text: "Welcome".into(), ..Page::default() }),
        links: vec![
            link(LinkKind::A, url("/old"), Disposition::Follow),
            link(LinkKind::A, elsewhere, Disposition::OutOfScope),
            link(LinkKind::A, url("/cart?a"), Disposition::Blocked("rule 1".into())),
        ],
        ..Document::bare(0, url("/"), Outcome::FileIngested)
    }
}

/// The document of an entry of a segment is what the site shows now.
fn shown(segment: &SegmentRow, n: u32) -> StateChange {
    StateChange::Shown {
        place: VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n },
        outcome: Outcome::FileIngested,
        links: LinkDecisions { by: RulesDigest(1), depth: 0 },
        changed_at: Some(at(0)),
    }
}

/// A data directory with one segment, parsed.
async fn crawled() -> (TempDir, Reading) {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), at(0)).unwrap();
    let (_, lease) = take(&store).await;
    let segment = commit(&store, &lease).await;
    let frontier = store.frontier();
    for _ in 0..2 {
        store.documents().put_new(&segment, &[home()]).await.unwrap();
        frontier.put_log(&Arc::new(log(&segment))).await.unwrap();
    }
    let sighting = Sighting { depth: 1, via: Some(url("/")), requisite_steps: 0, read_as: ReadAs::Typed };
    let claim = ClaimRequest {
        origin: origin(),
        iteration: Iteration::FIRST,
        claimer: Claimer::segment(&segment.id),
        claimable: Claimable::All,
        shorter_ways: ShorterWays::Ignored,
        now: at(2),
        urls: ["/", "/waits"].map(|path| (path.to_owned(), sighting.clone())).to_vec(),
    };
    frontier.claim(&claim).await.unwrap();
    let capture = LastCapture {
        etag: Some("\"e\"".into()),
        last_modified: None,
        payload_sha1: [1; 20],
        decoded_sha1: [2; 20],
        fetched_at: at(0),
        outcome: Outcome::FileIngested,
        read_by: None,
    };
    let update = CandidateUpdate {
        path_and_query: "/".into(),
        iteration: Iteration::FIRST,
        turn: segment.id.turn,
        n: 0,
        ended: Some(VisitResult {
            outcome: Outcome::FileIngested,
            at: at(0),
            capture: Some(capture),
            due_at: Some(at(86_400)),
            interval: Some(Duration::from_hours(24)),
            away: None,
            blocked_by: None,
        }),
        state: shown(&segment, 0),
        leads_to: VisitTarget::AsBefore,
        text: None,
    };
    frontier.update_candidates(&origin(), &[update]).await.unwrap();
    let connection = LocalStore::open_read_only(directory.path()).unwrap();
    (directory, connection)
}

/// The rows as lines of JSON.
fn lines<R: Row + Clone>(rows: &[R]) -> String {
    let line = |row: &R| {
        let fields = R::columns().into_iter().zip(row.cells());
        let fields = fields.map(|((name, _), cell)| format!("\"{name}\":{}", serde_json::to_string(&cell).unwrap()));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn rows_are_given_as_stored() {
    let (_directory, reading) = crawled().await;
    let (reader, filter) = (&reading.into_reader(origin().crawl), &Filter::by_iteration(Iteration::FIRST));
    for limit in [1, 2, 500] {
        let pages =
            every_row(|after: Option<Cursor>| async move { reader.pages(filter, after.as_ref(), limit).await }).await;
        let links =
            every_row(|after: Option<Cursor>| async move { reader.links(filter, after.as_ref(), limit).await }).await;
        let seen =
            every_row(|after: Option<Cursor>| async move { reader.seen_pages(filter, after.as_ref(), limit).await })
                .await;
        let log =
            every_row(|after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), limit).await }).await;
        let of_all = &Filter::default();
        let candidates =
            every_row(|after: Option<Cursor>| async move { reader.candidates(of_all, after.as_ref(), limit).await })
                .await;
        insta::assert_snapshot!("pages", lines(&pages));
        insta::assert_snapshot!("links", lines(&links));
        insta::assert_snapshot!("seen_pages", lines(&seen));
        insta::assert_snapshot!("log", lines(&log));
        insta::assert_snapshot!("candidates", lines(&candidates));
    }
}

#[tokio::test]
async fn a_filter_narrows_what_is_given() {
    let (directory, _) = crawled().await;
    let reader = |crawl: &str| {
        LocalStore::open_read_only(directory.path()).unwrap().into_reader(crawl.parse::<CrawlId>().unwrap())
    };
    let all = Filter::default;
    let elsewhere = CrawlUrl::try_from("https://b.example/".to_owned()).unwrap();
    // A filter, and how many visits, pages, links, documents and candidates match it.
    for (crawl, filter, expected, why) in [
        ("docs", all(), (7, 2, 3, 1, 2), "everything"),
        ("other", all(), (0, 0, 0, 0, 0), "another crawl"),
        ("docs", Filter::by_iteration(Iteration::FIRST), (7, 2, 3, 1, 1), "one URL still waits and did not end in it"),
        ("docs", Filter::by_iteration(Iteration::FIRST.next()), (0, 0, 0, 0, 0), "an iteration that has not begun"),
        ("docs", Filter { origin: Some(origin().origin), ..all() }, (7, 2, 3, 1, 2), "the only origin"),
        ("docs", Filter { origin: Some(elsewhere.origin()), ..all() }, (0, 0, 0, 0, 0), "an unknown origin"),
        ("docs", Filter { url: Some(url("/")), ..all() }, (1, 1, 3, 1, 1), "a page"),
        ("docs", Filter { url: Some(url("/slow")), ..all() }, (2, 0, 0, 0, 0), "a URL that was tried again"),
        ("docs", Filter { url: Some(elsewhere), ..all() }, (0, 0, 0, 0, 0), "a URL that is only linked to"),
    ] {
        let (reader, filter) = (&reader(crawl), &filter);
        let found = (
            reader.log(filter, None, 500).await.unwrap().rows.len(),
            reader.seen_pages(filter, None, 500).await.unwrap().rows.len(),
            reader.seen_links(filter, None, 500).await.unwrap().rows.len(),
            reader.documents(filter, None, 500).await.unwrap().rows.len(),
            reader.candidates(filter, None, 500).await.unwrap().rows.len(),
        );
        assert_eq!(found, expected, "{why}");
    }
}

/// A batch never splits a page's links, and is limited by the size of texts.
#[tokio::test]
async fn a_batch_has_whole_pages_of_links_and_few_large_texts() {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), at(0)).unwrap();
    let (_, lease) = take(&store).await;
    let segment = commit(&store, &lease).await;
    let paths = ["/a", "/b", "/c"];
    let pages = |n: u32, path: &&str| {
        let page = Page { text: "x".repeat(3 << 20), ..Page::default() };
        Document { n, url: url(path), page: Some(page), ..home() }
    };
    let documents: Vec<Document> = (0..).zip(&paths).map(|(n, path)| pages(n, path)).collect();
    store.documents().put_new(&segment, &documents).await.unwrap();
    let visits = (0..).zip(&paths).map(|(n, path)| visited(n, path, Outcome::FileIngested, (1, Some(200))));
    store.frontier().put_log(&Arc::new(SegmentLog { entries: visits.collect(), ..log(&segment) })).await.unwrap();
    let reader = LocalStore::open_read_only(directory.path()).unwrap().into_reader(origin().crawl);
    let (all, none) = (Filter::default(), None::<&Cursor>);
    let links = reader.seen_links(&all, none, 4).await.unwrap();
    assert_eq!(links.rows.len(), 6, "two pages of three links each");
    let rest = reader.seen_links(&all, links.cursor.as_ref(), 4).await.unwrap();
    assert_eq!(rest.rows.iter().map(|link| link.from_url.as_str()).collect::<Vec<_>>(), ["https://a.example/c"; 3]);
    let texts = reader.seen_pages(&all, none, 500).await.unwrap();
    assert_eq!(texts.rows.len(), 2, "which together have more than four megabytes of text");
    let rest = reader.seen_pages(&all, texts.cursor.as_ref(), 500).await.unwrap();
    assert_eq!(rest.rows.len(), 1, "the third");
    let documents = reader.documents(&all, none, 500).await.unwrap();
    assert_eq!(documents.rows.len(), 2, "for the same reason");
}

#[tokio::test]
async fn a_cursor_of_another_stream_is_refused() {
    let (_directory, reading) = crawled().await;
    let reader = reading.into_reader(origin().crawl);
    let (all, place) = (Filter::default(), Some(Cursor::new("https://a.example")));
    let told = reader.log(&all, place.as_ref(), 1).await.unwrap_err().to_string();
    assert!(told.contains("`https://a.example` is not a cursor of this stream"), "{told}");
    assert!(reader.candidates(&all, place.as_ref(), 1).await.is_err());
}

#[tokio::test]
async fn an_iteration_is_summed_up() {
    let (directory, _) = crawled().await;
    insta::assert_json_snapshot!("summary", figures(directory.path(), &origin().crawl).await);
}

#[tokio::test]
async fn every_view_can_be_read_by_a_person() {
    let (_directory, connection) = crawled().await;
    let mut shown = String::new();
    for view in [
        "page",
        "link",
        "seen_page",
        "seen_link",
        "log",
        "failed",
        "not_crawled",
        "schedule",
        "progress",
        "latest_iteration",
        "candidate",
    ] {
        shown += &format!("-- {view}\n{}\n", show(&connection, &format!("SELECT * FROM {view}")));
    }
    let sql = "SELECT length(crawl_uuid), count(DISTINCT crawl_uuid), group_concat(robotstxt_approved) FROM crawl_log";
    shown += &format!("-- crawl_uuid\n{}\n", show(&connection, sql));
    insta::assert_snapshot!("views", shown);
}

/// However many pages have canonical URLs, deciding on one only looks up the few pages on its path.
#[tokio::test]
async fn what_is_decided_on_a_page_scans_no_table() {
    let (_directory, connection) = crawled().await;
    for view in ["canonical", "decided", "log"] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM {view} WHERE id = 1");
        let mut statement = connection.prepare(&sql).unwrap();
        let plan: Vec<String> = statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        // The path itself has a maximum length, and the bits of a fingerprint are 64 constants.
        let bounded = ["SCAN w", "SCAN way", "SCAN CONSTANT ROW", "SCAN bit", "SCAN t", "SCAN 64 CONSTANT ROWS"];
        let scans = plan.iter().filter(|step| step.starts_with("SCAN") && !bounded.contains(&step.as_str()));
        assert_eq!(scans.collect::<Vec<_>>(), Vec::<&String>::new(), "{view}: {plan:#?}");
        assert!(plan.iter().any(|step| step.contains("visit_url")), "{view}: {plan:#?}");
    }
}

/// A query's rows, one to a line, as `column=value`.
fn show(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(sql).unwrap();
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).unwrap();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let fields = columns.iter().enumerate().map(|(index, column)| {
            let value = match row.get_ref(index).unwrap() {
                ValueRef::Null => "NULL".to_owned(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                other => format!("{other:?}"),
            };
            format!("{column}={value}")
        });
        lines.push(fields.collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}
