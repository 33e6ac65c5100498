//! The third step: a segment's bytes become documents, outcomes, a log and new todo.
//!
//! It goes one way: `read` makes captures of the segment's object, `make` documents of these,
//! `claim` claims the URLs that they link to, `record` writes the log and the candidates, `commit`
//! ends it, and `tell` tells people. The decisions are in `dragline_domain`: `policy` about links,
//! `conclusion` about pages.

mod claim;
mod commit;
mod joining;
mod lasting;
mod make;
pub mod past;
mod read;
mod record;
mod tell;
mod watch;

use std::mem;
use std::sync::Arc;

use dragline_domain::capture::{Finality, LogEntry, SegmentLog};
use dragline_domain::frontier::{
    OriginKey, ParseBegun, ParseFault, ParserCounters, SegmentId, SegmentRow, SegmentState,
};
use dragline_domain::ids::ParseToken;
use dragline_domain::time::after;

pub use self::claim::known::KnownUrls;

pub(crate) use self::tell::SentNotices;

use self::claim::SegmentClaims;
use self::commit::commit;
use self::lasting::Omissions;
use self::make::earlier::EarlierDocuments;
use self::read::Trust;
use self::read::records::Capture;
use self::record::counters::counters;
use self::record::log::log_entries;
use self::record::update::update_candidates;
use self::tell::drift;
use crate::World;
use crate::context::Contexts;
use crate::wake::wake_all;
use dragline_ports::clock::{Clock, Rng};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{BeginParse, CrawlLog, Parses};
use dragline_ports::observer::Event;
use dragline_ports::queue::ParseMessage;

/// How a parse ended. In every case its message is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseEnd {
    /// The segment is parsed, by this worker or another.
    Processed,
    /// There is no such segment, or its iteration is over.
    Nothing,
    /// Its object cannot be read completely, or a step failed with an unrecoverable error. The
    /// sweeper sends the message again; in the end the segment is finished without the missing
    /// parts.
    PutOff,
}

/// Parses a segment.
///
/// Effects in order: the beginning is recorded; documents put if absent, with the dispositions of
/// their links; claims; the log; candidates; the commit, in parts; wake-ups and tickets. A repeated
/// message repeats all of it: the segment's own claims count as its own. A parse that ends in order
/// without a commit is given back: only crashed ones count.
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
        return run_begun_parse(world, contexts, known, &token, &segment).await;
    }
    // It crashed an earlier parse. If this one dies too, it must not take others of this process
    // with it, as they would be blamed as well.
    world.frontier().give_back_parse(&segment.id, &token, ParseFault::Elsewhere).await?;
    drop(company);
    let _alone = contexts.parses.write().await;
    let Some((token, segment)) = begin(world, &message.segment).await? else { return Ok(ParseEnd::Nothing) };
    run_begun_parse(world, contexts, known, &token, &segment).await
}

async fn begin(world: &impl World, id: &SegmentId) -> PortResult<Option<(ParseToken, SegmentRow)>> {
    let now = world.clock().now();
    let token = ParseToken::from_bits(world.rng().bits());
    let begun = ParseBegun { token: token.clone(), until: after(now, world.timing().parse) };
    let row = world.frontier().begin_parse(&BeginParse { segment: id.clone(), begun, now }).await?;
    Ok(row.map(|row| (token, row)))
}

async fn run_begun_parse(
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
            Err(error) if error.kind.is_lasting() && Trust::for_segment(segment) == Trust::None => {
                (lasting::end_without(world, segment, &error).await?, Vec::new())
            }
            Err(error) if error.kind.is_lasting() => {
                tracing::error!(segment = %segment.id, %error, "a parse failed, and is tried again later");
                return put_off(world, segment, token).await;
            }
            Err(error) => {
                let given_back = world.frontier().give_back_parse(&segment.id, token, ParseFault::Elsewhere).await;
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
    world.frontier().give_back_parse(&segment.id, token, ParseFault::Segment).await?;
    Ok(ParseEnd::PutOff)
}

/// Parses a segment; `None` if part of it cannot be read now, but may be later.
async fn parse(
    world: &impl World,
    contexts: &Contexts,
    known: &KnownUrls,
    segment: &SegmentRow,
) -> PortResult<Option<(ParseEnd, Vec<OriginKey>)>> {
    let frontier = world.frontier();
    let crawl = &segment.id.origin.crawl;
    let mut context = contexts.for_iteration(frontier, crawl, segment.iteration).await?;
    let Some(pinned) = contexts.pinned(frontier, crawl, segment.iteration).await? else {
        return Ok(Some((ParseEnd::Nothing, Vec::new())));
    };
    let trust = Trust::for_segment(segment);
    let mut omissions = Omissions::new(trust);
    let reading = read::read(world, &context, segment, trust).await?;
    let damage = reading.damage.as_deref().unwrap_or("it holds fewer captures than were stored");
    let is_short = read::missing(segment, &reading.captures) > 0;
    if is_short && read::may_come_back(segment) {
        tracing::warn!(segment = %segment.id, object = %segment.object, damage, "a segment cannot be read completely");
        return Ok(None);
    }
    let captures = Arc::new(reading.captures);
    joining::join(world, contexts, &mut context, segment, &captures).await?;
    let earlier = Arc::new(EarlierDocuments::load(world, &context, segment, &captures).await?);
    let made =
        make::documents(world, contexts, &mut context, &pinned.task, segment, (&captures, &earlier), trust).await;
    let documents = &omissions.bear(made)?.unwrap_or_default();
    let made = (&*context, &*pinned.task);
    let drifted = drift::tell_drift(world, contexts, made, segment, &captures, &earlier, documents).await?;
    drop(earlier);
    let captures = read::align_with_documents(&context, segment, captures, documents);
    let mut claimed = if pinned.task.visits() {
        let read = (&**captures, &**documents);
        claim::claim(world, &context, &pinned.task, known, segment, read, &mut omissions).await?
    } else {
        SegmentClaims::default()
    };
    // A sitemap may have 50,000: they are not kept twice.
    let entries = log_entries(&context, segment, &captures, documents, mem::take(&mut claimed.blocked));
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
        (counters(&log, &captures, documents, &claimed), read::missing(segment, &captures))
    } else {
        // The outcomes of its URLs are unknown.
        (claimed.counters(), read::missing(segment, &[]))
    };
    if let Some(error) = omissions.first() {
        lasting::tell_loss(world, segment, unreadable, error).await;
    } else if unreadable > 0 {
        lasting::tell_loss(world, segment, unreadable, damage).await;
    }
    let counters = ParserCounters { unreadable, drifted, ..counters };
    let origins = claimed.targets.iter().map(|target| target.origin.clone()).collect();
    let pages = watch::observe(world, segment, (&captures, documents), &claimed.led_to).await?;
    let end = commit(world, context.pace(), segment, (counters, pages), claimed.targets).await?;
    Ok(Some((end, origins)))
}

/// Shows captures that ended otherwise than their visits said, and URLs that are not requested.
fn show(world: &impl World, captures: &[Capture], log: &SegmentLog) {
    for (n, LogEntry { url, visit, .. }) in log.entries.iter().enumerate() {
        let is_news = captures.get(n).is_none_or(|capture| capture.visit.outcome != visit.outcome);
        if is_news && visit.finality != Finality::Aside {
            let event = Event::Read { url, outcome: visit.outcome, detail: visit.detail.as_deref() };
            world.observer().observe(&event);
        }
    }
}
