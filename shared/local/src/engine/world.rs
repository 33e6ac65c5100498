//! The local adapters, all at once.

use dragline_pipeline::ports::notifier::Notifier;
use dragline_pipeline::{Timing, World};

use crate::archive::DirectoryArchive;
use crate::clock::{SystemChance, SystemClock};
use crate::documents::SqliteDocuments;
use crate::frontier::SqliteFrontier;
use crate::queue::{MemoryQueue, Receivers};
use crate::store::LocalStore;

/// The ports over SQLite, a directory and an in-process queue.
pub struct LocalWorld<N> {
    store: LocalStore,
    queue: MemoryQueue,
    notifier: N,
    clock: SystemClock,
    chance: SystemChance,
    timing: Timing,
}

impl<N: Notifier + 'static> LocalWorld<N> {
    /// The adapters of a data directory, and the ends of its queue for the loop to receive from.
    #[must_use]
    pub fn new(store: LocalStore, notifier: N) -> (Self, Receivers) {
        let (queue, receivers) = MemoryQueue::new();
        let (clock, chance) = (SystemClock::new(), SystemChance);
        (Self { store, queue, notifier, clock, chance, timing: Timing::default() }, receivers)
    }

    /// The data directory.
    #[must_use]
    pub const fn store(&self) -> &LocalStore {
        &self.store
    }
}

impl<N: Notifier + 'static> World for LocalWorld<N> {
    type Frontier = SqliteFrontier;
    type Archive = DirectoryArchive;
    type Documents = SqliteDocuments;
    type Queue = MemoryQueue;
    type Notifier = N;
    type Clock = SystemClock;
    type Chance = SystemChance;

    fn frontier(&self) -> &SqliteFrontier {
        self.store.frontier()
    }

    fn archive(&self) -> &DirectoryArchive {
        self.store.archive()
    }

    fn documents(&self) -> &SqliteDocuments {
        self.store.documents()
    }

    fn queue(&self) -> &MemoryQueue {
        &self.queue
    }

    fn notifier(&self) -> &N {
        &self.notifier
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }

    fn chance(&self) -> &SystemChance {
        &self.chance
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}
