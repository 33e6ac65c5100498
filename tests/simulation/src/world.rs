//! All ports of one worker.

use std::sync::Arc;

use dragline_local::{DirectoryArchive, LocalStore, SqliteDocuments, SqliteFrontier};
use dragline_pipeline::Adapters;
use dragline_testkit::mutants::MutantFrontier;

use crate::mutations::{MutatedArchive, MutatedDocuments, Mutation};
use crate::ports::{
    Gate, GatedArchive, GatedDocuments, GatedFrontier, GatedNotifier, GatedQueue, SimulatedClock, SimulatedRng,
};

/// The local adapters as one worker sees them.
pub(crate) type SimulatedWorld = Adapters<
    GatedFrontier<MutantFrontier<SqliteFrontier>>,
    GatedArchive<MutatedArchive<DirectoryArchive>>,
    GatedDocuments<MutatedDocuments<SqliteDocuments>>,
    GatedQueue,
    GatedNotifier,
    SimulatedClock,
    SimulatedRng,
>;

pub(crate) fn adapters(gate: &Gate, store: &LocalStore, mutation: Option<Mutation>) -> SimulatedWorld {
    let frontier = MutantFrontier::new(store.frontier(), mutation.and_then(Mutation::of_frontier));
    let documents = MutatedDocuments { inner: store.documents(), mutation };
    let archive = MutatedArchive { inner: store.archive(), mutation };
    Adapters::new(
        GatedFrontier::new(gate.clone(), frontier),
        GatedArchive { gate: gate.clone(), inner: Arc::new(archive) },
        GatedDocuments { gate: gate.clone(), inner: Arc::new(documents) },
        GatedQueue(gate.clone()),
        GatedNotifier(gate.clone()),
        (SimulatedClock(gate.clone()), SimulatedRng(gate.clone())),
    )
}
