//! Documents made again: they take the place of what is stored, whoever reads them.

use std::slice::from_ref;

use dragline_domain::capture::RedirectEntry;
use dragline_domain::change::{ChangeKind, Part, VisitChange};
use dragline_domain::document::{Document, LinkKind};
use dragline_domain::frontier::{LinksDecided, RulesDigest, SegmentId, SegmentRow, Selection, StateChange, VisitPlace};
use dragline_domain::outcome::Outcome;
use dragline_domain::remake::{Remade, RemadeVisit, RemakeJob, RemakeState, Rewrite};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{Filter, LogRow, PageRow, Reader};
use dragline_ports::remaking::Remaking;

use super::super::samples::{crawl, key, url};
use super::super::world::{UNLIMITED, World};
use super::retention::{HOST, three_iterations, view};

/// Runs every behaviour of making documents again on `((frontier, documents, reader, remaking), guard)`, which the future given makes over one
/// store. With `rejections` before the future, expands to an expression: the names of the behaviours that fail.
#[macro_export]
macro_rules! remaking_suite {
    ($make:expr) => {
        $crate::remaking_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { reader, $make;
            what_is_made_again_takes_the_place_of_what_was
            an_earlier_document_is_made_again_where_it_is
            a_change_that_is_not_decided_again_stays
            what_is_not_there_is_not_put
            segments_that_are_parsed_come_in_order
            how_far_it_has_come_is_known_until_it_is_over
        }
    };
}

/// The document of `/page` in a segment, made again.
fn remade(segment: &SegmentRow, n: u32, stored: &Document) -> RemadeVisit {
    let mut document = stored.clone();
    if let Some(page) = &mut document.page {
        page.title = Some("made again".to_owned());
    }
    let asked = document.body.as_ref().map(|body| body.at);
    let place = VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n };
    let links = LinksDecided { by: RulesDigest(9), depth: 3 };
    RemadeVisit {
        document,
        change: Rewrite::With(Some(VisitChange { kind: ChangeKind::Changed, parts: vec![Part::Title, Part::Items] })),
        redirect: Some(RedirectEntry {
            target: url("https://c.example/"),
            is_permanent: true,
            source: LinkKind::Canonical,
        }),
        state: StateChange::Shown { place, outcome: Outcome::FileIngested, links, changed_at: asked },
        text: None,
    }
}

fn state(segment: &SegmentRow) -> RemakeState {
    RemakeState {
        job: RemakeJob { version: 3, program: "0.1".to_owned(), selection: Selection::All },
        after: segment.id.clone(),
        done: Remade { remade: 1, ..Remade::default() },
    }
}

/// The first document of a segment.
async fn first(documents: &impl Documents, segment: &SegmentRow) -> Document {
    documents.load(segment).await.unwrap().unwrap().swap_remove(0)
}

async fn page(reader: &impl Reader) -> PageRow {
    let pages = reader.pages(&Filter::default(), None, 99).await.unwrap().rows;
    pages.into_iter().find(|row| row.url.ends_with("/page")).unwrap()
}

async fn visit(reader: &impl Reader, segment: &SegmentRow) -> LogRow {
    let log = reader.log(&Filter::of_iteration(segment.iteration), None, 99).await.unwrap().rows;
    log.into_iter().find(|row| row.url.ends_with("/page")).unwrap()
}

/// The newest document: those who read documents, the log or the site as it is now see what was made, and all else as it was.
pub async fn what_is_made_again_takes_the_place_of_what_was(
    (frontier, documents, reader, remaking): &(impl Frontier, impl Documents, impl Reader, impl Remaking),
) {
    let segments = three_iterations(frontier, documents).await;
    let (segment, others) = (&segments[2], [segments[0].iteration, segments[1].iteration]);
    let (was_shown, was) = (page(reader).await, visit(reader, segment).await);
    let log_of = async |number| reader.log(&Filter::of_iteration(number), None, 99).await.unwrap().rows;
    let before = [log_of(others[0]).await, log_of(others[1]).await];
    let visit_made = remade(segment, 0, &first(documents, segment).await);
    for again in ["once", "twice"] {
        remaking.replace(segment, from_ref(&visit_made), &state(segment)).await.unwrap();
        assert_eq!(first(documents, segment).await, visit_made.document, "{again}");
        let shown = page(reader).await;
        let title = Some("made again".to_owned());
        assert_eq!(shown, PageRow { title, ..was_shown.clone() }, "{again}");
        let logged = visit(reader, segment).await;
        let (change, changed_parts) = (Some("changed".to_owned()), Some("title,items".to_owned()));
        let redirects_to = Some("https://c.example/".to_owned());
        assert_eq!(logged, LogRow { change, changed_parts, redirects_to, ..was.clone() }, "{again}");
        assert_eq!([log_of(others[0]).await, log_of(others[1]).await], before, "{again}");
    }
}

/// An older document: the site as it is now stays as it is.
pub async fn an_earlier_document_is_made_again_where_it_is(
    (frontier, documents, reader, remaking): &(impl Frontier, impl Documents, impl Reader, impl Remaking),
) {
    let segments = three_iterations(frontier, documents).await;
    let (was_shown, newest) = (page(reader).await, view(reader, segments[2].iteration).await);
    let visit_made = remade(&segments[0], 0, &first(documents, &segments[0]).await);
    remaking.replace(&segments[0], from_ref(&visit_made), &state(&segments[0])).await.unwrap();
    assert_eq!(first(documents, &segments[0]).await, visit_made.document);
    let shown = page(reader).await;
    assert_eq!((&shown.title, &shown.at), (&was_shown.title, &was_shown.at));
    let lines = |rows: &[String]| rows.iter().filter(|row| row.starts_with("DocumentRow")).cloned().collect::<Vec<_>>();
    assert_eq!(lines(&view(reader, segments[2].iteration).await), lines(&newest));
}

/// Where nothing is known of the document before, the log stays.
pub async fn a_change_that_is_not_decided_again_stays(
    (frontier, documents, reader, remaking): &(impl Frontier, impl Documents, impl Reader, impl Remaking),
) {
    let segments = three_iterations(frontier, documents).await;
    let was = visit(reader, &segments[1]).await;
    let made = remade(&segments[1], 0, &first(documents, &segments[1]).await);
    let made = RemadeVisit { change: Rewrite::Keep, redirect: None, ..made };
    remaking.replace(&segments[1], &[made], &state(&segments[1])).await.unwrap();
    assert_eq!(visit(reader, &segments[1]).await, was);
    assert_eq!(first(documents, &segments[1]).await.page.unwrap().title.as_deref(), Some("made again"));
}

/// Nothing is added: neither an entry that has no document, nor one of another URL.
pub async fn what_is_not_there_is_not_put(
    (frontier, documents, reader, remaking): &(impl Frontier, impl Documents, impl Reader, impl Remaking),
) {
    let segments = three_iterations(frontier, documents).await;
    let segment = &segments[1];
    let before = view(reader, segment.iteration).await;
    let stored = first(documents, segment).await;
    let unchanged = remade(segment, 1, &Document { n: 1, url: url("https://a.example/same"), ..stored.clone() });
    let unknown = remade(segment, 7, &Document { n: 7, ..stored.clone() });
    let other = remade(segment, 0, &Document { url: url("https://a.example/other"), ..stored });
    remaking.replace(segment, &[unchanged, unknown, other], &state(segment)).await.unwrap();
    assert_eq!(view(reader, segment.iteration).await, before);
}

/// Page by page, and without those that wait for their parser.
pub async fn segments_that_are_parsed_come_in_order(
    (frontier, documents, _, remaking): &(impl Frontier, impl Documents, impl Reader, impl Remaking),
) {
    assert_eq!(remaking.list_parsed(&key(HOST), None, 5).await.unwrap(), [], "there is none");
    let expected: Vec<SegmentId> =
        three_iterations(frontier, documents).await.into_iter().map(|segment| segment.id).collect();
    let world = World::begin_by(frontier, "w", UNLIMITED).await;
    world.seed_by(&key(HOST), "w", &["/page"]).await;
    world.crawl_again_until_idle(&key(HOST), 4, 4_000).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let segments = remaking.list_parsed(&key(HOST), after.as_ref(), 2).await.unwrap();
        assert!(segments.len() <= 2 && found.len() < 4, "each page has the next");
        let Some(last) = segments.last() else { break };
        after = Some(last.id.clone());
        found.extend(segments.into_iter().map(|segment| segment.id));
    }
    assert_eq!(found, expected);
}

/// It is stored with what was made, by crawl.
pub async fn how_far_it_has_come_is_known_until_it_is_over(
    (frontier, documents, _, remaking): &(impl Frontier, impl Documents, impl Reader, impl Remaking),
) {
    let segments = three_iterations(frontier, documents).await;
    assert_eq!(remaking.load_remake(&crawl()).await.unwrap(), None, "nobody began");
    for segment in &segments[..2] {
        remaking.replace(segment, &[], &state(segment)).await.unwrap();
        assert_eq!(remaking.load_remake(&crawl()).await.unwrap(), Some(state(segment)));
    }
    let other = "other".parse().unwrap();
    assert_eq!(remaking.load_remake(&other).await.unwrap(), None, "of another crawl");
    for _repeated in 0..2 {
        remaking.end_remake(&crawl()).await.unwrap();
        assert_eq!(remaking.load_remake(&crawl()).await.unwrap(), None, "it is over");
    }
}
