//! From tickets to turns.

use std::sync::Arc;

use dragline_lambda::{AwsWorld, Deadline, Event, Message, Reply, Work, read_message, work_all};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::{StopSignal, TurnLimits, work_turn};
use dragline_pipeline::ports::clock::Clock as _;
use dragline_pipeline::ports::error::{PortError, PortErrorKind};
use dragline_pipeline::ports::queue::{self, Ticket};
use tracing::Instrument as _;

use crate::fetchers::Fetchers;

/// What a warm process keeps.
pub(crate) struct Crawler<F> {
    fetchers: F,
    contexts: Contexts,
}

impl<F: Fetchers> Crawler<F> {
    pub(crate) fn new(fetchers: F) -> Self {
        Self { fetchers, contexts: Contexts::default() }
    }

    /// Works the tickets of a batch at the same time, so that seconds spent waiting are shared.
    pub(crate) async fn handle(self: Arc<Self>, world: &AwsWorld, event: Event, deadline: Deadline) -> Reply {
        let turn = deadline.turn(world.clock().now(), world.timing().turn);
        self.work(&Arc::new(world.with_turn(turn)), event).await
    }

    /// The same over any ports, whose turns end in time.
    async fn work<W: World>(self: Arc<Self>, world: &Arc<W>, event: Event) -> Reply {
        match event {
            Event::Messages(tickets) => {
                let limits = turn_limits(tickets.len());
                work_all(tickets, |ticket| Arc::clone(&self).turn(Arc::clone(world), limits.clone(), ticket)).await
            }
            Event::Tick => Reply::default(),
        }
    }

    async fn turn<W: World>(
        self: Arc<Self>,
        world: Arc<W>,
        limits: TurnLimits,
        message: Message,
    ) -> Result<Work, PortError> {
        let ticket = match read_message(&message.body, ticket) {
            Ok(ticket) => ticket,
            Err(error) => {
                tracing::error!(%error, "a ticket that cannot be understood");
                return Ok(Work::Refused);
            }
        };
        let Ticket { origin, iteration, turn } = &ticket;
        let span = tracing::info_span!("turn", crawl = %origin.crawl, origin = %origin.origin, %iteration, %turn);
        async {
            let context = self.contexts.get(world.frontier(), &origin.crawl).await?;
            let fetcher = self.fetchers.of(&context.definition.user_agent);
            let fetcher =
                fetcher.map_err(|error| PortError::new(PortErrorKind::Other, "set up client", origin, error))?;
            let stop = StopSignal::default();
            let end = Box::pin(work_turn(&world, &fetcher, &self.contexts, &limits, &stop, &ticket)).await?;
            tracing::info!(?end, "turn ended");
            Ok(Work::Done)
        }
        .instrument(span)
        .await
    }
}

/// What the segments in the making of all turns of a batch may take of memory, each but for its last body: with twenty turns and large bodies
/// everywhere, the process stays within the 256 MB that the template gives it (`docs/bill.md`).
const SEGMENTS_BYTES_MAX: u64 = 40 << 20;

/// The limits of each of so many turns at the same time.
fn turn_limits(turns: usize) -> TurnLimits {
    let limits = TurnLimits::default();
    TurnLimits { segment_bytes: limits.segment_bytes.min(SEGMENTS_BYTES_MAX / turns.max(1) as u64), ..limits }
}

fn ticket(message: queue::Message) -> Option<Ticket> {
    match message {
        queue::Message::Ticket(ticket) => Some(ticket),
        queue::Message::Parse(_) | queue::Message::Start(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::address::AddressPolicy;
    use dragline_lambda::testing::{event, world};

    use super::*;

    #[test]
    fn turns_at_the_same_time_share_the_memory_for_segments() {
        for (turns, mebibytes) in [(0, 8), (1, 8), (5, 8), (20, 2)] {
            assert_eq!(turn_limits(turns).segment_bytes, mebibytes << 20, "{turns} turns");
        }
    }

    #[tokio::test]
    async fn messages_that_are_none_of_its_own_are_refused_and_not_delivered_again() {
        let (world, _directory) = world();
        let crawler = Arc::new(Crawler::new(crate::fetchers::HttpFetchers::new(AddressPolicy::PublicOnly)));
        let event = event(include_str!("../../../events/tickets-malformed.json"));
        let reply = crawler.work(&Arc::new(world), event).await;
        assert_eq!((reply.failed(), reply.refused()), (0, 3), "every one of them");
    }

    #[tokio::test]
    async fn a_ticket_of_a_crawl_that_is_not_there_is_delivered_again() {
        let (world, _directory) = world();
        let crawler = Arc::new(Crawler::new(crate::fetchers::HttpFetchers::new(AddressPolicy::PublicOnly)));
        let reply = crawler.work(&Arc::new(world), event(include_str!("../../../events/tickets.json"))).await;
        assert_eq!((reply.failed(), reply.refused()), (1, 0), "that is no race, so somebody must see it");
    }
}
