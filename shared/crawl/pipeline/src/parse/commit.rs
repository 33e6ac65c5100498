//! The end of a parse.

use dragline_domain::frontier::{
    PageObservation, ParserCounters, PartKind, PartRefused, SegmentRow, SegmentState, Target, plan_parts,
};
use dragline_domain::politeness::Pace;
use dragline_domain::time::after;

use super::ParseEnd;
use crate::World;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CommitParse, ParseCommitted, Parses};

/// Commits a parse part by part, from where an earlier try stopped. If that try had committed more
/// parts than there are now, an empty one ends it.
pub(crate) async fn commit(
    world: &impl World,
    pace: Pace,
    segment: &SegmentRow,
    (counters, pages): (ParserCounters, Vec<PageObservation>),
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
            pages: if is_last { pages.clone() } else { Vec::new() },
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
