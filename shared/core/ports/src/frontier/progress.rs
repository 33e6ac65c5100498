//! The progress of an iteration.

use dragline_domain::frontier::{
    Counts, CrawlerCounters, IterationRow, LeaseState, LeftoverReason, OriginRows, ParserCounters,
};
use dragline_domain::outcome::Outcome;

/// The progress of an iteration: the sums over its origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Origins that take part.
    pub origins: u64,
    /// Open origins.
    pub origins_open: u64,
    /// Todo URLs added.
    pub added: u64,
    /// Todo URLs consumed.
    pub taken: u64,
    /// Waiting retries.
    pub retries_waiting: u64,
    /// Segments committed.
    pub segments: u64,
    /// Segments parsed.
    pub parsed: u64,
    /// The crawlers' counters.
    pub crawler: CrawlerCounters,
    /// The parsers' counters.
    pub parser: ParserCounters,
    /// URLs left over, by reason.
    pub leftovers: Vec<(LeftoverReason, u64)>,
}

impl Progress {
    /// Returns the progress of an iteration from its stored counts. The leftovers of a pruned
    /// iteration are unknown.
    #[must_use]
    pub fn from_counts(row: &IterationRow, counts: &Counts) -> Self {
        let mut progress = Self {
            origins: row.origins,
            origins_open: row.open.saturating_sub(u64::from(row.token_out)),
            added: counts.number("added"),
            taken: counts.number("taken"),
            retries_waiting: counts.number("retries_waiting"),
            segments: counts.number("segments"),
            parsed: counts.number("parsed"),
            crawler: counts.crawler(),
            parser: counts.parser(),
            leftovers: Vec::new(),
        };
        progress.set_leftovers(if row.pruned_at.is_none() { counts.leftovers() } else { Vec::new() });
        progress
    }

    /// Adds the counts of an origin's rows.
    pub fn add_origin(&mut self, rows: &OriginRows) {
        let OriginRows { lease, inbox } = rows;
        self.origins += 1;
        self.origins_open += u64::from(lease.state != LeaseState::Closed);
        self.added += inbox.added;
        self.taken += lease.taken;
        self.retries_waiting += u64::try_from(lease.retries.len()).unwrap_or(u64::MAX);
        self.segments += lease.segments;
        self.parsed += inbox.parsed;
        self.crawler.requests += lease.counters.requests;
        self.crawler.pages += lease.counters.pages;
        self.crawler.retries += lease.counters.retries;
        self.crawler.body_bytes += lease.counters.body_bytes;
        self.crawler.bodies_cut += lease.counters.bodies_cut;
        self.parser.add(&inbox.counters);
    }

    /// Sets the leftovers of closed origins. URLs whose captures were lost are left over, too.
    pub fn set_leftovers(&mut self, leftovers: Vec<(LeftoverReason, u64)>) {
        self.leftovers = leftovers;
        if self.parser.unreadable > 0 {
            self.leftovers.push((LeftoverReason::SegmentUnreadable, self.parser.unreadable));
        }
    }

    /// Returns the number of URLs with a final outcome.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.parser.outcomes.values().sum()
    }

    /// Returns the number of URLs that are waiting to be fetched.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.added.saturating_sub(self.taken) + self.retries_waiting
    }

    /// Returns the number of URLs with this outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.parser.outcomes.get(&outcome).copied().unwrap_or(0)
    }
}
