//! Why the body of a URL cannot be printed.

use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_extract::NoArticle;
use dragline_formats::content_coding::{ContentCodingsError, Cut};
use dragline_formats::warc::{HttpResponseError, WarcFault};

/// Why the body of a URL cannot be printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GetError {
    /// There is no visit in the iteration.
    #[error("{url} was not visited in iteration {iteration}")]
    NotVisited {
        url: CrawlUrl,
        iteration: Iteration,
        /// The command that lists the visits.
        history: String,
    },
    /// No visit was answered.
    #[error("{url} was not answered{}: {last}", iteration.map_or_else(String::new, |number| format!(" in iteration {number}")))]
    NotAnswered {
        url: CrawlUrl,
        /// The requested iteration; `None` for all.
        iteration: Option<Iteration>,
        /// The outcome of the last visit.
        last: String,
        /// The command that lists the visits.
        history: String,
    },
    /// A visit found the body unchanged, but no stored answer has it.
    #[error("the body of {url}, which was unchanged in iteration {iteration}, is not stored")]
    NoBody {
        url: CrawlUrl,
        /// The iteration of the visit.
        iteration: u32,
        /// The command that lists the visits.
        history: String,
    },
    /// There is no such WARC object.
    #[error("{object} is missing")]
    Missing { object: String },
    /// A WARC record does not match its digests, or is unreadable.
    #[error("the record at byte {offset} of {object} is damaged: {why}")]
    Damaged {
        object: String,
        /// The record's offset.
        offset: u64,
        /// What is wrong.
        why: Damage,
    },
    /// The record of an answer does not hold a response.
    #[error("the stored answer is damaged: {0}")]
    NoResponse(#[from] HttpResponseError),
    /// The content coding cannot be undone.
    #[error("{0}")]
    Coding(#[from] ContentCodingsError),
    /// Nothing of the body can be decoded.
    #[error("the body cannot be decoded: {0}")]
    NotDecoded(Cut),
    /// The page has no main part.
    #[error("the main part of the page cannot be found: {0}")]
    NoArticle(#[from] NoArticle),
    /// The body is too long for a terminal, or to be extracted.
    #[error("the body is too long for that")]
    TooLong,
    /// The body is not text, and standard output is a terminal.
    #[error("the body is not text, which a terminal could not show")]
    NotText,
}

/// What is wrong with a WARC record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damage {
    /// The length is impossible for a record.
    #[error("no record has {0} bytes")]
    Length(u64),
    /// It cannot be read.
    #[error("{0}")]
    Fault(#[from] WarcFault),
    /// It belongs to another URL.
    #[error("it is of another URL")]
    OfAnotherUrl,
    /// Its content does not match its digest, or states none.
    #[error("its {0} does not have the digest that it states")]
    Digest(&'static str),
    /// It is neither an answer nor a reference to an earlier one.
    #[error("it holds no HTTP response")]
    NoResponse,
}

impl GetError {
    /// Returns a hint on how to fix it; `None` if the message is enough.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NotVisited { history, .. } | Self::NotAnswered { history, .. } | Self::NoBody { history, .. } => {
                Some(format!("to list its visits: `{history}`"))
            }
            Self::Coding(_) | Self::NotDecoded(_) => Some("to print it as it was received: add `--raw`".to_owned()),
            Self::NoArticle(_) => Some("to print all of it: leave out `--as`".to_owned()),
            Self::TooLong => Some("write it to a file: add `> FILE`, without `--as`".to_owned()),
            Self::NotText => Some("write it to a file: add `> FILE`".to_owned()),
            Self::Missing { .. } | Self::Damaged { .. } | Self::NoResponse(_) => None,
        }
    }
}
