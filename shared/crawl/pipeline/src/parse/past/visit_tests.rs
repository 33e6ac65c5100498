//! Remaking the document of a visit, by its outcome and by the stored document before it.

use bytes::Bytes;
use dragline_domain::capture::CrawlType;
use dragline_domain::change::{ChangeKind, Part, VisitChange};
use dragline_domain::definition::{Definition, Draft};
use dragline_domain::document::Page;
use dragline_domain::frontier::{
    DocumentStanding, FieldsDigest, LastCapture, LinkDecisions, ObjectKey, OriginKey, RulesDigest, SegmentId,
    SegmentState, Sighting, UrlHistory, VisitPlace,
};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::Headers;
use dragline_ports::frontier::CrawlRow;
use jiff::Timestamp;

use super::*;
use crate::parse::read::records::Response;

use Outcome::{FileDidNotChange, FileIngested, FileNotFound, PermanentRedirect, StoredNotRead};

const BEFORE: VisitPlace = VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 4 };

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
        state: SegmentState::Processed,
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

/// A visit of a URL that may have shown a page before.
fn capture(finality: Finality, outcome: Outcome, was: Option<DocumentStanding>) -> Capture {
    let links = LinkDecisions { by: RulesDigest(1), depth: 0 };
    let last = LastCapture {
        etag: None,
        last_modified: None,
        payload_sha1: [1; 20],
        decoded_sha1: [1; 20],
        fetched_at: Timestamp::UNIX_EPOCH,
        outcome: FileIngested,
        read_by: Some(FieldsDigest(9)),
    };
    let document = was.map(|standing| LastDocument { place: BEFORE, outcome: FileIngested, standing, links });
    Capture {
        url: url(),
        at: Timestamp::UNIX_EPOCH,
        visit: Visit {
            sighting: Sighting::SEED,
            redirects: 0,
            crawl_type: CrawlType::Recrawl,
            tries: 1,
            outcome,
            finality,
            detail: None,
            exchange: None,
            known: UrlHistory { last: was.map(|_| Box::new(last)), document, ..UrlHistory::default() },
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        response: Some(Response { status: 200, headers: Headers::from_iter([("a", "b")]), body: Bytes::new() }),
        unreadable: None,
        file: None,
        dom: None,
    }
}

fn stored_body() -> StoredBody {
    StoredBody {
        visit: BEFORE,
        at: Timestamp::UNIX_EPOCH,
        status: 200,
        content_type: None,
        body_bytes: 4,
        object: segment().object,
        offset: 1,
        length: 2,
    }
}

fn page(text: &str) -> Document {
    let page = Page { text: text.to_owned(), ..Page::default() };
    Document { page: Some(page), ..Document::bare(0, url(), FileIngested) }
}

#[test]
fn a_document_is_made_of_the_answer_that_it_was_made_of() {
    use Finality::{Aside, Final, Retried};
    let (bare, own) = (page("text"), Document { body: Some(stored_body()), ..page("text") });
    let mut withheld = own.clone();
    withheld.withhold();
    let body = stored_body();
    for (finality, outcome, stored, expected, why) in [
        (Final, FileIngested, &own, DocumentSource::OwnAnswer, "a page"),
        (Final, PermanentRedirect, &own, DocumentSource::OwnAnswer, "a redirect"),
        (Final, FileNotFound, &bare, DocumentSource::Nothing, "it says how the visit ended"),
        (
            Final,
            FileDidNotChange,
            &own,
            DocumentSource::Earlier(&body, LaterDirective::ForNothing),
            "its links were decided again",
        ),
        (
            Final,
            FileDidNotChange,
            &withheld,
            DocumentSource::Earlier(&body, LaterDirective::ForNoindex),
            "a 304 asked for noindex",
        ),
        (Final, FileDidNotChange, &bare, DocumentSource::Nothing, "the one before it stands"),
        (
            Aside,
            FileIngested,
            &own,
            DocumentSource::Earlier(&body, LaterDirective::ForNothing),
            "it was made again before",
        ),
        (Aside, FileIngested, &bare, DocumentSource::Nothing, "of a program that kept no answer"),
        (Retried, FileIngested, &own, DocumentSource::Nothing, "it was tried again"),
    ] {
        let capture = capture(finality, outcome, Some(DocumentStanding::Shown));
        assert_eq!(DocumentSource::what(&capture, stored), expected, "{why}");
    }
    let unanswered = Capture { response: None, ..capture(Final, FileIngested, None) };
    assert_eq!(DocumentSource::what(&unanswered, &own), DocumentSource::Nothing, "its answer cannot be read");
}

#[test]
fn a_change_is_decided_by_both_documents_as_they_are_by_now() {
    use ChangeKind::{Back, Changed, Moved, New, Unchanged};
    let with = |kind, parts: &[Part]| Rewrite::With(Some(VisitChange { kind, parts: parts.to_vec() }));
    let redirect = || Document::bare(0, url(), PermanentRedirect);
    let (shown, gone) = (Some(DocumentStanding::Shown), Some(DocumentStanding::Gone));
    for (was, before, outcome, made, expected, why) in [
        (None, None, FileIngested, page("a"), with(New, &[]), "the first"),
        (shown, Some(page("a")), FileIngested, page("b"), with(Changed, &[Part::Text]), "another text by now"),
        (shown, Some(page("b")), FileIngested, page("b"), with(Unchanged, &[]), "the same text by now"),
        (gone, Some(page("a")), FileIngested, page("a"), with(Back, &[]), "as it was"),
        (shown, Some(page("")), PermanentRedirect, redirect(), with(Moved, &[Part::Status, Part::Metadata]), "a page"),
        (shown, Some(redirect()), PermanentRedirect, redirect(), with(Unchanged, &[]), "no page by now"),
        (shown, None, FileIngested, page("b"), Rewrite::Keep, "the one before is gone"),
        (shown, Some(page("a")), FileDidNotChange, page("a"), with(Unchanged, &[]), "not compared"),
        (shown, None, FileDidNotChange, page("a"), Rewrite::Keep, "nor here"),
    ] {
        let capture = capture(Finality::Final, outcome, was);
        let stored = Document { body: Some(stored_body()), outcome, ..page("stored") };
        let visit = remade_visit(&context(), &segment(), &capture, (&stored, made), before.as_ref());
        assert_eq!(visit.change, expected, "{why}");
        let is_compared = before.is_some() && was.is_some() && outcome != FileDidNotChange;
        assert_eq!(visit.document.difference.is_some(), is_compared, "{why}");
        assert_eq!(visit.document.body, stored.body, "{why}: its answer is where it was");
    }
    let aside = capture(Finality::Aside, FileIngested, shown);
    let visit = remade_visit(&context(), &segment(), &aside, (&page("a"), page("b")), Some(&page("c")));
    assert_eq!((visit.change, visit.document.difference), (Rewrite::With(None), None), "nobody visited it");
}

#[test]
fn what_is_known_of_the_visit_stays() {
    let gone =
        Difference { since: BEFORE, parts: vec![Part::Title], links_added: Vec::new(), links_removed: Vec::new() };
    let stored = Document { difference: Some(gone.clone()), ..page("stored") };
    let capture_of = |outcome| capture(Finality::Final, outcome, Some(DocumentStanding::Shown));
    let visit = remade_visit(&context(), &segment(), &capture_of(FileIngested), (&stored, page("now")), None);
    assert_eq!(visit.document.difference, Some(gone), "how it differed from what was pruned");

    let detail = Some("it did not change".to_owned());
    let stored = Document { outcome: FileDidNotChange, detail: detail.clone(), ..page("stored") };
    let made = Document { outcome: StoredNotRead, ..page("now") };
    let visit = remade_visit(&context(), &segment(), &capture_of(FileDidNotChange), (&stored, made), Some(&page("a")));
    assert_eq!((visit.document.outcome, visit.document.detail), (FileDidNotChange, detail), "how it ended");
    let StateChange::Shown { place, changed_at, .. } = visit.state else { panic!("it is shown: {:?}", visit.state) };
    assert_eq!((place.turn, place.n, changed_at), (Turn(2), 0, None), "where it is");
}
