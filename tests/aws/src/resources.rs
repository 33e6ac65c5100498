//! Tables, buckets and queues that belong to one test, so that tests run in parallel on one
//! emulator.

use std::sync::Arc;
use std::time::Duration;

use dragline_aws::{
    AwsClients, DynamoFrontier, QueueUrls, S3Archive, S3Documents, SnsNotifier, SqsQueue, TableNames, create_tables,
};
use dragline_ports::clock::Rng;
use uuid::Uuid;

/// How long after a ticket or a lease ran out it counts as overdue.
pub const GRACE: Duration = Duration::from_secs(2);

/// Resources under names that no other test has.
#[derive(Clone, Debug)]
pub struct Fresh {
    clients: AwsClients,
    prefix: String,
}

/// Waits of zero, as no one else uses these resources.
struct NoWaits;

impl Rng for NoWaits {
    fn bits(&self) -> u128 {
        0
    }
}

impl Fresh {
    /// New names, for resources made by these clients.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "names of resources are not part of what is tested")]
    pub fn new(clients: AwsClients) -> Self {
        Self { clients, prefix: format!("t-{}", Uuid::new_v4().simple()) }
    }

    /// The clients.
    #[must_use]
    pub fn clients(&self) -> &AwsClients {
        &self.clients
    }

    /// The prefix of all names, which is also the bucket's name.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The names of the test's tables.
    #[must_use]
    pub fn table_names(&self) -> TableNames {
        TableNames::with_prefix(&self.prefix)
    }

    /// A frontier over new tables and a new bucket.
    pub async fn frontier(&self) -> DynamoFrontier {
        create_tables(&self.clients.dynamodb, &self.table_names()).await.unwrap();
        self.create_bucket().await;
        self.frontier_over(&self.clients)
    }

    /// A frontier over the existing tables, with other clients.
    #[must_use]
    pub fn frontier_over(&self, clients: &AwsClients) -> DynamoFrontier {
        DynamoFrontier::new(clients, self.table_names(), &self.prefix, GRACE, Arc::new(NoWaits))
    }

    /// An archive in a new bucket.
    pub async fn archive(&self) -> S3Archive {
        self.create_bucket().await;
        self.archive_there()
    }

    /// An archive in the test's existing bucket.
    #[must_use]
    pub fn archive_there(&self) -> S3Archive {
        S3Archive::new(&self.clients, &self.prefix, Arc::new(NoWaits))
    }

    /// Documents in the test's existing bucket.
    #[must_use]
    pub fn documents(&self) -> S3Documents {
        S3Documents::new(&self.clients, &self.prefix, Arc::new(NoWaits))
    }

    /// New queues, and their URLs.
    pub async fn queue(&self) -> (SqsQueue, QueueUrls) {
        let [turns, segments, commands, publications] = [
            self.create_queue("turns").await,
            self.create_queue("segments").await,
            self.create_queue("commands").await,
            self.create_queue("publications").await,
        ];
        let urls = QueueUrls { turns, segments, commands, publications };
        (SqsQueue::new(&self.clients, urls.clone()), urls)
    }

    /// A notifier of a new topic.
    pub async fn notifier(&self) -> SnsNotifier {
        let topic = self.clients.sns.create_topic().name(&self.prefix).send().await.unwrap();
        SnsNotifier::new(&self.clients, &topic.topic_arn.unwrap())
    }

    async fn create_bucket(&self) {
        self.clients.s3.create_bucket().bucket(&self.prefix).send().await.unwrap();
    }

    async fn create_queue(&self, name: &str) -> String {
        let request = self.clients.sqs.create_queue().queue_name(format!("{}-{name}", self.prefix));
        request.send().await.unwrap().queue_url.unwrap()
    }
}
