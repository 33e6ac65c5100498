//! Events of a running crawl: the end of each visit, the stage of each origin, and the batches of
//! work of the steps.
//!
//! For people only. Nothing depends on what an observer does with an event, and none is stored.
//! Without an observer there is [`Nobody`], for whom an event costs no more than a call.

use std::time::Duration;

use dragline_domain::capture::Visit;
use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Turn};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::error::PortError;
use super::fetcher::FetchOutcome;

/// An event of a crawl.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A visit is over: the URL was requested, or must not be.
    Visited {
        /// The origin whose turn it was.
        origin: &'a OriginKey,
        /// The URL.
        url: &'a CrawlUrl,
        /// When its request started, or the decision was made.
        at: Timestamp,
        /// The visit as stored.
        visit: &'a Visit,
        /// The request; `None` if nothing was sent.
        fetched: Option<&'a FetchOutcome>,
    },
    /// The parser changed the outcome of a visit, or decided the outcome of a found URL without a
    /// request.
    Read {
        /// The URL.
        url: &'a CrawlUrl,
        /// The outcome.
        outcome: Outcome,
        /// The reason; `None` where the outcome says it all.
        detail: Option<&'a str>,
    },
    /// An origin's stage changed.
    At {
        /// The origin.
        origin: &'a OriginKey,
        /// Its stage.
        stage: Stage,
    },
    /// A step began a batch of its work.
    Began {
        /// The batch.
        batch: Batch<'a>,
        /// When.
        at: Timestamp,
    },
    /// A step ended a batch of its work. One that is cut off has no such event.
    Ended {
        /// The batch.
        batch: Batch<'a>,
        /// When it began.
        began: Timestamp,
        /// When it ended.
        at: Timestamp,
        /// Why it failed; `None` if it did not.
        error: Option<&'a PortError>,
    },
}

/// What a step does at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch<'a> {
    /// It begins an iteration, or goes on with that.
    Schedule {
        /// The crawl.
        crawl: &'a CrawlId,
    },
    /// It requests pages of an origin.
    Turn {
        /// The origin.
        origin: &'a OriginKey,
        /// The turn. Two with the same number are one that was handed out twice, of which at most
        /// one gets the lease.
        turn: Turn,
    },
    /// It commits pages that were requested in a turn.
    Commit {
        /// The segment of these pages.
        segment: &'a SegmentId,
    },
    /// It reads committed pages.
    Parse {
        /// The segment of these pages.
        segment: &'a SegmentId,
    },
    /// It looks for overdue work.
    Sweep {
        /// The crawl.
        crawl: &'a CrawlId,
    },
}

impl Batch<'_> {
    /// Returns its kind in one word.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Schedule { .. } => "schedule",
            Self::Turn { .. } => "turn",
            Self::Commit { .. } => "commit",
            Self::Parse { .. } => "parse",
            Self::Sweep { .. } => "sweep",
        }
    }

    /// Returns the crawl that it belongs to.
    #[must_use]
    pub const fn crawl(&self) -> &CrawlId {
        match self {
            Self::Schedule { crawl } | Self::Sweep { crawl } => crawl,
            Self::Turn { origin, .. } => &origin.crawl,
            Self::Commit { segment } | Self::Parse { segment } => &segment.origin.crawl,
        }
    }

    /// Returns the origin whose pages it is about; `None` if it is about the crawl.
    #[must_use]
    pub const fn origin(&self) -> Option<&OriginKey> {
        match self {
            Self::Schedule { .. } | Self::Sweep { .. } => None,
            Self::Turn { origin, .. } => Some(origin),
            Self::Commit { segment } | Self::Parse { segment } => Some(&segment.origin),
        }
    }
}

/// An origin's current activity, or the reason for its wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its robots.txt is being fetched.
    Robots,
    /// The next request starts at `until`. Once that time has passed, it is under way or about to
    /// start.
    Waiting {
        /// The earliest time.
        until: Timestamp,
        /// The reason for the wait.
        why: Wait,
        /// The current delay.
        delay: Delay,
    },
    /// Nothing is left to request until the fetched pages are parsed.
    Parsing {
        /// The delay that applies meanwhile.
        delay: Delay,
    },
    /// Parsing found something to request; another turn does so, with the same delay.
    Called {
        /// The earliest time.
        until: Timestamp,
    },
    /// Nothing is left.
    Done,
}

/// The reason why no request is made to an origin yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Its delay.
    Delay,
    /// It asked for a pause by Retry-After.
    RetryAfter,
    /// It could not be reached, and may be restarting.
    OutOfReach,
    /// Its robots.txt could not be read, and is requested again.
    Robots,
    /// The remaining requests failed, and will be tried again.
    Retry,
    /// Its host is in use by others, or rests.
    Host,
}

impl Wait {
    /// Returns it in one word, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::RetryAfter => "retry_after",
            Self::OutOfReach => "out_of_reach",
            Self::Robots => "robots_unreadable",
            Self::Retry => "retry",
            Self::Host => "host",
        }
    }
}

/// The delay between requests to an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// From the start of one request to the start of the next.
    pub time: Duration,
    /// Its source.
    pub reason: DelayReason,
}

/// The source of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayReason {
    /// The definition.
    Definition,
    /// The Crawl-delay of robots.txt.
    CrawlDelay,
    /// The crawler's back-off, as the origin refused requests.
    BackOff,
}

impl DelayReason {
    /// Returns it in one word, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::CrawlDelay => "crawl_delay",
            Self::BackOff => "back_off",
        }
    }
}

/// A watcher of a crawl.
pub trait Observer: Send + Sync {
    /// Receives an event. The turn waits for this to return: it must be quick, and must not fail.
    fn observe(&self, event: &Event<'_>);
}

/// The observer of a crawl that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn observe(&self, _event: &Event<'_>) {}
}
