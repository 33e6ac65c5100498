//! What was asked of AWS, counted for a bill: calls by service and operation, and capacity units of DynamoDB.
//!
//! Units follow from the items' sizes by AWS's rules ([`capacity`]), because emulators report others.

pub(crate) mod capacity;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

use self::capacity::{ReadUnits, WriteUnits};

/// An operation of a service, as AWS names both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// `DynamoDB`, `S3`, `SQS`, `SNS`.
    pub service: String,
    /// `TransactWriteItems`, say.
    pub operation: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.service, self.operation)
    }
}

/// What was used since a meter began. Only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests sent, those that were tried again included.
    pub calls: BTreeMap<Call, u64>,
    /// DynamoDB's write request units, those of indexes included.
    pub writes: WriteUnits,
    /// DynamoDB's read request units.
    pub reads: ReadUnits,
}

/// Counts. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    usage: Arc<Mutex<Usage>>,
}

impl Meter {
    /// A meter at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.lock().clone()
    }

    pub(crate) fn add_writes(&self, units: WriteUnits) {
        self.lock().writes += units;
    }

    pub(crate) fn add_reads(&self, units: ReadUnits) {
        self.lock().reads += units;
    }

    /// The counts. Nothing panics while they are held.
    fn lock(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[dyn_dispatch_hint]
impl Intercept for Meter {
    fn name(&self) -> &'static str {
        "Meter"
    }

    /// Counts each attempt, as each is billed.
    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(metadata) = config.load::<Metadata>() {
            let call = Call { service: metadata.service().to_owned(), operation: metadata.name().to_owned() };
            *self.lock().calls.entry(call).or_default() += 1;
        }
        Ok(())
    }
}
