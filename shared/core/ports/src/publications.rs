//! What is made of an iteration that is over for others to read: objects of its items, for queries by SQL, and a report.

use std::future::Future;

use dragline_domain::ids::{CrawlId, Iteration};
use serde::{Deserialize, Serialize};

use crate::error::PortResult;
use crate::reader::Cursor;

/// Stores what is published. All of it is derived, and can be made again.
pub trait Publications: Send + Sync {
    /// Deletes all items that were published of an iteration.
    fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<()>> + Send;

    /// Puts items, one JSON object per line, in place of those that are stored as this part.
    fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> impl Future<Output = PortResult<()>> + Send;

    /// Puts the report on an iteration, a page of HTML, in place of the one that is there. Returns where people find it.
    fn put_report(
        &self,
        crawl: &CrawlId,
        iteration: Iteration,
        page: String,
    ) -> impl Future<Output = PortResult<ReportPlace>> + Send;

    /// Whether there is a report on an iteration.
    fn has_report(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<bool>> + Send;
}

/// Some items of an iteration, all of one type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemsPart {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration that put their documents.
    pub iteration: Iteration,
    /// The name of the type as that of a table ([`dragline_domain::item::Item::table`]).
    pub table: String,
    /// Its number among the parts of the iteration.
    pub number: u32,
}

/// Where a report is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportPlace {
    /// For programs: `s3://BUCKET/KEY`.
    pub uri: String,
    /// For people: a page where whoever may read the bucket can open it.
    pub link: String,
}

/// Where the publication of a site stopped. The message that carries it is all that knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SitePlace {
    /// The name of the file, beside those of the word index, that says what is done.
    pub draft: String,
    /// Its size.
    pub bytes: u64,
    /// How often the publication has stopped.
    pub stops: u32,
}

/// A place between two parts of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishPlace {
    /// After the documents that were read.
    pub after: Cursor,
    /// The number of the next part.
    pub part: u32,
}
