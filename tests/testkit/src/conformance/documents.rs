//! Documents: a segment's set is put once and read back unchanged.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::capture::{CrawlType, Exchange, FileEntry, Finality, LogEntry, RecordKind, SegmentLog, Visit};
use dragline_domain::change::{Difference, PageLink, Part};
use dragline_domain::content::Content;
use dragline_domain::document::{
    Directives, Disposition, Document, DocumentState, ExtractorVersion, Link, LinkKind, Page, PageCut, Rel, StoredBody,
};
use dragline_domain::frontier::{PartKind, SegmentRow, UrlHistory, VisitPlace};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::Spelling;
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::frontier::Frontier;
use futures_util::future::join_all;

use super::samples::{at, key, markup, sighting, url};
use super::world::{UNLIMITED, World};

/// Runs every behaviour of a document store on `((frontier, documents), guard)`, which the future
/// given makes; the guard is dropped after the test.
#[macro_export]
macro_rules! documents_suite {
    ($make:expr) => {
        $crate::documents_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { documents, $make;
            documents_come_back_as_they_were
            documents_come_one_by_one
            documents_are_put_once
            of_many_who_put_documents_one_stores_them
            no_documents_are_not_the_same_as_none_yet
        }
    };
}

async fn segments(frontier: &impl Frontier) -> [SegmentRow; 2] {
    let world = World::begin(frontier, UNLIMITED).await;
    let (first, second) = (key("a.example"), key("b.example"));
    for origin in [&first, &second] {
        world.seed(origin, &["/"]).await;
    }
    [world.crawl_until_idle(&first, 1, 0).await, world.crawl_until_idle(&second, 2, 0).await]
}

fn bare(n: u32, path: &str) -> Document {
    Document::bare(n, url(&format!("https://a.example{path}")), Outcome::FileNotFound)
}

fn full(n: u32) -> Document {
    let link = |kind, target: &str, disposition| Link {
        kind,
        target: url(target),
        disposition,
        spelling: Spelling::Whole,
        rel: Rel::Follow,
        anchor: None,
    };
    let page = Page {
        title: Some("“A” \u{1f577}".into()),
        description: Some(String::new()),
        language: Some("en".into()),
        charset: Some("UTF-8".into()),
        canonical: Some(url("https://elsewhere.example/")),
        directives: Directives { noindex: true, nofollow: false },
        text: "line\nline \u{0}".into(),
        cut: PageCut::TextAndLinks,
    };
    let links = vec![
        link(LinkKind::A, "https://a.example/b?c=d", Disposition::Follow),
        link(LinkKind::Img, "https://b.example/", Disposition::NotAPage),
        link(LinkKind::A, "https://a.example/n", Disposition::NoFollow),
        link(LinkKind::Iframe, "http://a.example/", Disposition::OutOfScope),
        link(LinkKind::Redirect, "https://a.example/d", Disposition::TooDeep),
        link(LinkKind::A, "https://a.example/x", Disposition::Blocked("rule 1: \"x\"".into())),
        link(LinkKind::A, "https://a.example/y", Disposition::BeyondBudget),
        Link { spelling: Spelling::Stripped, ..link(LinkKind::A, "https://a.example/z", Disposition::Follow) },
        Link { rel: Rel::NoFollow, ..link(LinkKind::A, "https://c.example/", Disposition::OutOfScope) },
        Link { anchor: Some("\"a\" <b>".to_owned()), ..link(LinkKind::A, "https://a.example/b", Disposition::Follow) },
    ];
    Document {
        page: Some(page),
        links,
        outcome: Outcome::FileIngested,
        content: Some(Box::new(content())),
        made_by: Some(ExtractorVersion::new("html", 1)),
        ..bare(n, "/full?q=%20")
    }
}

/// Every kind of content.
fn content() -> Content {
    let json = r#"{
        "items": [
            {"types": ["Product"], "id": "https://a.example/#p", "normal": {"price": 19.99, "currency": "EUR"}, "fields": {
                "name": {"values": ["Chair \u0000 \"1\""], "from": ["json_ld", "microdata"]},
                "isNew": {"values": [true, 7], "from": ["rdfa"]},
                "total": {"values": [{"amount": 5, "currency": null}], "from": ["definition"]},
                "offers": {"values": [{"types": ["Offer"], "fields": {"price": ["19,99"]}}, {"id": "x", "fields": {}}], "from": ["open_graph"]}}},
            {"types": ["https://vocabulary.example/Page"], "fields": {}}
        ],
        "misfits": [{"item_type": "Game", "field": "hero", "rule": "required", "value": null}],
        "about": {"title": "A", "words": 3, "text_sha1": "00", "simhash": "ff", "headings": [{"level": 1, "text": "A"}],
                  "images": [{"url": "https://a.example/i"}], "meta": [{"name": "og:title", "content": "A"}]},
        "main": {"words": 1, "text": "A", "markdown": "**A**"},
        "repeated": [{"form": "list", "each": "li.a", "entries": 3, "fields": [
            {"name": "link", "css": "a", "attribute": "href", "kind": "url", "entries": 3, "example": "https://a.example/"},
            {"name": "text", "path": ".", "kind": "text", "entries": 2, "example": "A"}]}],
        "validity": {"type": "html", "flaws": [{"line": 1, "column": 2, "rule": "duplicate-id", "message": "x"}], "flaws_more": 3},
        "gaps": ["items", "about"]
    }"#;
    Content { markup: Some(Box::new(markup())), ..serde_json::from_str(json).expect("it is content") }
}

/// Every field of a document is kept, whatever its outcome: missing and empty ones, and every kind
/// of disposition.
pub async fn documents_come_back_as_they_were((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, _] = segments(frontier).await;
    let stuck = Document {
        state: DocumentState::Stuck,
        detail: Some("it broke: 'x'".into()),
        outcome: Outcome::UnknownError,
        ..bare(2, "/stuck")
    };
    let empty_page = Document { page: Some(Page::default()), ..bare(7, "/empty") };
    // Whether it is a copy of its canonical URL is decided later; until then all of it is kept.
    let copy = Document { outcome: Outcome::NotCanonical, ..full(8) };
    let put = [bare(0, "/"), full(1), stuck, empty_page, copy];
    assert_eq!(documents.put_new(&segment, &put).await.unwrap(), PutDocuments::Stored);
    assert_eq!(documents.load(&segment).await.unwrap(), Some(put.to_vec()));
}

/// Documents of several segments come in the order in which they are asked for, with how they
/// differ from earlier ones and where their bodies are.
pub async fn documents_come_one_by_one((frontier, documents): &(impl Frontier, impl Documents)) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let first = world.crawl_until_idle(&origin, 1, 0).await;
    world.parse(&first, (0, PartKind::Last), &[(&origin, &["/next"])]).await;
    let seen = world.origin(&origin).await;
    frontier.settle(&origin, &seen).await.unwrap();
    let second = world.crawl_until_idle(&origin, 2, 20).await;
    let place = |segment: &SegmentRow, n| VisitPlace {
        iteration: segment.iteration,
        turn: segment.id.turn,
        segment: segment.id.n,
        n,
    };
    let link = |target: &str| PageLink { kind: LinkKind::A, target: url(target) };
    let difference = Difference {
        since: place(&first, 1),
        parts: vec![Part::Status, Part::Text, Part::Links],
        links_added: vec![link("https://a.example/new?x=%20"), link("https://b.example/")],
        links_removed: vec![link("https://a.example/old")],
    };
    let body = StoredBody {
        visit: place(&first, 1),
        at: at(3),
        status: 200,
        content_type: Some("text/html".into()),
        body_bytes: 300,
        object: first.object.clone(),
        offset: 700,
        length: 400,
    };
    let log = SegmentLog {
        segment: first.id.clone(),
        iteration: first.iteration,
        object: first.object.clone(),
        committed_at: first.committed_at,
        agent: "agent".to_owned(),
        entries: vec![answered(1, "https://a.example/full?q=%20", &body)],
    };
    frontier.put_log(&Arc::new(log)).await.unwrap();
    let again = Document { body: Some(body), difference: Some(difference), ..full(3) };
    documents.put_new(&first, &[bare(0, "/"), full(1)]).await.unwrap();
    documents.put_new(&second, &[bare(0, "/b"), again.clone()]).await.unwrap();
    let unknown = VisitPlace { segment: 99, ..place(&second, 0) };
    let places = [place(&second, 3), place(&first, 0), unknown, place(&first, 7), place(&second, 3), place(&second, 0)];
    let found = documents.load_each(&origin, &places).await.unwrap();
    assert_eq!(found, [Some(again.clone()), Some(bare(0, "/")), None, None, Some(again), Some(bare(0, "/b"))]);
    assert_eq!(documents.load_each(&origin, &[]).await.unwrap(), []);
    let elsewhere = documents.load_each(&key("b.example"), &places[..2]).await.unwrap();
    assert_eq!(elsewhere, [None, None], "another origin's");
}

/// A logged visit that fetched this body.
fn answered(n: u32, of: &str, body: &StoredBody) -> LogEntry {
    LogEntry {
        n,
        url: url(of),
        at: body.at,
        visit: Visit {
            sighting: sighting(0),
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 1,
            outcome: Outcome::FileIngested,
            finality: Finality::Final,
            detail: None,
            exchange: Some(Box::new(Exchange {
                robots: dragline_domain::capture::RobotsStand::Approved,
                elapsed: Duration::from_millis(5),
                resends: 0,
                first_byte_ms: None,
                remote: None,
                body_bytes: body.body_bytes,
                decoded_sha1: None,
                decoded_bytes: body.body_bytes,
                status: None,
                rendering: None,
            })),
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        status: Some(body.status),
        file: Some(Box::new(FileEntry {
            record: RecordKind::Response,
            offset: body.offset,
            length: body.length,
            content_type: body.content_type.clone(),
            body_bytes: body.body_bytes,
            payload_sha1: [1; 20],
            etag: None,
            last_modified: None,
            truncated: None,
        })),
        redirect: None,
        unchanged_since: None,
        change: None,
    }
}

/// The first set wins; later puts get it back.
pub async fn documents_are_put_once((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, other] = segments(frontier).await;
    let first = [full(0)];
    assert_eq!(documents.put_new(&segment, &first).await.unwrap(), PutDocuments::Stored);
    let again = documents.put_new(&segment, &[bare(0, "/"), bare(1, "/b")]).await.unwrap();
    assert_eq!(again, PutDocuments::Found(first.to_vec()));
    assert_eq!(documents.load(&segment).await.unwrap(), Some(first.to_vec()));
    assert_eq!(documents.load(&other).await.unwrap(), None, "another segment's");
}

/// Of many concurrent puts of a segment's documents one stores its set, and the others get that
/// set.
pub async fn of_many_who_put_documents_one_stores_them((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, _] = segments(frontier).await;
    let sets: Vec<_> = (0..16).map(|number| [bare(number, "/")]).collect();
    let answers = join_all(sets.iter().map(|set| documents.put_new(&segment, set))).await;
    let answers: Vec<PutDocuments> = answers.into_iter().map(Result::unwrap).collect();
    let winners: Vec<_> = sets.iter().zip(&answers).filter(|(_, answer)| **answer == PutDocuments::Stored).collect();
    let [(stored, _)] = winners[..] else { panic!("exactly one stores its set: {answers:?}") };
    let others = answers.iter().filter(|answer| **answer == PutDocuments::Found(stored.to_vec())).count();
    assert_eq!(others, answers.len() - 1, "the others get that set: {answers:?}");
}

/// A segment without documents differs from one that was not parsed.
pub async fn no_documents_are_not_the_same_as_none_yet((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, _] = segments(frontier).await;
    assert_eq!(documents.load(&segment).await.unwrap(), None);
    assert_eq!(documents.put_new(&segment, &[]).await.unwrap(), PutDocuments::Stored);
    assert_eq!(documents.load(&segment).await.unwrap(), Some(Vec::new()));
    assert_eq!(documents.put_new(&segment, &[full(0)]).await.unwrap(), PutDocuments::Found(Vec::new()));
}
