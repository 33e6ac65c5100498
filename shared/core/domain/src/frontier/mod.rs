//! Rows of the frontier and the transitions between them.
//!
//! An origin has two small rows, a [`Lease`] written by crawlers and an [`Inbox`] written by
//! parsers; an iteration has one [`IterationRow`]. Every change to them is a pure function here,
//! which refuses transitions that its conditions do not allow. An adapter reads the rows, calls the
//! function and writes the result in one transaction, or states the same conditions in its store's
//! terms.

mod candidate;
mod claim;
#[cfg(test)]
mod commit_tests;
mod counts;
mod crawl;
mod cursor;
mod decided;
mod demand;
mod domain;
mod ending;
mod follow_up;
mod host;
mod inbox;
mod iteration;
mod keys;
mod known;
mod lease;
mod nearer;
mod opening;
mod parse;
mod plan;
mod position;
mod read_as;
mod recrawl;
mod room;
mod segment;
mod settle;
mod shapes;
mod switch;
mod task;
mod todo;
#[cfg(test)]
mod transition_tests;
mod turn;

pub use candidate::{CandidateUpdate, FieldsDigest, LastCapture, NamersUpdate, Sighting, VisitResult, VisitTarget};
pub use claim::{CandidateState, Claim, Claimable, Claimer, LastVisit, claim, is_owned_by_other};
pub use counts::{Counts, change_named, outcome_named};
pub use crawl::{CrawlPut, CrawlStamp, OriginsJoined, join_origins, put_definition};
pub use cursor::{Cursors, OriginCursor, Walk};
pub use decided::Decided;
pub use demand::{Demand, DemandTooLong, Visits};
pub use domain::{DomainBusy, DomainRow};
pub use ending::{ClosedWithLeftovers, GiveUpOutcome, Leftover, LeftoverReason, close_with_leftovers, give_up};
pub use follow_up::{Cookie, FollowUp};
pub use host::{HostBusy, HostHolder, HostRequest, HostRow, HostWaiter, PLACE_KEPT, WAITING_MAX};
pub use inbox::{Inbox, ParserCounters};
pub use iteration::{IterationBegun, IterationRow, IterationStatus, Reserve, StatusChange, begin_iteration};
pub use keys::{ChunkKey, ObjectKey, ObjectKeyError, OriginKey, Seeding, SegmentId, TodoPlace, TodoSource};
pub use known::{
    DocumentStanding, LastDocument, LinkDecisions, PageFinding, RulesDigest, StateChange, UrlHistory, VisitPlace,
};
pub use lease::{
    Barrier, ChunkPosition, CrawlerCounters, Holder, Lease, LeaseState, Release, ReleaseRefused, ReleasedRows, Retry,
    TakeRefused, TakeRequest,
};
pub use nearer::{CHECK_DEPTH, NearerWork, SHORTER_WAYS_MAX, SeedDistance, ShorterWayState, ShorterWays};
pub use opening::{AddTodo, OriginRows, SeedRefused, SeedingMark, add_todo, seed};
pub use parse::{PartCommit, PartCommitted, PartNotCommitted, RowsByOrigin, commit_part};
pub use plan::{
    EXHAUSTED_CHUNKS_MAX, PART_ACTIONS_MAX, PART_CHUNKS_MAX, ParsePart, SEEDING_URLS_MAX, Target, plan_parts,
};
pub use position::{Position, SegmentWork};
pub use read_as::ReadAs;
pub use recrawl::{DueQuery, DueWork, LaterCandidates, Pass, PassPlace, RecrawlCursor, RecrawlOrder};
pub use room::{
    ClaimLimits, limit_links_per_origin, limit_new_origins, limit_origins_of_page, limit_requisites_of_page,
    linked_origins,
};
pub use segment::{
    ParseBegun, ParseFault, PartKind, PartRefused, SegmentCommitted, SegmentRow, SegmentState, commit_segment,
};
pub use settle::{Need, SettledRows, Settlement, decide_release, need, settle, settle_origin};
pub use shapes::{PageObservation, ShapeStanding, WatchedShapes};
pub use switch::{DueIteration, Switch, due_iteration};
pub use task::{Selection, Task};
pub use todo::{CHUNK_BYTES_MAX, TodoChunk, TodoEntry, split_into_chunks};
pub use turn::{HostRefused, HostRows, HostTaken, TurnRefused, TurnTaken, take_host, take_turn};

/// Durations stored as whole milliseconds.
pub mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes whole milliseconds; values beyond `u64` become its maximum.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    /// Reads whole milliseconds.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
