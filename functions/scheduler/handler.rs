//! Handles commands and follows schedules.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use dragline_definition::parse_command;
use dragline_domain::command::Command;
use dragline_domain::definition::StackBrowsers;
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::retention::{PrunePlace, Retention};
use dragline_lambda::{Event, Message, Reply, Work, work_all};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::retention::{Stores, prune};
use dragline_pipeline::schedule::{CommandResult, Defaults, handle, tick};
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortError, PortResult};
use dragline_ports::queue::{self, PruneCommand, Queue as _};
use dragline_ports::retention::{PruneMode, Pruning};

/// The state of a warm process.
pub(crate) struct Scheduler {
    contexts: Contexts,
    defaults: Defaults,
    browsers: StackBrowsers,
}

impl Scheduler {
    pub(crate) fn new(defaults: Defaults, browsers: StackBrowsers) -> Self {
        Self { contexts: Contexts::default(), defaults, browsers }
    }

    /// Handles an event.
    ///
    /// # Errors
    /// Returns the ports' errors at a tick; the next tick continues. A command that fails is in the
    /// reply.
    pub(crate) async fn handle<W: World, R: Pruning + 'static>(
        self: Arc<Self>,
        world: &Arc<W>,
        retained: &Arc<R>,
        event: Event,
    ) -> PortResult<Reply> {
        match event {
            Event::Tick => {
                let sent = Box::pin(tick(&**world)).await?;
                tracing::info!(sent, "schedules checked");
                Ok(Reply::default())
            }
            Event::Messages(messages) => {
                let command = |message| Arc::clone(&self).command(Arc::clone(world), Arc::clone(retained), message);
                Ok(work_all(messages, command).await)
            }
            Event::Request(_) => Ok(Reply::default()),
        }
    }

    async fn command<W: World, R: Pruning>(
        self: Arc<Self>,
        world: Arc<W>,
        retained: Arc<R>,
        message: Message,
    ) -> Result<Work, PortError> {
        let command = match parse_command(&message.body, self.browsers) {
            Ok(command) => command,
            // Acknowledged: another delivery would fail as well, and the dead-letter queue would
            // not say why.
            Err(errors) => {
                tracing::error!(error = errors.one_line(), "a malformed command");
                return Ok(Work::Refused);
            }
        };
        if let Command::Prune { crawl, retention, from } = command {
            return Box::pin(prune_in_time(&*world, &*retained, crawl, retention, from)).await;
        }
        let (crawl, trigger) = (command.crawl(), TriggerId(message.message_id));
        let handled = Box::pin(handle(&*world, &self.contexts, &self.defaults, &command, &trigger)).await?;
        match handled {
            CommandResult::Refused(refusal) => {
                tracing::error!(%crawl, error = %refusal, "a command was refused");
                Ok(Work::Refused)
            }
            done => {
                tracing::info!(%crawl, ?done, "command done");
                Ok(Work::Done)
            }
        }
    }
}

/// Prunes a crawl while there is time, and sends the command again for the rest. Each run completes
/// at least one batch.
async fn prune_in_time(
    world: &impl World,
    retained: &impl Pruning,
    crawl: CrawlId,
    retention: Retention,
    from: Option<PrunePlace>,
) -> Result<Work, PortError> {
    let stores = Stores { retained, origins: world.frontier(), archive: world.archive(), queue: world.queue() };
    let clock = world.clock();
    let until = world.timing().walk.map(|walk| clock.monotonic().saturating_add(walk));
    let rest = || match until.is_some_and(|until| clock.monotonic() >= until) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let (pruned, place) = prune(&stores, &crawl, retention, PruneMode::Delete, clock.now(), from, rest).await?;
    tracing::info!(%crawl, ?pruned, is_through = place.is_none(), "pruned");
    if place.is_some() {
        let command = PruneCommand::new(crawl, retention, place);
        world.queue().send(queue::Message::Prune(command), Duration::ZERO).await?;
    }
    Ok(Work::Done)
}

#[cfg(test)]
mod tests {
    use crate::testing::{event, world_with_retained};
    use dragline_domain::frontier::{IterationStatus, Switch};
    use dragline_ports::frontier::{Crawls, Iterations};

    use super::*;

    fn scheduler() -> Arc<Scheduler> {
        let user_agent = "Dragline/0.1 (+https://contact.example)".parse().unwrap();
        let defaults = Defaults { user_agent, url_pages_max: 10, ignore_robots: Vec::new() };
        Arc::new(Scheduler::new(defaults, StackBrowsers::Missing))
    }

    #[tokio::test]
    async fn malformed_commands_are_refused_and_not_delivered_again() {
        let (world, retained, _directory) = world_with_retained();
        let event = event(include_str!("../../events/commands-malformed.json"));
        let reply = scheduler().handle(&Arc::new(world), &retained, event).await.unwrap();
        assert_eq!((reply.failed_count(), reply.refused_count()), (0, 6), "every one of them");
    }

    #[tokio::test]
    async fn each_example_command_is_carried_out() {
        use IterationStatus::{Open, Paused, Stopping};
        let (world, retained, _directory) = world_with_retained();
        let (world, scheduler) = (Arc::new(world), scheduler());
        for (json, crawl, status, switch, why) in [
            (include_str!("../../events/command-url.json"), "docs.example", Some(Open), "on", "a crawl of the host"),
            (include_str!("../../events/command-demand.json"), "docs.example", Some(Open), "on", "more of it"),
            (include_str!("../../events/command-put-crawl.json"), "docs", None, "on, scheduled", "kept to from now on"),
            (include_str!("../../events/command-start.json"), "docs", Some(Open), "on, scheduled", "begun by hand"),
            (include_str!("../../events/command-reparse.json"), "docs", Some(Open), "on, scheduled", "busy"),
            (include_str!("../../events/command-pause.json"), "docs", Some(Paused), "on, scheduled", "for now"),
            (include_str!("../../events/command-resume.json"), "docs", Some(Open), "on, scheduled", "and on"),
            (include_str!("../../events/command-stop.json"), "docs", Some(Stopping), "on, scheduled", "this iteration"),
            (include_str!("../../events/command-definition.json"), "docs", Some(Stopping), "on", "changed; busy"),
            (
                include_str!("../../events/command-prune.json"),
                "docs",
                Some(Stopping),
                "on",
                "nothing is old enough, and nothing changes",
            ),
            (include_str!("../../events/command-remove.json"), "docs", Some(Stopping), "off", "for good"),
        ] {
            let reply = Arc::clone(&scheduler).handle(&world, &retained, event(json)).await.unwrap();
            assert_eq!(reply, Reply::default(), "{why}");
            let crawl = crawl.parse().unwrap();
            let iteration = world.frontier().latest_iteration(&crawl).await.unwrap();
            assert_eq!(iteration.map(|row| row.status), status, "{why}");
            let seen = match world.frontier().load_crawl(&crawl).await.unwrap().unwrap().switch {
                Switch::On { next: None } => "on",
                Switch::On { next: Some(_) } => "on, scheduled",
                Switch::Off => "off",
            };
            assert_eq!(seen, switch, "{why}");
        }
    }

    #[tokio::test]
    async fn a_tick_checks_schedules() {
        let (world, retained, _directory) = world_with_retained();
        let reply = scheduler()
            .handle(&Arc::new(world), &retained, event(include_str!("../../events/tick.json")))
            .await
            .unwrap();
        assert_eq!(reply, Reply::default());
    }
}
