//! A function's process as Lambda runs it.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dragline_ports::clock::Clock as _;
use dragline_ports::system::SystemClock;
use serde_json::{Value, json};

use super::runtime_api::{Answer, RuntimeApi};
use super::stack::Stack;
use super::template::Template;

/// The time after which a wait in a test has failed. Far longer than anything takes: it only keeps
/// a run from hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that has asked for its first event. It is killed when this is dropped.
pub struct Deployed {
    runtime: RuntimeApi,
    stack: Stack,
    process: Child,
    took: Duration,
}

impl Deployed {
    /// Starts a binary with the environment that Lambda and the template give a function, and
    /// nothing else from this machine.
    ///
    /// # Panics
    /// Panics if it does not ask for an event.
    pub async fn start(bootstrap: impl AsRef<OsStr>, function: &str) -> Self {
        Self::start_with(bootstrap, function, []).await
    }

    /// Starts a binary whose stack has other parameters, by the variables that are of them.
    ///
    /// # Panics
    /// Panics if it does not ask for an event.
    pub async fn start_with<const N: usize>(
        bootstrap: impl AsRef<OsStr>,
        function: &str,
        variables: [(&str, &str); N],
    ) -> Self {
        let (runtime, stack) = (RuntimeApi::start().await, Stack::start().await);
        let elsewhere = format!("http://{}", stack.address);
        let lambda = [
            ("AWS_LAMBDA_RUNTIME_API", runtime.address.to_string()),
            ("AWS_LAMBDA_FUNCTION_NAME", function.to_owned()),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512".to_owned()),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
            ("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{function}")),
            ("AWS_LAMBDA_LOG_STREAM_NAME", "test".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
            ("AWS_SESSION_TOKEN", "test".to_owned()),
        ];
        // Whichever way it took to the network, the request would arrive here.
        let network = ["AWS_ENDPOINT_URL", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY"];
        let clock = SystemClock::new();
        let process = Command::new(bootstrap)
            .env_clear()
            .envs(Template::read().function(function).variables)
            .envs(variables)
            .envs(lambda)
            .envs(network.map(|name| (name, &elsewhere)))
            .env("NO_PROXY", runtime.address.ip().to_string())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut deployed = Self { runtime, stack, process, took: Duration::ZERO };
        tokio::time::timeout(PATIENCE, deployed.runtime.first_poll()).await.expect("it asks for an event");
        deployed.took = clock.monotonic();
        deployed
    }

    /// Returns how long it took from starting the process to its first request for an event.
    #[must_use]
    pub const fn took(&self) -> Duration {
        self.took
    }

    /// Returns how many requests it has made to AWS or anything else.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.stack.asked()
    }

    /// Gives it an event. All its requests to AWS are then refused.
    ///
    /// # Panics
    /// Panics if it does not answer.
    pub async fn invoke(&mut self, event: Value) -> Answer {
        tokio::time::timeout(PATIENCE, self.runtime.invoke(event)).await.expect("it answers")
    }
}

impl Drop for Deployed {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Returns one batch of the messages of several, with the ids `000`, `001` and so on.
///
/// # Panics
/// Panics if one of them is not a batch.
#[must_use]
pub fn batch(events: &[&str]) -> Value {
    let batches = events.iter().map(|event| serde_json::from_str::<Value>(event).unwrap());
    let mut records: Vec<Value> = batches.flat_map(|batch| batch["Records"].as_array().unwrap().clone()).collect();
    for (number, record) in records.iter_mut().enumerate() {
        record["messageId"] = format!("{number:03}").into();
    }
    json!({ "Records": records })
}

/// Returns the reply that the messages of a batch from this index on are to be delivered again.
///
/// # Panics
/// Panics if there are none, or it is not a batch.
#[must_use]
pub fn failed_from(batch: &Value, place: usize) -> Answer {
    let records = &batch["Records"].as_array().unwrap()[place..];
    assert!(!records.is_empty(), "no message is left to fail");
    let failures: Vec<Value> = records.iter().map(|record| json!({"itemIdentifier": record["messageId"]})).collect();
    Answer::Reply(json!({"batchItemFailures": failures}))
}
