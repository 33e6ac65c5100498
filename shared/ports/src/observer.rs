//! Watching a crawl as it goes: each visit as it ends, and what each origin waits for.
//!
//! For people alone. Nothing depends on what an observer makes of it, nothing of it is kept, and a world that names none has [`Nobody`], for whom
//! no event costs more than a call.

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
    /// A visit is over: the URL was asked for, or must not be.
    Visited {
        /// The URL.
        url: &'a CrawlUrl,
        /// When its request started, or it was decided on.
        at: Timestamp,
        /// How it went, as it is stored.
        visit: &'a Visit,
        /// The request; absent if nothing was sent.
        fetched: Option<&'a Fetched>,
    },
    /// Whoever read what was fetched ended a URL otherwise than its visit did, or ended one that was found there and is not asked for.
    Read {
        /// The URL.
        url: &'a CrawlUrl,
        /// How it ended.
        outcome: Outcome,
        /// Why; absent where the outcome says it all.
        detail: Option<&'a str>,
    },
    /// An origin waits for something else than before.
    At {
        /// Which one.
        origin: &'a OriginKey,
        /// What it is at.
        stage: Stage,
    },
}

/// What an origin is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its robots.txt is being got.
    Robots,
    /// The next request starts then; once that has passed, it is under way, or about to be.
    Waiting {
        /// Not before then.
        until: Timestamp,
        /// Why not.
        why: Wait,
        /// The delay of now.
        delay: Delay,
    },
    /// Nothing is left to ask for until what was fetched is parsed.
    Parsing {
        /// The delay that is kept meanwhile.
        delay: Delay,
    },
    /// Parsing found something to ask for: another turn does, by the same delay.
    Called {
        /// Not before then.
        until: Timestamp,
    },
    /// Nothing is left.
    Done,
}

/// Why an origin is not asked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Its delay.
    Delay,
    /// It asked for it by Retry-After.
    RetryAfter,
    /// It could not be reached, and may be restarting.
    OutOfReach,
    /// Its robots.txt could not be read, and is asked for again.
    Robots,
    /// What is left failed, and is tried again.
    Retry,
    /// Others ask its host, or the host rests.
    Host,
}

impl Wait {
    /// In one word, for machines.
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

/// The delay that an origin is asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// From the start of one request to the start of the next.
    pub time: Duration,
    /// Whose wish it is.
    pub reason: DelayReason,
}

/// Whose wish a delay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayReason {
    /// The definition's.
    Definition,
    /// robots.txt's, by Crawl-delay.
    CrawlDelay,
    /// The crawler's own, as the origin refused requests.
    BackOff,
}

impl DelayReason {
    /// In one word, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::CrawlDelay => "crawl_delay",
            Self::BackOff => "back_off",
        }
    }
}

/// Watches.
pub trait Observer: Send + Sync {
    /// Takes note of it. Turns wait until this is over: it must be quick, and must not fail.
    fn observe(&self, event: &Event<'_>);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn observe(&self, _event: &Event<'_>) {}
}
