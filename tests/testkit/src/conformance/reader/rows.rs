//! What the rows of each stream say.

use std::collections::BTreeSet;

use dragline_domain::capture::CrawlType;
use dragline_domain::change::{ChangeKind, Part, VisitChange};
use dragline_domain::document::{Disposition, Document, DocumentState, LinkKind, PageCut};
use dragline_domain::frontier::{DocumentStanding, LeftoverReason, SegmentRow};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::Truncation;
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{
    CandidateRow, Filter, LeftoverRow, LinkRow, LogRow, PageRequests, Reader, RecordPlace, StoredSegment,
};

use super::super::lag::assert_comes_to;
use super::super::samples::{at, key, origin, page_requests, url};
use super::crawl;
use super::story::{self, Teller};
use super::streams::Stream;

/// Tells the story, and waits until a stream has it.
pub(super) async fn told(frontier: &impl Frontier, documents: &impl Documents, reader: &impl Reader, stream: Stream) {
    Teller { frontier, documents }.tell().await;
    stream.all_of(reader, stream.rows()).await;
}

/// More than any stream has.
pub(super) const ALL: usize = 1_000;

/// Returns the row at this index among those of one URL.
pub(super) fn nth_row<'r, T>(rows: &'r [T], url_of: fn(&T) -> &String, url: &str, place: usize) -> &'r T {
    rows.iter().filter(|row| url_of(row) == url).nth(place).unwrap_or_else(|| panic!("no row {place} of {url}"))
}

/// A visit that was answered, one that was tried again, and a URL that was not asked for: each with
/// every field that applies, and no other.
pub async fn visits_come_with_all_that_was_logged(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::Log).await;
    let rows = reader.log(&Filter::default(), None, ALL).await.unwrap().rows;
    let visit = |url, place| nth_row(&rows, |row: &LogRow| &row.url, url, place).clone();
    let home = visit("https://a.example/", 0);
    let object = home.record.clone().expect("it was stored").object;
    let expected = LogRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        url: "https://a.example/".to_owned(),
        depth: 0,
        via: None,
        crawl_type: CrawlType::Queued,
        outcome: Outcome::FileIngested,
        r#final: true,
        tries: 1,
        resends: Some(1),
        at: at(2),
        status: Some(200),
        duration_ms: Some(250),
        first_byte_ms: Some(120),
        remote: Some("192.0.2.7:443".to_owned()),
        detail: None,
        content_type: Some("text/html".to_owned()),
        body_bytes: Some(300),
        truncated: Some(Truncation::Length),
        redirects_to: None,
        record: Some(RecordPlace { object: object.clone(), offset: 0, length: 700 }),
        agent: "agent".to_owned(),
        change: Some(VisitChange { kind: ChangeKind::New, parts: Vec::new() }),
        page_requests: Some(PageRequests(page_requests())),
    };
    assert_eq!(home, expected);
    assert!(object.as_str().starts_with("raw/docs/"), "where its segment is: {object}");
    let answered = LogRow { url: "https://a.example/a".to_owned(), truncated: None, depth: 1, ..expected };
    let via = Some("https://a.example/".to_owned());
    let tried_again = LogRow {
        via: via.clone(),
        outcome: Outcome::RequestTimeout,
        r#final: false,
        at: at(3),
        duration_ms: Some(251),
        detail: Some("timed out: after 30 s".to_owned()),
        change: None,
        ..answered.clone()
    };
    let tried_again = without_answer(tried_again);
    assert_eq!(visit("https://a.example/a", 0), tried_again);
    let second = visit("https://a.example/a", 1);
    assert_ne!(second.record.as_ref().map(|record| &record.object), Some(&object), "it is in another segment");
    let expected = LogRow {
        via: via.clone(),
        crawl_type: CrawlType::Retry,
        tries: 2,
        record: second.record.clone(),
        ..answered.clone()
    };
    assert_eq!(second, expected);
    let decided = LogRow {
        url: "https://a.example/blocked".to_owned(),
        via,
        outcome: Outcome::BlockedUrlByLocalPolicy,
        tries: 0,
        resends: None,
        at: at(5),
        duration_ms: None,
        first_byte_ms: None,
        remote: None,
        detail: Some("rule 1: \"blocked\"".to_owned()),
        change: None,
        page_requests: None,
        ..without_answer(answered)
    };
    assert_eq!(visit("https://a.example/blocked", 0), decided);
    let moved = visit("https://a.example/moved", 0);
    assert_eq!((moved.status, moved.redirects_to.as_deref()), (Some(301), Some("https://b.example/")));
    let same = visit("https://b.example/", 1);
    let ended = (same.iteration, same.outcome, same.crawl_type);
    assert_eq!(ended, (2, Outcome::FileDidNotChange, CrawlType::Recrawl));
    assert_eq!((same.status, same.content_type), (Some(304), None));
    let left = visit("https://b.example/leaves", 1);
    let change = VisitChange { kind: ChangeKind::Gone, parts: vec![Part::Status, Part::Text] };
    assert_eq!(left.change, Some(change));
}

/// A visit without the fields that only an answer has.
fn without_answer(visit: LogRow) -> LogRow {
    LogRow { status: None, content_type: None, body_bytes: None, truncated: None, record: None, ..visit }
}

/// Links come page by page, in the order of each page, with their kinds and dispositions and the
/// rules that block them. Those of an unchanged page are of each iteration that saw it.
pub async fn links_say_what_was_done_with_them(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    use Disposition::{Blocked, Follow, NoFollow, NotAPage, OutOfScope, TooDeep};
    use LinkKind::{A, Canonical, Iframe, Img, Redirect};
    told(frontier, documents, reader, Stream::SeenLinks).await;
    let rows = reader.seen_links(&Filter::default(), None, ALL).await.unwrap().rows;
    let link = |from: &str, to: &str, kind, disposition| LinkRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        from_url: from.to_owned(),
        to_url: to.to_owned(),
        kind,
        disposition,
        anchor: (kind == A).then(|| format!("to {to}")),
    };
    let home = "https://a.example/";
    let expected = [
        link(home, "https://a.example/copy", A, Follow),
        link(home, "https://a.example/i.png", Img, NotAPage),
        link(home, "https://elsewhere.example/", A, OutOfScope),
        link(home, "https://a.example/blocked", A, Blocked("rule 1: \"blocked\"".to_owned())),
        link(home, "https://a.example/a", Iframe, TooDeep),
        link("https://a.example/copy", "https://a.example/a", Canonical, Follow),
        link("https://a.example/original", "https://a.example/gone", Canonical, Follow),
        link("https://a.example/moved", "https://b.example/", Redirect, Follow),
        link("https://b.example/", home, A, NoFollow),
        LinkRow { iteration: 2, ..link("https://b.example/", home, A, NoFollow) },
    ];
    assert_eq!(rows, expected);
}

/// A URL that ended well, one that failed, and one that was never asked for: each with every field.
pub async fn candidates_say_all_that_is_known(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::Candidates).await;
    let rows = reader.candidates(&Filter::default(), None, ALL).await.unwrap().rows;
    let known = |url| nth_row(&rows, |row: &CandidateRow| &row.url, url, 0).clone();
    let home = CandidateRow {
        crawl: "docs".to_owned(),
        url: "https://a.example/".to_owned(),
        queued_in: 1,
        first_seen: at(0),
        depth: 1,
        via: Some("https://a.example/".to_owned()),
        due_at: Some("2026-11-19T12:06:40Z".parse().expect("a time")),
        interval_ms: Some(5),
        last_outcome: Some(Outcome::FileIngested),
        last_at: Some(at(2)),
        last_iteration: Some(1),
        last_contentful_outcome: Some(Outcome::FileIngested),
        last_contentful_at: Some(at(2)),
        etag: Some("\"1\"".to_owned()),
        last_modified: None,
        decoded_sha1: Some("02".repeat(20)),
        standing: Some(DocumentStanding::Shown),
        away_since: None,
    };
    assert_eq!(known("https://a.example/"), home);
    let without_capture = |known: CandidateRow| CandidateRow {
        interval_ms: None,
        etag: None,
        decoded_sha1: None,
        standing: None,
        ..known
    };
    let gone = CandidateRow {
        url: "https://a.example/gone".to_owned(),
        last_outcome: Some(Outcome::FileNotFound),
        last_at: Some(at(4)),
        last_contentful_outcome: Some(Outcome::FileNotFound),
        last_contentful_at: Some(at(4)),
        away_since: Some(at(4)),
        ..without_capture(home.clone())
    };
    assert_eq!(known("https://a.example/gone"), gone);
    let standing = |url| known(url).standing;
    assert_eq!(standing("https://b.example/leaves"), Some(DocumentStanding::Gone));
    assert_eq!(standing("https://b.example/fails"), Some(DocumentStanding::Shown));
    let stuck = known("https://b.example/stuck");
    let ended = (stuck.last_outcome, stuck.last_contentful_outcome, stuck.last_contentful_at);
    assert_eq!(ended, (Some(Outcome::UnknownError), None, None));
    let later = CandidateRow {
        url: "https://a.example/later".to_owned(),
        due_at: None,
        last_outcome: None,
        last_at: None,
        last_iteration: None,
        last_contentful_outcome: None,
        last_contentful_at: None,
        ..without_capture(home.clone())
    };
    assert_eq!(known("https://a.example/later"), later);
    let again = CandidateRow {
        url: "https://b.example/".to_owned(),
        queued_in: 2,
        due_at: None,
        last_outcome: Some(Outcome::FileDidNotChange),
        last_iteration: Some(2),
        ..home
    };
    assert_eq!(known("https://b.example/"), again, "what the last good capture left stays");
}

/// Documents come in the order of their segments with all that was put: links and dispositions,
/// what broke the parser, and the text even of copies.
pub async fn documents_come_as_they_were_put(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::Documents).await;
    let rows = reader.documents(&Filter::default(), None, ALL).await.unwrap().rows;
    let put = story::documents();
    let read: Vec<_> = rows.into_iter().map(|row| (row.iteration, row.document)).collect();
    let without_body =
        |(iteration, document): &(Iteration, Document)| (*iteration, Document { body: None, ..document.clone() });
    assert_eq!(read.iter().map(without_body).collect::<Vec<_>>(), put);
    let document = |of: &str| &read.iter().find(|(_, document)| document.url == url(of)).expect("it is there").1;
    let home = document("https://a.example/");
    assert_eq!(home.page.as_ref().map(|page| (page.cut, page.directives.nofollow)), Some((PageCut::Links, true)));
    assert!(
        matches!(&home.links[3].disposition, Disposition::Blocked(rule) if rule == "rule 1: \"blocked\""),
        "{home:?}"
    );
    let stuck = document("https://b.example/stuck");
    assert_eq!((stuck.state, stuck.detail.as_deref()), (DocumentState::Stuck, Some("it broke: 'x'")));
    let copy = document("https://a.example/copy");
    assert!(copy.page.as_ref().is_some_and(|page| !page.text.is_empty()), "as it was put: {copy:?}");
}

/// The documents of the site as it is now are those of its pages, without copies.
pub async fn shown_documents_are_those_of_the_pages(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::ShownDocuments).await;
    let pages = reader.pages(&Filter::default(), None, ALL).await.unwrap().rows;
    let (copies, originals): (Vec<_>, Vec<_>) =
        pages.into_iter().partition(|page| page.outcome == Outcome::NotCanonical);
    assert!(!copies.is_empty() && !originals.is_empty(), "both are there: {copies:?}, {originals:?}");
    let shown = reader.shown_documents(&Filter::default(), None, ALL).await.unwrap().rows;
    let urls = |urls: Vec<String>| urls.into_iter().collect::<BTreeSet<_>>();
    let shown_urls = urls(shown.iter().map(|row| row.document.url.to_string()).collect());
    assert_eq!(shown_urls, urls(originals.iter().map(|page| page.url.clone()).collect()));
    let put = reader.documents(&Filter::default(), None, ALL).await.unwrap().rows;
    for row in &shown {
        let newest = put.iter().rev().find(|put| put.document.url == row.document.url && put.document.page.is_some());
        assert!(row.document.page.is_none() || newest == Some(row), "the newest page of its URL: {row:?}");
    }
}

/// Each segment that was committed comes with its object, whether it was parsed or is in the log.
pub async fn segments_are_those_that_were_committed(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let teller = Teller { frontier, documents };
    let world = teller.tell().await;
    let crawled_only = key("q.example");
    world.seed(&crawled_only, &["/"]).await;
    let SegmentRow { id, iteration, object, object_bytes, committed_at, .. } =
        world.crawl_until_idle(&crawled_only, 8, 5_000).await;
    let crawled = StoredSegment { iteration, origin: id.origin.origin, object, object_bytes, committed_at };
    Stream::Segments.all_of(reader, Stream::Segments.rows() + 1).await;
    let rows = reader.segments(&Filter::default(), None, ALL).await.unwrap().rows;
    assert!(rows.contains(&crawled), "no parser has read it yet: {rows:?}");
    let of_e = Filter { origin: Some(origin("e.example")), ..Filter::default() };
    assert_eq!(
        reader.segments(&of_e, None, ALL).await.unwrap().rows.len(),
        1,
        "its captures are lost to parsers alone"
    );
    for row in reader.log(&Filter::default(), None, ALL).await.unwrap().rows {
        let is_listed = |record: &RecordPlace| rows.iter().any(|segment| segment.object == record.object);
        assert!(row.record.as_ref().is_none_or(is_listed), "{row:?}");
    }
}

/// Leftovers and lost captures come by iteration, origin and reason, with the failure of robots.txt
/// where it was unreadable.
pub async fn leftovers_are_told_by_origin_and_reason(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let teller = Teller { frontier, documents };
    let world = teller.tell().await;
    Stream::Leftovers.all_of(reader, Stream::Leftovers.rows()).await;
    let mut rows = reader.leftovers(&Filter::default(), None, ALL).await.unwrap().rows;
    let left = |iteration, host, reason, urls, robots_error: Option<&str>| LeftoverRow {
        iteration,
        origin: origin(host),
        reason,
        urls,
        robots_error: robots_error.map(str::to_owned),
    };
    let (first, second) = (Iteration::FIRST, Iteration::FIRST.next());
    let expected = [
        left(first, "c.example", LeftoverReason::Stopped, 3, None),
        left(first, "d.example", LeftoverReason::RobotsUnreadable, 1, Some("host not found: d.example")),
        left(first, "e.example", LeftoverReason::SegmentUnreadable, 2, None),
        left(second, "c.example", LeftoverReason::BudgetExhausted, 1, None),
    ];
    // Each store has an order of its own.
    rows.sort_by(|a, b| (a.iteration, &a.origin).cmp(&(b.iteration, &b.origin)));
    assert_eq!(rows, expected);
    // What is opened again by what others find is closed again with what came.
    for paths in [&["/4", "/5"][..], &["/6"]] {
        teller.leave(&world, "c.example", LeftoverReason::BudgetExhausted, paths).await;
    }
    let of_c = Filter { origin: Some(origin("c.example")), ..Filter::by_iteration(second) };
    let all = async || reader.leftovers(&of_c, None, ALL).await.unwrap().rows;
    let sum = vec![left(second, "c.example", LeftoverReason::BudgetExhausted, 4, None)];
    assert_comes_to(all, sum, "one row for one reason").await;
    let summed = frontier.progress(&crawl(), second).await.unwrap().leftovers;
    assert_eq!(summed, [(LeftoverReason::BudgetExhausted, 4)], "as the sums have it");
}
