//! The frontier: leases, known URLs and the remaining work.
//!
//! There is a port for each subject. Each operation is one commit point: either all of its effects
//! happen or none. `docs/internals/frontier-dynamodb.md` gives each as DynamoDB expressions. Reads
//! for decisions are consistent; only [`OverdueWork::overdue`] is a hint.

mod candidates;
mod crawls;
mod endings;
mod hosts;
mod iterations;
mod log;
mod notices;
mod origins;
mod overdue;
mod parses;
mod progress;
mod robots;
mod turns;

pub use candidates::{Candidates, ClaimRequest, DueCandidate, DuePage};
pub use crawls::{CrawlRow, Crawls, JoinOrigins, MoveSchedule, PutCrawl};
pub use endings::{Endings, GiveUp, SettleResult};
pub use hosts::{GiveBackHost, Hosts};
pub use iterations::{BeginIteration, CursorMoved, IterationClosed, Iterations, MoveCursor};
pub use log::CrawlLog;
pub use notices::{Fact, NoticeKept, NoticeKey, NoticeState, OwedNotice, OwedNotices};
pub use origins::{Origins, SeedOrigin, SeedResult};
pub use overdue::{Overdue, OverdueKinds, OverdueWork};
pub use parses::{BeginParse, CommitParse, ParseCommitted, Parses};
pub use progress::Progress;
pub use robots::{KeptRobots, RobotsRow};
pub use turns::{CommitSegment, ReleaseLease, Turns};

/// The store of everything but bodies and documents, with the ports of all subjects.
pub trait Frontier:
    Candidates
    + CrawlLog
    + Crawls
    + Endings
    + Hosts
    + Iterations
    + KeptRobots
    + Origins
    + OverdueWork
    + OwedNotices
    + Parses
    + Turns
{
}

impl<F> Frontier for F where
    F: Candidates
        + CrawlLog
        + Crawls
        + Endings
        + Hosts
        + Iterations
        + KeptRobots
        + Origins
        + OverdueWork
        + OwedNotices
        + Parses
        + Turns
{
}
