//! Notices about STUCK documents: once in an iteration for each reason, up to a number of reasons,
//! and once for each rule of the definition's types that pages break. A site with another template
//! breaks the same rule on thousands of pages.

use std::collections::BTreeMap;

use dragline_domain::document::{Document, DocumentState};
use dragline_domain::frontier::SegmentRow;

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::parse::tell::{Topic, should_notify};
use crate::tell::tell_all;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Fact, NoticeState, OwedNotices};
use dragline_ports::notifier::Notice;

/// Tells people about a segment's documents that were just made.
///
/// # Errors
/// Returns the frontier's errors.
pub(crate) async fn tell_stuck(
    world: &impl World,
    contexts: &Contexts,
    context: &CrawlContext,
    segment: &SegmentRow,
    documents: &[Document],
) -> PortResult<()> {
    let origin = &segment.id.origin;
    let notice = |detail: String| Notice::Stuck { origin: origin.clone(), detail };
    let mut notices = Vec::new();
    for stuck in documents.iter().filter(|document| document.is_unread()) {
        let why = stuck.detail.as_deref().unwrap_or("the parser broke");
        if should_notify(world, contexts, segment, Topic::Unread, why).await? {
            notices.push(notice(format!("{}: {why}", stuck.url)));
        }
    }
    for (rule, detail) in broken_rules(documents) {
        // A corrected definition that still does not fit is reported anew.
        let fact = Fact::from_text(&format!("version {} {rule}", context.how_version()));
        if world.frontier().mark_told(&origin.crawl, &fact, world.clock().now()).await? == NoticeState::Now {
            notices.push(notice(detail));
        }
    }
    tell_all(world, notices).await;
    Ok(())
}

/// Returns each broken rule, with the first page that breaks it and what to do.
fn broken_rules(documents: &[Document]) -> BTreeMap<String, String> {
    let mut broken = BTreeMap::new();
    for document in documents.iter().filter(|document| document.state == DocumentState::Stuck) {
        for misfit in document.content.iter().flat_map(|content| &content.misfits) {
            let rule = format!("{}.{} {}", misfit.item_type, misfit.field, misfit.rule);
            broken.entry(rule).or_insert_with(|| {
                format!("{}: {misfit}; mend `items` in the definition, then run `dragline reparse`", document.url)
            });
        }
    }
    broken
}
