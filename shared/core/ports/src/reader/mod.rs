//! Reading the results of a crawl: its state, and its rows in one stream per kind.
//!
//! All code that shows a crawl to people, or derives something from it, reads through this port, so
//! it is written once for both engines. No step of a crawl needs it. It may lag behind the latest
//! commits.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//!
//! use dragline_ports::error::PortResult;
//! use dragline_ports::reader::{Cursor, Filter, PageRow, Reader, each_row};
//!
//! /// Prints the URLs of the site's pages.
//! async fn print_urls(reader: &impl Reader) -> PortResult<()> {
//!     let filter = &Filter::default();
//!     let print = |page: PageRow| {
//!         println!("{}", page.url);
//!         ControlFlow::Continue(())
//!     };
//!     each_row(|after: Option<Cursor>| async move { reader.pages(filter, after.as_ref(), 500).await }, print).await
//! }
//! ```

mod each;
mod rows;

use std::fmt;
use std::future::Future;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::Iteration;
use dragline_domain::url::{CrawlUrl, Origin};
use serde::{Deserialize, Serialize};

use crate::error::PortResult;
use crate::frontier::Progress;

pub use each::{WalkEnd, each_row, each_row_until};
pub use rows::{
    CandidateRow, DocumentRow, LeftoverRow, LinkRow, LogRow, PageRequests, PageRow, RecordPlace, SeenPageRow,
    StoredSegment, Uses,
};

/// A reader of one crawl.
///
/// Streams come in batches of about `limit` rows, at least one if there is any; a store that keeps
/// rows together may return a few more. Each row comes once: continuing from a batch's cursor, at
/// any later time, returns the rows after it. While an iteration is open, rows may also be added
/// before the cursor, and rows of a later iteration may precede it. To get a complete iteration,
/// read it by itself once it is closed.
pub trait Reader: Send + Sync {
    /// Returns the newest iteration; `None` before the first.
    fn latest_iteration(&self) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns one iteration; `None` if there is none with this number.
    fn load_iteration(&self, number: Iteration) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns the sums over an iteration's origins.
    fn progress(&self, number: Iteration) -> impl Future<Output = PortResult<Progress>> + Send;

    /// Returns how often URLs were forgotten in this crawl's store. Anything derived from rows that
    /// were read at a smaller count may contain them.
    fn times_forgotten(&self) -> impl Future<Output = PortResult<u64>> + Send;

    /// Returns how many known URLs were never visited, nor decided on at their turn. May read as
    /// much as is stored of all URLs.
    fn unvisited(&self) -> impl Future<Output = PortResult<u64>> + Send;

    /// Reads the site as it is now: each URL's last good document, unless the page is now gone or
    /// forbidden. The filter's iteration is the one that stored the document.
    fn pages(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<PageRow>>> + Send;

    /// Reads the links of those pages, page by page, in document order.
    fn links(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LinkRow>>> + Send;

    /// Reads what iterations saw: every URL with a response, and its contents at that time if it
    /// was a page. An unchanged page has the contents of the document that was current for it; none
    /// if that was pruned.
    fn seen_pages(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<SeenPageRow>>> + Send;

    /// Reads the links that iterations saw, document by document, in document order: of every
    /// stored document and, for unchanged pages, of the ones that were current for them.
    fn seen_links(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LinkRow>>> + Send;

    /// Reads every logged visit, including those that were tried again.
    fn log(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LogRow>>> + Send;

    /// Reads every known URL. Candidates outlive iterations: the filter's iteration is the one of a
    /// URL's last outcome.
    fn candidates(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<CandidateRow>>> + Send;

    /// Reads every document as stored.
    fn documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<DocumentRow>>> + Send;

    /// Reads the documents of the site as it is now, without copies of other pages. The filter's
    /// iteration is the one that stored the document.
    fn shown_documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<DocumentRow>>> + Send;

    /// Reads the leftovers of each origin, in one row per reason. URLs whose captures were lost are
    /// listed as
    /// [`SegmentUnreadable`](dragline_domain::frontier::LeftoverReason::SegmentUnreadable) until
    /// the origin is opened in another iteration. A filter by URL selects its origin.
    fn leftovers(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LeftoverRow>>> + Send;

    /// Reads the committed segments whose objects are kept: each origin's in the order of their
    /// commits, parsed or not, logged or not. Other objects belong to processes that died before a
    /// commit, or are being removed. A filter by URL selects its origin.
    fn segments(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<StoredSegment>>> + Send;
}

/// Which rows to read; the default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The iteration; `None` for all.
    pub iteration: Option<Iteration>,
    /// The origin; `None` for all.
    pub origin: Option<Origin>,
    /// The URL (for links, the URL of the page with the link); `None` for all.
    pub url: Option<CrawlUrl>,
}

impl Filter {
    /// Returns the filter for all rows of an iteration.
    #[must_use]
    pub fn by_iteration(number: Iteration) -> Self {
        Self { iteration: Some(number), ..Self::default() }
    }

    /// Returns the origin to which the rows are limited; `None` for all.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        self.url.as_ref().map(CrawlUrl::origin).or_else(|| self.origin.clone())
    }
}

/// A place in a stream, after the rows that were read. Only the stream that returned it can use it.
/// It stays valid for as long as the crawl is kept, so it may be stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cursor(String);

impl Cursor {
    /// Wraps the store's identifier of the place.
    #[must_use]
    pub fn new(place: impl Into<String>) -> Self {
        Self(place.into())
    }

    /// Returns the store's identifier of the place.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Some rows of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<T> {
    /// The rows. A batch may be empty although more follow.
    pub rows: Vec<T>,
    /// Where to continue; `None` to start from the beginning, as the stream was empty.
    pub cursor: Option<Cursor>,
    /// Whether more follows at this time.
    pub rest: Rest,
}

/// What follows a batch at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// There may be more.
    More,
    /// Nothing, yet.
    Nothing,
}
