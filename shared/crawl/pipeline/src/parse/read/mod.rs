//! The captures of a segment, whatever happened to its object: those that can be read, and
//! stand-ins by an earlier parse's documents for the others.

pub(crate) mod records;

use std::sync::Arc;

use dragline_domain::capture::{CrawlType, Finality, Visit};
use dragline_domain::document::Document;
use dragline_domain::frontier::{SegmentRow, Sighting, UrlHistory};
use dragline_domain::outcome::Outcome;

use self::records::{Bodies, Capture, ReadCaptures, place};
use crate::World;
use crate::context::CrawlContext;
use dragline_ports::archive::Archive;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

/// The number of failed parses of a segment after which its unreadable parts are given up. If one
/// more fails, its bodies are not read; after as many again, the segment is ended without its
/// object, and without every step that still fails.
const ATTEMPTS_MAX: u32 = 3;

/// How far a segment is trusted, by the number of parses that failed on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Like any other.
    Full,
    /// Its bodies are not read.
    HeadsAlone,
    /// Its object is not read, and failing steps are omitted.
    None,
}

impl Trust {
    pub(crate) const fn for_segment(segment: &SegmentRow) -> Self {
        match segment.attempts {
            0..=ATTEMPTS_MAX => Self::Full,
            attempts if attempts <= 2 * ATTEMPTS_MAX => Self::HeadsAlone,
            _ => Self::None,
        }
    }
}

/// Reads a segment's captures, as far as possible: the handover of this process's crawler, or else
/// the object. A missing, too large or damaged object is reported as damage.
///
/// # Errors
/// Returns the archive's errors.
pub(crate) async fn read(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    trust: Trust,
) -> PortResult<ReadCaptures> {
    let damaged = |damage: String| Ok(ReadCaptures { captures: Vec::new(), damage: Some(damage) });
    let bodies = match trust {
        Trust::Full => Bodies::for_crawl(context),
        Trust::HeadsAlone => Bodies::Dropped,
        Trust::None => return damaged("every parse of it failed".to_owned()),
    };
    if let Some(captures) = world.handover().take(&segment.object).filter(|_| trust == Trust::Full) {
        return Ok(ReadCaptures { captures, damage: None });
    }
    // Its size does not matter, as its records are read one after the other.
    let object = match world.archive().get(&segment.object, u64::MAX).await {
        Ok(Some(object)) => object,
        Ok(None) => return damaged("its object is missing".to_owned()),
        Err(error) if matches!(error.kind, PortErrorKind::TooLarge | PortErrorKind::Corrupt) => {
            return damaged(error.to_string());
        }
        Err(error) => return Err(error),
    };
    match tokio::task::spawn_blocking(move || records::captures(&object, bodies)).await {
        Ok(Ok(reading)) => Ok(reading),
        Ok(Err(error)) => Err(PortError::new(PortErrorKind::Unavailable, "read object", &segment.object, error)),
        Err(broken) => damaged(broken.to_string()),
    }
}

/// Whether to try the unreadable parts of the segment again later: an operator of the store may
/// repair it.
pub(crate) const fn may_come_back(segment: &SegmentRow) -> bool {
    segment.attempts < ATTEMPTS_MAX
}

/// Returns the number of the segment's URLs without a capture.
pub(crate) fn missing(segment: &SegmentRow, captures: &[Capture]) -> u64 {
    let ended = u64::from(segment.entries.saturating_sub(segment.put_off));
    let there = captures.iter().filter(|capture| capture.visit.finality == Finality::Final).count() as u64;
    ended.saturating_sub(there)
}

/// Returns one capture for each document, in order: an earlier parse may have read more or less
/// than can be read now.
pub(crate) fn align_with_documents(
    context: &CrawlContext,
    segment: &SegmentRow,
    captures: Arc<Vec<Capture>>,
    documents: &[Document],
) -> Arc<Vec<Capture>> {
    let fits = captures.len() == documents.len()
        && captures.iter().zip(documents).all(|(capture, document)| capture.url == document.url);
    if fits {
        return captures;
    }
    let mut rest: Vec<Option<&Capture>> = captures.iter().map(Some).collect();
    let mut take = |document: &Document| {
        let place = rest.iter().position(|capture| capture.is_some_and(|capture| capture.url == document.url))?;
        rest[place].take()
    };
    let found: Vec<Option<&Capture>> = documents.iter().map(&mut take).collect();
    let put_off = found.iter().flatten().filter(|capture| capture.visit.finality != Finality::Final).count();
    let mut put_off = (segment.put_off as usize).saturating_sub(put_off);
    let all = documents.iter().zip(found).map(|(document, found)| {
        found.cloned().unwrap_or_else(|| {
            let finality = match document.outcome {
                _ if put_off == 0 => Finality::Final,
                _ if is_remade(segment, document) => Finality::Aside,
                _ if may_be_put_off(document) => Finality::Retried,
                _ => Finality::Final,
            };
            put_off -= usize::from(finality != Finality::Final);
            stand_in(context, segment, document, finality)
        })
    });
    Arc::new(all.collect())
}

/// Whether a document may belong to a capture that is not final: a failure, or a redirect that is
/// not followed like one to another URL.
fn may_be_put_off(document: &Document) -> bool {
    let is_redirect = matches!(document.outcome, Outcome::TemporaryRedirect | Outcome::PermanentRedirect);
    document.outcome.may_be_fluke() || is_redirect && document.links.is_empty()
}

/// Whether a document was remade without a visit: its body is that of an earlier visit, and not
/// marked as unchanged.
fn is_remade(segment: &SegmentRow, document: &Document) -> bool {
    let is_elsewhere = document.body.as_ref().is_some_and(|body| body.visit != place(segment, document.n));
    is_elsewhere && document.outcome != Outcome::FileDidNotChange
}

/// Restores a capture from its document. Its depth is unknown, so its links get the greatest
/// possible depth.
fn stand_in(context: &CrawlContext, segment: &SegmentRow, document: &Document, finality: Finality) -> Capture {
    let depth = context.definition.depth_max().map_or(0, |depth| depth.saturating_sub(1));
    Capture {
        url: document.url.clone(),
        at: segment.committed_at,
        visit: Visit {
            sighting: Sighting { depth, ..Sighting::SEED },
            redirects: 0,
            crawl_type: if finality == Finality::Aside { CrawlType::Reparse } else { CrawlType::Queued },
            tries: 0,
            outcome: document.outcome,
            finality,
            detail: document.detail.clone(),
            exchange: None,
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        response: None,
        unreadable: None,
        file: None,
        dom: None,
    }
}
