//! Turns tickets into turns of origins.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dragline_lambda::{AwsWorld, Deadline, Event, Reply, Work, read_message, work_all};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::{StopSignal, TurnLimits, work_turn};
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::queue::{self, Queue, Ticket};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::gathering::TicketBuffer;

/// The state of a warm process.
pub(crate) struct Crawler<F, Q> {
    fetchers: F,
    /// Where the tickets of crawls go that render pages; `None` if this function works them.
    renders: Option<Q>,
    /// The most turns at the same time.
    turns_max: usize,
    contexts: Contexts,
}

impl<F: Fetchers, Q: Queue + 'static> Crawler<F, Q> {
    pub(crate) fn new(fetchers: F, renders: Option<Q>, turns_max: usize) -> Self {
        Self { fetchers, renders, turns_max, contexts: Contexts::default() }
    }

    /// Works the tickets of a batch concurrently, so that they share the seconds spent waiting.
    pub(crate) async fn handle(self: Arc<Self>, world: &AwsWorld, event: Event, deadline: Deadline) -> Reply {
        let turn = deadline.turn(world.clock().now(), world.timing().turn);
        let gathering = TicketBuffer::new(world.queue.clone(), world.clock);
        let world = Arc::new(world.with_turn(turn).with_queue(gathering.clone()));
        gathering.run_with(self.work(&world, event)).await
    }

    /// The same over any ports, whose turns end in time.
    async fn work<W: World>(self: Arc<Self>, world: &Arc<W>, event: Event) -> Reply {
        match event {
            Event::Messages(messages) => {
                let (shares, turns) =
                    share_out(messages.iter().map(|message| parse_tickets(&message.body)), self.turns_max);
                let limits = turn_limits(turns);
                let shares: HashMap<String, Share> =
                    messages.iter().map(|message| message.message_id.clone()).zip(shares).collect();
                work_all(messages, |message| {
                    let share = shares.get(&message.message_id).cloned();
                    Arc::clone(&self).convoy(Arc::clone(world), limits.clone(), share)
                })
                .await
            }
            Event::Tick | Event::Request(_) => Reply::default(),
        }
    }

    /// Works the tickets of a message, which is done once all of them are. Effects in order:
    /// surplus tickets are handed over, and those of crawls that render pages; turns.
    async fn convoy<W: World>(
        self: Arc<Self>,
        world: Arc<W>,
        limits: TurnLimits,
        share: Option<Share>,
    ) -> Result<Work, PortError> {
        let Some(Share::Tickets { own, rest }) = share else { return Ok(Work::Refused) };
        if !rest.is_empty() {
            tracing::info!(handed_over = rest.len(), "the invocation works the maximum number of turns");
            world.queue().send(queue::Message::from_tickets(&rest), Duration::ZERO).await?;
        }
        let (own, rendering) = self.divide(&*world, own).await?;
        if let Some(renders) = self.renders.as_ref().filter(|_| !rendering.is_empty()) {
            renders.send(queue::Message::from_tickets(&rendering), Duration::ZERO).await?;
        }
        let mut turns = JoinSet::new();
        for ticket in own {
            turns.spawn(Arc::clone(&self).turn(Arc::clone(&world), limits.clone(), ticket).in_current_span());
        }
        let mut worked = Ok(Work::Done);
        while let Some(ended) = turns.join_next().await {
            let ended = ended.map_err(|broken| PortError::new(PortErrorKind::Other, "turn", "a ticket", broken));
            worked = worked.and(ended.and_then(|end| end));
        }
        worked
    }

    /// Returns the tickets to work here, and those for a function with a browser.
    async fn divide<W: World>(&self, world: &W, tickets: Vec<Ticket>) -> Result<(Vec<Ticket>, Vec<Ticket>), PortError> {
        if self.renders.is_none() {
            return Ok((tickets, Vec::new()));
        }
        let (mut own, mut rendering) = (Vec::new(), Vec::new());
        for ticket in tickets {
            let Ticket { origin, iteration, .. } = &ticket;
            let context = self.contexts.for_iteration(world.frontier(), &origin.crawl, *iteration).await?;
            let renders = context.definition.render.is_on();
            if renders { rendering.push(ticket) } else { own.push(ticket) }
        }
        Ok((own, rendering))
    }

    async fn turn<W: World>(
        self: Arc<Self>,
        world: Arc<W>,
        limits: TurnLimits,
        ticket: Ticket,
    ) -> Result<Work, PortError> {
        let Ticket { origin, iteration, turn } = &ticket;
        let span = tracing::info_span!("turn", crawl = %origin.crawl, origin = %origin.origin, %iteration, %turn);
        async {
            let stop = StopSignal::default();
            let end = Box::pin(work_turn(&world, &self.fetchers, &self.contexts, &limits, &stop, &ticket)).await?;
            tracing::info!(?end, "turn ended");
            Ok(Work::Done)
        }
        .instrument(span)
        .await
    }
}

/// The part of a message for this invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Share {
    /// These tickets; the rest is for another invocation.
    Tickets { own: Vec<Ticket>, rest: Vec<Ticket> },
    /// The message is malformed.
    Unknown,
}

/// Divides an invocation's turns among its messages, and returns their number.
fn share_out(messages: impl Iterator<Item = Option<Vec<Ticket>>>, turns_max: usize) -> (Vec<Share>, usize) {
    let mut turns = 0;
    let share = |tickets: Option<Vec<Ticket>>| {
        let Some(mut own) = tickets else { return Share::Unknown };
        let rest = own.split_off(own.len().min(turns_max - turns));
        turns += own.len();
        Share::Tickets { own, rest }
    };
    let shares = messages.map(share).collect();
    (shares, turns)
}

/// Returns the tickets of a message; `None` if it is not for the crawler.
fn parse_tickets(body: &str) -> Option<Vec<Ticket>> {
    match read_message(body, tickets) {
        Ok(tickets) => Some(tickets),
        Err(error) => {
            tracing::error!(%error, "a malformed ticket");
            None
        }
    }
}

/// The memory for the open segments of all turns of a batch, each except its last body, in bytes:
/// with twenty turns and large bodies everywhere, the process stays within the 256 MB of the
/// template (`docs/measurements/bill.md`).
const SEGMENTS_BYTES_MAX: u64 = 40 << 20;

/// Returns the limits of each turn, given the number of concurrent turns.
fn turn_limits(turns: usize) -> TurnLimits {
    let limits = TurnLimits::default();
    TurnLimits { segment_bytes: limits.segment_bytes.min(SEGMENTS_BYTES_MAX / turns.max(1) as u64), ..limits }
}

fn tickets(message: queue::Message) -> Option<Vec<Ticket>> {
    match message {
        queue::Message::Ticket(ticket) => Some(vec![ticket]),
        queue::Message::Tickets(tickets) => Some(tickets),
        queue::Message::Parse(_) | queue::Message::Start(_) | queue::Message::Prune(_) | queue::Message::Publish(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{event, world};
    use dragline_domain::frontier::OriginKey;
    use dragline_domain::ids::{Iteration, Turn};
    use dragline_http::{HttpConfig, HttpFetchers};
    use dragline_ports::queue::{CONVOY_MAX, Nobody};

    use super::*;

    #[test]
    fn turns_at_the_same_time_share_the_memory_for_segments() {
        for (turns, mebibytes) in [(0, 8), (1, 8), (5, 8), (20, 2)] {
            assert_eq!(turn_limits(turns).segment_bytes, mebibytes << 20, "{turns} turns");
        }
    }

    fn crawler() -> Arc<Crawler<HttpFetchers, Nobody>> {
        Arc::new(Crawler::new(HttpFetchers::new(HttpConfig::new("not sent")), None, CONVOY_MAX))
    }

    fn ticket(turn: u64) -> Ticket {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        Ticket { origin, iteration: Iteration::FIRST, turn: Turn(turn) }
    }

    #[test]
    fn an_invocation_works_so_many_turns_and_hands_over_the_rest() {
        let convoy = |turns: std::ops::Range<u64>| turns.map(ticket).collect::<Vec<_>>();
        let messages = [Some(convoy(0..15)), None, Some(convoy(15..30)), Some(convoy(30..31))];
        let (shares, turns) = share_out(messages.into_iter(), CONVOY_MAX);
        let expected = [
            Share::Tickets { own: convoy(0..15), rest: Vec::new() },
            Share::Unknown,
            Share::Tickets { own: convoy(15..20), rest: convoy(20..30) },
            Share::Tickets { own: Vec::new(), rest: convoy(30..31) },
        ];
        assert_eq!((shares.as_slice(), turns), (&expected[..], 20));
    }

    #[tokio::test]
    async fn surplus_tickets_are_queued_and_the_message_is_done() {
        let (world, _directory) = world();
        let crawler = crawler();
        let share = Share::Tickets { own: Vec::new(), rest: vec![ticket(1), ticket(2)] };
        let (world, limits) = (Arc::new(world), TurnLimits::default());
        let worked = crawler.convoy(Arc::clone(&world), limits, Some(share)).await.unwrap();
        assert_eq!(worked, Work::Done);
        assert_eq!(world.queue.tickets().pending(), 2);
    }

    #[tokio::test]
    async fn a_message_of_several_tickets_fails_with_any_of_them() {
        let (world, _directory) = world();
        let crawler = crawler();
        let reply = crawler.work(&Arc::new(world), event(include_str!("../../events/tickets-together.json"))).await;
        assert_eq!((reply.failed_count(), reply.refused_count()), (1, 0), "there is no such crawl");
    }

    #[tokio::test]
    async fn foreign_messages_are_refused_and_not_delivered_again() {
        let (world, _directory) = world();
        let crawler = crawler();
        let event = event(include_str!("../../events/tickets-malformed.json"));
        let reply = crawler.work(&Arc::new(world), event).await;
        assert_eq!((reply.failed_count(), reply.refused_count()), (0, 3), "every one of them");
    }

    #[tokio::test]
    async fn a_ticket_of_an_unknown_crawl_is_delivered_again() {
        let (world, _directory) = world();
        let crawler = crawler();
        let reply = crawler.work(&Arc::new(world), event(include_str!("../../events/tickets.json"))).await;
        assert_eq!((reply.failed_count(), reply.refused_count()), (1, 0), "that is no race, so somebody must see it");
    }
}
