//! Commands, each handled once per trigger.

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, UserAgent};
use dragline_domain::frontier::{IterationBegun, IterationRow, IterationStatus, StatusChange, Switch, Task};
use dragline_domain::ids::{CrawlId, TriggerId};

use super::begin::{is_put_off, start};
use super::named::{NamedUrls, visit_named};
use super::refusal::Refusal;
use crate::World;
use crate::context::Contexts;
use crate::tell::tell;
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
    if frontier.was_handled(&crawl, &mark).await? {
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
        Command::Start { .. } => begin(world, contexts, &crawl, trigger, &Task::Crawl).await?,
        Command::Reparse { selection, .. } => {
            let task = Task::Reparse(selection.clone());
            begin(world, contexts, &crawl, trigger, &task).await?
        }
        Command::Define(definition) => {
            put(world, &with_user_agent(definition, defaults)).await?;
            begin(world, contexts, &crawl, trigger, &Task::Crawl).await?
        }
        Command::PutCrawl(definition) => {
            CommandResult::Stored(put(world, &with_user_agent(definition, defaults)).await?)
        }
        Command::Change { change, .. } => change_status(world, &crawl, *change).await?,
        Command::Remove(_) => remove(world, &crawl).await?,
        // Its receiver has the necessary stores and handles it without this step.
        Command::Prune { .. } => CommandResult::Refused(Refusal::NotPruned(crawl.clone())),
    };
    let is_unfinished = match &handled {
        CommandResult::Started(IterationBegun::Iteration(row)) => row.token_out,
        CommandResult::Started(IterationBegun::Busy(running)) => {
            matches!(command, Command::Start { .. } | Command::Define(_)) && is_put_off(running, &Task::Crawl)
        }
        _ => false,
    };
    if !is_unfinished && !matches!(handled, CommandResult::Refused(_)) {
        frontier.mark_handled(&crawl, &mark, world.clock().now()).await?;
    }
    Ok(handled)
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
    let started = start(world, contexts, &command, task).await?;
    if let IterationBegun::Busy(running) = &started
        && !is_put_off(running, task)
    {
        let notice = Notice::StartSkipped { trigger: trigger.clone(), running: running.clone() };
        tell(world, notice).await;
    }
    Ok(CommandResult::Started(started))
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

/// Returns the definition with the deployment's user agent if it has none of its own.
fn with_user_agent(definition: &Definition, defaults: &Defaults) -> Definition {
    if definition.user_agent != UserAgent::default() {
        return definition.clone();
    }
    let mut draft = definition.clone().into_draft();
    draft.user_agent = defaults.user_agent.clone();
    // It is checked already, and no check concerns the user agent.
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
