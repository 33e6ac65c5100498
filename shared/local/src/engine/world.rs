//! The local adapters, all at once.

use std::sync::Arc;

use dragline_pipeline::live::LiveTurns;
use dragline_pipeline::{DeadLeases, Timing, World};
use dragline_ports::notifier::Notifier;
use dragline_ports::observer::{Nobody, Observer};

use crate::{DirectoryArchive, LocalStore, MemoryQueue, SqliteDocuments, SqliteFrontier, SystemChance, SystemClock};

/// Messages that wait in the queue at most, of each kind; the sweeper sends again what finds no room.
const MESSAGES_MAX: usize = 10_000;

/// The ports over SQLite, a directory and an in-process queue.
pub struct LocalWorld<N> {
    frontier: SqliteFrontier,
    archive: DirectoryArchive,
    documents: SqliteDocuments,
    queue: MemoryQueue<SystemClock>,
    notifier: N,
    observer: Arc<dyn Observer>,
    clock: SystemClock,
    chance: SystemChance,
    live: LiveTurns,
    timing: Timing,
}

impl<N: Notifier + 'static> LocalWorld<N> {
    /// The adapters of a data directory.
    #[must_use]
    pub fn new(store: &LocalStore, notifier: N) -> Self {
        let clock = SystemClock::new();
        Self {
            frontier: store.frontier(),
            archive: store.archive(),
            documents: store.documents(),
            queue: MemoryQueue::new(&clock, MESSAGES_MAX),
            notifier,
            observer: Arc::new(Nobody),
            clock,
            chance: SystemChance,
            live: LiveTurns::default(),
            timing: Timing { dead_leases: DeadLeases::AreVoid, ..Timing::default() },
        }
    }

    /// The same, watched by somebody.
    #[must_use]
    pub fn watched_by(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer, ..self }
    }

    /// The queue, for the loop to receive from.
    #[must_use]
    pub fn messages(&self) -> MemoryQueue<SystemClock> {
        self.queue.clone()
    }
}

impl<N: Notifier + 'static> World for LocalWorld<N> {
    type Frontier = SqliteFrontier;
    type Archive = DirectoryArchive;
    type Documents = SqliteDocuments;
    type Queue = MemoryQueue<SystemClock>;
    type Notifier = N;
    type Clock = SystemClock;
    type Chance = SystemChance;

    fn frontier(&self) -> &SqliteFrontier {
        &self.frontier
    }

    fn archive(&self) -> &DirectoryArchive {
        &self.archive
    }

    fn documents(&self) -> &SqliteDocuments {
        &self.documents
    }

    fn queue(&self) -> &MemoryQueue<SystemClock> {
        &self.queue
    }

    fn notifier(&self) -> &N {
        &self.notifier
    }

    fn observer(&self) -> &dyn Observer {
        &*self.observer
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }

    fn chance(&self) -> &SystemChance {
        &self.chance
    }

    fn live(&self) -> &LiveTurns {
        &self.live
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}
