//! What the rows of pages say: as the site shows them now, and as iterations saw them.

use std::collections::BTreeSet;

use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{CandidateRow, Filter, LogRow, PageRow, Reader, RecordPlace, SeenPageRow};

use super::super::samples::{at, markup, url, uses};
use super::rows::{ALL, nth_row, told};
use super::story::Teller;
use super::streams::Stream;

/// Final visits that were answered are pages, whatever the answer, and come with what was
/// extracted.
pub async fn seen_pages_are_final_answers_with_what_they_hold(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::SeenPages).await;
    let rows = reader.seen_pages(&Filter::default(), None, ALL).await.unwrap().rows;
    let visits = reader.log(&Filter::default(), None, ALL).await.unwrap().rows;
    let answers = visits.iter().filter(|visit| visit.r#final && visit.record.is_some());
    let shared: Vec<_> = answers.map(|visit| (visit.iteration, &visit.url, visit.outcome, visit.status)).collect();
    let pages: Vec<_> = rows.iter().map(|page| (page.iteration, &page.url, page.outcome, page.status)).collect();
    assert_eq!(pages, shared, "in the order of the log");
    let page = |url, place| nth_row(&rows, |row: &SeenPageRow| &row.url, url, place).clone();
    let home = page("https://a.example/", 0);
    let expected = SeenPageRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        url: "https://a.example/".to_owned(),
        outcome: Outcome::FileIngested,
        depth: 0,
        status: Some(200),
        content_type: Some("text/html".to_owned()),
        body_bytes: Some(300),
        at: at(2),
        title: Some("Title of https://a.example/".to_owned()),
        description: Some("about".to_owned()),
        language: Some("en".to_owned()),
        charset: Some("UTF-8".to_owned()),
        canonical: None,
        text: Some("what https://a.example/ says\nin two lines".to_owned()),
        record: RecordPlace { offset: 0, length: 700, ..home.record.clone() },
        uses: Some(uses()),
    };
    assert_eq!(home, expected);
    let visit = nth_row(&visits, |row: &LogRow| &row.url, "https://a.example/a", 1);
    let second = page("https://a.example/a", 0);
    assert_eq!(Some(&second.record), visit.record.as_ref(), "of the final try");
    assert_eq!(second.text.as_deref(), Some("what https://a.example/a says\nin two lines"));
    for (url, place, why) in [
        ("https://a.example/gone", 0, "an answer that is no page"),
        ("https://a.example/moved", 0, "a redirect"),
        ("https://b.example/stuck", 0, "what broke the parser"),
    ] {
        let SeenPageRow { title, text, .. } = page(url, place);
        assert_eq!((title, text), (None, None), "{why}");
    }
    assert_eq!(page("https://b.example/new", 0).title.as_deref(), Some("Title of https://b.example/new"));
    let (first, same) = (page("https://b.example/", 0), page("https://b.example/", 1));
    let answered = (same.outcome, same.status, same.content_type.as_deref());
    assert_eq!(answered, (Outcome::FileDidNotChange, Some(304), None), "the answer's own");
    assert_eq!((same.title, same.text), (first.title, first.text), "what an unchanged page said then");
}

/// Pages are the site as it is now: what was found unchanged, and what fails, with its last good
/// document; what is gone not at all.
pub async fn pages_are_the_site_as_it_is_now(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::Pages).await;
    let rows = reader.pages(&Filter::default(), None, ALL).await.unwrap().rows;
    let mut shown: Vec<_> = rows.iter().map(|row| (row.url.as_str(), row.outcome, row.last_outcome)).collect();
    shown.sort_unstable();
    let (page, copy, moved) = (Outcome::FileIngested, Outcome::NotCanonical, Outcome::PermanentRedirect);
    let expected = [
        ("https://a.example/", page, Some(page)),
        ("https://a.example/a", page, Some(page)),
        ("https://a.example/copy", copy, Some(copy)),
        ("https://a.example/moved", moved, Some(moved)),
        ("https://a.example/original", page, Some(copy)),
        ("https://b.example/", page, Some(Outcome::FileDidNotChange)),
        ("https://b.example/fails", page, Some(Outcome::ServerUnavailable)),
        ("https://b.example/new", page, Some(page)),
    ];
    assert_eq!(shown, expected);
    let same = nth_row(&rows, |row: &PageRow| &row.url, "https://b.example/", 0).clone();
    let expected = PageRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        url: "https://b.example/".to_owned(),
        outcome: Outcome::FileIngested,
        depth: 1,
        status: Some(200),
        content_type: Some("text/html".to_owned()),
        body_bytes: Some(300),
        at: at(2),
        title: Some("Title of https://b.example/".to_owned()),
        description: None,
        language: None,
        charset: None,
        canonical: None,
        text: Some("what https://b.example/ says\nin two lines".to_owned()),
        record: RecordPlace { offset: 0, length: 700, ..same.record.clone() },
        first_seen: at(0),
        last_checked: Some(at(2)),
        last_changed: Some(at(2)),
        last_outcome: Some(Outcome::FileDidNotChange),
        uses: Some(uses()),
        markup: Some(Box::new(markup())),
    };
    assert_eq!(same, expected);
    let seen = reader.seen_pages(&Filter::by_iteration(Iteration::FIRST), None, ALL).await.unwrap().rows;
    let then = nth_row(&seen, |row: &SeenPageRow| &row.url, "https://b.example/", 0);
    assert_eq!(same.record, then.record, "the object with its body");
    let links = reader.links(&Filter::default(), None, ALL).await.unwrap().rows;
    let from: BTreeSet<&str> = links.iter().map(|link| link.from_url.as_str()).collect();
    assert!(from.contains("https://b.example/"), "with the links of an unchanged page: {from:?}");
}

/// Whether a page with a canonical URL is a copy depends on how that URL ended. A copy is shown
/// without its text, and the page and its candidate have the outcome that follows.
pub async fn a_copy_has_no_text_of_its_own(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    told(frontier, documents, reader, Stream::Candidates).await;
    let pages = reader.pages(&Filter::default(), None, ALL).await.unwrap().rows;
    let seen = reader.seen_pages(&Filter::default(), None, ALL).await.unwrap().rows;
    let visits = reader.log(&Filter::default(), None, ALL).await.unwrap().rows;
    let known = reader.candidates(&Filter::default(), None, ALL).await.unwrap().rows;
    let text = Some("what https://a.example/original says\nin two lines");
    let copy_of = Some("its canonical URL is https://a.example/a");
    for (url, canonical, outcome, text, detail, why) in [
        ("https://a.example/copy", "https://a.example/a", Outcome::NotCanonical, Some(""), copy_of, "which is a page"),
        (
            "https://a.example/original",
            "https://a.example/gone",
            Outcome::FileIngested,
            text,
            None,
            "which does not exist",
        ),
    ] {
        let page = nth_row(&pages, |row: &PageRow| &row.url, url, 0);
        assert_eq!(page.outcome, outcome, "{why}");
        assert_eq!((page.text.as_deref(), page.canonical.as_deref()), (text, Some(canonical)), "{why}");
        assert!(page.title.is_some(), "what else it says is kept");
        let then = nth_row(&seen, |row: &SeenPageRow| &row.url, url, 0);
        assert_eq!((then.outcome, &then.text), (page.outcome, &page.text), "seen: {why}");
        let visit = nth_row(&visits, |row: &LogRow| &row.url, url, 0);
        assert_eq!(visit.outcome, outcome, "{why}");
        assert_eq!((visit.detail.as_deref(), visit.redirects_to.as_deref()), (detail, Some(canonical)), "{why}");
        let known = nth_row(&known, |row: &CandidateRow| &row.url, url, 0);
        assert_eq!(known.last_outcome, Some(outcome), "{why}");
    }
}

/// A page is not believed whose canonical URL has another text, or that says too little to tell
/// while many others name that URL, too. It stands with its text, and the log says why.
pub async fn a_page_is_not_believed_about_another_unlike_it(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let teller = Teller { frontier, documents };
    let world = teller.tell().await;
    let more = teller.tell_doubted(&world).await;
    Stream::Pages.all_of(reader, Stream::Pages.rows() + more).await;
    let here = Filter { origin: Some(url("https://h.example/").origin()), ..Filter::default() };
    let pages = reader.pages(&here, None, ALL).await.unwrap().rows;
    let seen = reader.seen_pages(&here, None, ALL).await.unwrap().rows;
    let visits = reader.log(&here, None, ALL).await.unwrap().rows;
    let known = reader.candidates(&here, None, ALL).await.unwrap().rows;
    let shown = reader.shown_documents(&here, None, ALL).await.unwrap().rows;
    let unlike = "its canonical URL https://h.example/moved is not believed: the text there is unlike its own";
    let many = "its canonical URL https://h.example/many is not believed: many pages with other texts name it";
    for (url, outcome, detail, why) in [
        ("https://h.example/same", Outcome::NotCanonical, "its canonical URL is https://h.example/moved", "like it"),
        ("https://h.example/unlike", Outcome::FileIngested, unlike, "another text"),
        ("https://h.example/short", Outcome::NotCanonical, "its canonical URL is https://h.example/few", "short"),
        (
            "https://h.example/many/same",
            Outcome::NotCanonical,
            "its canonical URL is https://h.example/many",
            "the same",
        ),
        ("https://h.example/many/8", Outcome::FileIngested, many, "one of thirty"),
        ("https://h.example/many/37", Outcome::FileIngested, many, "the last of thirty"),
    ] {
        let page = nth_row(&pages, |row: &PageRow| &row.url, url, 0);
        assert_eq!(page.outcome, outcome, "{url}: {why}");
        let is_copy = outcome == Outcome::NotCanonical;
        assert_eq!(page.text.as_deref().map(str::is_empty), Some(is_copy), "{url}: {why}");
        let then = nth_row(&seen, |row: &SeenPageRow| &row.url, url, 0);
        assert_eq!((then.outcome, &then.text), (page.outcome, &page.text), "{url}, seen: {why}");
        let visit = nth_row(&visits, |row: &LogRow| &row.url, url, 0);
        assert_eq!((visit.outcome, visit.detail.as_deref()), (outcome, Some(detail)), "{url}: {why}");
        let known = nth_row(&known, |row: &CandidateRow| &row.url, url, 0);
        assert_eq!(known.last_outcome, Some(outcome), "{url}: {why}");
        assert_eq!(shown.iter().any(|row| row.document.url.as_str() == url), !is_copy, "{url}: {why}");
    }
}
