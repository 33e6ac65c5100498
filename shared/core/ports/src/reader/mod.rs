//! Reading what a crawl left: its state, and its rows in one stream per kind.
//!
//! Whatever shows a crawl to people, or derives something from it, reads through this port, so it is written once for both engines. No step of a
//! crawl needs it. It may lag behind the latest commits.
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
    CandidateRow, DocumentRow, FieldType, LeftoverRow, LinkRow, LogRow, PageRow, SeenPageRow, StoredSegment,
};

/// Reads one crawl.
///
/// Streams come in batches of about `limit` rows, at least one if there is any; a store that keeps rows together may return a few more. Each row
/// comes once: continuing from a batch's cursor, at any later time, returns the rows after it. While an iteration is open, rows may also be added
/// before the cursor, and those of a later iteration may come before it. To get all of an iteration, read it by itself once it is closed.
pub trait Reader: Send + Sync {
    /// Returns the newest iteration; `None` before the first.
    fn latest_iteration(&self) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns one iteration; `None` if there is none with this number.
    fn load_iteration(&self, number: Iteration) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns the sums over an iteration's origins.
    fn progress(&self, number: Iteration) -> impl Future<Output = PortResult<Progress>> + Send;

    /// Returns how often URLs were forgotten where the crawl is stored. Whatever was made of rows that were read at a smaller number may have them.
    fn times_forgotten(&self) -> impl Future<Output = PortResult<u64>> + Send;

    /// Returns how many known URLs were never visited, nor decided on when they had their turn. May read as much as is known of all URLs.
    fn unvisited(&self) -> impl Future<Output = PortResult<u64>> + Send;

    /// Reads the site as it is now: each URL's last good document, unless the page is gone or forbidden by now. The filter's iteration is the one that
    /// put the document.
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

    /// Reads what iterations saw: every URL that ended with an answer, and its contents then if it was a page. One that did not change has those of the
    /// document that was current for it; none if that was pruned.
    fn seen_pages(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<SeenPageRow>>> + Send;

    /// Reads the links that iterations saw, document by document, in document order: of every document that was put and, for pages that did not change, of
    /// the ones that were current for them.
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

    /// Reads every known URL. Candidates outlive iterations: the filter's iteration is the one in which a URL last ended.
    fn candidates(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<CandidateRow>>> + Send;

    /// Reads every document as it was put.
    fn documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<DocumentRow>>> + Send;

    /// Reads the documents of the site as it is now, without copies of other pages. The filter's iteration is the one that put the document.
    fn shown_documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<DocumentRow>>> + Send;

    /// Reads what each origin left over, in one row per reason. What was lost with its captures is listed as
    /// [`SegmentUnreadable`](dragline_domain::frontier::LeftoverReason::SegmentUnreadable) until the origin is opened in another iteration. A
    /// filter by URL selects its origin.
    fn leftovers(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LeftoverRow>>> + Send;

    /// Reads the segments that were committed and whose objects are kept: each origin's in the order of their commits, parsed or not, logged or not.
    /// Other objects were left by processes that died before they committed them, or are being removed. A filter by URL selects its origin.
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
    /// The URL (for links, that of the page with the link); `None` for all.
    pub url: Option<CrawlUrl>,
}

impl Filter {
    /// Returns the filter for all rows of an iteration.
    #[must_use]
    pub fn of_iteration(number: Iteration) -> Self {
        Self { iteration: Some(number), ..Self::default() }
    }

    /// Returns the one origin whose rows are wanted; `None` for all.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        self.url.as_ref().map(CrawlUrl::origin).or_else(|| self.origin.clone())
    }
}

/// A place in a stream, after the rows that were read. Only the stream that returned it can use it. It stays valid for as long as the crawl is
/// kept, so it may be stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cursor(String);

impl Cursor {
    /// Wraps what the store knows the place by.
    #[must_use]
    pub fn new(place: impl Into<String>) -> Self {
        Self(place.into())
    }

    /// Returns what the store knows the place by.
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
    /// Where to continue; `None` to start from the beginning, as nothing was there.
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
