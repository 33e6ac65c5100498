//! Pruning: deletes unreferenced data.
//!
//! Effects in order: the iterations are marked; then, segment by segment, the rows are deleted, the
//! objects deleted, and their deletion recorded. After a crash the next run ends the same, and no
//! row refers to a deleted object. Before segments are forgotten, a command to publish their
//! iterations again is sent.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use dragline_domain::frontier::{IterationRow, OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::retention::{PrunePlace, Retention};
use jiff::Timestamp;

use dragline_ports::archive::Archive;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Origins;
use dragline_ports::queue::{DELAY_MAX, Message, PublishCommand, Publishing, Queue};
use dragline_ports::retention::{PruneMode, PrunedSegments, Pruning};

/// The number of origins listed at a time.
const ORIGINS_PAGE: usize = 500;

/// The stores of a crawl.
#[derive(Debug)]
pub struct Stores<'s, R, O, A, Q> {
    /// The retained data.
    pub retained: &'s R,
    /// The crawl's origins.
    pub origins: &'s O,
    /// The objects.
    pub archive: &'s A,
    /// Takes the commands to publish iterations again.
    pub queue: &'s Q,
}

/// The result of pruning, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneTotals {
    /// The newest dropped iteration; `None` if all are kept.
    pub cut: Option<Iteration>,
    /// The number of iterations that were not pruned before.
    pub iterations: u64,
    /// The number of visits without stored data now.
    pub visits: u64,
    /// The number of deleted documents.
    pub documents: u64,
    /// The number of deleted WARC objects.
    pub objects: u64,
    /// The bytes of these objects.
    pub object_bytes: u64,
    /// The number of visits of dropped iterations that stay because something refers to them.
    pub kept: u64,
}

impl PruneTotals {
    fn add(&mut self, segments: &PrunedSegments) {
        self.visits += segments.visits;
        self.documents += segments.documents;
        self.kept += segments.kept;
        self.objects += u64::try_from(segments.unused.len()).unwrap_or(u64::MAX);
        self.object_bytes += segments.unused.iter().map(|unused| unused.bytes).sum::<u64>();
    }
}

/// Returns the newest iteration to drop. An iteration pruned before stays dropped, whatever the
/// retention is now.
fn cut(rows: &[IterationRow], retention: Retention, now: Timestamp) -> Option<Iteration> {
    let pruned = rows.iter().filter(|row| row.pruned_at.is_some()).map(|row| row.number).max();
    retention.cut(rows, now).max(pruned)
}

/// Deletes a crawl's unreferenced data, or only counts it. After each batch it asks `rest` whether
/// to go on; if not, it returns the place to continue from.
///
/// It never holds data in memory that grows with the number of URLs.
///
/// # Errors
/// Returns the ports' errors; the same call then continues.
pub async fn prune(
    stores: &Stores<'_, impl Pruning, impl Origins, impl Archive, impl Queue>,
    crawl: &CrawlId,
    retention: Retention,
    effect: PruneMode,
    now: Timestamp,
    from: Option<PrunePlace>,
    mut rest: impl FnMut() -> ControlFlow<()>,
) -> PortResult<(PruneTotals, Option<PrunePlace>)> {
    let rows = stores.retained.list_iterations(crawl).await?;
    let Some(cut) = cut(&rows, retention, now) else { return Ok((PruneTotals::default(), None)) };
    let new = rows.iter().filter(|row| row.number <= cut && row.pruned_at.is_none()).count();
    let mut pruned =
        PruneTotals { cut: Some(cut), iterations: u64::try_from(new).unwrap_or(u64::MAX), ..PruneTotals::default() };
    if effect == PruneMode::Delete {
        stores.retained.mark_pruned(crawl, cut, now).await?;
    }
    let (mut after, mut within) = match from {
        None => (None, None),
        Some(PrunePlace::After(origin)) => (Some(origin), None),
        Some(PrunePlace::Within(segment)) => (None, Some(segment)),
    };
    let mut asked = BTreeSet::new();
    loop {
        let origins = match &within {
            Some(segment) => vec![segment.origin.origin.clone()],
            None => stores.origins.list_origins(crawl, after.as_ref(), ORIGINS_PAGE).await?,
        };
        if origins.is_empty() {
            return Ok((pruned, None));
        }
        for origin in origins {
            let key = OriginKey { crawl: crawl.clone(), origin: origin.clone() };
            loop {
                let done = prune_some(stores, &key, cut, within.as_ref(), effect, &mut asked).await?;
                pruned.add(&done);
                within = done.after;
                if rest().is_break() {
                    let place = within.map_or(PrunePlace::After(origin), PrunePlace::Within);
                    return Ok((pruned, Some(place)));
                }
                if within.is_none() {
                    break;
                }
            }
            after = Some(origin);
        }
    }
}

async fn prune_some(
    stores: &Stores<'_, impl Pruning, impl Origins, impl Archive, impl Queue>,
    origin: &OriginKey,
    cut: Iteration,
    after: Option<&SegmentId>,
    effect: PruneMode,
    asked: &mut BTreeSet<Iteration>,
) -> PortResult<PrunedSegments> {
    let done = stores.retained.prune_segments(origin, cut, after, effect).await?;
    if effect == PruneMode::Delete && !done.unused.is_empty() {
        for unused in &done.unused {
            stores.archive.delete(&unused.object).await?;
        }
        for unused in &done.unused {
            if asked.insert(unused.iteration) {
                let (crawl, iteration) = (origin.crawl.clone(), unused.iteration);
                let command = PublishCommand { crawl, iteration, what: Publishing::Items(None) };
                // Delayed, as the next segments may be of the same iteration.
                stores.queue.send(Message::Publish(command), DELAY_MAX).await?;
            }
        }
        let gone: Vec<SegmentId> = done.unused.iter().map(|unused| unused.segment.clone()).collect();
        stores.retained.forget_objects(&gone).await?;
    }
    Ok(done)
}
