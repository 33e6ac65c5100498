//! Watching a crawl as it runs: each visit as it ends, and what each origin waits for.
//!
//! For people only. Nothing depends on what an observer does with an event, and none is stored. A world without an observer has [`Nobody`], for
//! whom an event costs no more than a call.

use std::time::Duration;

use dragline_domain::capture::Visit;
use dragline_domain::frontier::OriginKey;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::fetcher::Fetched;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A visit is over: the URL was requested, or must not be.
    Visited {
        /// The URL.
        url: &'a CrawlUrl,
        /// When its request started, or the decision was made.
        at: Timestamp,
        /// How it went, as stored.
        visit: &'a Visit,
        /// The request; `None` if nothing was sent.
        fetched: Option<&'a Fetched>,
    },
    /// The parser gave a URL another outcome than its visit did, or gave one to a URL that it found and that is not requested.
    Read {
        /// The URL.
        url: &'a CrawlUrl,
        /// How it ended.
        outcome: Outcome,
        /// Why; `None` where the outcome says it all.
        detail: Option<&'a str>,
    },
    /// An origin's stage changed.
    At {
        /// Which one.
        origin: &'a OriginKey,
        /// Its stage.
        stage: Stage,
    },
}

/// What an origin is doing or waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its robots.txt is being fetched.
    Robots,
    /// The next request starts then. Once that time has passed, it is under way or about to be.
    Waiting {
        /// The earliest time.
        until: Timestamp,
        /// The reason for the wait.
        why: Wait,
        /// The current delay.
        delay: Delay,
    },
    /// Nothing is left to request until what was fetched is parsed.
    Parsing {
        /// The delay that is kept meanwhile.
        delay: Delay,
    },
    /// Parsing found something to request. Another turn does so, with the same delay.
    Called {
        /// The earliest time.
        until: Timestamp,
    },
    /// Nothing is left.
    Done,
}

/// Why no request is made to an origin yet.
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
    /// What is left failed, and is tried again.
    Retry,
    /// Others are using its host, or the host rests.
    Host,
}

impl Wait {
    /// Returns it in one word, for machines.
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
    /// Where it comes from.
    pub reason: DelayReason,
}

/// Where a delay comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayReason {
    /// The definition.
    Definition,
    /// The Crawl-delay of robots.txt.
    CrawlDelay,
    /// The crawler itself, as the origin refused requests.
    BackOff,
}

impl DelayReason {
    /// Returns it in one word, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::CrawlDelay => "crawl_delay",
            Self::BackOff => "back_off",
        }
    }
}

/// Watches a crawl.
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
