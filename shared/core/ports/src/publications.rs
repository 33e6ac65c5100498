//! Publications of a finished iteration: its items as objects, for SQL queries, and a report.

use std::future::Future;

use dragline_domain::ids::{CrawlId, Iteration};
use serde::{Deserialize, Serialize};

use crate::error::PortResult;
use crate::reader::Cursor;

/// A store of publications. All of them are derived and can be rebuilt.
pub trait Publications: Send + Sync {
    /// Deletes all published items of an iteration.
    fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<()>> + Send;

    /// Stores items, one JSON object per line, replacing any that are stored as this part.
    fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> impl Future<Output = PortResult<()>> + Send;

    /// Stores the report on an iteration in all forms, replacing any existing one. Returns the
    /// place of its page, which is stored last.
    fn put_report(
        &self,
        crawl: &CrawlId,
        iteration: Iteration,
        texts: ReportTexts,
    ) -> impl Future<Output = PortResult<ReportPlace>> + Send;

    /// Whether there is a report on an iteration, as a page.
    fn has_report(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<bool>> + Send;
}

/// Some items of an iteration, all of one type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemsPart {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration that stored their documents.
    pub iteration: Iteration,
    /// The name of the type as a table name ([`dragline_domain::item::Item::table`]).
    pub table: String,
    /// Its number among the parts of the iteration.
    pub number: u32,
}

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    /// A page for browsers.
    Html,
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
}

impl ReportForm {
    /// Returns the extension of the names of its files.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

/// A report in all forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportTexts {
    /// As [`ReportForm::Html`].
    pub html: String,
    /// As [`ReportForm::Markdown`].
    pub markdown: String,
    /// As [`ReportForm::Json`].
    pub json: String,
}

/// The place of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportPlace {
    /// For programs: `s3://BUCKET/KEY`.
    pub uri: String,
    /// For people: a page that opens it for those who may read the bucket.
    pub link: String,
}

/// The place where the publication of a site stopped. Only the message with it records this.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SitePlace {
    /// The name of the file, beside those of the word index, that records the progress.
    pub draft: String,
    /// Its size.
    pub bytes: u64,
    /// How often the publication has stopped.
    pub stops: u32,
}

/// The place between two parts of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishPlace {
    /// After the documents that have been read.
    pub after: Cursor,
    /// The number of the next part.
    pub part: u32,
}
