//! Telling people of each thing once in an iteration, and of no more than they want to read.

use dragline_domain::frontier::SegmentRow;

use crate::World;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Fact, OwedNotices, Told};

/// The most notices of one topic in an iteration: a site may have any number of reasons for one.
pub(super) const TOLD_MAX: usize = 20;

/// Whether people are to be told of something now: they were not told of it in this iteration, nor of too much else of this topic.
///
/// # Errors
/// Returns the frontier's errors.
pub(super) async fn is_to_be_told(
    world: &impl World,
    segment: &SegmentRow,
    topic: &str,
    what: &str,
) -> PortResult<bool> {
    let (crawl, iteration, now) = (&segment.id.origin.crawl, segment.iteration, world.clock().now());
    let mark = async |what: &str| {
        let fact = Fact::of(&format!("iteration {iteration} {topic} {what}"));
        world.frontier().mark_told(crawl, &fact, now).await
    };
    if mark(what).await? == Told::Before {
        return Ok(false);
    }
    for place in 1..=TOLD_MAX {
        if mark(&format!("{place} of {TOLD_MAX}")).await? == Told::Now {
            return Ok(true);
        }
    }
    Ok(false)
}
