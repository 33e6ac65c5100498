//! A state of the model: the rows, the messages under way, and the state of each worker.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use dragline_domain::capture::Finality;
use dragline_domain::frontier::{CandidateState, ChunkKey, DomainRow, HostRow, IterationRow, OriginRows, SegmentRow};
use dragline_domain::ids::{Iteration, Turn};
use jiff::Timestamp;

use crate::config::Faults;
use crate::crawler::Crawler;
use crate::invariants::Invariant;
use crate::parser::Parser;
use crate::scheduler::Scheduler;
use crate::site::{ORIGINS, OriginNumber, Page};
use crate::sweeper::Sweeper;

/// The number of a trigger: 0, or 1 for a second one.
pub(crate) type TriggerNumber = usize;

/// The largest number of iterations and triggers.
pub(crate) const ITERATIONS: usize = 2;

/// A ticket: a request for a visit to an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket {
    pub iteration: Iteration,
    pub origin: OriginNumber,
    pub turn: Turn,
}

/// A segment's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SegmentKey {
    pub iteration: Iteration,
    pub origin: OriginNumber,
    pub turn: Turn,
    pub n: u64,
}

/// A message. Sending one that is already under way changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Message {
    Command(TriggerNumber),
    Ticket(Ticket),
    Parse(SegmentKey),
}

/// What a parser extracted from a segment's captures, put once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Documents {
    /// Its links were extracted.
    Read,
    /// It was given up as STUCK: it has no links.
    Skipped,
}

/// A segment, which holds one page.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub row: SegmentRow,
    pub page: Page,
    pub depth: u32,
    pub finality: Finality,
    pub documents: Option<Documents>,
}

/// Everything that determines the next steps. Parts that seldom change are shared between states.
#[derive(Clone)]
pub(crate) struct State {
    pub iterations: [Option<Rc<IterationRow>>; ITERATIONS],
    /// The iteration that each trigger began.
    pub begun: [Option<Iteration>; ITERATIONS],
    pub origins: [Option<Rc<OriginRows>>; ORIGINS],
    /// The row of the host that the origins share; `None` before it is first taken, and where they
    /// do not share one.
    pub host: Option<Rc<HostRow>>,
    /// The row of the domain that their hosts share, likewise.
    pub domain: Option<Rc<DomainRow>>,
    pub segments: Rc<BTreeMap<SegmentKey, Segment>>,
    /// The seedings recorded as added.
    pub seedings: Rc<BTreeSet<(Iteration, OriginNumber, TriggerNumber)>>,
    pub todo: Rc<BTreeMap<(OriginNumber, ChunkKey), Vec<Page>>>,
    pub candidates: Rc<BTreeMap<Page, CandidateState>>,
    pub leftovers: Rc<BTreeMap<(Iteration, OriginNumber, Turn), u64>>,
    pub messages: BTreeSet<Message>,
    pub schedulers: Vec<Scheduler>,
    pub crawlers: Vec<Crawler>,
    pub parsers: Vec<Parser>,
    pub sweeper: Sweeper,
    pub faults: Faults,
    /// The invariant that the last step violated, where the rows do not show it.
    pub broken: Option<Invariant>,
}

/// The current time, which never changes: whatever is due counts as due at once, and a lease runs
/// out by a step of its own.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_000).expect("a time in range")
}

/// The end of a lease that has not run out.
pub(crate) fn in_time() -> Timestamp {
    Timestamp::from_second(2_000).expect("a time in range")
}

/// The end of a lease that has run out.
pub(crate) fn run_out() -> Timestamp {
    Timestamp::from_second(0).expect("a time in range")
}

impl State {
    /// The newest iteration.
    pub(crate) fn latest(&self) -> Option<&Rc<IterationRow>> {
        self.iterations.iter().rev().flatten().next()
    }

    /// One iteration.
    pub(crate) fn iteration(&self, number: Iteration) -> Option<&Rc<IterationRow>> {
        self.iterations.iter().flatten().find(|row| row.number == number)
    }

    /// Writes an iteration's row.
    pub(crate) fn put_iteration(&mut self, row: IterationRow) {
        let place = row.number.number() as usize - 1;
        self.iterations[place] = Some(Rc::new(row));
    }

    /// The rows of an origin, if it was ever opened.
    pub(crate) fn rows(&self, origin: OriginNumber) -> Option<&Rc<OriginRows>> {
        self.origins[origin].as_ref()
    }

    /// The rows of the origins that take part in an iteration.
    pub(crate) fn rows_in(&self, number: Iteration) -> impl Iterator<Item = (OriginNumber, &Rc<OriginRows>)> {
        let rows = self.origins.iter().enumerate().filter_map(|(origin, rows)| Some((origin, rows.as_ref()?)));
        rows.filter(move |(_, rows)| rows.lease.iteration == number)
    }

    /// The segments of an iteration.
    pub(crate) fn iteration_segments(&self, number: Iteration) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(move |(key, _)| key.iteration == number).map(|(_, segment)| segment)
    }

    pub(crate) fn send(&mut self, message: Message) {
        self.messages.insert(message);
    }

    /// Drops the messages that can only be refused.
    pub(crate) fn drop_late_messages(&mut self) {
        use dragline_domain::frontier::{LeaseState, SegmentState};
        let (origins, segments) = (&self.origins, &self.segments);
        self.messages.retain(|message| match message {
            Message::Command(_) => true,
            Message::Ticket(ticket) => origins[ticket.origin].as_ref().is_some_and(|rows| {
                let lease = &rows.lease;
                let is_asked_for = matches!(lease.state, LeaseState::Ready | LeaseState::Leased(_));
                lease.turn == ticket.turn && lease.iteration == ticket.iteration && is_asked_for
            }),
            Message::Parse(key) => segments.get(key).is_some_and(|s| s.row.state != SegmentState::Processed),
        });
    }
}
