//! The SDK's clients: one HTTP stack, with explicit time limits and retries.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_runtime_api::client::http::SharedHttpClient;

use crate::meter::Meter;

/// Time limits of requests, and how long they wait to be tried again.
#[derive(Clone, Copy)]
struct Timeouts {
    /// Until the connection is established.
    connect: Duration,
    /// One try of a request to DynamoDB, SQS or SNS.
    attempt: Duration,
    /// Such a request with all its tries.
    operation: Duration,
    /// One try of a request to S3, which carries a whole object.
    object_attempt: Duration,
    /// Such a request with all its tries.
    object_operation: Duration,
    /// The longest wait before the second try of a request; it doubles with each further one.
    backoff: Duration,
}

/// For AWS. An operation takes less than the reserve of a lease for its commit.
const AWS: Timeouts = Timeouts {
    connect: Duration::from_secs(2),
    attempt: Duration::from_secs(4),
    operation: Duration::from_secs(14),
    object_attempt: Duration::from_secs(30),
    object_operation: Duration::from_secs(60),
    backoff: Duration::from_secs(1),
};

/// For an emulator, which shares a machine with the tests that wait for it: ten times as long. It
/// serves them alone, so nothing is gained by a long wait before it is asked again.
const EMULATOR: Timeouts = Timeouts {
    connect: Duration::from_secs(20),
    attempt: Duration::from_secs(40),
    operation: Duration::from_secs(140),
    object_attempt: Duration::from_secs(300),
    object_operation: Duration::from_secs(600),
    backoff: Duration::from_millis(100),
};

/// The number of tries of a request. Between them is an exponential wait with full jitter.
pub const ATTEMPTS_MAX: u32 = 6;

impl Timeouts {
    /// Returns the limits for what this configuration calls: only an emulator is called by an
    /// endpoint of its own.
    fn for_config(config: &SdkConfig) -> Self {
        if config.endpoint_url().is_some() { EMULATOR } else { AWS }
    }

    fn for_requests(self) -> TimeoutConfig {
        config(self.connect, self.attempt, self.operation)
    }

    fn for_objects(self) -> TimeoutConfig {
        config(self.connect, self.object_attempt, self.object_operation)
    }
}

/// The clients that the adapters share, built once per process.
#[derive(Clone, Debug)]
pub struct AwsClients {
    /// For the frontier.
    pub dynamodb: aws_sdk_dynamodb::Client,
    /// For bodies and documents.
    pub s3: aws_sdk_s3::Client,
    /// For messages between the steps.
    pub sqs: aws_sdk_sqs::Client,
    /// For messages to people.
    pub sns: aws_sdk_sns::Client,
    /// Counts the requests of all of them.
    pub meter: Meter,
}

/// Returns an HTTP client: hyper and rustls with ring, as in the rest of Dragline. Connections are
/// kept and shared.
#[must_use]
pub fn http_client() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https()
}

impl AwsClients {
    /// Returns clients with the region, credentials and endpoint from the environment.
    pub async fn from_environment(http: SharedHttpClient) -> Self {
        Self::from_config(&environment(http).await)
    }

    /// Builds the clients from a shared configuration.
    pub(crate) fn from_config(common: &SdkConfig) -> Self {
        let meter = Meter::new();
        let dynamodb = aws_sdk_dynamodb::config::Builder::from(common).interceptor(meter.clone()).build();
        let sqs = aws_sdk_sqs::config::Builder::from(common).interceptor(meter.clone()).build();
        let sns = aws_sdk_sns::config::Builder::from(common).interceptor(meter.clone()).build();
        let s3 = aws_sdk_s3::config::Builder::from(common)
            .interceptor(meter.clone())
            .timeout_config(Timeouts::for_config(common).for_objects())
            // Host names below an emulator's address do not resolve.
            .force_path_style(common.endpoint_url().is_some())
            .build();
        Self {
            dynamodb: aws_sdk_dynamodb::Client::from_conf(dynamodb),
            s3: aws_sdk_s3::Client::from_conf(s3),
            sqs: aws_sdk_sqs::Client::from_conf(sqs),
            sns: aws_sdk_sns::Client::from_conf(sns),
            meter,
        }
    }
}

/// Reads the region, credentials and endpoint from the environment. Credentials are not resolved
/// before they are needed.
pub(crate) async fn environment(http: SharedHttpClient) -> SdkConfig {
    let config = aws_config::defaults(BehaviorVersion::v2026_01_12()).http_client(http).load().await;
    let timeouts = Timeouts::for_config(&config);
    let retries = RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX).with_initial_backoff(timeouts.backoff);
    config.into_builder().timeout_config(timeouts.for_requests()).retry_config(retries).build()
}

fn config(connect: Duration, attempt: Duration, operation: Duration) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(connect)
        .operation_attempt_timeout(attempt)
        .operation_timeout(operation)
        .build()
}
