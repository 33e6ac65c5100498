//! All ports of one worker.

use std::sync::Arc;

use dragline_local::{DirectoryArchive, LocalStore, SqliteDocuments, SqliteFrontier};
use dragline_pipeline::live::LiveTurns;
use dragline_pipeline::{Timing, World};
use dragline_testkit::mutants::MutantFrontier;

use crate::mutations::{MutatedArchive, Mutation};
use crate::ports::{
    Gate, GatedArchive, GatedDocuments, GatedFrontier, GatedNotifier, GatedQueue, SimulatedChance, SimulatedClock,
};

/// The local adapters as one worker sees them.
pub(crate) struct SimulatedWorld {
    frontier: GatedFrontier<MutantFrontier<SqliteFrontier>>,
    archive: GatedArchive<MutatedArchive<DirectoryArchive>>,
    documents: GatedDocuments<SqliteDocuments>,
    queue: GatedQueue,
    notifier: GatedNotifier,
    clock: SimulatedClock,
    chance: SimulatedChance,
    live: LiveTurns,
    timing: Timing,
}

impl SimulatedWorld {
    pub(crate) fn new(
        gate: &Gate,
        store: &LocalStore,
        live: LiveTurns,
        timing: Timing,
        mutation: Option<Mutation>,
    ) -> Self {
        let frontier = MutantFrontier::new(store.frontier(), mutation.and_then(Mutation::of_frontier));
        let archive = MutatedArchive { inner: store.archive(), mutation };
        Self {
            frontier: GatedFrontier { gate: gate.clone(), inner: Arc::new(frontier) },
            archive: GatedArchive { gate: gate.clone(), inner: Arc::new(archive) },
            documents: GatedDocuments { gate: gate.clone(), inner: Arc::new(store.documents()) },
            queue: GatedQueue(gate.clone()),
            notifier: GatedNotifier(gate.clone()),
            clock: SimulatedClock(gate.clone()),
            chance: SimulatedChance(gate.clone()),
            live,
            timing,
        }
    }
}

impl World for SimulatedWorld {
    type Frontier = GatedFrontier<MutantFrontier<SqliteFrontier>>;
    type Archive = GatedArchive<MutatedArchive<DirectoryArchive>>;
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

    fn live(&self) -> &LiveTurns {
        &self.live
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}
