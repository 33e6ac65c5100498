//! The third step: a segment's bytes become documents, outcomes, a log and new todo.

mod captures;
mod claims;
mod demand;
mod documents;
mod drift;
mod earlier;
mod joining;
mod known;
mod lasting;
mod link_room;
pub mod past;
mod read;
mod remade;
mod room;
mod sitemaps;
mod state;
mod stuck;
mod told;
mod update;

use std::mem;
use std::sync::Arc;

use dragline_domain::capture::{Finality, LogEntry, SegmentLog};
use dragline_domain::document::{Disposition, Document, DocumentState};
use dragline_domain::frontier::{
    Blame, OriginKey, ParseBegun, ParserCounters, PartKind, PartRefused, SegmentId, SegmentRow, SegmentState, Target,
    Task, plan_parts,
};
use dragline_domain::ids::{Iteration, ParseToken};
use dragline_domain::outcome::Outcome;
use dragline_domain::politeness::Pace;
use dragline_domain::time::after;

pub use known::KnownUrls;

pub(crate) use told::ToldSoFar;

use self::captures::Trust;
use self::claims::Claimed;
use self::documents::{Parsed, document_of, stuck};
use self::earlier::Earlier;
use self::lasting::Omissions;
use self::link_room::LinkRoom;
use self::read::Capture;
use self::update::update_candidates;
use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::wake::wake_all;
use dragline_ports::clock::{Clock, Rng};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{BeginParse, CommitParse, CrawlLog, ParseCommitted, Parses};
use dragline_ports::observer::Event;
use dragline_ports::queue::ParseMessage;

/// How a parse ended. In every case its message is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseEnd {
    /// The segment is parsed, by this worker or another.
    Processed,
    /// There is no such segment, or its iteration is over.
    Nothing,
    /// Its object cannot be read, or only in part, or a step failed as it is bound to fail again. The sweeper sends it again; in the end the segment
    /// is finished without what is missing.
    PutOff,
}

/// Parses a segment.
///
/// Effects in order: the beginning is recorded; documents put if absent, with which of their links are followed; claims; the log; candidates; the
/// commit, in parts; wake-ups and tickets. The same message again repeats all of it: what this segment claimed counts as its own. A parse that ends
/// in order without a commit is given back: only those that die count.
///
/// # Errors
/// Returns the ports' errors; the message is then to be delivered again.
pub async fn parse_segment(
    world: &impl World,
    contexts: &Contexts,
    known: &KnownUrls,
    message: &ParseMessage,
) -> PortResult<ParseEnd> {
    let company = contexts.parses.read().await;
    let Some((token, segment)) = begin(world, &message.segment).await? else { return Ok(ParseEnd::Nothing) };
    if segment.attempts == 0 || segment.state == SegmentState::Processed {
        return parse_begun(world, contexts, known, &token, &segment).await;
    }
    // An earlier parse did not survive it. If this one dies too, it must not take others of this process with it, as they would be blamed as well.
    world.frontier().give_back_parse(&segment.id, &token, Blame::Elsewhere).await?;
    drop(company);
    let _alone = contexts.parses.write().await;
    let Some((token, segment)) = begin(world, &message.segment).await? else { return Ok(ParseEnd::Nothing) };
    parse_begun(world, contexts, known, &token, &segment).await
}

async fn begin(world: &impl World, id: &SegmentId) -> PortResult<Option<(ParseToken, SegmentRow)>> {
    let now = world.clock().now();
    let token = ParseToken::from_bits(world.rng().bits());
    let begun = ParseBegun { token: token.clone(), until: after(now, world.timing().parse) };
    let row = world.frontier().begin_parse(&BeginParse { segment: id.clone(), begun, now }).await?;
    Ok(row.map(|row| (token, row)))
}

async fn parse_begun(
    world: &impl World,
    contexts: &Contexts,
    known: &KnownUrls,
    token: &ParseToken,
    segment: &SegmentRow,
) -> PortResult<ParseEnd> {
    let mut touched = vec![segment.id.origin.clone()];
    let end = if segment.state == SegmentState::Processed {
        ParseEnd::Processed
    } else {
        let (end, targets) = match parse(world, contexts, known, segment).await {
            Ok(Some(done)) => done,
            Ok(None) => return put_off(world, segment, token).await,
            Err(error) if error.kind.is_lasting() && Trust::of(segment) == Trust::None => {
                (lasting::end_without(world, segment, &error).await?, Vec::new())
            }
            Err(error) if error.kind.is_lasting() => {
                tracing::error!(segment = %segment.id, %error, "a parse failed, and is tried again later");
                return put_off(world, segment, token).await;
            }
            Err(error) => {
                let given_back = world.frontier().give_back_parse(&segment.id, token, Blame::Elsewhere).await;
                if let Err(second) = given_back {
                    tracing::warn!(segment = %segment.id, error = %second, "a parse that failed counts as one that died");
                }
                return Err(error);
            }
        };
        touched.extend(targets.into_iter().filter(|origin| *origin != segment.id.origin));
        end
    };
    wake_all(world, &touched, segment.iteration).await?;
    Ok(end)
}

/// Gives a parse back that failed because of its segment.
async fn put_off(world: &impl World, segment: &SegmentRow, token: &ParseToken) -> PortResult<ParseEnd> {
    world.frontier().give_back_parse(&segment.id, token, Blame::Segment).await?;
    Ok(ParseEnd::PutOff)
}

/// `None` if part of it cannot be read now, but may be later.
async fn parse(
    world: &impl World,
    contexts: &Contexts,
    known: &KnownUrls,
    segment: &SegmentRow,
) -> PortResult<Option<(ParseEnd, Vec<OriginKey>)>> {
    let frontier = world.frontier();
    let crawl = &segment.id.origin.crawl;
    let mut context = contexts.of_iteration(frontier, crawl, segment.iteration).await?;
    let Some(pinned) = contexts.pinned(frontier, crawl, segment.iteration).await? else {
        return Ok(Some((ParseEnd::Nothing, Vec::new())));
    };
    let trust = Trust::of(segment);
    let mut omissions = Omissions::new(trust);
    let reading = captures::read(world, &context, segment, trust).await?;
    let damage = reading.damage.as_deref().unwrap_or("it holds fewer captures than were stored");
    let is_short = captures::missing(segment, &reading.captures) > 0;
    if is_short && captures::may_come_back(segment) {
        tracing::warn!(segment = %segment.id, object = %segment.object, damage, "a segment cannot be read completely");
        return Ok(None);
    }
    let captures = Arc::new(reading.captures);
    joining::join(world, contexts, &mut context, segment, &captures).await?;
    let earlier = Arc::new(Earlier::load(world, &context, segment, &captures).await?);
    let made = documents(world, contexts, &mut context, &pinned.task, segment, (&captures, &earlier), trust).await;
    let parsed = omissions.bear(made)?.unwrap_or_default();
    let documents = &parsed.documents;
    let made = (&*context, &*pinned.task);
    let drifted = drift::tell_of(world, contexts, made, segment, &captures, &earlier, documents).await?;
    drop(earlier);
    let captures = captures::of_documents(&context, segment, captures, documents);
    let mut claimed = if pinned.task.visits() {
        let read = (&**captures, &**documents);
        claims::claim(world, &context, &pinned.task, known, segment, read, &mut omissions).await?
    } else {
        Claimed::default()
    };
    // A sitemap may have 50,000: they are not kept twice.
    let entries = parsed.log_entries(&context, segment, &captures, mem::take(&mut claimed.blocked));
    let log = Arc::new(SegmentLog {
        segment: segment.id.clone(),
        iteration: segment.iteration,
        object: segment.object.clone(),
        committed_at: segment.committed_at,
        agent: context.definition.user_agent.as_str().to_owned(),
        entries,
    });
    let is_logged = omissions.bear(frontier.put_log(&log).await)?.is_some();
    let ended = (&**captures, &**documents, &*log.entries);
    let updated = update_candidates(world, &context, segment, ended, pinned.began).await;
    omissions.bear(updated)?;
    let (counters, unreadable) = if is_logged {
        show(world, &captures, &log);
        (counters(&log, &captures, documents, &claimed), captures::missing(segment, &captures))
    } else {
        // What ended in it is known nowhere.
        (claimed.counters(), captures::missing(segment, &[]))
    };
    if let Some(error) = omissions.first() {
        lasting::tell_of(world, segment, unreadable, error).await;
    } else if unreadable > 0 {
        lasting::tell_of(world, segment, unreadable, damage).await;
    }
    let counters = ParserCounters { unreadable, drifted, ..counters };
    let origins = claimed.targets.iter().map(|target| target.origin.clone()).collect();
    let end = commit(world, context.pace(), segment, counters, claimed.targets).await?;
    Ok(Some((end, origins)))
}

/// Shows what ended otherwise than its visit said, and URLs that are not requested.
fn show(world: &impl World, captures: &[Capture], log: &SegmentLog) {
    for (n, LogEntry { url, visit, .. }) in log.entries.iter().enumerate() {
        let is_news = captures.get(n).is_none_or(|capture| capture.visit.outcome != visit.outcome);
        if is_news && visit.finality != Finality::Aside {
            let event = Event::Read { url, outcome: visit.outcome, detail: visit.detail.as_deref() };
            world.observer().observe(&event);
        }
    }
}

/// Returns the documents of the segment's captures: those that an earlier parse put, or else the ones made now. If they extend the scope, the context
/// is replaced, and they are made again.
async fn documents(
    world: &impl World,
    contexts: &Contexts,
    context: &mut Arc<CrawlContext>,
    task: &Task,
    segment: &SegmentRow,
    (captures, earlier): (&Arc<Vec<Capture>>, &Arc<Earlier>),
    trust: Trust,
) -> PortResult<Parsed> {
    if let Some(documents) = world.documents().load(segment).await? {
        return Ok(Parsed { documents });
    }
    let mut documents = if task.visits() {
        let made = made_now(world, context, segment, captures, earlier, trust).await?;
        if joining::join_refreshed(world, contexts, context, segment, captures, &made).await? {
            made_now(world, context, segment, captures, earlier, trust).await?
        } else {
            made
        }
    } else {
        remade::documents(world, context, captures, earlier).await?
    };
    match task {
        Task::Demand => demand::leave_what_is_not_demanded(captures, &mut documents),
        Task::Import => demand::leave_all(&mut documents),
        Task::Crawl | Task::Reparse(_) => {}
    }
    // What waits differs from try to try: it is checked before the documents are put, and never after.
    room::keep_to_budget(world, context, segment, &mut documents).await?;
    if task.visits() {
        sitemaps::tell_of(world, contexts, segment, captures, &documents).await?;
    }
    loop {
        stuck::tell_of(world, contexts, context, segment, &documents).await?;
        match world.documents().put_new(segment, &documents).await {
            Ok(PutDocuments::Stored) => return Ok(Parsed { documents }),
            Ok(PutDocuments::Found(documents)) => return Ok(Parsed { documents }),
            Err(error) if error.kind == PortErrorKind::TooLarge && lasting::leave_largest(&mut documents, captures) => {
                tracing::warn!(segment = %segment.id, %error, "the largest documents are left out");
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the document of every capture. What is not read after half the time of a parse stays unread: the rest of it is needed for what was.
async fn made_now(
    world: &impl World,
    context: &Arc<CrawlContext>,
    segment: &SegmentRow,
    captures: &Arc<Vec<Capture>>,
    earlier: &Arc<Earlier>,
    trust: Trust,
) -> PortResult<Vec<Document>> {
    let reads_until = world.clock().monotonic() + world.timing().parse / 2;
    let (row, mut room) = (Arc::new(segment.clone()), LinkRoom::new(world.timing().links_bytes));
    let mut documents = Vec::with_capacity(captures.len());
    for (n, capture) in (0..).zip(&**captures) {
        let document = if capture.response.is_none() {
            document_of(context, segment, n, capture, earlier.of(capture), trust)
        } else if world.clock().monotonic() > reads_until {
            stuck(n, capture, "not read: the pages before it took too long")
        } else {
            let (own, row, all, known) =
                (Arc::clone(context), Arc::clone(&row), Arc::clone(captures), Arc::clone(earlier));
            let made = tokio::task::spawn_blocking(move || {
                let capture = &all[n as usize];
                document_of(&own, &row, n, capture, known.of(capture), trust)
            });
            made.await.map_err(|error| PortError::new(PortErrorKind::Other, "parse", &segment.id, error.to_string()))?
        };
        documents.push(room.keep(document, capture.visit.sighting.read_as));
    }
    Ok(documents)
}

fn counters(log: &SegmentLog, captures: &[Capture], documents: &[Document], claimed: &Claimed) -> ParserCounters {
    let mut counters = claimed.counters();
    for (capture, document) in captures.iter().zip(documents) {
        count(&mut counters, log.iteration, capture, document);
    }
    for change in log.entries.iter().filter_map(|entry| entry.change.as_ref()) {
        *counters.changes.entry(change.kind).or_default() += 1;
    }
    let blocked = log.entries.len().saturating_sub(documents.len()) as u64;
    if blocked > 0 {
        *counters.outcomes.entry(Outcome::BlockedUrlByLocalPolicy).or_default() += blocked;
    }
    counters
}

/// Counts a document of a visit.
fn count(counters: &mut ParserCounters, iteration: Iteration, capture: &Capture, document: &Document) {
    match document.state {
        DocumentState::Processed => counters.processed += 1,
        DocumentState::Stuck => counters.stuck += 1,
    }
    match capture.visit.finality {
        Finality::Final => *counters.outcomes.entry(document.outcome).or_default() += 1,
        Finality::Aside => counters.reparsed += 1,
        Finality::Retried => {}
    }
    if is_decided_again(capture, iteration) {
        return;
    }
    for link in &document.links {
        match link.disposition {
            Disposition::OutOfScope => counters.links_out_of_scope += 1,
            Disposition::TooDeep => counters.links_too_deep += 1,
            Disposition::NoFollow => counters.links_nofollow += 1,
            Disposition::BeyondBudget => counters.links_beyond_budget += 1,
            Disposition::Follow | Disposition::NotAPage | Disposition::Blocked(_) | Disposition::Later => {}
        }
    }
}

/// Whether the links of a document were counted in this iteration before, and are only decided again from a smaller depth.
fn is_decided_again(capture: &Capture, iteration: Iteration) -> bool {
    let document = capture.visit.known.document.filter(|_| capture.visit.finality == Finality::Aside);
    document.is_some_and(|document| document.place.iteration == iteration)
}

/// Commits a parse part by part, from where an earlier try stopped. Where that had committed more parts than there are now, an empty one ends it.
async fn commit(
    world: &impl World,
    pace: Pace,
    segment: &SegmentRow,
    counters: ParserCounters,
    targets: Vec<Target>,
) -> PortResult<ParseEnd> {
    let SegmentState::Crawled { part: mut number } = segment.state else { return Ok(ParseEnd::Processed) };
    let parts = plan_parts(targets);
    loop {
        let is_last = number as usize + 1 >= parts.len();
        let now = world.clock().now();
        let commit = CommitParse {
            segment: segment.id.clone(),
            iteration: segment.iteration,
            part_number: number,
            kind: if is_last { PartKind::Last } else { PartKind::More },
            part: parts.get(number as usize).cloned().unwrap_or_default(),
            pace,
            counters: if is_last { counters.clone() } else { ParserCounters::default() },
            now,
            due: after(now, world.timing().grace),
        };
        match world.frontier().commit_parse(&commit).await? {
            ParseCommitted::Done if is_last => return Ok(ParseEnd::Processed),
            ParseCommitted::Done => number += 1,
            ParseCommitted::Refused(PartRefused::GoOnAt(next)) => number = next,
            ParseCommitted::Refused(PartRefused::AlreadyParsed) => return Ok(ParseEnd::Processed),
            ParseCommitted::Over => return Ok(ParseEnd::Nothing),
        }
    }
}
