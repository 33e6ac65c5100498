//! The life of a function's process: set up once, then one invocation after another.

use std::future::Future;

use dragline_ports::clock::Clock as _;
use dragline_ports::system::cpu_time;
use lambda_runtime::{LambdaEvent, service_fn};
use serde::Serialize;
use serde_json::Value;
use tracing::Instrument as _;

use crate::metrics::{Metric, publish};
use crate::used::InvocationUsage;
use crate::world::adapters;
use crate::{AwsWorld, Deadline, Event, Settings, logs};

/// Why a process or an invocation fails.
pub type RunError = Box<dyn std::error::Error + Send + Sync>;

/// One invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// What invoked it.
    pub event: Event,
    /// The end of its time.
    pub deadline: Deadline,
}

/// The answer to an invocation, with its counts for metrics.
pub trait ReplyCounts: Serialize {
    /// Returns the number of messages to deliver again.
    fn messages_failed(&self) -> usize {
        0
    }

    /// Returns the number of messages refused for good.
    fn messages_refused(&self) -> usize {
        0
    }
}

/// Runs a function: sets up logs, the adapters and the handler on the cold start, then passes every
/// event to the handler.
///
/// # Errors
/// The function cannot be set up; the runtime then starts it again.
pub async fn run<H, F, R>(
    function: &'static str,
    make: impl AsyncFnOnce(AwsWorld) -> Result<H, RunError>,
    handle: impl Fn(H, Invocation) -> F,
) -> Result<(), RunError>
where
    H: Clone,
    F: Future<Output = Result<R, RunError>>,
    R: ReplyCounts,
{
    logs::start();
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let (world, meter) = adapters(&settings).await;
    let clock = world.clock;
    let handler = make(world).await?;
    let invoke = |event: LambdaEvent<Value>| {
        let (handler, handle, meter) = (handler.clone(), &handle, meter.clone());
        let span = tracing::info_span!("invocation", function, request_id = event.context.request_id);
        let work = async move {
            let (begun, cpu, usage) = (clock.monotonic(), cpu_time(), meter.usage());
            let deadline = Deadline::from_millis(event.context.deadline);
            let event = Event::read(event.payload)?;
            let messages = event.messages();
            let invocation = Invocation { event, deadline };
            // Boxed: a handler's future is large, and its type as deep as the steps and the SDK
            // below it.
            let reply =
                Box::pin(handle(handler, invocation)).await.inspect_err(|error| tracing::error!(%error, "failed"))?;
            let metrics = [
                Metric { name: "MessagesFailed", count: reply.messages_failed() },
                Metric { name: "MessagesRefused", count: reply.messages_refused() },
            ];
            let used = InvocationUsage::new(messages, cpu_time().saturating_sub(cpu), &meter.usage().since(&usage));
            publish(function, clock.now(), &metrics, clock.monotonic() - begun, &used);
            Ok::<_, RunError>(reply)
        };
        work.instrument(span)
    };
    lambda_runtime::run(service_fn(invoke)).await
}
