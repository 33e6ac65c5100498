//! The ports over DynamoDB, S3, SQS, SNS and Secrets Manager.
//!
//! [`AwsClients`] are built once per process; the adapters share them and their [`Meter`].
//! [`Stack`] finds a deployed stack by its name, for the command line.

mod archive;
mod backoff;
mod blobs;
mod clients;
mod definitions;
mod documents;
mod dynamo;
mod editions;
mod errors;
mod frontier;
mod kinds;
mod meter;
mod notifier;
mod objects;
mod publications;
mod queue;
mod reader;
mod remaking;
mod retention;
mod rows;
mod secrets;
mod stack;
mod tables;

pub use archive::S3Archive;
pub use clients::{ATTEMPTS_MAX, AwsClients, http_client};
pub use definitions::S3Definitions;
pub use documents::S3Documents;
pub use editions::S3Editions;
pub use frontier::DynamoFrontier;
pub use meter::capacity::{ReadUnits, WriteUnits};
pub use meter::{Call, Meter, Usage};
pub use notifier::SnsNotifier;
pub use publications::S3Publications;
pub use queue::{QueueUrls, SqsQueue};
pub use reader::DynamoReader;
pub use remaking::DynamoRemaking;
pub use retention::DynamoRetained;
pub use secrets::SecretsManager;
pub use stack::{Stack, StackError};
pub use tables::{Index, Table, TableError, TableNames, create_tables};
