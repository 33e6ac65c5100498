//! The adapters for whole crawls in an emulator.

use crate::Fresh;
use dragline_aws::{DynamoFrontier, S3Archive, S3Documents};
use dragline_local::{MemoryQueue, SystemClock, SystemRng};
use dragline_pipeline::Adapters;
use dragline_testkit::whole_crawls::Silent;

/// The ports over the emulator, except for messages, which stay in this process.
pub(crate) type EmulatedWorld =
    Adapters<DynamoFrontier, S3Archive, S3Documents, MemoryQueue<SystemClock>, Silent, SystemClock, SystemRng>;

pub(crate) fn adapters(
    fresh: &Fresh,
    frontier: &DynamoFrontier,
    queue: &MemoryQueue<SystemClock>,
    clock: SystemClock,
) -> EmulatedWorld {
    let (archive, documents) = (fresh.archive_there(), fresh.documents());
    Adapters::new(frontier.clone(), archive, documents, queue.clone(), Silent, (clock, SystemRng))
}
