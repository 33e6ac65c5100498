//! What is explored: a site, who works on it, and how much may go wrong.

use crate::mutation::Mutation;
use crate::site::Site;

/// A configuration. Each is kept small by allowing few faults, of one or two kinds.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The site.
    pub site: Site,
    /// How many work on it at once.
    pub workers: Workers,
    /// The budget of an iteration; absent: unlimited.
    pub pages_max: Option<u64>,
    /// The depth limit of the definition; absent: none.
    pub depth_max: Option<u32>,
    /// How a parse is cut into parts.
    pub cut: Cut,
    /// Whether something may happen between reading rows and acting on them.
    pub reading: Reading,
    /// What becomes of messages that can only be refused.
    pub late_messages: LateMessages,
    /// What the sweeper does.
    pub sweeping: Sweeping,
    /// Whose hosts the origins are.
    pub hosts: Hosts,
    /// What was crawled before.
    pub history: History,
    /// Commands of different triggers that are sent at the start.
    pub commands: usize,
    /// How often each kind of fault happens at most.
    pub faults: Faults,
    /// What is left out of the protocol, to see whether it is missed.
    pub mutation: Option<Mutation>,
}

/// How many workers there are of each kind. There is one sweeper.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// Schedulers.
    pub schedulers: usize,
    /// Crawlers.
    pub crawlers: usize,
    /// Parsers.
    pub parsers: usize,
}

/// How a parse is cut into parts. The limits of a transaction would need dozens of origins to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As production does: here, into one.
    ByLimits,
    /// One part for each target.
    ByTarget,
}

/// Whether something may happen between reading rows and acting on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Nothing: reading and acting are one step.
    Merged,
    /// Anything.
    Apart,
}

/// What becomes of messages that can only be refused: tickets of turns gone by, parse messages of parsed segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateMessages {
    /// They are dropped at once.
    Dropped,
    /// They are delivered some time.
    Delivered,
}

/// What the sweeper does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweeping {
    /// Everything.
    Whole,
    /// It gives up and closes, and sends nothing again: so that nothing may get lost that only it would find.
    OnlyCloses,
}

/// Whose hosts the origins are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Each has its own, of which nobody but its holder knows: its row is left out.
    Apart,
    /// Both are of one host.
    Shared,
    /// Each has its own, of one registered domain, of which one host may be asked at once.
    OfOneDomain,
}

/// What was crawled before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Nothing.
    New,
    /// The whole site, by an iteration that is over and left its rows.
    CrawledOnce,
    /// Nothing, but once the first iteration is over another begins, with whatever the first left behind still under way.
    ToBeRepeated,
}

/// How often each kind of fault may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// A worker dies; its message comes again.
    pub crashes: u8,
    /// A message is delivered, and stays; or is sent again while it is being worked on.
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
    /// A page fails in a way that may be a fluke, and is put off.
    pub flukes: u8,
    /// A page fails and ends the origin's patience.
    pub failures: u8,
    /// A parse skips the captures, as it was killed too often.
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
    /// A site crawled by one scheduler, two crawlers and two parsers, with nothing going wrong.
    #[must_use]
    pub const fn of(site: Site) -> Self {
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

    /// The same with something of the protocol left out.
    #[must_use]
    pub const fn without(self, mutation: Mutation) -> Self {
        Self { mutation: Some(mutation), ..self }
    }
}
