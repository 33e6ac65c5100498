//! The shown and kept state after a page was something else for a while, or got noindex by a 304.

use bytes::Bytes;
use dragline_domain::capture::{CrawlType, Exchange, FileEntry, RecordKind, Visit};
use dragline_domain::change::Part;
use dragline_domain::definition::{Definition, Draft};
use dragline_domain::document::{Page, StoredBody};
use dragline_domain::frontier::{
    LastDocument, LinkDecisions, ObjectKey, RulesDigest, SegmentId, SegmentState, Sighting, UrlHistory, VisitPlace,
};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::Headers;
use dragline_ports::frontier::CrawlRow;

use super::*;
use crate::parse::make::document::make_document;
use crate::parse::make::earlier::EarlierDocuments;
use crate::parse::read::Trust;
use crate::parse::read::records::Response;

const PLACE: VisitPlace = VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 0 };

fn url() -> CrawlUrl {
    CrawlUrl::try_from("https://a.example/p".to_owned()).unwrap()
}

fn context() -> CrawlContext {
    CrawlContext::new(CrawlRow::first(Definition::new(Draft::for_seeds(vec![url()])).unwrap())).unwrap()
}

fn segment() -> SegmentRow {
    let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: url().origin() };
    let (id, iteration) = (SegmentId { origin, turn: Turn(2), n: 0 }, Iteration::new(2).unwrap());
    let token = LeaseToken::from_bits(1);
    SegmentRow {
        state: SegmentState::Crawled { part: 0 },
        object: ObjectKey::for_segment(&id, iteration, &token),
        id,
        iteration,
        token,
        object_bytes: 1,
        entries: 1,
        put_off: 0,
        committed_at: Timestamp::UNIX_EPOCH,
        attempts: 0,
        parsing: None,
        due: None,
    }
}

/// The state left by the visit before.
fn known(outcome: Outcome) -> UrlHistory {
    let links = LinkDecisions { by: RulesDigest(1), depth: 0 };
    let last = LastCapture {
        etag: Some("\"1\"".to_owned()),
        last_modified: Some("once".to_owned()),
        payload_sha1: [1; 20],
        decoded_sha1: [1; 20],
        fetched_at: Timestamp::UNIX_EPOCH,
        outcome,
        read_by: Some(FieldsDigest(9)),
    };
    let document = LastDocument { place: PLACE, outcome, standing: DocumentStanding::Shown, links };
    UrlHistory { last: Some(Box::new(last)), document: Some(document), ..UrlHistory::default() }
}

fn capture(status: u16, outcome: Outcome, field: (&str, &str), truncated: Option<&str>, known: UrlHistory) -> Capture {
    let exchange = Exchange {
        robots: dragline_domain::capture::RobotsStand::Approved,
        elapsed: Duration::from_secs(1),
        resends: 0,
        first_byte_ms: None,
        remote: None,
        body_bytes: 4,
        decoded_sha1: Some("02".repeat(20)),
        decoded_bytes: 4,
        status: None,
        rendering: None,
    };
    Capture {
        url: url(),
        at: Timestamp::UNIX_EPOCH,
        visit: Visit {
            sighting: Sighting::SEED,
            redirects: 0,
            crawl_type: CrawlType::Recrawl,
            tries: 1,
            outcome,
            finality: Finality::Final,
            detail: None,
            exchange: Some(Box::new(exchange)),
            known,
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        response: Some(Response {
            status,
            headers: Headers::from_iter([("content-type", "text/html"), field]),
            body: Bytes::from_static(b"body"),
        }),
        unreadable: None,
        file: Some(Box::new(FileEntry {
            record: RecordKind::Response,
            offset: 0,
            length: 9,
            content_type: Some("text/html".to_owned()),
            body_bytes: 4,
            payload_sha1: [2; 20],
            etag: None,
            last_modified: None,
            truncated: truncated.map(str::to_owned),
        })),
        dom: None,
    }
}

/// Visits the URL. Returns its document and the stored update.
fn visited(capture: Capture, earlier: Option<Document>) -> (Document, CandidateUpdate) {
    let (context, segment) = (context(), segment());
    let earlier = earlier.map_or_else(EarlierDocuments::default, |earlier| EarlierDocuments::single(PLACE, earlier));
    let captures = [capture];
    let document = make_document(&context, &segment, 0, &captures[0], earlier.for_capture(&captures[0]), Trust::Full);
    let update = build_update(&context, &segment, Timestamp::UNIX_EPOCH, &captures[0], &document);
    (document, update)
}

#[test]
fn a_body_from_before_a_redirect_is_not_compared_with() {
    let location = ("location", "https://a.example/q");
    let (page, moved) = (Outcome::FileIngested, Outcome::PermanentRedirect);
    for (capture, is_comparable, why) in [
        (capture(200, page, ("x", "y"), None, known(page)), true, "a body, to be compared with the next one"),
        (
            capture(301, moved, location, None, known(page)),
            false,
            "the page is a redirect now: its old body would be new",
        ),
        (
            capture(200, page, ("x", "y"), Some("length"), known(page)),
            false,
            "a body that was cut is what is shown now",
        ),
        (capture(404, Outcome::FileNotFound, ("x", "y"), None, known(page)), true, "its document comes back as it was"),
        (capture(500, Outcome::ServerInternalError, ("x", "y"), None, known(page)), true, "its document stays"),
    ] {
        let before = *capture.visit.known.last.clone().unwrap();
        let kept = visited(capture, None).1.ended.unwrap().capture.unwrap_or(before);
        assert_eq!(kept.read_by != Some(FieldsDigest::NONE), is_comparable, "{why}");
        assert!(
            is_comparable || (kept.etag, kept.last_modified) == (None, None),
            "a 304 would mean the wrong body: {why}"
        );
    }
}

#[test]
fn noindex_by_a_304_leaves_as_little_as_by_a_whole_answer() {
    let page = Page { title: Some("T".into()), description: Some("D".into()), text: "text".into(), ..Page::default() };
    let bare = |outcome| Document::bare(0, url(), outcome);
    let body = StoredBody {
        visit: PLACE,
        at: Timestamp::UNIX_EPOCH,
        status: 200,
        content_type: None,
        body_bytes: 4,
        object: segment().object,
        offset: 0,
        length: 9,
    };
    let with_body = |document| Document { body: Some(body.clone()), ..document };
    let (is_page, is_file) = (Outcome::FileIngested, Outcome::StoredNotRead);
    for (was, earlier, parts, why) in [
        (
            is_page,
            Document { page: Some(page), ..bare(is_page) },
            &[Part::Status, Part::Title, Part::Text, Part::Metadata][..],
            "title and description go with the text",
        ),
        (is_file, bare(is_file), &[Part::Status], "of a file only what it is"),
    ] {
        let asks = ("x-robots-tag", "noindex");
        let capture = capture(304, Outcome::FileDidNotChange, asks, None, known(was));
        let (document, update) = visited(capture, Some(with_body(earlier)));
        let left = document.page.as_ref().map(|page| (page.title.clone(), page.description.clone(), page.text.clone()));
        assert!(left.is_none_or(|left| left == (None, None, String::new())), "{why}");
        assert_eq!(document.difference.map(|difference| difference.parts).as_deref(), Some(parts), "{why}");
        let StateChange::Shown { outcome, .. } = update.state else { panic!("{why}: {:?}", update.state) };
        assert_eq!(outcome, Outcome::BlockedAtRequestOfRemote, "{why}");
    }
}

#[test]
fn a_visit_means_the_same_before_and_after_it_is_logged() {
    let (page, refused) = (Outcome::FileIngested, Outcome::BlockedAtRequestOfRemote);
    let (plain, noindex) = (("x", "y"), ("x-robots-tag", "noindex"));
    for (capture, expected, why) in [
        (
            capture(304, Outcome::FileDidNotChange, plain, None, known(page)),
            "Confirmed",
            "a 304 has no document of its own",
        ),
        (capture(403, refused, plain, None, known(page)), "Hidden", "the body of a refusal is not shown"),
        (capture(200, page, noindex, None, known(page)), "Shown", "a page that asks for noindex"),
        (capture(200, page, plain, None, known(page)), "Shown", "a page"),
    ] {
        let (document, _) = visited(capture.clone(), None);
        let own = capture.stored_body(&segment(), 0);
        for body in [None, own, document.body.clone()] {
            let document = Document { body, ..document.clone() };
            let change = state_change(context().link_rules(), capture.visited(&segment(), document.n), &document);
            assert!(format!("{change:?}").starts_with(expected), "{why}: {change:?}");
        }
    }
}
