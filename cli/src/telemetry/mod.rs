//! Telemetry by OpenTelemetry's protocol (docs/reference/serve.md#telemetry): spans of what is
//! done, and the figures of `/metrics`. Nothing is sent, and nothing is watched for it, unless the
//! environment names a collector. What cannot be sent is lost, and said once: no crawl waits for
//! it.

mod calls;
mod delivery;
mod measuring;
mod settings;
mod spans;

use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use dragline_http::{Collector, HttpConfig};
use dragline_ports::observer::Observer;
use dragline_service::Backend;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, Key, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, RetryPolicy, SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracer, SdkTracerProvider};

use self::calls::trace_call;
use self::delivery::Delivery;
use self::measuring::{Instruments, Measuring};
use self::settings::{Settings, Signal};
use self::spans::{Both, Spans};
use crate::terminal::Console;

/// The longest wait for a collector when a command ends.
const END_MAX: Duration = Duration::from_secs(3);

/// The SDK would send figures by itself, but they are read first, so it never does.
const NEVER: Duration = Duration::from_hours(24 * 365);

/// What is sent of a command.
pub(crate) struct Telemetry {
    console: Console,
    traces: Option<SdkTracerProvider>,
    metrics: Option<(Instruments, Duration)>,
}

impl Telemetry {
    /// Begins what the environment asks for. What it asks for in vain is said, and not sent.
    pub(crate) fn from_environment(config: &HttpConfig, console: &Console) -> Self {
        let Settings { traces, metrics, complaints } = Settings::read(|name| std::env::var(name).ok());
        complaints.iter().for_each(|complaint| console.warn(complaint));
        if traces.is_none() && metrics.is_none() {
            return Self::nothing(console);
        }
        let collector = match Collector::new(config) {
            Ok(collector) => collector,
            Err(error) => {
                console.warn(&format!("telemetry is not sent: {error}"));
                return Self::nothing(console);
            }
        };
        // The error repeats the URL, which may have a password.
        let say = |kind: &str, signal: &Signal| {
            console.warn(&format!("{kind} are not sent: {} is no URL of a collector", signal.variable));
        };
        let delivery = |kind, signal: &Signal| Delivery::new(kind, collector.clone(), signal.timeout, console);
        let traces = traces
            .and_then(|signal| tracer_provider(delivery("spans", &signal)).map_err(|_| say("spans", &signal)).ok());
        let metrics = metrics.and_then(|(signal, every)| {
            let provider = meter_provider(delivery("metrics", &signal)).map_err(|_| say("metrics", &signal)).ok()?;
            Some((Instruments::new(provider), every))
        });
        Self { console: console.clone(), traces, metrics }
    }

    fn nothing(console: &Console) -> Self {
        Self { console: console.clone(), traces: None, metrics: None }
    }

    fn tracer(&self) -> Option<SdkTracer> {
        let scope = InstrumentationScope::builder("dragline").with_version(env!("CARGO_PKG_VERSION")).build();
        self.traces.as_ref().map(|provider| provider.tracer_with_scope(scope))
    }

    /// Returns an observer that makes spans; `None` if none are sent.
    pub(crate) fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.tracer().map(|tracer| -> Arc<dyn Observer> { Arc::new(Spans::new(tracer)) })
    }

    /// Returns an observer that makes spans beside another one; that one alone if none are sent.
    pub(crate) fn observer_beside(&self, other: Arc<dyn Observer>) -> Arc<dyn Observer> {
        match self.observer() {
            Some(spans) => Arc::new(Both(other, spans)),
            None => other,
        }
    }

    /// Returns routes of which each call makes a span, if any are sent.
    pub(crate) fn watch_calls(&self, routes: Router) -> Router {
        match self.tracer() {
            Some(tracer) => routes.layer(middleware::from_fn_with_state(Arc::new(tracer), trace_call)),
            None => routes,
        }
    }

    /// Sends the figures of crawls from now on, if any are sent.
    pub(crate) fn measure(&self, backend: impl FnOnce() -> Arc<dyn Backend>) -> Option<Measuring> {
        let (instruments, every) = self.metrics.as_ref()?;
        Some(Measuring::start(instruments.clone(), backend(), *every))
    }

    /// Sends what is left, and ends. A collector that does not answer is not waited for long.
    pub(crate) async fn end(self) {
        let traces = self.traces.map(|provider| tokio::task::spawn_blocking(move || provider.shutdown()));
        let metrics = self.metrics.map(|(instruments, _)| {
            let provider = instruments.provider();
            tokio::task::spawn_blocking(move || provider.shutdown())
        });
        let both = async {
            for ending in [traces, metrics].into_iter().flatten() {
                // The delivery has said why something could not be sent.
                let _ = ending.await;
            }
        };
        if tokio::time::timeout(END_MAX, both).await.is_err() {
            let waited_s = END_MAX.as_secs();
            self.console.warn(&format!("the last spans and metrics were not taken within {waited_s} s, and are lost"));
        }
    }
}

/// Reads the figures for the last time, before the data directory is closed.
pub(crate) async fn end_measuring(measuring: Option<Measuring>) {
    if let Some(measuring) = measuring {
        measuring.end(END_MAX).await;
    }
}

/// Returns what makes and sends spans. Each request is made once: between tries, the SDK would keep
/// a command from ending.
fn tracer_provider(delivery: Delivery) -> Result<SdkTracerProvider, ExporterBuildError> {
    let once = RetryPolicy::disabled();
    let exporter = SpanExporter::builder().with_http().with_http_client(delivery).with_retry_policy(once).build()?;
    let processor = BatchSpanProcessor::builder(exporter).build();
    Ok(SdkTracerProvider::builder().with_resource(resource()).with_span_processor(processor).build())
}

fn meter_provider(delivery: Delivery) -> Result<SdkMeterProvider, ExporterBuildError> {
    let once = RetryPolicy::disabled();
    let exporter = MetricExporter::builder().with_http().with_http_client(delivery).with_retry_policy(once).build()?;
    let reader = PeriodicReader::builder(exporter).with_interval(NEVER).build();
    Ok(SdkMeterProvider::builder().with_resource(resource()).with_reader(reader).build())
}

/// Returns who sends: what the environment says, and by default this program.
fn resource() -> Resource {
    let name = Key::from_static_str("service.name");
    let named = Resource::builder().build();
    let is_named = named.get(&name).is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder().with_attribute(version);
    if is_named { builder.build() } else { builder.with_service_name("dragline").build() }
}
