//! Detects changed templates: the items of many pages of a segment have other fields than in the
//! pages' earlier captures. A site whose pages are always new escapes this, as no page is captured
//! twice; comparing the learned schemas of two iterations covers it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use dragline_domain::document::Document;
use dragline_domain::frontier::{SegmentRow, Task};
use dragline_domain::ids::Iteration;
use dragline_schema::{Drift, Pairs};

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::parse::make::earlier::EarlierDocuments;
use crate::parse::read::records::Capture;
use crate::parse::tell::{TOLD_MAX, Topic, should_notify};
use crate::tell::tell_all;
use dragline_ports::error::PortResult;
use dragline_ports::notifier::Notice;

/// Tells people about changes in the pages of a segment, each once in an iteration. Returns the
/// number of changed pages, which is the same whenever the documents are.
///
/// Only documents made under the current definition are compared: another one may read other fields
/// of the same page.
///
/// # Errors
/// Returns the frontier's errors.
pub(crate) async fn tell_drift(
    world: &impl World,
    contexts: &Contexts,
    (context, task): (&CrawlContext, &Task),
    segment: &SegmentRow,
    captures: &[Capture],
    earlier: &EarlierDocuments,
    documents: &[Document],
) -> PortResult<u64> {
    let (mut pairs, mut made_alike) = (Pairs::default(), BTreeMap::new());
    if !task.visits() {
        return Ok(0);
    }
    for (capture, now) in captures.iter().zip(documents) {
        let before = capture.visit.known.document.zip(earlier.for_capture(capture));
        let Some((last, before)) = before.filter(|_| now.difference.is_some() && !now.is_unread()) else { continue };
        let iteration = last.place.iteration;
        if let Entry::Vacant(unknown) = made_alike.entry(iteration) {
            unknown.insert(is_made_alike(world, contexts, context, segment, iteration).await?);
        }
        if made_alike[&iteration] {
            pairs.add(before, now);
        }
    }
    let since = made_alike.into_iter().rev().find_map(|(iteration, is_alike)| is_alike.then_some(iteration));
    let Some(since) = since.filter(|_| !pairs.is_empty()) else { return Ok(0) };
    let drifts = pairs.drifts();
    let mut notices = Vec::new();
    for drift in drifts.iter().take(TOLD_MAX) {
        if should_notify(world, contexts, segment, Topic::Drift, &format!("{:?}", drift.change)).await? {
            notices.push(Notice::Drifted { origin: segment.id.origin.clone(), detail: detail(drift, since) });
        }
    }
    tell_all(world, notices).await;
    Ok(pairs.pages_with(&drifts) as u64)
}

/// Whether an iteration read pages by the same rules as the current definition. `false` if that is
/// no longer known.
async fn is_made_alike(
    world: &impl World,
    contexts: &Contexts,
    context: &CrawlContext,
    segment: &SegmentRow,
    iteration: Iteration,
) -> PortResult<bool> {
    let (frontier, crawl) = (world.frontier(), &segment.id.origin.crawl);
    let pinned = contexts.pinned(frontier, crawl, iteration).await?;
    Ok(match pinned.and_then(|pinned| pinned.version) {
        None => false,
        Some(version) if version == context.how_version() => true,
        Some(version) => contexts.definition(frontier, crawl, version).await?.is_some_and(|earlier| {
            earlier.content == context.definition.content && earlier.items == context.definition.items
        }),
    })
}

fn detail(drift: &Drift, since: Iteration) -> String {
    let page = drift.urls.first().map_or_else(String::new, |url| format!(", as on {url}"));
    format!("{drift}{page}; `dragline schema --since {since}` shows all that differs")
}
