//! The local adapters, bundled as a world.

use dragline_local::{DirectoryArchive, LocalStore, MemoryQueue, SqliteDocuments, SqliteFrontier};
use dragline_pipeline::handover::Handover;
use dragline_pipeline::{Adapters, DeadLeases, Timing};
use dragline_ports::system::{SystemClock, SystemRng};

/// The maximum number of waiting messages of each kind. The sweeper sends further messages again.
const MESSAGES_MAX: usize = 50_000;

/// The maximum size of captures that wait for their parsers in memory, in bytes. Others are read
/// back from the archive.
const HANDOVER_BYTES_MAX: u64 = 8 << 20;

/// The ports over SQLite, a directory and an in-process queue.
pub type LocalWorld<N> =
    Adapters<SqliteFrontier, DirectoryArchive, SqliteDocuments, MemoryQueue<SystemClock>, N, SystemClock, SystemRng>;

/// Returns the adapters of a data directory.
#[must_use]
pub fn local_world<N>(store: &LocalStore, notifier: N) -> LocalWorld<N> {
    let clock = SystemClock::new();
    let queue = MemoryQueue::new(&clock, MESSAGES_MAX);
    let (frontier, archive, documents) = (store.frontier(), store.archive(), store.documents());
    let world = Adapters::new(frontier, archive, documents, queue, notifier, (clock, SystemRng));
    let world = world.with_handover(Handover::new(HANDOVER_BYTES_MAX));
    world.with_timing(Timing { dead_leases: DeadLeases::AreVoid, ..Timing::default() })
}
