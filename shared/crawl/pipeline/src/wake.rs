//! Waking origins: an origin that may need a turn gets one, and an origin without further work is
//! closed.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::frontier::{Need, OriginKey, need};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::time::between;
use futures_util::future::join_all;
use jiff::Timestamp;

use crate::tell::tell_once;
use crate::{CALLS_AT_ONCE, World};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Endings, Origins, SettleResult};
use dragline_ports::notifier::Notice;
use dragline_ports::observer::{Event, Stage};
use dragline_ports::queue::{CONVOY_MAX, Message, Queue, Ticket};

/// Reads an origin's rows and acts on them: sends a ticket if it is ready, settles it if it is
/// idle, does nothing if it is held or closed.
///
/// Called after everything that may have given an origin work, or taken the last of it. A
/// superfluous call changes nothing.
///
/// # Errors
/// Returns the errors of the frontier and the queue.
pub async fn wake(world: &impl World, origin: &OriginKey, iteration: Iteration) -> PortResult<()> {
    wake_all(world, std::slice::from_ref(origin), iteration).await
}

/// Like [`wake`], for several origins, whose tickets travel together.
///
/// # Errors
/// Returns the errors of the frontier and the queue. Tickets of the origins before and beside the
/// failed one are sent.
pub async fn wake_all(world: &impl World, origins: &[OriginKey], iteration: Iteration) -> PortResult<()> {
    let (mut convoy, mut woken) = (Convoy::default(), Ok(()));
    for origins in origins.chunks(CALLS_AT_ONCE) {
        for call in join_all(origins.iter().map(|origin| call(world, origin, iteration))).await {
            match call {
                Ok(ticket) => convoy.0.extend(ticket),
                Err(error) => woken = Err(error),
            }
        }
        if woken.is_err() {
            break;
        }
    }
    convoy.send(world).await?;
    woken
}

/// Like [`wake`], but leaves the ticket in a convoy.
///
/// # Errors
/// Returns the frontier's errors.
pub async fn wake_into(
    world: &impl World,
    origin: &OriginKey,
    iteration: Iteration,
    convoy: &mut Convoy,
) -> PortResult<()> {
    convoy.0.extend(call(world, origin, iteration).await?);
    Ok(())
}

/// Acts on an origin's rows without sending a ticket: returns it, with the time at which it should
/// arrive.
async fn call(world: &impl World, origin: &OriginKey, iteration: Iteration) -> PortResult<Option<(Ticket, Timestamp)>> {
    let call = |turn, until| {
        world.observer().observe(&Event::At { origin, stage: Stage::Called { until } });
        Ok(Some((Ticket { origin: origin.clone(), iteration, turn }, until)))
    };
    loop {
        let now = world.clock().now();
        let Some(rows) = world.frontier().load_origin(origin).await? else { return Ok(None) };
        if rows.lease.iteration != iteration {
            return Ok(None);
        }
        match need(&rows) {
            Need::Ticket(turn) => return call(turn, rows.lease.free_from(now)),
            Need::Nothing => return Ok(None),
            Need::Settling => {}
        }
        match world.frontier().settle(origin, &rows).await? {
            SettleResult::Woken(turn) => return call(turn, rows.lease.free_from(now)),
            SettleResult::Closed => {
                world.observer().observe(&Event::At { origin, stage: Stage::Done });
                return Ok(None);
            }
            SettleResult::ClosedWithLeftovers(leftover) => {
                let (reason, count) = (leftover.reason, leftover.count);
                world.observer().observe(&Event::At { origin, stage: Stage::Done });
                let ended = Notice::OriginEnded { origin: origin.clone(), reason, count };
                tell_once(world, iteration, vec![ended]).await;
                return Ok(None);
            }
            SettleResult::Changed => {}
        }
    }
}

/// Sends a turn's ticket, to arrive when the origin may get requests.
///
/// # Errors
/// Returns the queue's errors.
pub async fn send_ticket(
    world: &impl World,
    origin: &OriginKey,
    iteration: Iteration,
    turn: Turn,
    not_before: Timestamp,
) -> PortResult<()> {
    let wait = between(world.clock().now(), not_before);
    world.queue().send(Message::Ticket(Ticket { origin: origin.clone(), iteration, turn }), wait).await
}

/// Tickets sent together, so that one invocation works on all of them and shares the seconds that
/// each of them waits. Otherwise a queue with several pollers would scatter them.
#[derive(Debug, Default)]
pub struct Convoy(Vec<(Ticket, Timestamp)>);

impl Convoy {
    /// Adds a ticket that is to arrive when its origin may get requests.
    pub fn add(&mut self, ticket: Ticket, not_before: Timestamp) {
        self.0.push((ticket, not_before));
    }

    /// Adds the tickets of another convoy.
    pub fn join(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Whether the tickets fill a message.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.0.len() >= CONVOY_MAX
    }

    /// Sends the tickets that fill whole messages, and keeps the rest.
    ///
    /// # Errors
    /// Returns the queue's errors.
    pub async fn send_if_full(&mut self, world: &impl World) -> PortResult<()> {
        let full = self.0.len() - self.0.len() % CONVOY_MAX;
        let rest = self.0.split_off(full);
        Self(std::mem::replace(&mut self.0, rest)).send_through(world.queue(), world.clock().now()).await
    }

    /// Sends the tickets.
    ///
    /// # Errors
    /// Returns the first of the queue's errors, once everything was tried.
    pub async fn send(&mut self, world: &impl World) -> PortResult<()> {
        std::mem::take(self).send_through(world.queue(), world.clock().now()).await
    }

    /// Sends the tickets through a queue.
    ///
    /// # Errors
    /// Returns the first of the queue's errors, once everything was tried.
    pub async fn send_through(self, queue: &impl Queue, now: Timestamp) -> PortResult<()> {
        let mut sent = Ok(());
        for (tickets, wait) in group_tickets(self.0, now) {
            sent = sent.and(queue.send(Message::from_tickets(&tickets), wait).await);
        }
        sent
    }
}

/// Groups tickets that travel together, each group with its delay: those due within the same
/// second. None arrives early.
fn group_tickets(tickets: Vec<(Ticket, Timestamp)>, now: Timestamp) -> Vec<(Vec<Ticket>, Duration)> {
    let mut by_second: BTreeMap<u64, Vec<(Ticket, Duration)>> = BTreeMap::new();
    for (ticket, not_before) in tickets {
        let wait = between(now, not_before);
        let second = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        by_second.entry(second).or_default().push((ticket, wait));
    }
    let of_second = |tickets: Vec<(Ticket, Duration)>| {
        let convoys = tickets.chunks(CONVOY_MAX).map(|convoy| {
            let longest = convoy.iter().map(|(_, wait)| *wait).max().unwrap_or_default();
            (convoy.iter().map(|(ticket, _)| ticket.clone()).collect(), longest)
        });
        convoys.collect::<Vec<_>>()
    };
    by_second.into_values().flat_map(of_second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_of_one_second_travel_together_and_none_comes_early() {
        let now = Timestamp::from_second(1_795_000_000).unwrap();
        let ticket = |n: usize| Ticket {
            origin: OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() },
            iteration: Iteration::FIRST,
            turn: Turn(n as u64),
        };
        let at = |millis: i64| Timestamp::from_millisecond(now.as_millisecond() + millis).unwrap();
        let mut tickets: Vec<_> = (0..41).map(|n| (ticket(n), at(-5_000))).collect();
        tickets.extend([(ticket(50), at(1_200)), (ticket(51), at(1_900)), (ticket(52), at(2_001))]);
        let sent = group_tickets(tickets, now);
        let sizes: Vec<_> = sent.iter().map(|(tickets, wait)| (tickets.len(), wait.as_millis())).collect();
        assert_eq!(sizes, [(20, 0), (20, 0), (1, 0), (2, 1_900), (1, 2_001)]);
        assert!(group_tickets(Vec::new(), now).is_empty(), "nothing is sent for nothing");
    }
}
