//! Why a stored answer cannot be shown.

use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_extract::NoArticle;
use dragline_formats::content_coding::{ContentCodingsError, Cut};
use dragline_formats::warc::HttpResponseError;
use dragline_ports::error::PortError;

use super::record::Damage;

/// Why a stored answer cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The crawl knows the URL, but did not visit it in this iteration.
    #[error("{url} was not visited in iteration {iteration}")]
    NotVisited {
        /// The URL.
        url: CrawlUrl,
        /// The iteration.
        iteration: Iteration,
    },
    /// No visit was answered.
    #[error("{url} was not answered{}: {outcome}", within(*.iteration))]
    NotAnswered {
        /// The URL.
        url: CrawlUrl,
        /// The iteration; `None` for all.
        iteration: Option<Iteration>,
        /// How the last visit ended.
        outcome: String,
    },
    /// The body was unchanged, and the answer that has it is not stored.
    #[error("the body of {url}, which was unchanged in iteration {iteration}, is not stored")]
    NotStored {
        /// The URL.
        url: CrawlUrl,
        /// The iteration.
        iteration: u32,
    },
    /// The object is missing.
    #[error("{0} is missing")]
    Missing(ObjectKey),
    /// The record is damaged.
    #[error("the record at byte {offset} of {object} is damaged: {damage}")]
    Record {
        /// Its object.
        object: ObjectKey,
        /// Where it begins.
        offset: u64,
        /// The damage.
        damage: Damage,
    },
    /// The crawl or the object cannot be read.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The record holds no HTTP response.
    #[error("the stored answer is damaged: {0}")]
    Response(HttpResponseError),
    /// A coding of the body cannot be undone.
    #[error(transparent)]
    Coding(#[from] ContentCodingsError),
    /// Nothing of the body can be decoded.
    #[error("the body cannot be decoded: {0}")]
    Undecodable(Cut),
    /// The body is binary.
    #[error("the body is not text, which a terminal could not show")]
    NotText,
    /// The page was not pictured.
    #[error("there is no picture of the page")]
    NoScreenshot,
    /// No main part can be found.
    #[error("the main part of the page cannot be found: {0}")]
    NoMain(NoArticle),
    /// The body does not fit into memory, or is more than is wanted.
    #[error("the body is too long for that")]
    TooLong,
}

fn within(iteration: Option<Iteration>) -> String {
    iteration.map_or_else(String::new, |number| format!(" in iteration {number}"))
}
