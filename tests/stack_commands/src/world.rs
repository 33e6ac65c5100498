//! The adapters that whole crawls in an emulator go by.

use dragline_aws::{DynamoFrontier, S3Archive, S3Documents};
use dragline_aws_conformance::Fresh;
use dragline_local::{MemoryQueue, SystemChance, SystemClock};
use dragline_pipeline::live::LiveTurns;
use dragline_pipeline::{Timing, World};
use dragline_whole_crawls::Silent;

/// The ports over the emulator, but for messages, which this process keeps.
pub(crate) struct EmulatedWorld {
    frontier: DynamoFrontier,
    archive: S3Archive,
    documents: S3Documents,
    queue: MemoryQueue<SystemClock>,
    clock: SystemClock,
    live: LiveTurns,
    timing: Timing,
}

impl EmulatedWorld {
    pub(crate) fn new(
        fresh: &Fresh,
        frontier: &DynamoFrontier,
        queue: &MemoryQueue<SystemClock>,
        clock: SystemClock,
    ) -> Self {
        Self {
            frontier: frontier.clone(),
            archive: fresh.archive_there(),
            documents: fresh.documents(),
            queue: queue.clone(),
            clock,
            live: LiveTurns::default(),
            timing: Timing::default(),
        }
    }
}

impl World for EmulatedWorld {
    type Frontier = DynamoFrontier;
    type Archive = S3Archive;
    type Documents = S3Documents;
    type Queue = MemoryQueue<SystemClock>;
    type Notifier = Silent;
    type Clock = SystemClock;
    type Chance = SystemChance;

    fn frontier(&self) -> &DynamoFrontier {
        &self.frontier
    }

    fn archive(&self) -> &S3Archive {
        &self.archive
    }

    fn documents(&self) -> &S3Documents {
        &self.documents
    }

    fn queue(&self) -> &MemoryQueue<SystemClock> {
        &self.queue
    }

    fn notifier(&self) -> &Silent {
        &Silent
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }

    fn chance(&self) -> &SystemChance {
        &SystemChance
    }

    fn live(&self) -> &LiveTurns {
        &self.live
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}
