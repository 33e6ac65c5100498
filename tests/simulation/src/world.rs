//! All ports of one worker.

use std::sync::Arc;

use dragline_local::{DirectoryArchive, LocalStore, SqliteDocuments};
use dragline_pipeline::{Timing, World};

use crate::conductor::{Conductor, Worker};
use crate::mutations::{MutatedFrontier, Mutation};
use crate::ports::{
    Gate, GatedArchive, GatedDocuments, GatedFrontier, GatedNotifier, GatedQueue, SimulatedChance, SimulatedClock,
};

/// The local adapters as one worker sees them.
pub(crate) struct SimulatedWorld {
    frontier: GatedFrontier<MutatedFrontier>,
    archive: GatedArchive<DirectoryArchive>,
    documents: GatedDocuments<SqliteDocuments>,
    queue: GatedQueue,
    notifier: GatedNotifier,
    clock: SimulatedClock,
    chance: SimulatedChance,
    timing: Timing,
}

impl SimulatedWorld {
    pub(crate) fn new(
        conductor: &Arc<Conductor>,
        worker: Worker,
        store: &LocalStore,
        mutation: Option<Mutation>,
    ) -> Self {
        let gate = Gate { conductor: Arc::clone(conductor), worker };
        Self {
            frontier: GatedFrontier { gate: gate.clone(), inner: MutatedFrontier::new(store.frontier(), mutation) },
            archive: GatedArchive { gate: gate.clone(), inner: store.archive() },
            documents: GatedDocuments { gate: gate.clone(), inner: store.documents() },
            queue: GatedQueue(gate.clone()),
            notifier: GatedNotifier(gate.clone()),
            clock: SimulatedClock(gate.clone()),
            chance: SimulatedChance(gate),
            timing: Timing::default(),
        }
    }
}

impl World for SimulatedWorld {
    type Frontier = GatedFrontier<MutatedFrontier>;
    type Archive = GatedArchive<DirectoryArchive>;
    type Documents = GatedDocuments<SqliteDocuments>;
    type Queue = GatedQueue;
    type Notifier = GatedNotifier;
    type Clock = SimulatedClock;
    type Chance = SimulatedChance;

    fn frontier(&self) -> &Self::Frontier {
        &self.frontier
    }

    fn archive(&self) -> &Self::Archive {
        &self.archive
    }

    fn documents(&self) -> &Self::Documents {
        &self.documents
    }

    fn queue(&self) -> &GatedQueue {
        &self.queue
    }

    fn notifier(&self) -> &GatedNotifier {
        &self.notifier
    }

    fn clock(&self) -> &SimulatedClock {
        &self.clock
    }

    fn chance(&self) -> &SimulatedChance {
        &self.chance
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}
