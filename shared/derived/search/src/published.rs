//! The published index of a crawl, read in place.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_ports::editions::Editions;
use tokio::runtime::Handle;

use crate::blocks::{Blocks, Ranges};
use crate::edition::Edition;
use crate::error::SearchError;
use crate::index::{Index, SourceState};

impl Index {
    /// Opens a published edition of a crawl's index. Searches read through the current runtime, so
    /// they must not run on its threads, except where those may block.
    ///
    /// # Errors
    /// It cannot be read, or is from another version.
    pub async fn open_published<E: Editions>(
        editions: &E,
        crawl: &CrawlId,
        edition: Edition,
        blocks: Arc<Blocks>,
    ) -> Result<Self, SearchError> {
        let files = Arc::new(Files { editions: editions.clone(), crawl: crawl.clone(), runtime: Handle::current() });
        let open = move || Self::open_edition(edition, files, blocks);
        tokio::task::spawn_blocking(open).await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
    }

    /// Returns whether it was built from the same state as a link graph
    /// ([`dragline_graph::Graph::made_from`]).
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_built_from(&self, graph: &str) -> Result<bool, SearchError> {
        let made_from = SourceState::load(&self.index).map_err(|error| self.index_error(error))?;
        Ok(made_from.is_some_and(|made| made.from == graph))
    }
}

/// The published files of a crawl's index. Calling threads block on the runtime.
struct Files<E> {
    editions: E,
    crawl: CrawlId,
    runtime: Handle,
}

impl<E: Editions> Ranges for Files<E> {
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        let read = self.runtime.block_on(self.editions.read_index_file(&self.crawl, file, range));
        match read.map_err(io::Error::other)? {
            Some(bytes) => Ok(bytes.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }
}
