//! Turning the ends of iterations into publications.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_lambda::{Event, Message, MessageError, Reply, Work, read_message, work_all};
use dragline_pipeline::World;
use dragline_ports::clock::Clock as _;
use dragline_ports::error::PortError;
use dragline_ports::publications::Publications;
use dragline_ports::queue::{self, PublishCommand, Queue as _};
use dragline_ports::reader::Reader;
use dragline_publish::{PartLimits, Publication, publish_items};
use serde::Deserialize;
use tracing::Instrument as _;

/// The `kind` of the notice that an iteration closed.
const CLOSED: &str = "iteration_closed";

/// What publishes.
pub(crate) struct Publisher<W, R, P> {
    pub(crate) world: W,
    /// Returns a reader of a crawl.
    pub(crate) reader: R,
    pub(crate) publications: P,
}

impl<W, R, T, P> Publisher<W, R, P>
where
    W: World,
    R: Fn(&CrawlId) -> T + Send + Sync + 'static,
    T: Reader + 'static,
    P: Publications + 'static,
{
    /// Publishes the iterations of a batch.
    pub(crate) async fn handle(self: Arc<Self>, event: Event) -> Reply {
        match event {
            Event::Messages(messages) => work_all(messages, |message| Arc::clone(&self).iteration(message)).await,
            Event::Tick => Reply::default(),
        }
    }

    async fn iteration(self: Arc<Self>, message: Message) -> Result<Work, PortError> {
        let command = match read(&message.body) {
            Ok(command) => command,
            Err(error) => {
                tracing::error!(%error, "a malformed message about an iteration");
                return Ok(Work::Refused);
            }
        };
        let span = tracing::info_span!("publish", crawl = %command.crawl, iteration = %command.iteration);
        Box::pin(self.publish(command)).instrument(span).await
    }

    /// Publishes as long as there is time, and sends a message for the rest. Each run gets on by one part at least.
    async fn publish(&self, command: PublishCommand) -> Result<Work, PortError> {
        let PublishCommand { crawl, iteration, from } = command;
        let reader = (self.reader)(&crawl);
        match reader.load_iteration(iteration).await? {
            Some(row) if row.status == IterationStatus::Closed => {}
            _ => {
                tracing::info!("nothing to publish: the iteration is not over");
                return Ok(Work::Done);
            }
        }
        let clock = self.world.clock();
        let until = self.world.timing().walk.map(|walk| clock.monotonic().saturating_add(walk));
        let rest = || match until.is_some_and(|until| clock.monotonic() >= until) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let publication = Publication { crawl: crawl.clone(), iteration, limits: PartLimits::default() };
        let (published, from) = publish_items(&reader, &self.publications, &publication, from, rest).await?;
        tracing::info!(?published, is_through = from.is_none(), "published");
        if from.is_some() {
            let command = PublishCommand { crawl, iteration, from };
            self.world.queue().send(queue::Message::Publish(command), Duration::ZERO).await?;
        }
        Ok(Work::Done)
    }
}

/// Reads what asks for a publication: the notice that an iteration closed, as the topic delivers it, or our own message.
fn read(body: &str) -> Result<PublishCommand, MessageError> {
    #[derive(Deserialize)]
    struct Notice {
        kind: String,
        crawl: CrawlId,
        iteration: Iteration,
    }
    match serde_json::from_str(body) {
        Ok(Notice { kind, crawl, iteration }) if kind == CLOSED => Ok(PublishCommand { crawl, iteration, from: None }),
        _ => read_message(body, publish),
    }
}

fn publish(message: queue::Message) -> Option<PublishCommand> {
    match message {
        queue::Message::Publish(command) => Some(command),
        queue::Message::Ticket(_)
        | queue::Message::Tickets(_)
        | queue::Message::Parse(_)
        | queue::Message::Start(_)
        | queue::Message::Prune(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use dragline_lambda::testing::event;
    use dragline_ports::publications::PublishPlace;
    use dragline_ports::reader::Cursor;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_end_of_an_iteration_and_our_own_messages_are_understood() {
        let docs = |from| PublishCommand { crawl: "docs".parse().unwrap(), iteration: Iteration::FIRST, from };
        let Event::Messages(told) = event(include_str!("../../../events/publications.json")) else {
            panic!("messages")
        };
        assert_eq!(read(&told[0].body).unwrap(), docs(None));
        let place = PublishPlace { after: Cursor::new("https://docs.example x"), part: 3 };
        for command in [docs(None), docs(Some(place))] {
            let body = serde_json::to_string(&queue::Message::Publish(command.clone())).unwrap();
            assert_eq!(read(&body).unwrap(), command);
        }
    }

    #[test]
    fn whatever_else_the_topic_tells_is_refused() {
        let Event::Messages(told) = event(include_str!("../../../events/publications-malformed.json")) else {
            panic!("messages")
        };
        for message in told {
            assert!(read(&message.body).is_err(), "{}", message.body);
        }
        let other = json!({"kind": "start_skipped", "crawl": "docs", "iteration": 1});
        assert!(read(&other.to_string()).is_err(), "an iteration that did not begin");
    }
}
