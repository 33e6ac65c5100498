//! Reading what a crawl left: how it stands, and its rows, one stream each.
//!
//! Whatever shows a crawl to people, or derives something from it, reads through this port alone, so that it is written once for both
//! engines. No step of a crawl needs it. It may lag behind what was just committed.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//!
//! use dragline_ports::error::PortResult;
//! use dragline_ports::reader::{Cursor, Filter, PageRow, Reader, each_row};
//!
//! /// Prints the URLs of the newest iteration's pages.
//! async fn print_urls(reader: &impl Reader) -> PortResult<()> {
//!     let Some(latest) = reader.latest_iteration().await? else { return Ok(()) };
//!     let filter = &Filter::of_iteration(latest.number);
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

pub use each::each_row;
pub use rows::{CandidateRow, DocumentRow, LeftoverRow, LinkRow, LogRow, PageRow};

/// Reads one crawl.
///
/// Streams come in batches of about `limit` rows, at least one if there is any; a store that keeps rows together may give some more. Each row
/// comes once: whoever goes on from a batch's cursor, at any later time, gets what stands behind it. While an iteration is open, rows may be
/// added before that place as well, and those of a later iteration may stand before it: whoever wants all of an iteration reads it by itself,
/// once it is closed.
pub trait Reader: Send + Sync {
    /// The newest iteration; `None` before the first.
    fn latest_iteration(&self) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// One iteration; `None` if there is no such.
    fn load_iteration(&self, number: Iteration) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// The sums over an iteration's origins.
    fn progress(&self, number: Iteration) -> impl Future<Output = PortResult<Progress>> + Send;

    /// Every URL that ended with an answer, and what it holds if it is a page.
    fn pages(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<PageRow>>> + Send;

    /// Every link, page by page, in the order in which they stand there.
    fn links(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LinkRow>>> + Send;

    /// Every visit that was logged, those that were tried again included.
    fn log(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LogRow>>> + Send;

    /// Every URL that is known. Candidates outlive iterations: the filter's iteration is the one in which a URL ended last.
    fn candidates(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<CandidateRow>>> + Send;

    /// Every document, as it was put.
    fn documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<DocumentRow>>> + Send;

    /// What each origin left over, in one row for each reason; and what was lost with its captures, as
    /// [`SegmentUnreadable`](dragline_domain::frontier::LeftoverReason::SegmentUnreadable), until the origin is opened in another iteration.
    /// A filter by URL takes its origin.
    fn leftovers(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Batch<LeftoverRow>>> + Send;
}

/// Which rows are wanted; the default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this iteration; absent: of every one.
    pub iteration: Option<Iteration>,
    /// Of this origin; absent: of every one.
    pub origin: Option<Origin>,
    /// Of this URL (of a link, the page that it stands on); absent: of every one.
    pub url: Option<CrawlUrl>,
}

impl Filter {
    /// All rows of an iteration.
    #[must_use]
    pub fn of_iteration(number: Iteration) -> Self {
        Self { iteration: Some(number), ..Self::default() }
    }

    /// The one origin whose rows are wanted; `None` if those of all are.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        self.url.as_ref().map(CrawlUrl::origin).or_else(|| self.origin.clone())
    }
}

/// A place in a stream, behind the rows that were read. It means something to the stream that gave it alone, and stays good for as long as
/// the crawl is kept: whoever derives something from a stream may store it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor(String);

impl Cursor {
    /// A place, by what its store knows it by.
    #[must_use]
    pub fn new(place: impl Into<String>) -> Self {
        Self(place.into())
    }

    /// What its store knows it by.
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
    /// The rows. A batch may be empty although more stand behind it.
    pub rows: Vec<T>,
    /// Where to go on; absent: at the beginning, as nothing was there.
    pub cursor: Option<Cursor>,
    /// Whether there is more at this time.
    pub rest: Rest,
}

/// What stands behind a batch at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// There may be more.
    More,
    /// Nothing, yet.
    Nothing,
}
