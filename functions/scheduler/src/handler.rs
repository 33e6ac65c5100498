//! From an event to commands that are done, and schedules that are kept.

use std::sync::Arc;

use dragline_definition::parse_command;
use dragline_domain::ids::TriggerId;
use dragline_lambda::{Event, Message, Reply, Work, work_all};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::ports::error::{PortError, PortResult};
use dragline_pipeline::schedule::{Defaults, Handled, handle, tick};

/// What a warm process keeps.
pub(crate) struct Scheduler<W> {
    world: W,
    contexts: Contexts,
    defaults: Defaults,
}

impl<W: World> Scheduler<W> {
    pub(crate) fn new(world: W, defaults: Defaults) -> Self {
        Self { world, contexts: Contexts::default(), defaults }
    }

    /// Handles an event.
    ///
    /// # Errors
    /// Those of the ports, at a tick; the next one goes on. A command that fails is in the reply.
    pub(crate) async fn handle(self: Arc<Self>, event: Event) -> PortResult<Reply> {
        match event {
            Event::Tick => {
                let sent = Box::pin(tick(&self.world)).await?;
                tracing::info!(sent, "schedules looked at");
                Ok(Reply::default())
            }
            Event::Messages(messages) => Ok(work_all(messages, |message| Arc::clone(&self).command(message)).await),
        }
    }

    async fn command(self: Arc<Self>, message: Message) -> Result<Work, PortError> {
        let command = match parse_command(&message.body) {
            Ok(command) => command,
            // Acknowledged: it would be as wrong at every delivery, and in the dead-letter queue nobody would see why.
            Err(errors) => {
                tracing::error!(error = errors.one_line(), "a command that cannot be understood");
                return Ok(Work::Refused);
            }
        };
        let (crawl, trigger) = (command.crawl(), TriggerId(message.message_id));
        let handled = Box::pin(handle(&self.world, &self.contexts, &self.defaults, &command, &trigger)).await?;
        match handled {
            Handled::Refused(refusal) => {
                tracing::error!(%crawl, error = %refusal, "a command that is refused");
                Ok(Work::Refused)
            }
            done => {
                tracing::info!(%crawl, ?done, "command done");
                Ok(Work::Done)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_lambda::testing::{event, world};

    use super::*;

    fn scheduler<W: World>(world: W) -> Arc<Scheduler<W>> {
        let user_agent = "Dragline/0.1 (+https://contact.example)".parse().unwrap();
        Arc::new(Scheduler::new(world, Defaults { user_agent, url_pages_max: 10 }))
    }

    #[tokio::test]
    async fn commands_that_cannot_be_understood_are_refused_and_not_delivered_again() {
        let (world, _directory) = world();
        let event = event(include_str!("../../../events/commands-malformed.json"));
        let reply = scheduler(world).handle(event).await.unwrap();
        assert_eq!((reply.failed(), reply.refused()), (0, 6), "every one of them");
    }

    #[test]
    fn each_command_of_the_examples_is_understood() {
        let Event::Messages(messages) = event(include_str!("../../../events/commands.json")) else {
            panic!("a batch");
        };
        assert_eq!(messages.len(), 7);
        for message in messages {
            parse_command(&message.body).unwrap_or_else(|errors| panic!("{}: {errors}", message.body));
        }
    }

    #[tokio::test]
    async fn a_tick_looks_at_schedules() {
        let (world, _directory) = world();
        let reply = scheduler(world).handle(event(include_str!("../../../events/tick.json"))).await.unwrap();
        assert_eq!(reply, Reply::default());
    }
}
