//! All ports together, and the steps' timing.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::ClaimLimits;

use crate::handover::Handover;
use crate::live::LiveTurns;
use dragline_ports::archive::Archive;
use dragline_ports::clock::{Clock, Rng};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::notifier::Notifier;
use dragline_ports::observer::{Nobody, Observer};
use dragline_ports::queue::Queue;

/// One set of ports, as the steps see it; [`Adapters`] implements it. The
/// [`dragline_ports::fetcher::Fetcher`] is separate, as only the crawl step has one.
pub trait World: Send + Sync + 'static {
    /// Stores work and knowledge.
    type Frontier: Frontier;
    /// Stores bodies.
    type Archive: Archive;
    /// Stores documents.
    type Documents: Documents;
    /// Sends work from step to step.
    type Queue: Queue;
    /// Sends notices to people.
    type Notifier: Notifier;
    /// Tells the time.
    type Clock: Clock;
    /// Returns random bits.
    type Rng: Rng;

    /// The frontier.
    fn frontier(&self) -> &Self::Frontier;
    /// The archive.
    fn archive(&self) -> &Self::Archive;
    /// The documents.
    fn documents(&self) -> &Self::Documents;
    /// The queue.
    fn queue(&self) -> &Self::Queue;
    /// The notifier.
    fn notifier(&self) -> &Self::Notifier;
    /// The observer.
    fn observer(&self) -> &dyn Observer;
    /// The clock.
    fn clock(&self) -> &Self::Clock;
    /// The random number generator.
    fn rng(&self) -> &Self::Rng;
    /// Returns the turns of this process.
    fn live(&self) -> &LiveTurns;
    /// Returns the handover from crawl steps to parse steps of this process.
    fn handover(&self) -> &Handover;
    /// Returns the times and limits of the steps.
    fn timing(&self) -> &Timing;
}

/// A set of adapters, one per port.
#[derive(Clone)]
pub struct Adapters<F, A, D, Q, N, C, H> {
    /// The frontier.
    pub frontier: F,
    /// The archive.
    pub archive: A,
    /// The documents.
    pub documents: D,
    /// The queue.
    pub queue: Q,
    /// The notifier.
    pub notifier: N,
    /// The clock.
    pub clock: C,
    /// The random number generator.
    pub rng: H,
    /// The observer.
    pub observer: Arc<dyn Observer>,
    /// The turns of this process.
    pub live: LiveTurns,
    /// The handover from crawl steps to parse steps of this process.
    pub handover: Handover,
    /// The times and limits of the steps.
    pub timing: Timing,
}

impl<F, A, D, Q, N, C, H> Adapters<F, A, D, Q, N, C, H> {
    /// Returns adapters without an observer or a handover, with the default timing.
    pub fn new(frontier: F, archive: A, documents: D, queue: Q, notifier: N, (clock, rng): (C, H)) -> Self {
        Self {
            frontier,
            archive,
            documents,
            queue,
            notifier,
            clock,
            rng,
            observer: Arc::new(Nobody),
            live: LiveTurns::default(),
            handover: Handover::none(),
            timing: Timing::default(),
        }
    }

    /// Returns the same adapters with this observer.
    #[must_use]
    pub fn watched_by(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer, ..self }
    }

    /// Returns the same adapters with a handover to the parsers of this process.
    #[must_use]
    pub fn with_handover(self, handover: Handover) -> Self {
        Self { handover, ..self }
    }

    /// Returns the same adapters with another queue.
    #[must_use]
    pub fn with_queue<R>(self, queue: R) -> Adapters<F, A, D, R, N, C, H> {
        let Self { frontier, archive, documents, queue: _, notifier, clock, rng, observer, live, handover, timing } =
            self;
        Adapters { frontier, archive, documents, queue, notifier, clock, rng, observer, live, handover, timing }
    }

    /// Returns the same adapters with other times.
    #[must_use]
    pub fn with_timing(self, timing: Timing) -> Self {
        Self { timing, ..self }
    }
}

impl<F, A, D, Q, N, C, H> Adapters<F, A, D, Q, N, C, H>
where
    Self: Clone,
{
    /// Returns another set of the same adapters, whose steps walk through origins for no longer
    /// than this.
    #[must_use]
    pub fn with_walk(&self, walk: Duration) -> Self {
        self.clone().with_timing(Timing { walk: Some(walk), ..self.timing })
    }

    /// Returns another set of the same adapters, with turns of this length.
    #[must_use]
    pub fn with_turn(&self, turn: Duration) -> Self {
        self.clone().with_timing(Timing { turn, ..self.timing })
    }
}

impl<F, A, D, Q, N, C, H> World for Adapters<F, A, D, Q, N, C, H>
where
    F: Frontier + 'static,
    A: Archive + 'static,
    D: Documents + 'static,
    Q: Queue + 'static,
    N: Notifier + 'static,
    C: Clock + 'static,
    H: Rng + 'static,
{
    type Frontier = F;
    type Archive = A;
    type Documents = D;
    type Queue = Q;
    type Notifier = N;
    type Clock = C;
    type Rng = H;

    fn frontier(&self) -> &F {
        &self.frontier
    }

    fn archive(&self) -> &A {
        &self.archive
    }

    fn documents(&self) -> &D {
        &self.documents
    }

    fn queue(&self) -> &Q {
        &self.queue
    }

    fn notifier(&self) -> &N {
        &self.notifier
    }

    fn observer(&self) -> &dyn Observer {
        &*self.observer
    }

    fn clock(&self) -> &C {
        &self.clock
    }

    fn rng(&self) -> &H {
        &self.rng
    }

    fn live(&self) -> &LiveTurns {
        &self.live
    }

    fn handover(&self) -> &Handover {
        &self.handover
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}

/// The times and limits of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a lease lasts after it was taken or last renewed by a commit.
    pub lease: Duration,
    /// The part of a lease that is reserved for committing: no request starts that could end within
    /// it.
    pub commit_reserve: Duration,
    /// The longest duration of a turn.
    pub turn: Duration,
    /// The greatest age of a segment, from its first request to its commit.
    pub segment_age: Duration,
    /// The longest wait within a turn. For a longer one the turn ends, and its next ticket comes
    /// then.
    pub wait_in_turn: Duration,
    /// How long a turn with nothing left to request waits for the parses of its segments before it
    /// releases the origin. Zero if another turn costs nothing.
    pub parse_wait: Duration,
    /// The longest time of a parse: one that began longer ago, and was neither committed nor given
    /// back, died.
    pub parse: Duration,
    /// How long a step walks through origins before it stores its progress and leaves the rest to
    /// another call; `None` for no limit.
    pub walk: Option<Duration>,
    /// How long a message may take before the sweeper sends it again.
    pub grace: Duration,
    /// The number of URLs that may wait if there is a page budget.
    pub claims: ClaimLimits,
    /// The most memory for the links of all pages of a segment together, in bytes.
    pub links_bytes: u32,
    /// What happens to the lease of a killed process.
    pub dead_leases: DeadLeases,
}

/// What happens to the lease of a killed process, and with it to a wait that a server has just
/// asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeadLeases {
    /// It expires: the next holder comes later than any wait within a turn ends.
    #[default]
    RunOut,
    /// It is void as soon as the next process starts, which knows only committed waits. So waits
    /// are committed at once.
    AreVoid,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(150),
            commit_reserve: Duration::from_secs(15),
            turn: Duration::from_secs(240),
            segment_age: Duration::from_secs(60),
            wait_in_turn: Duration::from_secs(20),
            parse_wait: Duration::ZERO,
            parse: Duration::from_secs(300),
            walk: None,
            grace: Duration::from_secs(60),
            claims: ClaimLimits::default(),
            links_bytes: 32 << 20,
            dead_leases: DeadLeases::default(),
        }
    }
}
