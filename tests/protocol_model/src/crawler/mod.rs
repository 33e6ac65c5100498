//! A crawler: takes a lease, commits one page per segment, releases the lease.

mod commit;
mod visit;

use std::rc::Rc;

use dragline_domain::frontier::{
    Barrier, Claimer, Inbox, Lease, LeaseState, Position, Release, ReleaseRefused, decide_release,
};
use dragline_domain::ids::LeaseToken;

pub(crate) use self::visit::Visit;
use self::visit::{Dry, check_barrier, next_visit};
use crate::config::Reading;
use crate::invariants::Invariant;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::OriginNumber;
use crate::state::{Message, SegmentKey, State, Ticket, now, run_out};
use crate::steps::Steps;

/// The state of a crawler.
#[derive(Clone)]
pub(crate) enum Crawler {
    Idle,
    /// It looks for the next page. A turn may end once it has committed something.
    Working {
        held: Held,
        has_committed: bool,
    },
    /// It has fetched a page but not committed it.
    Fetched {
        held: Held,
        visit: Visit,
    },
    /// It has committed, and owes the parse message.
    Committed {
        held: Held,
        segment: SegmentKey,
    },
    /// It has read the inbox, and releases the lease accordingly.
    Releasing {
        held: Held,
        seen: Inbox,
    },
    /// It has released the lease, and owes the next turn's ticket.
    Released {
        ticket: Ticket,
    },
}

/// What a holder knows.
#[derive(Clone)]
pub(crate) struct Held {
    pub origin: OriginNumber,
    pub token: LeaseToken,
    /// Its copy of the lease.
    pub lease: Rc<Lease>,
    pub term: Term,
}

/// Whether a lease has run out since it was taken or renewed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term {
    Running,
    RanOut,
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

    /// The ticket that it handles or owes.
    fn ticket(&self) -> Option<Ticket> {
        let of = |held: &Held| Ticket { iteration: held.lease.iteration, origin: held.origin, turn: held.lease.turn };
        match self {
            Self::Released { ticket } => Some(*ticket),
            _ => self.held().map(of),
        }
    }

    /// Whether its turn continues, so that it may make requests.
    pub(crate) const fn asks(&self) -> bool {
        match self {
            Self::Working { .. } | Self::Fetched { .. } | Self::Committed { .. } => true,
            Self::Idle | Self::Releasing { .. } | Self::Released { .. } => false,
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
        Crawler::Fetched { held, visit } => commit::commits(model, number, held, visit, steps),
        Crawler::Committed { held, segment } => steps.owed(
            || format!("{} sends the parse message", name()),
            |next| {
                next.send(Message::Parse(*segment));
                next.crawlers[number] = Crawler::Working { held: held.clone(), has_committed: true };
            },
        ),
        Crawler::Releasing { held, seen } => steps.owed(
            || format!("{} releases origin {}", name(), held.origin),
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
    let mut position = Position::from_lease(&held.lease);
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
            let added = next.rows(held.origin).map_or(0, |rows| rows.inbox.added);
            let is_dry = matches!(visit, Err(Dry::Empty)) && !must_end && held.term == Term::Running;
            if is_dry && added > lease.taken {
                next.broken = Some(Invariant::TodoIsThere);
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

fn release(model: &Model, next: &mut State, held: &Held, seen: &Inbox) -> Crawler {
    let how = decide_release(&held.lease, seen, now(), now());
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

/// Lets the lease of an origin run out: in the course of time if its holder is dead, as a fault if
/// it is alive.
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
            || format!("the lease of origin {origin} runs out while crawler {number} is alive"),
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
