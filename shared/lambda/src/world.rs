//! The AWS adapters, bundled.

use std::sync::Arc;
use std::time::Duration;

use dragline_aws::{AwsClients, DynamoFrontier, Meter, S3Archive, S3Documents, SnsNotifier, SqsQueue, http_client};
use dragline_pipeline::{Adapters, Timing};
use dragline_ports::clock::Rng;
use dragline_ports::system::{SystemClock, SystemRng};

use crate::Settings;

/// How long after the expiry of a ticket or lease the sweeper acts: queues take a while.
const LEASE_GRACE: Duration = Duration::from_secs(60);

/// How long a turn waits for parses: the queue and a parser take one to three seconds, including a
/// cold start. Parsers with a longer backlog are not waited for.
const PARSE_WAIT: Duration = Duration::from_secs(15);

/// The ports of a stack.
pub type AwsWorld = Adapters<DynamoFrontier, S3Archive, S3Documents, SqsQueue, SnsNotifier, SystemClock, SystemRng>;

/// Returns the adapters of a stack, configured by the environment (region, credentials, endpoint),
/// and the meter that counts for all of them.
pub(crate) async fn adapters(settings: &Settings) -> (AwsWorld, Meter) {
    let clients = AwsClients::from_environment(http_client()).await;
    let (tables, bucket) = (settings.tables.clone(), settings.bucket.as_str());
    let rng: Arc<dyn Rng> = Arc::new(SystemRng);
    let frontier = DynamoFrontier::new(&clients, tables, bucket, LEASE_GRACE, Arc::clone(&rng));
    let world = Adapters::new(
        frontier.with_log_kept(settings.log_kept),
        S3Archive::new(&clients, bucket, Arc::clone(&rng)),
        S3Documents::new(&clients, bucket, rng),
        SqsQueue::new(&clients, settings.queues.clone()),
        SnsNotifier::new(&clients, &settings.topic_arn),
        (SystemClock::new(), SystemRng),
    );
    (world.with_timing(Timing { parse_wait: PARSE_WAIT, ..Timing::default() }), clients.meter)
}
