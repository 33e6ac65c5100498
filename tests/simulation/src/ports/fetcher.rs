//! The fetcher behind the conductor. What befalls a request is a failed connection: before it was sent, or after.

use std::time::Duration;

use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::fetcher::{FetchFailure, FetchFailureKind, FetchRequest, Fetched, Fetcher};

use super::Gate;

pub(crate) struct GatedFetcher<F> {
    pub(crate) gate: Gate,
    pub(crate) inner: F,
}

impl<F: Fetcher> Fetcher for GatedFetcher<F> {
    async fn fetch(&self, request: FetchRequest) -> Fetched {
        let url = request.url.clone();
        let before: PortResult<()> = self.gate.pass("fetcher.send", &url, async { Ok(()) }).await;
        if before.is_err() {
            return no_answer();
        }
        let fetched = self.inner.fetch(request).await;
        let after: PortResult<()> = self.gate.pass("fetcher.answer", &url, async { Ok(()) }).await;
        if after.is_err() { no_answer() } else { fetched }
    }
}

fn no_answer() -> Fetched {
    let failure = FetchFailure { kind: FetchFailureKind::Connect, detail: "the connection broke".to_owned() };
    Fetched {
        request_headers: Vec::new(),
        remote: None,
        first_byte: None,
        elapsed: Duration::ZERO,
        result: Err(failure),
    }
}
