//! Sends the figures of `/metrics` from time to time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_service::{Backend, Figure, figures};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, MeterProvider as _};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The instruments, and what they show.
#[derive(Clone)]
pub(super) struct Instruments {
    provider: SdkMeterProvider,
    shown: Arc<Mutex<Shown>>,
}

#[derive(Default)]
struct Shown {
    /// The figures as last read.
    figures: Vec<Figure>,
    /// Whether there is an instrument for each of them.
    has_instruments: bool,
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Instruments {
    pub(super) fn new(provider: SdkMeterProvider) -> Self {
        Self { provider, shown: Arc::default() }
    }

    /// Returns where they come from.
    pub(super) fn provider(&self) -> SdkMeterProvider {
        self.provider.clone()
    }

    /// Reads the figures for whatever is sent next. Those that cannot be read are not sent: the
    /// engine and the API meet the same error, and say it.
    async fn read(&self, backend: &dyn Backend) {
        let read = figures(backend).await.unwrap_or_default();
        let mut shown = lock(&self.shown);
        let names: Vec<_> = read.iter().map(|Figure { name, help, unit, .. }| (*name, *help, *unit)).collect();
        shown.figures = read;
        let is_first = !names.is_empty() && !std::mem::replace(&mut shown.has_instruments, true);
        drop(shown);
        if is_first {
            self.build(names);
        }
    }

    fn build(&self, names: Vec<(&'static str, &'static str, &'static str)>) {
        let meter = self.provider.meter("dragline");
        for (name, help, unit) in names {
            let shown = Arc::clone(&self.shown);
            meter
                .i64_observable_gauge(name)
                .with_description(help)
                .with_unit(unit)
                .with_callback(move |instrument| show(&lock(&shown).figures, name, instrument))
                .build();
        }
    }

    /// Sends the figures as last read.
    async fn send(&self) {
        let provider = self.provider();
        // It waits for the collector, and the delivery says why it fails.
        let _ = tokio::task::spawn_blocking(move || provider.force_flush()).await;
    }
}

/// Shows the values of a figure.
fn show(figures: &[Figure], name: &str, instrument: &dyn AsyncInstrument<i64>) {
    for sample in figures.iter().filter(|figure| figure.name == name).flat_map(|figure| &figure.samples) {
        let crawl = sample.crawl.as_ref().map(|crawl| KeyValue::new("crawl", crawl.to_string()));
        instrument.observe(sample.value, crawl.as_slice());
    }
}

/// Sends the figures until it is ended.
pub(crate) struct Measuring {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Measuring {
    /// Sends the figures of these crawls whenever this much time has passed.
    pub(super) fn start(instruments: Instruments, backend: Arc<dyn Backend>, every: Duration) -> Self {
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            // It ends with the last figures, which are sent when telemetry ends.
            while timeout(every, &mut stopped).await.is_err() {
                instruments.read(&*backend).await;
                instruments.send().await;
            }
            instruments.read(&*backend).await;
        });
        Self { stop: Some(stop), task }
    }

    /// Ends it, and waits until it holds nothing of the data directory, which can be closed then. A
    /// collector that does not answer is waited for this long.
    pub(super) async fn end(mut self, limit: Duration) {
        drop(self.stop.take());
        if timeout(limit, &mut self.task).await.is_err() {
            self.task.abort();
            // It was aborted, so how it ended says nothing.
            let _ = (&mut self.task).await;
        }
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        self.task.abort();
    }
}
