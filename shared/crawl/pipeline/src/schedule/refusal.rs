//! Refused commands.

use dragline_domain::frontier::{IterationStatus, StatusChange};
use dragline_domain::ids::CrawlId;

/// Why a command is refused. Delivering it again would not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no definition of that name.
    #[error("there is no crawl `{0}`")]
    NoSuchCrawl(CrawlId),
    /// The crawl was removed.
    #[error("the crawl `{0}` is switched off: put its definition again")]
    SwitchedOff(CrawlId),
    /// No iteration of the crawl is running.
    #[error("no iteration of `{0}` is running")]
    NotRunning(CrawlId),
    /// The running iteration does not allow this change.
    #[error("an iteration of `{crawl}` that is {} cannot be {}", .status.name(), participle(*.change))]
    DoesNotFit {
        /// The crawl.
        crawl: CrawlId,
        /// The iteration's status.
        status: IterationStatus,
        /// The requested change.
        change: StatusChange,
    },
    /// The running iteration is being stopped, so nothing is added to it.
    #[error("the iteration of `{0}` is being stopped: send the URL again when it is over")]
    Stopping(CrawlId),
    /// The running iteration remakes documents and requests nothing, so no URL is added to it.
    #[error("`{0}` makes its documents again just now: send the URL again when that is over")]
    Reparsing(CrawlId),
    /// No URL is named.
    #[error("the command names no URL")]
    NoUrls,
    /// A crawl with that name exists, and the URL is not in its scope.
    #[error("{url} is not crawled by `{crawl}`: {why}")]
    NotInScope {
        /// The URL.
        url: String,
        /// The crawl.
        crawl: CrawlId,
        /// The rule that excludes it.
        why: String,
    },
    /// Pruning needs another command.
    #[error("`{0}` cannot be pruned here")]
    NotPruned(CrawlId),
    /// No definition can be made from the URL.
    #[error("{url} cannot be crawled: {why}")]
    Unsound {
        /// The URL.
        url: String,
        /// What is wrong.
        why: String,
    },
}

const fn participle(change: StatusChange) -> &'static str {
    match change {
        StatusChange::Pause => "paused",
        StatusChange::Resume => "resumed",
        StatusChange::Stop => "stopped",
    }
}
