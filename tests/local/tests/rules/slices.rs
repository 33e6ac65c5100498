//! A reader that returns few rows at once and counts what is read, as a large crawl is read in many
//! requests.

use std::collections::BTreeMap;
use std::sync::Mutex;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, SeenPageRow,
    StoredSegment,
};

/// How many rows it returns at once.
const ROWS: usize = 4;

/// The reader.
pub(crate) struct Slices<R> {
    inner: R,
    /// How many batches of each stream were read.
    reads: Mutex<BTreeMap<&'static str, u64>>,
}

impl<R> Slices<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, reads: Mutex::default() }
    }

    /// Returns how many batches of each stream were read, and begins to count again.
    pub(crate) fn reads(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }

    fn count(&self, stream: &'static str) {
        *self.reads.lock().unwrap().entry(stream).or_default() += 1;
    }
}

macro_rules! streams {
    ($($stream:ident -> $row:ty;)*) => {
        impl<R: Reader> Reader for Slices<R> {
            async fn latest_iteration(&self) -> PortResult<Option<IterationRow>> {
                self.inner.latest_iteration().await
            }

            async fn load_iteration(&self, number: Iteration) -> PortResult<Option<IterationRow>> {
                self.inner.load_iteration(number).await
            }

            async fn progress(&self, number: Iteration) -> PortResult<Progress> {
                self.inner.progress(number).await
            }

            async fn times_forgotten(&self) -> PortResult<u64> {
                self.inner.times_forgotten().await
            }

            async fn unvisited(&self) -> PortResult<u64> {
                self.inner.unvisited().await
            }

            $(async fn $stream(
                &self,
                filter: &Filter,
                after: Option<&Cursor>,
                limit: usize,
            ) -> PortResult<Batch<$row>> {
                self.count(stringify!($stream));
                self.inner.$stream(filter, after, limit.min(ROWS)).await
            })*
        }
    };
}

streams! {
    pages -> PageRow;
    links -> LinkRow;
    seen_pages -> SeenPageRow;
    seen_links -> LinkRow;
    log -> LogRow;
    candidates -> CandidateRow;
    documents -> DocumentRow;
    shown_documents -> DocumentRow;
    leftovers -> LeftoverRow;
    segments -> StoredSegment;
}
