//! What is explored: a site, its workers, and how much may go wrong.

use crate::mutation::Mutation;
use crate::site::Site;

/// A configuration. Each is kept small by allowing few faults, of one or two kinds.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The site.
    pub site: Site,
    /// How many workers there are.
    pub workers: Workers,
    /// The budget of an iteration; `None` if unlimited.
    pub pages_max: Option<u64>,
    /// The depth limit of the definition, if any.
    pub depth_max: Option<u32>,
    /// How a parse is cut into parts.
    pub cut: Cut,
    /// Whether something may happen between reading rows and acting on them.
    pub reading: Reading,
    /// What happens to messages that can only be refused.
    pub late_messages: LateMessages,
    /// How much the sweeper does.
    pub sweeping: Sweeping,
    /// How the origins share hosts and domains.
    pub hosts: Hosts,
    /// What was crawled before.
    pub history: History,
    /// Commands of different triggers that are sent at the start.
    pub commands: usize,
    /// How often each kind of fault may happen.
    pub faults: Faults,
    /// The condition that is left out of the protocol, to check that the model notices.
    pub mutation: Option<Mutation>,
}

/// The number of workers of each kind. There is always one sweeper.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// Schedulers.
    pub schedulers: usize,
    /// Crawlers.
    pub crawlers: usize,
    /// Parsers.
    pub parsers: usize,
}

/// How a parse is cut into parts. Reaching the limits of a transaction would take dozens of
/// origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As in production: here, into one.
    ByLimits,
    /// One part for each target.
    ByTarget,
}

/// Whether something may happen between reading rows and acting on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Nothing may: reading and acting are one step.
    Merged,
    /// Anything may.
    Apart,
}

/// What happens to messages that can only be refused: tickets of past turns, parse messages of
/// parsed segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateMessages {
    /// They are dropped at once.
    Dropped,
    /// They are delivered eventually.
    Delivered,
}

/// How much the sweeper does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweeping {
    /// Everything.
    Whole,
    /// It gives up and closes, but sends nothing again, so everything must work without it.
    OnlyCloses,
}

/// How the origins share hosts and domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Each has a host of its own, whose row matters only to its holder and is left out.
    Apart,
    /// Both share a host.
    Shared,
    /// Each has a host of its own; both share a registered domain, of which one host may be visited
    /// at once.
    OfOneDomain,
}

/// What was crawled before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Nothing.
    New,
    /// The whole site, by a closed iteration that left its rows.
    CrawledOnce,
    /// Nothing; but once the first iteration is closed another begins, with leftover messages of
    /// the first still under way.
    ToBeRepeated,
}

/// How often each kind of fault may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// A worker dies; its message is delivered again.
    pub crashes: u8,
    /// A message is delivered but stays, or is sent again while it is being handled.
    pub duplicates: u8,
    /// A message is lost.
    pub losses: u8,
    /// A lease runs out while its holder lives.
    pub expiries: u8,
    /// The answer of a segment's commit is lost, and it is tried again.
    pub lost_answers: u8,
    /// The user stops the iteration.
    pub stops: u8,
    /// The user pauses it.
    pub pauses: u8,
    /// A page fails in a way that may be transient, and is retried.
    pub flukes: u8,
    /// A page fails and exhausts the origin's patience.
    pub failures: u8,
    /// A parse skips the captures, as too many tries crashed.
    pub skips: u8,
}

impl Faults {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        crashes: 0,
        duplicates: 0,
        losses: 0,
        expiries: 0,
        lost_answers: 0,
        stops: 0,
        pauses: 0,
        flukes: 0,
        failures: 0,
        skips: 0,
    };
}

impl Config {
    /// A site crawled by one scheduler, two crawlers and two parsers, without faults.
    #[must_use]
    pub const fn for_site(site: Site) -> Self {
        Self {
            site,
            workers: Workers { schedulers: 1, crawlers: 2, parsers: 2 },
            pages_max: None,
            depth_max: None,
            cut: Cut::ByLimits,
            reading: Reading::Merged,
            late_messages: LateMessages::Dropped,
            sweeping: Sweeping::Whole,
            hosts: Hosts::Apart,
            history: History::New,
            commands: 1,
            faults: Faults::NONE,
            mutation: None,
        }
    }

    /// The same with these faults.
    #[must_use]
    pub const fn with(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// The same with a condition of the protocol left out.
    #[must_use]
    pub const fn without(self, mutation: Mutation) -> Self {
        Self { mutation: Some(mutation), ..self }
    }
}
