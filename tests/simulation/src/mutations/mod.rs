//! Defects made on purpose, to see that the checks find them. Each is a wrapper over a port: production code has no hooks.

mod fetcher;
mod frontier;

pub(crate) use fetcher::MutatedFetcher;
pub(crate) use frontier::MutatedFrontier;

/// A defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Every claim is taken for one's own.
    ClaimNotChecked,
    /// The log of a segment is not written.
    LogForgotten,
    /// A parse is reported as committed and is not.
    ParseNotCommitted,
    /// An idle origin is not woken or closed, though that is reported.
    WakeUpLeftOut,
    /// A segment's commit exhausts a chunk that stays.
    ChunkConsumedTwice,
    /// A lease is taken before its origin may be asked again, or while its holder lives.
    LeaseTakenEarly,
    /// A robots.txt that cannot be read is taken for one that is missing.
    RobotsFailurePermits,
    /// The parse's counts are left out of the inbox.
    ParseNotCounted,
    /// The scheduler's token is never returned.
    OpenTokenKept,
}
