//! Commands, each handled once per trigger.

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, HostPattern, UserAgent};
use dragline_domain::frontier::{IterationBegun, IterationRow, IterationStatus, StatusChange, Switch, Task};
use dragline_domain::ids::{CrawlId, TriggerId};

use super::begin::{go_on, is_put_off, open};
use super::named::{NamedUrls, visit_named};
use super::refusal::Refusal;
use crate::World;
use crate::context::Contexts;
use crate::tell::tell_surely;
use dragline_domain::frontier::CrawlPut;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Crawls, Iterations, PutCrawl};
use dragline_ports::notifier::Notice;
use dragline_ports::queue::StartCommand;

/// How often to try to put a definition while somebody else changes it.
const PUTS_MAX: u32 = 8;

/// The deployment's defaults, for values that a command leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// The user agent for crawls whose definition has none.
    pub user_agent: UserAgent,
    /// The page budget of a crawl that a URL alone began.
    pub url_pages_max: u64,
    /// The hosts whose robots.txt is not obeyed. No definition says so, only who deploys.
    pub ignore_robots: Vec<HostPattern>,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandResult {
    /// An iteration began, continues to begin, or another one was running.
    Started(IterationBegun),
    /// The URL is in this iteration.
    Joined(IterationRow),
    /// The definition is stored as this version.
    Stored(u32),
    /// The iteration after its change of status.
    Changed(IterationRow),
    /// The crawl is switched off, and nothing new of it begins.
    Removed,
    /// The command was handled before.
    Before,
    /// It was refused.
    Refused(Refusal),
}

/// Handles a command, unless that was done before. The trigger is the command's own, or else
/// `message`.
///
/// It is recorded as done at the very end, by the worker that finishes it. After a crash at any
/// point, repeating the command has the same result.
///
/// # Errors
/// Returns the ports' errors; the command is then to be delivered again.
pub async fn handle(
    world: &impl World,
    contexts: &Contexts,
    defaults: &Defaults,
    command: &Command,
    message: &TriggerId,
) -> PortResult<CommandResult> {
    let (crawl, frontier) = (command.crawl(), world.frontier());
    let trigger = match command {
        Command::Start { trigger: Some(trigger), .. } => trigger,
        _ => message,
    };
    let mark = match command {
        // Its trigger may be sent again as a start, which does not know about the URL.
        Command::Url(_) | Command::Demand { .. } => trigger.for_url(),
        _ => trigger.clone(),
    };
    if !matches!(command, Command::Start { .. }) && frontier.was_handled(&crawl, &mark).await? {
        return Ok(CommandResult::Before);
    }
    let handled = match command {
        Command::Url(url) => {
            let named = NamedUrls { crawl: &crawl, urls: std::slice::from_ref(url), demand: None };
            visit_named(world, contexts, defaults, &named, trigger).await?
        }
        Command::Demand { urls, demand, .. } => {
            let named = NamedUrls { crawl: &crawl, urls, demand: Some(demand) };
            visit_named(world, contexts, defaults, &named, trigger).await?
        }
        Command::Start { .. } => {
            let command = StartCommand { crawl: crawl.clone(), trigger: trigger.clone() };
            return start_once(world, contexts, &command).await;
        }
        Command::Reparse { selection, .. } => {
            let task = Task::Reparse(selection.clone());
            begin(world, contexts, &crawl, trigger, &task).await?
        }
        Command::Define(definition) => {
            put(world, &with_defaults(definition, defaults)).await?;
            begin(world, contexts, &crawl, trigger, &Task::Crawl).await?
        }
        Command::PutCrawl(definition) => CommandResult::Stored(put(world, &with_defaults(definition, defaults)).await?),
        Command::Change { change, .. } => change_status(world, &crawl, *change).await?,
        Command::Remove(_) => remove(world, &crawl).await?,
        // Its receiver has the necessary stores and handles it without this step.
        Command::Prune { .. } => CommandResult::Refused(Refusal::NotPruned(crawl.clone())),
    };
    let task = match command {
        Command::Reparse { selection, .. } => Task::Reparse(selection.clone()),
        _ => Task::Crawl,
    };
    mark_if_done(world, &crawl, &mark, &handled, &task).await?;
    Ok(handled)
}

/// Handles a start, unless that was done before: sent by a schedule, or again by the sweeper.
///
/// # Errors
/// Returns the ports' errors; the command is then to be delivered again.
pub async fn start_once(world: &impl World, contexts: &Contexts, command: &StartCommand) -> PortResult<CommandResult> {
    let StartCommand { crawl, trigger } = command;
    if world.frontier().was_handled(crawl, trigger).await? {
        return Ok(CommandResult::Before);
    }
    let handled = begin(world, contexts, crawl, trigger, &Task::Crawl).await?;
    mark_if_done(world, crawl, trigger, &handled, &Task::Crawl).await?;
    Ok(handled)
}

/// Records a command as handled, unless something is left to do or it was refused. `task` is that
/// of the iteration that it begins, if any.
async fn mark_if_done(
    world: &impl World,
    crawl: &CrawlId,
    mark: &TriggerId,
    handled: &CommandResult,
    task: &Task,
) -> PortResult<()> {
    let is_unfinished = match handled {
        CommandResult::Started(IterationBegun::Iteration(row)) => row.token_out,
        CommandResult::Started(IterationBegun::Busy(running)) => is_put_off(running, task),
        _ => false,
    };
    if !is_unfinished && !matches!(handled, CommandResult::Refused(_)) {
        world.frontier().mark_handled(crawl, mark, world.clock().now()).await?;
    }
    Ok(())
}

/// Begins an iteration. If the last one prevents that, people are told.
async fn begin(
    world: &impl World,
    contexts: &Contexts,
    crawl: &CrawlId,
    trigger: &TriggerId,
    task: &Task,
) -> PortResult<CommandResult> {
    if let Err(refusal) = may_begin(world, crawl, trigger).await? {
        return Ok(CommandResult::Refused(refusal));
    }
    let command = StartCommand { crawl: crawl.clone(), trigger: trigger.clone() };
    let started = match open_unless_removed(world, contexts, &command, task).await? {
        IterationBegun::Iteration(row) => IterationBegun::Iteration(go_on(world, contexts, row).await?),
        busy @ IterationBegun::Busy(_) => busy,
    };
    if let IterationBegun::Busy(running) = &started
        && !is_put_off(running, task)
    {
        let notice = Notice::StartSkipped { trigger: trigger.clone(), running: running.clone() };
        let since = schedule_time(trigger).unwrap_or_else(|| world.clock().now());
        tell_surely(world, notice, since).await?;
    }
    Ok(CommandResult::Started(started))
}

/// Returns the schedule's time that is a trigger; `None` if it is another one.
fn schedule_time(trigger: &TriggerId) -> Option<jiff::Timestamp> {
    trigger.0.strip_prefix("schedule-")?.parse().ok()
}

/// Whether an iteration of the crawl may begin. One that this trigger has begun continues in any
/// case: it owes seeds, and cannot close before.
pub(super) async fn may_begin(
    world: &impl World,
    crawl: &CrawlId,
    trigger: &TriggerId,
) -> PortResult<Result<(), Refusal>> {
    let Some(row) = world.frontier().load_crawl(crawl).await? else {
        return Ok(Err(Refusal::NoSuchCrawl(crawl.clone())));
    };
    if row.switch != Switch::Off {
        return Ok(Ok(()));
    }
    let latest = world.frontier().latest_iteration(crawl).await?;
    let is_owed = latest.is_some_and(|latest| latest.token_out && latest.trigger == *trigger);
    Ok(if is_owed { Ok(()) } else { Err(Refusal::SwitchedOff(crawl.clone())) })
}

/// Like [`open`], and stops the iteration if the crawl was removed meanwhile: the removal, which
/// then stops the latest iteration, may have been too early to see this one.
pub(super) async fn open_unless_removed(
    world: &impl World,
    contexts: &Contexts,
    command: &StartCommand,
    task: &Task,
) -> PortResult<IterationBegun> {
    let begun = open(world, contexts, command, task).await?;
    let IterationBegun::Iteration(row) = &begun else { return Ok(begun) };
    if !row.token_out || row.status == IterationStatus::Stopping {
        return Ok(begun);
    }
    let frontier = world.frontier();
    if frontier.load_crawl(&row.crawl).await?.is_none_or(|crawl| crawl.switch != Switch::Off) {
        return Ok(begun);
    }
    let stopped = frontier.change_status(&row.crawl, row.number, StatusChange::Stop).await?;
    Ok(stopped.map_or(begun, IterationBegun::Iteration))
}

/// Stores a definition over any existing version, and switches its crawl on from its schedule's
/// next time. Returns the version.
///
/// # Errors
/// Returns the frontier's errors, and one if others keep changing the definition.
pub async fn put(world: &impl World, definition: &Definition) -> PortResult<u32> {
    let schedule = definition.schedule.as_ref();
    let next = schedule.and_then(|schedule| schedule.next_after(world.clock().now()));
    for _ in 0..PUTS_MAX {
        let seen = world.frontier().load_crawl(&definition.name).await?.map(|row| row.version);
        let put = PutCrawl { definition: definition.clone(), seen, next };
        if let CrawlPut::Stored(version) = world.frontier().put_crawl(&put).await? {
            return Ok(version);
        }
    }
    let why = "others keep changing the definition";
    Err(PortError::new(PortErrorKind::Unavailable, "put crawl", &definition.name, why))
}

/// Returns the definition with what the deployment says, which is its user agent only where the
/// definition has none of its own.
fn with_defaults(definition: &Definition, defaults: &Defaults) -> Definition {
    let mut draft = definition.clone().into_draft();
    if draft.user_agent == UserAgent::default() {
        draft.user_agent = defaults.user_agent.clone();
    }
    draft.ignore_robots.clone_from(&defaults.ignore_robots);
    // It is checked already, and no check concerns these.
    Definition::new(draft).unwrap_or_else(|_| definition.clone())
}

async fn change_status(world: &impl World, crawl: &CrawlId, change: StatusChange) -> PortResult<CommandResult> {
    let Some(row) = world.frontier().latest_iteration(crawl).await? else {
        return Ok(CommandResult::Refused(Refusal::NotRunning(crawl.clone())));
    };
    if row.status == IterationStatus::Closed {
        return Ok(CommandResult::Refused(Refusal::NotRunning(crawl.clone())));
    }
    Ok(match world.frontier().change_status(crawl, row.number, change).await? {
        Some(row) => CommandResult::Changed(row),
        None => CommandResult::Refused(Refusal::DoesNotFit { crawl: crawl.clone(), status: row.status, change }),
    })
}

/// Switches a crawl off first, so that nothing begins after the running iteration was stopped.
async fn remove(world: &impl World, crawl: &CrawlId) -> PortResult<CommandResult> {
    let frontier = world.frontier();
    if frontier.load_crawl(crawl).await?.is_none() {
        return Ok(CommandResult::Refused(Refusal::NoSuchCrawl(crawl.clone())));
    }
    frontier.switch_off(crawl).await?;
    if let Some(row) = frontier.latest_iteration(crawl).await? {
        frontier.change_status(crawl, row.number, StatusChange::Stop).await?;
    }
    Ok(CommandResult::Removed)
}
