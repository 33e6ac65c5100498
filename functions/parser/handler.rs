//! Parses segments by messages.

use std::sync::Arc;

use dragline_lambda::{Event, Message, Reply, Work, read_message, work_all};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::parse::{KnownUrls, parse_segment};
use dragline_ports::error::PortError;
use dragline_ports::queue::{self, ParseMessage};
use tracing::Instrument as _;

/// The state of a warm process.
pub(crate) struct Parser<W> {
    world: W,
    contexts: Contexts,
    known: KnownUrls,
}

impl<W: World> Parser<W> {
    pub(crate) fn new(world: W) -> Self {
        Self { world, contexts: Contexts::default(), known: KnownUrls::new() }
    }

    /// Parses the segments of a batch.
    pub(crate) async fn handle(self: Arc<Self>, event: Event) -> Reply {
        match event {
            Event::Messages(messages) => work_all(messages, |message| Arc::clone(&self).segment(message)).await,
            Event::Tick | Event::Request(_) => Reply::default(),
        }
    }

    async fn segment(self: Arc<Self>, message: Message) -> Result<Work, PortError> {
        let message = match read_message(&message.body, segment) {
            Ok(message) => message,
            Err(error) => {
                tracing::error!(%error, "a malformed message about a segment");
                return Ok(Work::Refused);
            }
        };
        let ParseMessage { segment, iteration } = &message;
        let (origin, turn) = (&segment.origin, segment.turn);
        let span = tracing::info_span!(
            "parse", crawl = %origin.crawl, origin = %origin.origin, %iteration, %turn, segment = segment.n
        );
        async {
            let end = Box::pin(parse_segment(&self.world, &self.contexts, &self.known, &message)).await?;
            tracing::info!(?end, "parse ended");
            Ok(Work::Done)
        }
        .instrument(span)
        .await
    }
}

fn segment(message: queue::Message) -> Option<ParseMessage> {
    match message {
        queue::Message::Parse(message) => Some(message),
        queue::Message::Ticket(_)
        | queue::Message::Tickets(_)
        | queue::Message::Start(_)
        | queue::Message::Prune(_)
        | queue::Message::Publish(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{event, world};

    use super::*;

    #[tokio::test]
    async fn foreign_messages_are_refused_and_not_delivered_again() {
        let (world, _directory) = world();
        let parser = Arc::new(Parser::new(world));
        let reply = parser.handle(event(include_str!("../../events/segments-malformed.json"))).await;
        assert_eq!((reply.failed_count(), reply.refused_count()), (0, 3), "every one of them");
    }

    #[tokio::test]
    async fn a_segment_that_was_never_committed_is_nothing_to_do() {
        let (world, _directory) = world();
        let parser = Arc::new(Parser::new(world));
        let reply = parser.handle(event(include_str!("../../events/segments.json"))).await;
        assert_eq!(reply, Reply::default());
    }
}
