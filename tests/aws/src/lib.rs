//! What tests on an emulator share: fresh resources in it for each test, and a stack as the command
//! sees it, over whose tables and bucket this process runs whole crawls.
//!
//! Without an emulator the tests fail, and say how to start one.

#![expect(clippy::unwrap_used, reason = "these are helpers of tests")]

mod command;
pub mod faults;
mod resources;
mod stack;
mod story;
mod world;

use std::net::TcpStream;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use dragline_aws::{AwsClients, http_client};

pub use self::command::{Ran, dragline};
pub use self::resources::{Fresh, GRACE};
pub use self::stack::EmulatedStack;
pub use self::story::{Story, at};

/// How to get an emulator.
const HOW_TO_START: &str =
    "start one with `make aws`, or `scripts/localstack run cargo nextest run -p dragline-aws-tests`";

/// Clients of the emulator.
///
/// # Panics
/// If no emulator answers.
pub async fn clients() -> AwsClients {
    clients_over(http_client()).await
}

/// Clients of the emulator over this HTTP client.
///
/// # Panics
/// If no emulator answers.
pub async fn clients_over(http: SharedHttpClient) -> AwsClients {
    require_emulator();
    AwsClients::from_environment(http).await
}

fn require_emulator() {
    let Ok(endpoint) = std::env::var("AWS_ENDPOINT_URL") else {
        panic!("AWS_ENDPOINT_URL does not name an emulator of AWS: {HOW_TO_START}");
    };
    let address = endpoint.trim_start_matches("http://").trim_end_matches('/');
    if let Err(error) = TcpStream::connect(address) {
        panic!("no emulator of AWS answers at {endpoint} ({error}): {HOW_TO_START}");
    }
}
