//! The second step: a turn at an origin. Lease, robots.txt, fetches at the origin's pace, segments,
//! release.

mod commit;
mod ending;
mod follow_up;
mod line;
mod log_in;
mod memory;
mod orphans;
mod outcome;
mod paced;
mod pacer;
mod planner;
mod release;
mod render;
mod renderable;
mod robots;
mod segment;
mod send;
mod site_file;
mod turn;
mod use_file;
mod visit;

pub use ending::{Crowd, StopSignal, TurnEnd, TurnLimits};
pub use memory::SegmentMemory;
pub(crate) use render::RenderedOrigins;
pub use renderable::{page_to_render, render_request, to_page_response};
pub use robots::{BrokenOffPolicy, RefusedAddress, fetch_robots};
pub use segment::SegmentRecords;
pub use turn::work_turn;
pub use use_file::fetch_licence;
