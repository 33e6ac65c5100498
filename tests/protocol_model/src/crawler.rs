//! A crawler: takes a lease, commits one page a segment, lets go.

use std::rc::Rc;

use dragline_domain::capture::Finality;
use dragline_domain::frontier::{
    Barrier, ChunkKey, ClaimDecision, Claimer, Inbox, Lease, LeaseState, LeftoverReason, Position, RecrawlCursor,
    Release, ReleaseRefused, Retry, SegmentWork, claim, decide_release,
};
use dragline_domain::ids::LeaseToken;

use crate::config::Reading;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::{OriginNumber, Page};
use crate::state::{Message, SegmentKey, State, Ticket, now, run_out};
use crate::steps::Steps;
use crate::store::{Committed, SegmentCommit, entry, path};

/// Where a crawler stands.
#[derive(Clone)]
pub(crate) enum Crawler {
    Idle,
    /// It looks for work. A turn may end once it has committed something.
    Working {
        held: Held,
        has_committed: bool,
    },
    /// It has fetched a page, and not committed it.
    Fetched {
        held: Held,
        visit: Visit,
    },
    /// It has committed, and owes the parse message.
    Committed {
        held: Held,
        segment: SegmentKey,
    },
    /// It read the inbox, and lets go as that calls for.
    Releasing {
        held: Held,
        seen: Inbox,
    },
    /// It let go, and owes the next turn's ticket.
    Released {
        ticket: Ticket,
    },
}

/// What a holder knows.
#[derive(Clone)]
pub(crate) struct Held {
    pub origin: OriginNumber,
    pub token: LeaseToken,
    /// Its copy.
    pub lease: Rc<Lease>,
    pub term: Term,
}

/// Whether a lease has run out since it was taken or renewed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term {
    Running,
    RanOut,
}

/// A page that was asked for.
#[derive(Clone, Hash)]
pub(crate) struct Visit {
    page: Page,
    depth: u32,
    tries: u8,
    /// Where the lease stands once it is committed.
    after: Position,
    /// The chunk that it is the last of.
    exhausts: Option<ChunkKey>,
}

/// Why there is nothing to visit.
enum Dry {
    Empty,
    AtBarrier,
}

impl Crawler {
    pub(crate) const fn held(&self) -> Option<&Held> {
        match self {
            Self::Working { held, .. }
            | Self::Fetched { held, .. }
            | Self::Committed { held, .. }
            | Self::Releasing { held, .. } => Some(held),
            Self::Idle | Self::Released { .. } => None,
        }
    }

    fn held_mut(&mut self) -> Option<&mut Held> {
        match self {
            Self::Working { held, .. }
            | Self::Fetched { held, .. }
            | Self::Committed { held, .. }
            | Self::Releasing { held, .. } => Some(held),
            Self::Idle | Self::Released { .. } => None,
        }
    }

    /// The ticket that it works on, or owes.
    fn ticket(&self) -> Option<Ticket> {
        let of = |held: &Held| Ticket { iteration: held.lease.iteration, origin: held.origin, turn: held.lease.turn };
        match self {
            Self::Released { ticket } => Some(*ticket),
            _ => self.held().map(of),
        }
    }

    /// Whether it works on this origin, or owes it a ticket.
    pub(crate) fn is_about(&self, origin: OriginNumber) -> bool {
        self.ticket().is_some_and(|ticket| ticket.origin == origin)
    }

    /// Whether it owes this segment's parse message.
    pub(crate) fn owes(&self, key: SegmentKey) -> bool {
        matches!(self, Self::Committed { segment, .. } if *segment == key)
    }
}

pub(crate) fn steps(model: &Model, number: usize, steps: &mut Steps<'_>) {
    let crawler = &steps.state.crawlers[number];
    let name = || format!("crawler {number}");
    match crawler {
        Crawler::Idle => {
            let messages = steps.state.messages.iter().copied();
            for message in messages.filter(|message| matches!(message, Message::Ticket(_))) {
                let Message::Ticket(ticket) = message else { continue };
                Model::receive(steps, &name(), message, |next| next.crawlers[number] = take(model, next, ticket));
            }
            return;
        }
        Crawler::Working { held, has_committed } => work(model, number, held, *has_committed, steps),
        Crawler::Fetched { held, visit } => commits(model, number, held, visit, steps),
        Crawler::Committed { held, segment } => steps.owed(
            || format!("{} sends the parse message", name()),
            |next| {
                next.send(Message::Parse(*segment));
                next.crawlers[number] = Crawler::Working { held: held.clone(), has_committed: true };
            },
        ),
        Crawler::Releasing { held, seen } => steps.owed(
            || format!("{} lets go of origin {}", name(), held.origin),
            |next| next.crawlers[number] = release(model, next, held, seen),
        ),
        Crawler::Released { ticket } => steps.owed(
            || format!("{} sends the ticket of turn {}", name(), ticket.turn),
            |next| {
                next.send(Message::Ticket(*ticket));
                next.crawlers[number] = Crawler::Idle;
            },
        ),
    }
    let Some(ticket) = crawler.held().and_then(|_| crawler.ticket()) else {
        let dies = |next: &mut State| next.crawlers[number] = Crawler::Idle;
        steps.fault(|| format!("{} dies", name()), |faults| &mut faults.crashes, dies);
        return;
    };
    let dies = |next: &mut State| {
        next.crawlers[number] = Crawler::Idle;
        next.send(Message::Ticket(ticket));
    };
    steps.fault(|| format!("{} dies", name()), |faults| &mut faults.crashes, dies);
}

fn take(model: &Model, next: &mut State, ticket: Ticket) -> Crawler {
    match model.take_lease(next, ticket) {
        None => Crawler::Idle,
        Some((token, lease)) => {
            let held = Held { origin: ticket.origin, token, lease: Rc::new(lease), term: Term::Running };
            Crawler::Working { held, has_committed: false }
        }
    }
}

fn work(model: &Model, number: usize, held: &Held, has_committed: bool, steps: &mut Steps<'_>) {
    let must_end = held.lease.ending.is_some() || held.lease.holder().is_some_and(|holder| holder.reserved.is_spent());
    let mut position = Position::of(&held.lease);
    let visit = if must_end { Err(Dry::Empty) } else { next_visit(model, steps.state, held, &mut position) };
    if let Ok(visit) = &visit {
        steps.owed(
            || format!("crawler {number} fetches page {}", visit.page),
            |next| {
                if visit.is_recrawl(held) && !model.lacks(Mutation::RecrawlUnclaimed) {
                    model.claim(next, held.lease.iteration, visit.page, &Claimer::recrawl());
                }
                check_barrier(model, next, held, visit);
                next.crawlers[number] = Crawler::Fetched { held: held.clone(), visit: visit.clone() };
            },
        );
    }
    if visit.is_ok() && !has_committed {
        return;
    }
    let barrier = if matches!(visit, Err(Dry::AtBarrier)) { Barrier::Waiting } else { Barrier::Open };
    steps.owed(
        || format!("crawler {number} has done enough on origin {}", held.origin),
        |next| {
            let mut lease = Lease { barrier, ..(*held.lease).clone() };
            if visit.is_err() {
                position.write_to(&mut lease);
            }
            let held = Held { lease: Rc::new(lease), ..held.clone() };
            let Some(seen) = next.rows(held.origin).map(|rows| rows.inbox.clone()) else { return };
            next.crawlers[number] = match model.config.reading {
                Reading::Apart => Crawler::Releasing { held, seen },
                Reading::Merged => release(model, next, &held, &seen),
            };
        },
    );
}

impl Visit {
    fn is_recrawl(&self, held: &Held) -> bool {
        self.after.cursor != held.lease.cursor
    }
}

/// What comes next: a retry, todo, then candidates due for recrawl. Moves the position over candidates that others queued.
fn next_visit(model: &Model, state: &State, held: &Held, position: &mut Position) -> Result<Visit, Dry> {
    let Held { origin, lease, .. } = held;
    if let Some(Retry { entry, depth, tries, .. }) = lease.retries.first() {
        let page = entry.path_and_query[1..].parse().unwrap_or(Page::MAX);
        return Ok(Visit { page, depth: *depth, tries: *tries, after: position.clone(), exhausts: None });
    }
    let first = || state.todo.iter().find(|((of, key), _)| of == origin && key.iteration == lease.iteration);
    let begun = position.chunk.as_ref().map(|chunk| chunk.key.clone()).filter(|_| !model.lacks(Mutation::ChunkByOrder));
    let begun = begun.and_then(|key| state.todo.get_key_value(&(*origin, key)));
    if let Some(((_, key), pages)) = begun.or_else(first) {
        let inbox = state.rows(*origin).map(|rows| &rows.inbox).ok_or(Dry::Empty)?;
        let is_limited = model.config.depth_max.is_some() && !model.lacks(Mutation::BarrierLeftOut);
        if is_limited && position.is_barred(key.depth, lease, inbox, 0) {
            return Err(Dry::AtBarrier);
        }
        let page = *pages.get(position.offset() as usize).ok_or(Dry::Empty)?;
        let exhausts = position.take_from(key, pages.len());
        return Ok(Visit { page, depth: key.depth, tries: 0, after: position.clone(), exhausts });
    }
    let page = next_due(model, state, held, &position.cursor);
    position.cursor = page.map_or(RecrawlCursor::End, |page| RecrawlCursor::After(path(page)));
    let page = page.ok_or(Dry::Empty)?;
    Ok(Visit { page, depth: 0, tries: 0, after: position.clone(), exhausts: None })
}

/// The next candidate that an earlier iteration left and that nobody else queued in this one.
fn next_due(model: &Model, state: &State, held: &Held, cursor: &RecrawlCursor) -> Option<Page> {
    let is_own = |candidate| match claim(Some(candidate), held.lease.iteration, &Claimer::recrawl(), Some(now())) {
        ClaimDecision::Write => true,
        ClaimDecision::AlreadyOwn => !model.lacks(Mutation::RecrawlNotOwnAgain),
        ClaimDecision::Taken | ClaimDecision::NotDue => false,
    };
    let is_ahead = |page: Page| match cursor {
        RecrawlCursor::Start => true,
        RecrawlCursor::After(last) => path(page) > *last,
        RecrawlCursor::End => false,
    };
    let mut candidates = state.candidates.iter().filter(|(page, _)| model.config.site.origin_of[**page] == held.origin);
    candidates.find(|(page, candidate)| is_ahead(**page) && is_own(*candidate)).map(|(page, _)| *page)
}

/// Nothing is asked for that is deeper than what is unparsed, or to be tried again.
fn check_barrier(model: &Model, state: &mut State, held: &Held, visit: &Visit) {
    use crate::invariants::Invariant;
    use dragline_domain::frontier::SegmentState;
    let mut segments = state.segments.iter();
    let is_unparsed = segments.any(|(key, segment)| {
        let is_own = key.iteration == held.lease.iteration && key.origin == held.origin;
        is_own && segment.depth < visit.depth && segment.row.state != SegmentState::Processed
    });
    let has_retry = held.lease.retries.iter().any(|retry| retry.depth < visit.depth);
    if model.config.depth_max.is_some() && (is_unparsed || has_retry) && held.term == Term::Running {
        state.broken = Some(Invariant::BarrierHeld);
    }
}

fn commits(model: &Model, number: usize, held: &Held, visit: &Visit, steps: &mut Steps<'_>) {
    let Visit { page, depth, tries, after, exhausts } = visit;
    let is_retry = *tries > 0;
    let work = SegmentWork {
        after: Some(after.clone()),
        retried: if is_retry { vec![path(*page)] } else { Vec::new() },
        retries: Vec::new(),
        pages: 1,
        body_bytes: 0,
    };
    let exhausts = exhausts.as_ref();
    let done =
        SegmentCommit { held, page: *page, depth: *depth, finality: Finality::Final, exhausts, work, ending: None };
    let label = || format!("crawler {number} commits page {page}");
    steps.owed(label, |next| next.crawlers[number] = commit(model, next, &done));
    steps.fault(
        || format!("{}, and the answer is lost", label()),
        |faults| &mut faults.lost_answers,
        |next| {
            model.commit_segment(next, &done);
            let term = term(next, held);
            if let Some(held) = next.crawlers[number].held_mut() {
                held.term = term;
            }
        },
    );
    let put_off = Retry { entry: entry(*page), depth: *depth, tries: tries + 1, not_before: now() };
    let work = SegmentWork { retries: vec![put_off], ..done.work.clone() };
    let retried = SegmentCommit { finality: Finality::Retried, work, ..done.clone() };
    steps.fault(
        || format!("{}, which failed and is put off", label()),
        |faults| &mut faults.flukes,
        |next| next.crawlers[number] = commit(model, next, &retried),
    );
    let failed = SegmentCommit { ending: Some(LeftoverReason::OriginGivenUp), ..done.clone() };
    steps.fault(
        || format!("{}, which failed once too often", label()),
        |faults| &mut faults.failures,
        |next| next.crawlers[number] = commit(model, next, &failed),
    );
}

/// What its holder knows of a lease by a commit: renewed, unless it was not written this time.
fn term(state: &State, held: &Held) -> Term {
    let holder = state.rows(held.origin).and_then(|rows| rows.lease.holder());
    let is_renewed = holder.is_some_and(|holder| holder.token == held.token && holder.until != run_out());
    if is_renewed { Term::Running } else { Term::RanOut }
}

fn commit(model: &Model, next: &mut State, commit: &SegmentCommit<'_>) -> Crawler {
    match model.commit_segment(next, commit) {
        Committed::Fenced => Crawler::Idle,
        Committed::Done(segment, lease) => {
            let held = Held { lease, term: term(next, commit.held), ..commit.held.clone() };
            Crawler::Committed { held, segment }
        }
    }
}

fn release(model: &Model, next: &mut State, held: &Held, seen: &Inbox) -> Crawler {
    let how = decide_release(&held.lease, seen, now());
    match (model.release(next, held, seen, how), how) {
        (Err(ReleaseRefused::Changed), _) => match next.rows(held.origin) {
            Some(rows) => Crawler::Releasing { held: held.clone(), seen: rows.inbox.clone() },
            None => Crawler::Idle,
        },
        (Ok(()), Release::Wake { .. }) => {
            let (iteration, turn) = (held.lease.iteration, held.lease.turn.next());
            Crawler::Released { ticket: Ticket { iteration, origin: held.origin, turn } }
        }
        (Ok(()) | Err(ReleaseRefused::Fenced), _) => Crawler::Idle,
    }
}

/// Lets the lease of an origin run out: as time goes by if its holder is dead, as a fault if it lives.
pub(crate) fn run_out_steps(origin: OriginNumber, steps: &mut Steps<'_>) {
    let Some(holder) = steps.state.rows(origin).and_then(|rows| rows.lease.holder()) else { return };
    if holder.until == run_out() {
        return;
    }
    let bearer = steps.state.crawlers.iter().position(|c| c.held().is_some_and(|held| held.token == holder.token));
    let runs_out = |next: &mut State| {
        if let Some(rows) = &mut next.origins[origin]
            && let LeaseState::Leased(holder) = &mut Rc::make_mut(rows).lease.state
        {
            holder.until = run_out();
        }
    };
    match bearer {
        None => steps.owed(|| format!("the lease of origin {origin} runs out"), runs_out),
        Some(number) => steps.fault(
            || format!("the lease of origin {origin} runs out while crawler {number} lives"),
            |faults| &mut faults.expiries,
            |next| {
                runs_out(next);
                if let Some(held) = next.crawlers[number].held_mut() {
                    held.term = Term::RanOut;
                }
            },
        ),
    }
}
