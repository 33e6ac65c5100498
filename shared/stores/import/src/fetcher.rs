//! A fetcher that answers the crawl step from archives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::url::CrawlUrl;
use dragline_formats::blob::Spool;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, Fetcher};

use crate::answer;
use crate::archives::{Archives, RecordFile};
use crate::index::Capture;

/// Returns the answers in archives, and makes no request.
pub struct ArchiveFetcher {
    files: Arc<Vec<RecordFile>>,
    spool: Spool,
    round: Mutex<Arc<HashMap<CrawlUrl, Capture>>>,
}

impl ArchiveFetcher {
    /// Returns a fetcher of these archives, which has no answers before [`Self::begin`].
    #[must_use]
    pub fn new(archives: &Archives) -> Self {
        Self { files: Arc::clone(&archives.files), spool: Spool::default(), round: Mutex::default() }
    }

    /// Returns the fetcher, which puts long bodies that are not parsed into this spool.
    #[must_use]
    pub fn spooling_in(self, spool: Spool) -> Self {
        Self { spool, ..self }
    }

    /// Returns these answers from now on, one for each URL.
    pub fn begin(&self, round: HashMap<CrawlUrl, Capture>) {
        *self.round.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(round);
    }
}

impl Fetcher for ArchiveFetcher {
    /// Returns the archived answer. An unreadable answer is a failure, and so is a missing one.
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let round = Arc::clone(&self.round.lock().unwrap_or_else(PoisonError::into_inner));
        let (files, spool) = (Arc::clone(&self.files), self.spool.clone());
        let read = tokio::task::spawn_blocking(move || match round.get(&request.url) {
            Some(capture) => (answer::read(&files, capture, &request.limits, &spool), Some(capture.at)),
            None => (Err("there is no answer in the archives".to_owned()), None),
        });
        let (read, archived_at) = read.await.unwrap_or_else(|error| (Err(error.to_string()), None));
        read.unwrap_or_else(|why| {
            let failed = FetchOutcome::failed(FetchFailureKind::Protocol, &why, Duration::ZERO);
            FetchOutcome { archived_at, ..failed }
        })
    }
}
