//! The record of all requests to a site: the evidence by which politeness is judged.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::{HeaderMap, StatusCode};
use tokio::sync::watch;

/// One request that reached the site.
#[derive(Clone, Debug)]
pub struct Access {
    /// When its header had arrived, by the monotonic clock.
    pub arrived: Instant,
    /// The same moment by the wall clock.
    pub arrived_wall: jiff::Timestamp,
    /// Path and query, as sent.
    pub target: String,
    /// The status of the answer.
    pub status: StatusCode,
    /// Every header field of the request.
    pub request_headers: HeaderMap,
    /// Length of the answer's body as sent, after compression.
    pub body_bytes: usize,
}

impl Access {
    /// Whether it is a conditional request.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.request_headers.contains_key(http::header::IF_NONE_MATCH)
            || self.request_headers.contains_key(http::header::IF_MODIFIED_SINCE)
    }
}

/// Whether requests are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Every,
    Nothing,
}

/// Grows by one entry per request, in order of arrival.
#[derive(Debug)]
pub(super) struct AccessLog {
    keep: Keep,
    entries: Mutex<Vec<Access>>,
    requests: watch::Sender<usize>,
}

/// The moment a request arrived, on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    monotonic: Instant,
    wall: jiff::Timestamp,
}

impl Arrival {
    #[expect(clippy::disallowed_methods, reason = "the server's own clock is the witness against the crawler's")]
    pub(super) fn now() -> Self {
        Self { monotonic: Instant::now(), wall: jiff::Timestamp::now() }
    }
}

impl AccessLog {
    pub(super) fn new(keep: Keep) -> Self {
        Self { keep, entries: Mutex::default(), requests: watch::Sender::new(0) }
    }

    /// Records a request once its answer is known, before that is sent, so that clients that die
    /// waiting are recorded, too.
    pub(super) fn note(&self, arrival: Arrival, request: &http::request::Parts, status: StatusCode, body_bytes: usize) {
        if self.keep == Keep::Every {
            self.entries().push(Access {
                arrived: arrival.monotonic,
                arrived_wall: arrival.wall,
                target: request.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
                status,
                request_headers: request.headers.clone(),
                body_bytes,
            });
        }
        self.requests.send_modify(|requests| *requests += 1);
    }

    /// All entries so far, by arrival.
    pub(super) fn snapshot(&self) -> Vec<Access> {
        let mut entries = self.entries().clone();
        // Connections may record their requests in another order than they arrived in.
        entries.sort_by_key(|access| access.arrived);
        entries
    }

    /// Returns when this many requests have come since the start.
    pub(super) async fn reached(&self, requests: usize) {
        self.requests
            .subscribe()
            .wait_for(|&seen| seen >= requests)
            .await
            .expect("the sender is a field of self, so it outlives this call");
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Access>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
