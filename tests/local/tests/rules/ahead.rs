//! The local adapters by a clock that is not the machine's.

use std::path::Path;
use std::time::Duration;

use dragline_domain::time::after;
use dragline_formats::http_fields::Headers;
use dragline_local::{
    DirectoryArchive, LocalStore, MemoryQueue, SqliteDocuments, SqliteFrontier, SystemChance, SystemClock,
};
use dragline_pipeline::live::LiveTurns;
use dragline_pipeline::ports::clock::Clock;
use dragline_pipeline::ports::fetcher::{Fetched, FetchedResponse};
use dragline_pipeline::{Timing, World};
use dragline_whole_crawls::Silent;
use jiff::Timestamp;

/// The machine's clock, so far ahead, and so many times as fast.
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

/// The local adapters by that clock.
pub(crate) struct WorldAhead {
    pub(crate) frontier: SqliteFrontier,
    archive: DirectoryArchive,
    documents: SqliteDocuments,
    pub(crate) queue: MemoryQueue<Ahead>,
    pub(crate) clock: Ahead,
    live: LiveTurns,
    pub(crate) timing: Timing,
}

impl WorldAhead {
    pub(crate) fn open(directory: &Path, by: Duration, times: u32) -> Self {
        let clock = Ahead { inner: SystemClock::new(), by, times };
        let store = LocalStore::open(directory, clock.now()).unwrap();
        let queue = MemoryQueue::new(&clock, 100);
        let (frontier, archive, documents) = (store.frontier(), store.archive(), store.documents());
        Self { frontier, archive, documents, queue, clock, live: LiveTurns::default(), timing: Timing::default() }
    }
}

impl World for WorldAhead {
    type Frontier = SqliteFrontier;
    type Archive = DirectoryArchive;
    type Documents = SqliteDocuments;
    type Queue = MemoryQueue<Ahead>;
    type Notifier = Silent;
    type Clock = Ahead;
    type Chance = SystemChance;

    fn frontier(&self) -> &SqliteFrontier {
        &self.frontier
    }

    fn archive(&self) -> &DirectoryArchive {
        &self.archive
    }

    fn documents(&self) -> &SqliteDocuments {
        &self.documents
    }

    fn queue(&self) -> &MemoryQueue<Ahead> {
        &self.queue
    }

    fn notifier(&self) -> &Silent {
        &Silent
    }

    fn clock(&self) -> &Ahead {
        &self.clock
    }

    fn chance(&self) -> &SystemChance {
        &SystemChance
    }

    fn live(&self) -> &LiveTurns {
        &self.live
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}

/// A page that a server sent after so long, or what stands in its place with another status.
pub(crate) fn answered(status: u16, body: String, took: Duration) -> Fetched {
    let response = FetchedResponse {
        status,
        reason: "Said".to_owned(),
        protocol: None,
        headers: Headers::from_iter([("content-type", "text/html")]),
        decoded_sha1: [0; 20],
        decoded_bytes: body.len() as u64,
        body: body.into(),
        truncated: None,
    };
    let request_headers = Headers::from_iter([("host", "a.example")]);
    Fetched { request_headers, remote: None, first_byte: Some(took), elapsed: took, result: Ok(response) }
}
