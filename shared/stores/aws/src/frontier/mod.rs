//! The [`Frontier`] over DynamoDB: it reads rows, lets the domain decide, and writes the result
//! under conditions that hold only while the rows are unchanged.
//! `docs/internals/frontier-dynamodb.md` lists each operation's requests.

mod candidates;
mod crawls;
mod current;
mod definitions;
mod endings;
mod forgetting;
mod hosts;
mod iterations;
mod joining;
mod listed;
mod log;
mod notices;
mod origins;
mod overdue;
mod parses;
mod progress;
mod reading;
mod remaking;
mod remembered;
mod retention;
mod robots;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use dragline_ports::clock::Rng;

pub(crate) use self::reading::{ListedLeftovers, ListedRows};
pub(crate) use self::remaking::{Latest, WriteResult};
use self::remembered::RowMemory;
use crate::clients::AwsClients;
use crate::dynamo::Dynamo;
use crate::objects::Bucket;
use crate::rows::lease::HeldLease;
use crate::tables::TableNames;

/// The frontier in a stack's tables.
#[derive(Clone)]
pub struct DynamoFrontier {
    db: Dynamo,
    /// Stores a robots.txt that is too large for its row.
    objects: Bucket,
    lease_grace: Duration,
    log_kept: Option<Duration>,
    /// The sizes of chunks.
    chunk_bytes: Arc<RowMemory<u64>>,
    /// The counts of held leases, and when they are due.
    leases_held: Arc<RowMemory<HeldLease>>,
}

impl DynamoFrontier {
    /// Returns the frontier in these tables, with a bucket for data that is too large for them.
    /// `lease_grace` is the time between the expiry of a ticket or a lease and the sweeper's
    /// action.
    #[must_use]
    pub fn new(
        clients: &AwsClients,
        tables: TableNames,
        bucket: &str,
        lease_grace: Duration,
        rng: Arc<dyn Rng>,
    ) -> Self {
        Self {
            db: Dynamo::new(clients.dynamodb.clone(), tables, clients.meter.clone(), Arc::clone(&rng)),
            objects: Bucket::new(clients.s3.clone(), bucket, rng),
            lease_grace,
            log_kept: None,
            chunk_bytes: Arc::default(),
            leases_held: Arc::default(),
        }
    }

    /// Returns the same frontier with logs that expire this long after their segment was committed;
    /// `None` for never.
    #[must_use]
    pub fn with_log_kept(self, log_kept: Option<Duration>) -> Self {
        Self { log_kept, ..self }
    }
}
