//! Shared code of the Lambda functions: events, the bundled AWS adapters, deadlines, logs, metrics
//! and usage.
//!
//! A function's `main` calls [`run`] with its handler. The handler turns an event into step calls;
//! their results become acknowledgements here.

mod batch;
mod deadline;
mod event;
mod function_url;
mod logs;
mod metrics;
mod run;
mod settings;
mod used;
mod world;

pub use batch::{Reply, Work, work_all};
pub use deadline::{Deadline, RESERVE, WALK_RESERVE};
pub use dragline_aws::{
    DynamoFrontier, DynamoReader, DynamoRetained, S3Archive, S3Definitions, S3Documents, S3Editions, S3Publications,
    SecretsManager, SqsQueue,
};
pub use event::{Event, EventError, Message, MessageError, read_message};
pub use function_url::{HttpReply, HttpReplyTooLarge, HttpRequest, HttpRequestError, REPLY_BYTES_MAX};
pub use run::{Invocation, ReplyCounts, RunError, run};
pub use settings::{SettingError, Settings, days};
pub use world::AwsWorld;
