//! The local adapters with a clock that differs from the machine's.

use std::path::Path;
use std::time::Duration;

use dragline_domain::time::after;
use dragline_formats::http_fields::Headers;
use dragline_local::{
    DirectoryArchive, LocalStore, MemoryQueue, SqliteDocuments, SqliteFrontier, SystemClock, SystemRng,
};
use dragline_pipeline::Adapters;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchedResponse};
use dragline_testkit::whole_crawls::Silent;
use jiff::Timestamp;

/// The machine's clock, shifted by an offset and sped up by a factor.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    inner: SystemClock,
    by: Duration,
    times: u32,
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        after(self.inner.now(), self.by + self.inner.monotonic() * (self.times - 1))
    }

    fn monotonic(&self) -> Duration {
        self.inner.monotonic() * self.times
    }

    async fn sleep(&self, wait: Duration) {
        self.inner.sleep(wait / self.times).await;
    }
}

/// The local adapters with that clock.
pub(crate) type WorldAhead =
    Adapters<SqliteFrontier, DirectoryArchive, SqliteDocuments, MemoryQueue<Ahead>, Silent, Ahead, SystemRng>;

pub(crate) fn open_ahead(directory: &Path, by: Duration, times: u32) -> WorldAhead {
    let clock = Ahead { inner: SystemClock::new(), by, times };
    let store = LocalStore::open(directory, clock.now()).unwrap();
    let queue = MemoryQueue::new(&clock, 100);
    Adapters::new(store.frontier(), store.archive(), store.documents(), queue, Silent, (clock, SystemRng))
}

/// A page that a server sent after this time, or another status instead.
pub(crate) fn answered(status: u16, body: String, took: Duration) -> FetchOutcome {
    let response = FetchedResponse {
        status,
        reason: "Said".to_owned(),
        protocol: None,
        headers: Headers::from_iter([("content-type", "text/html")]),
        decoded_sha1: [0; 20],
        decoded_bytes: body.len() as u64,
        body: body.into_bytes().into(),
        truncated: None,
    };
    let request_headers = Headers::from_iter([("host", "a.example")]);
    let failed = FetchOutcome::failed(FetchFailureKind::Connect, "", took);
    FetchOutcome { request_headers, first_byte: Some(took), result: Ok(response), ..failed }
}
