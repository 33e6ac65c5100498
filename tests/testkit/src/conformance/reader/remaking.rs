//! Documents made again: they take the place of what is stored, whoever reads them.

use std::slice::from_ref;

use dragline_domain::capture::RedirectEntry;
use dragline_domain::change::{ChangeKind, Difference, Part, VisitChange};
use dragline_domain::document::{Document, LinkKind};
use dragline_domain::frontier::{
    LinkDecisions, ParserCounters, RulesDigest, SegmentId, SegmentRow, Selection, StateChange, VisitPlace,
};
use dragline_domain::outcome::Outcome;
use dragline_domain::remake::{Recount, RemadeVisit, RemakeJob, RemakeState, RemakeTotals, Rewrite};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{Filter, LogRow, PageRow, Reader};
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};
use dragline_ports::retention::{Forgetting, PruneMode, Pruning};

use super::super::samples::{at, crawl, key, url};
use super::super::world::{UNLIMITED, World};
use super::retention::{HOST, three_iterations, view};

/// Runs every behaviour of making documents again on `((frontier, documents, reader, remaking,
/// retained), guard)`, which the future given makes over one store.
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
            what_was_counted_first_counts
            another_job_takes_the_place_of_the_first
            an_iteration_goes_first
            counters_follow_the_documents
            what_did_not_change_changed_when_the_log_says
            what_was_pruned_or_forgotten_does_not_come_back
        }
    };
}

/// The document of `/page` in a segment, made again.
pub(super) fn remade(segment: &SegmentRow, n: u32, stored: &Document) -> RemadeVisit {
    let mut document = stored.clone();
    if let Some(page) = &mut document.page {
        page.title = Some("made again".to_owned());
    }
    let asked = document.body.as_ref().map(|body| body.at);
    let place = VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n };
    let links = LinkDecisions { by: RulesDigest(9), depth: 3 };
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
        recount: Recount::default(),
    }
}

pub(super) fn job(version: u32) -> RemakeJob {
    RemakeJob { version, program: "0.1".to_owned(), selection: Selection::All }
}

pub(super) fn state(segment: &SegmentRow) -> RemakeState {
    let done = RemakeTotals { remade: 1, ..RemakeTotals::default() };
    RemakeState { job: job(3), after: Some(segment.id.clone()), done }
}

/// Takes up the job of [`state`], and returns how far it has come.
pub(super) async fn begin(remaking: &impl Remaking) -> RemakeState {
    match remaking.begin_remake(&crawl(), &job(3)).await.unwrap() {
        RemakeBegun::From(state) => state,
        RemakeBegun::Busy(open) => panic!("iteration {open} is open"),
    }
}

pub(super) async fn replace(remaking: &impl Remaking, segment: &SegmentRow, visits: &[RemadeVisit]) {
    let state = state(segment);
    let replaced = remaking.replace(Replacement { segment, visits, state: &state }).await.unwrap();
    assert_eq!(replaced, ReplaceResult::Done(state.done));
}

/// The first document of a segment.
pub(super) async fn first(documents: &impl Documents, segment: &SegmentRow) -> Document {
    documents.load(segment).await.unwrap().unwrap().swap_remove(0)
}

async fn page(reader: &impl Reader) -> PageRow {
    let pages = reader.pages(&Filter::default(), None, 99).await.unwrap().rows;
    pages.into_iter().find(|row| row.url.ends_with("/page")).unwrap()
}

async fn visit(reader: &impl Reader, segment: &SegmentRow) -> LogRow {
    let log = reader.log(&Filter::by_iteration(segment.iteration), None, 99).await.unwrap().rows;
    log.into_iter().find(|row| row.url.ends_with("/page")).unwrap()
}

/// The newest document: those who read documents, the log or the site as it is now see what was
/// made, and all else as it was.
pub async fn what_is_made_again_takes_the_place_of_what_was(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let (segment, others) = (&segments[2], [segments[0].iteration, segments[1].iteration]);
    let (was_shown, was) = (page(reader).await, visit(reader, segment).await);
    let log_of = async |number| reader.log(&Filter::by_iteration(number), None, 99).await.unwrap().rows;
    let before = [log_of(others[0]).await, log_of(others[1]).await];
    let visit_made = remade(segment, 0, &first(documents, segment).await);
    begin(remaking).await;
    for again in ["once", "twice"] {
        replace(remaking, segment, from_ref(&visit_made)).await;
        assert_eq!(first(documents, segment).await, visit_made.document, "{again}");
        let shown = page(reader).await;
        let title = Some("made again".to_owned());
        assert_eq!(shown, PageRow { title, ..was_shown.clone() }, "{again}");
        let logged = visit(reader, segment).await;
        let change = Some(VisitChange { kind: ChangeKind::Changed, parts: vec![Part::Title, Part::Items] });
        let redirects_to = Some("https://c.example/".to_owned());
        assert_eq!(logged, LogRow { change, redirects_to, ..was.clone() }, "{again}");
        assert_eq!([log_of(others[0]).await, log_of(others[1]).await], before, "{again}");
    }
}

/// An older document: the site as it is now stays as it is.
pub async fn an_earlier_document_is_made_again_where_it_is(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let (was_shown, newest) = (page(reader).await, view(reader, segments[2].iteration).await);
    let visit_made = remade(&segments[0], 0, &first(documents, &segments[0]).await);
    begin(remaking).await;
    replace(remaking, &segments[0], from_ref(&visit_made)).await;
    assert_eq!(first(documents, &segments[0]).await, visit_made.document);
    let shown = page(reader).await;
    assert_eq!((&shown.title, &shown.at), (&was_shown.title, &was_shown.at));
    let lines = |rows: &[String]| rows.iter().filter(|row| row.starts_with("DocumentRow")).cloned().collect::<Vec<_>>();
    assert_eq!(lines(&view(reader, segments[2].iteration).await), lines(&newest));
}

/// Where nothing is known of the document before, the log stays.
pub async fn a_change_that_is_not_decided_again_stays(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let was = visit(reader, &segments[1]).await;
    let made = remade(&segments[1], 0, &first(documents, &segments[1]).await);
    let made = RemadeVisit { change: Rewrite::Keep, redirect: None, ..made };
    begin(remaking).await;
    replace(remaking, &segments[1], &[made]).await;
    assert_eq!(visit(reader, &segments[1]).await, was);
    assert_eq!(first(documents, &segments[1]).await.page.unwrap().title.as_deref(), Some("made again"));
}

/// Nothing is added: neither an entry that has no document, nor one of another URL.
pub async fn what_is_not_there_is_not_put(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let segment = &segments[1];
    let before = view(reader, segment.iteration).await;
    let stored = first(documents, segment).await;
    let unchanged = remade(segment, 1, &Document { n: 1, url: url("https://a.example/same"), ..stored.clone() });
    let unknown = remade(segment, 7, &Document { n: 7, ..stored.clone() });
    let other = remade(segment, 0, &Document { url: url("https://a.example/other"), ..stored });
    begin(remaking).await;
    replace(remaking, segment, &[unchanged, unknown, other]).await;
    assert_eq!(view(reader, segment.iteration).await, before);
}

/// Page by page, and without those that wait for their parser.
pub async fn segments_that_are_parsed_come_in_order(
    (frontier, documents, _, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
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

/// Those of the segment's iteration, as long as its origin has no later ones.
pub async fn counters_follow_the_documents(
    (frontier, documents, _, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let newest = segments[2].iteration;
    let before = frontier.progress(&crawl(), newest).await.unwrap();
    let more = ParserCounters {
        stuck: 2,
        outcomes: [(Outcome::BlockedByChallenge, 3)].into(),
        links_nofollow: 5,
        ..ParserCounters::default()
    };
    let counted = |less: &ParserCounters, more: &ParserCounters| Recount { less: less.clone(), more: more.clone() };
    begin(remaking).await;
    for (segment, is_counted) in [(&segments[1], false), (&segments[2], true)] {
        let visit = remade(segment, 0, &first(documents, segment).await);
        let visit = RemadeVisit { recount: counted(&ParserCounters::default(), &more), ..visit };
        for _repeated in 0..2 {
            replace(remaking, segment, from_ref(&visit)).await;
        }
        let mut expected = before.clone();
        if is_counted {
            expected.parser.add(&more);
            // The log said that it was new.
            *expected.parser.changes.entry(ChangeKind::Changed).or_default() += 1;
        }
        assert_eq!(frontier.progress(&crawl(), newest).await.unwrap(), expected, "{segment:?}");
    }
    remaking.end_remake(&crawl(), &job(3)).await.unwrap();
    begin(remaking).await;
    let visit = remade(&segments[2], 0, &first(documents, &segments[2]).await);
    let visit = RemadeVisit { recount: counted(&more, &ParserCounters::default()), ..visit };
    replace(remaking, &segments[2], &[visit]).await;
    let parser = frontier.progress(&crawl(), newest).await.unwrap().parser;
    assert_eq!((parser.stuck, parser.links_nofollow), (before.parser.stuck, before.parser.links_nofollow));
    assert_eq!(parser.outcomes, before.parser.outcomes, "what is zero is not counted");
}

/// Where the newest visit changed nothing, the one before it that did says when; a visit that
/// changed only what stands around the main part did not.
pub async fn what_did_not_change_changed_when_the_log_says(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let changes = [
        (ChangeKind::Changed, vec![], 1_010, "it did change"),
        (ChangeKind::Unchanged, vec![], 10, "the first visit found it"),
        (ChangeKind::Back, vec![Part::Rest], 10, "it came back as it was"),
        (ChangeKind::Back, vec![Part::Title], 1_010, "it came back with another title"),
    ];
    let segments = three_iterations(frontier, documents).await;
    for (kind, parts, second, why) in changes {
        begin(remaking).await;
        for (segment, change) in segments.iter().zip([
            Some(VisitChange { kind: ChangeKind::New, parts: Vec::new() }),
            Some(VisitChange { kind, parts: parts.clone() }),
            Some(VisitChange { kind: ChangeKind::Unchanged, parts: Vec::new() }),
        ]) {
            let stored = first(documents, segment).await;
            let document = Document { difference: difference(&segments, &parts), ..stored };
            let mut visit = RemadeVisit { change: Rewrite::With(change), ..remade(segment, 0, &document) };
            if let StateChange::Shown { changed_at, .. } = &mut visit.state {
                *changed_at = None;
            }
            replace(remaking, segment, &[visit]).await;
        }
        remaking.end_remake(&crawl(), &job(3)).await.unwrap();
        assert_eq!(page(reader).await.last_changed, Some(at(second)), "{why}");
    }
}

fn difference(segments: &[SegmentRow], parts: &[Part]) -> Option<Difference> {
    let SegmentRow { iteration, id, .. } = segments.first()?;
    let since = VisitPlace { iteration: *iteration, turn: id.turn, segment: id.n, n: 0 };
    Some(Difference { since, parts: parts.to_vec(), links_added: Vec::new(), links_removed: Vec::new() })
}

/// Neither documents nor visits nor what is known of a URL; what is kept beside them stays as it
/// is.
pub async fn what_was_pruned_or_forgotten_does_not_come_back(
    (frontier, documents, reader, remaking, retained): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let mut visits = Vec::new();
    for segment in &segments {
        visits.push(remade(segment, 0, &first(documents, segment).await));
    }
    begin(remaking).await;
    let cut = segments[1].iteration;
    retained.prune_segments(&key(HOST), cut, None, PruneMode::Delete).await.unwrap();
    retained.forget_urls(&crawl(), from_ref(&visits[0].document.url)).await.unwrap();
    let all = async || {
        let mut rows = Vec::new();
        for segment in &segments {
            rows.extend(view(reader, segment.iteration).await);
        }
        rows
    };
    let before = all().await;
    assert!(before.iter().any(|row| row.contains("/old")) && before.iter().all(|row| !row.contains("/page")));
    for (segment, visit) in segments.iter().zip(&visits) {
        replace(remaking, segment, from_ref(visit)).await;
        assert_eq!(all().await, before, "{}", segment.id);
    }
    let stored = documents.load(&segments[1]).await.unwrap();
    assert!(stored.is_none_or(|documents| documents.is_empty()), "of the dropped iteration");
}
