//! Remaking the documents of all iterations from the stored answers, by the current definition and
//! program. Nothing is requested or claimed.
//!
//! It goes through the segments of each origin in commit order, so that each document is compared
//! with the remade one before it. Effects in order, for each segment: the canonical URLs that its
//! pages name; the new documents replace the stored ones, together with the progress. After a crash
//! the next run continues there, with the same result. An iteration that begins meanwhile goes
//! first.

mod visit;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dragline_domain::capture::Finality;
use dragline_domain::document::Document;
use dragline_domain::frontier::{NamersUpdate, OriginKey, SegmentId, SegmentRow, Selection, StateChange, VisitPlace};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::remake::{RemadeVisit, RemakeJob, RemakeState, RemakeTotals};
use dragline_domain::url::{CrawlUrl, Origin};

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::parse::make::document::{bare_document, document_of_answer, stuck_document};
use crate::parse::make::remade::{leave_what_is_new, make_from_record, stored_answer};
use crate::parse::read::records::Capture;
use crate::parse::read::{self, Trust};
use crate::parse::record::update::by_origin;
use dragline_ports::documents::Documents;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Candidates, Origins};
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};
use visit::{DocumentSource, remade_visit, says_the_same};

/// The number of origins listed at a time.
const ORIGINS_PAGE: usize = 500;

/// The number of segments listed at a time.
const SEGMENTS_PAGE: usize = 100;

/// How remaking ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RemakeEnd {
    /// All documents are remade; these are the totals since the job began. The caller updates
    /// derived data and then ends the job ([`Remaking::end_remake`]): until then, the same call
    /// finds nothing left to remake.
    Through(RemakeJob, RemakeTotals),
    /// This iteration of the crawl is open, and goes first. Afterwards the same call continues.
    Busy(Iteration),
    /// Another job has replaced this one.
    Superseded,
}

/// Remakes the documents of all iterations of a crawl for the selected URLs. `told` is called with
/// the totals since the job began, at the start and after each segment.
///
/// An interrupted job continues if it is the same: the same definition, the same `program` (its
/// version), the same URLs. Only one segment is in memory at a time.
///
/// # Errors
/// Returns the ports' errors; the same call then continues.
pub async fn remake(
    world: &impl World,
    remaking: &impl Remaking,
    crawl: &CrawlId,
    selection: Selection,
    program: &str,
    told: impl Fn(&RemakeTotals) + Sync,
) -> PortResult<RemakeEnd> {
    let context = Contexts::default().current(world.frontier(), crawl).await?;
    let job = RemakeJob { version: context.how_version(), program: program.to_owned(), selection };
    let (mut done, mut within) = match remaking.begin_remake(crawl, &job).await? {
        RemakeBegun::From(state) => (state.done, state.after),
        RemakeBegun::Busy(iteration) => return Ok(RemakeEnd::Busy(iteration)),
    };
    told(&done);
    let mut after = None;
    loop {
        let origins = match &within {
            Some(SegmentId { origin, .. }) => vec![origin.origin.clone()],
            None => world.frontier().list_origins(crawl, after.as_ref(), ORIGINS_PAGE).await?,
        };
        if origins.is_empty() {
            break;
        }
        for origin in origins {
            let key = OriginKey { crawl: crawl.clone(), origin: origin.clone() };
            let mut last = within.take();
            loop {
                let segments = remaking.list_parsed(&key, last.as_ref(), SEGMENTS_PAGE).await?;
                for segment in &segments {
                    match remake_segment(world, remaking, (&context, &job), segment, done).await? {
                        ReplaceResult::Done(by_now) => done = by_now,
                        ReplaceResult::Busy(iteration) => return Ok(RemakeEnd::Busy(iteration)),
                        ReplaceResult::Superseded => return Ok(RemakeEnd::Superseded),
                    }
                    told(&done);
                }
                let Some(newest) = segments.last() else { break };
                last = Some(newest.id.clone());
            }
            after = Some(origin);
        }
    }
    Ok(RemakeEnd::Through(job, done))
}

/// Remakes the documents of a segment, and adds to the totals.
async fn remake_segment(
    world: &impl World,
    remaking: &impl Remaking,
    (context, job): (&Arc<CrawlContext>, &RemakeJob),
    segment: &SegmentRow,
    mut done: RemakeTotals,
) -> PortResult<ReplaceResult> {
    let Some(mut stored) = world.documents().load(segment).await? else { return Ok(ReplaceResult::Done(done)) };
    // Documents that broke the parser then are not part of the history: nothing later refers to
    // them.
    stored.retain(|document| {
        let has_answer = document.page.is_some() || document.body.is_some();
        has_answer && !document.is_unread() && job.selection.contains(&document.url)
    });
    if stored.is_empty() {
        return Ok(ReplaceResult::Done(done));
    }
    let trust = Trust::for_segment(segment);
    let captures = read::read(world, context, segment, trust).await?.captures;
    // A URL has one capture per segment that is not tried again.
    let lasting = captures.into_iter().filter(|capture| capture.visit.finality != Finality::Retried);
    let captures: HashMap<CrawlUrl, Capture> = lasting.map(|capture| (capture.url.clone(), capture)).collect();
    let before = load_before(world, segment, &stored, &captures).await?;
    let (mut visits, mut more) = (Vec::with_capacity(stored.len()), RemakeTotals::default());
    for stored in &stored {
        let Some(capture) = captures.get(&stored.url) else {
            more.kept += 1;
            continue;
        };
        let Some(made) = make(world, context, trust, capture, stored).await? else { continue };
        if made.is_unread() {
            more.kept += 1;
            continue;
        }
        let before = capture.visit.known.document.and_then(|last| before.get(&last.place));
        let visit = remade_visit(context, segment, capture, (stored, made), before);
        let document = &visit.document;
        more.remade += 1;
        more.different += u64::from(!says_the_same(stored, document));
        more.misfits += u64::from(document.content.as_ref().is_some_and(|content| !content.misfits.is_empty()));
        visits.push(visit);
    }
    done.add(&more);
    for (origin, named) in named_canonicals(&visits) {
        let origin = OriginKey { crawl: segment.id.origin.crawl.clone(), origin };
        world.frontier().add_namers(&origin, &named).await?;
    }
    let state = RemakeState { job: job.clone(), after: Some(segment.id.clone()), done };
    remaking.replace(Replacement { segment, visits: &visits, state: &state }).await
}

/// Returns the canonical URLs that the shown pages name, by origin, with the pages' texts.
fn named_canonicals(visits: &[RemadeVisit]) -> BTreeMap<Origin, Vec<NamersUpdate>> {
    let shown = visits.iter().filter_map(|visit| match (&visit.state, &visit.redirect, visit.text) {
        (StateChange::Shown { outcome: Outcome::NotCanonical, .. }, Some(to), Some(text)) => Some((&to.target, text)),
        _ => None,
    });
    by_origin(shown)
}

/// Remakes a document from its answer; an unread document if that fails, and `None` if it has no
/// answer.
async fn make(
    world: &impl World,
    context: &Arc<CrawlContext>,
    trust: Trust,
    capture: &Capture,
    stored: &Document,
) -> PortResult<Option<Document>> {
    let (own, of, was) = (Arc::clone(context), capture.clone(), stored.clone());
    let making = match DocumentSource::what(capture, stored) {
        DocumentSource::Nothing => return Ok(None),
        // Its bodies crashed the parsers.
        DocumentSource::OwnAnswer if trust != Trust::Full => {
            return Ok(Some(stuck_document(stored.n, capture, "skipped")));
        }
        DocumentSource::OwnAnswer => tokio::task::spawn_blocking(move || make_from_own_answer(&own, &of, &was)),
        DocumentSource::Earlier(body, asked) => match stored_answer(world, body).await? {
            Err(why) => return Ok(Some(stuck_document(stored.n, capture, &why))),
            Ok(record) => {
                tokio::task::spawn_blocking(move || make_from_record(&own, was.n, &of, (&was, asked), &record))
            }
        },
    };
    let failed = |error: tokio::task::JoinError| {
        PortError::new(PortErrorKind::Other, "make a document again", &capture.url, error.to_string())
    };
    making.await.map(Some).map_err(failed)
}

/// Loads the documents with which those of a segment are compared, as remade so far.
async fn load_before(
    world: &impl World,
    segment: &SegmentRow,
    stored: &[Document],
    captures: &HashMap<CrawlUrl, Capture>,
) -> PortResult<HashMap<VisitPlace, Document>> {
    let captures = stored.iter().filter_map(|document| captures.get(&document.url));
    let visits = captures.map(|capture| &capture.visit).filter(|visit| visit.finality == Finality::Final);
    let places: Vec<VisitPlace> = visits.filter_map(|visit| visit.known.document).map(|last| last.place).collect();
    if places.is_empty() {
        return Ok(HashMap::new());
    }
    let found = world.documents().load_each(&segment.id.origin, &places).await?;
    Ok(places.into_iter().zip(found).filter_map(|(place, document)| Some((place, document?))).collect())
}

/// Makes a document from the answer to its own visit.
fn make_from_own_answer(context: &CrawlContext, capture: &Capture, stored: &Document) -> Document {
    let made =
        catch_unwind(AssertUnwindSafe(|| document_of_answer(context, capture, bare_document(stored.n, capture))));
    let Ok(mut document) = made else { return stuck_document(stored.n, capture, "the parser broke on it") };
    leave_what_is_new(stored, &mut document);
    document
}
