//! The second step: a turn at an origin. Lease, robots.txt, fetches at the origin's pace, segments, release.

mod commit;
mod orphans;
mod outcome;
mod pacer;
mod planner;
mod release;
mod robots;
mod segment;
mod turn;
mod visit;

pub use segment::{SegmentRecords, VISIT_FIELD};
pub use turn::{StopSignal, TurnEnd, TurnLimits, work_turn};
