//! Why a command is not done.

use dragline_domain::frontier::{IterationStatus, StatusChange};
use dragline_domain::ids::CrawlId;

/// Why a command is not done. It would not be done at another delivery either.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No definition of that name is stored.
    #[error("there is no crawl `{0}`")]
    NoSuchCrawl(CrawlId),
    /// The crawl was removed.
    #[error("the crawl `{0}` is switched off: put its definition again")]
    SwitchedOff(CrawlId),
    /// Nothing of the crawl runs.
    #[error("no iteration of `{0}` runs")]
    NotRunning(CrawlId),
    /// What runs cannot be changed so.
    #[error("an iteration of `{crawl}` that is {} cannot be told to {}", .status.name(), verb(*.change))]
    DoesNotFit {
        /// The crawl.
        crawl: CrawlId,
        /// How its iteration stands.
        status: IterationStatus,
        /// What was asked.
        change: StatusChange,
    },
    /// What runs is being stopped, so that nothing is added to it.
    #[error("the iteration of `{0}` is being stopped: send the URL again when it is over")]
    Stopping(CrawlId),
    /// A crawl of that name is there, and the URL is none of its own.
    #[error("{url} is not crawled by `{crawl}`: {why}")]
    NotInScope {
        /// The URL.
        url: String,
        /// The crawl.
        crawl: CrawlId,
        /// The rule that objects.
        why: String,
    },
    /// No definition can be made of the URL.
    #[error("{url} makes no crawl: {why}")]
    Unsound {
        /// The URL.
        url: String,
        /// What is wrong.
        why: String,
    },
}

const fn verb(change: StatusChange) -> &'static str {
    match change {
        StatusChange::Pause => "pause",
        StatusChange::Resume => "go on",
        StatusChange::Stop => "stop",
    }
}
