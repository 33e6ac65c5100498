//! The AWS adapters, all at once.

use std::sync::Arc;
use std::time::Duration;

use dragline_aws::{
    AwsClients, DynamoFrontier, Meter, Patience, S3Archive, S3Documents, SnsNotifier, SqsQueue, http_client,
};
use dragline_pipeline::live::LiveTurns;
use dragline_pipeline::{Timing, World};
use dragline_ports::clock::Chance;
use dragline_system::{SystemChance, SystemClock};

use crate::Settings;

/// How long after a ticket or a lease ran out the sweeper looks: queues take a while.
const LEASE_GRACE: Duration = Duration::from_secs(60);

/// How long a turn waits for parses: the queue and a parser take one to three seconds, a cold start included. Parsers that are that far behind
/// are not waited for.
const PARSE_WAIT: Duration = Duration::from_secs(15);

/// The ports of a stack. Copies share everything but their times.
#[derive(Clone)]
pub struct AwsWorld {
    frontier: DynamoFrontier,
    archive: S3Archive,
    documents: S3Documents,
    queue: SqsQueue,
    notifier: SnsNotifier,
    meter: Meter,
    clock: SystemClock,
    chance: SystemChance,
    live: LiveTurns,
    timing: Timing,
}

impl AwsWorld {
    /// The adapters of a stack, with the region, credentials and endpoint that the environment says.
    pub async fn new(settings: &Settings) -> Self {
        let clients = AwsClients::from_environment(http_client(), Patience::default()).await;
        let (tables, bucket) = (settings.tables.clone(), settings.bucket.as_str());
        let chance: Arc<dyn Chance> = Arc::new(SystemChance);
        let frontier = DynamoFrontier::new(&clients, tables, bucket, LEASE_GRACE, Arc::clone(&chance));
        Self {
            frontier: frontier.with_log_kept(settings.log_kept),
            archive: S3Archive::new(&clients, bucket, Arc::clone(&chance)),
            documents: S3Documents::new(&clients, bucket, chance),
            queue: SqsQueue::new(&clients, settings.queues.clone()),
            notifier: SnsNotifier::new(&clients, &settings.topic_arn),
            meter: clients.meter,
            clock: SystemClock::new(),
            chance: SystemChance,
            live: LiveTurns::default(),
            timing: Timing { parse_wait: PARSE_WAIT, ..Timing::default() },
        }
    }

    /// What all of these ports count in.
    #[must_use]
    pub(crate) const fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The same, with steps that go through origins no longer than this.
    #[must_use]
    pub fn with_walk(&self, walk: Duration) -> Self {
        Self { timing: Timing { walk: Some(walk), ..self.timing }, ..self.clone() }
    }

    /// The same, with turns of this length.
    #[must_use]
    pub fn with_turn(&self, turn: Duration) -> Self {
        Self { timing: Timing { turn, ..self.timing }, ..self.clone() }
    }
}

impl World for AwsWorld {
    type Frontier = DynamoFrontier;
    type Archive = S3Archive;
    type Documents = S3Documents;
    type Queue = SqsQueue;
    type Notifier = SnsNotifier;
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

    fn queue(&self) -> &SqsQueue {
        &self.queue
    }

    fn notifier(&self) -> &SnsNotifier {
        &self.notifier
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
