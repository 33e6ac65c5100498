//! Getting from what the data directory holds to an iteration that can be run.

use std::path::Path;

use dragline_domain::definition::{Definition, Key};
use dragline_domain::frontier::{IterationRow, IterationStatus, StatusChange};
use dragline_domain::ids::TriggerId;
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{self, Started};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlPut, CrawlRow, Crawls, Iterations, PutCrawl};
use dragline_ports::queue::StartCommand;

use super::resume::{Held, Plan, Refusal, plan};
use super::run::CliWorld;
use crate::args::CrawlArgs;
use crate::error::CliError;
use crate::found;
use crate::source::key_names;
use crate::terminal::Talk;

/// An iteration that can be run.
pub(super) struct Prepared {
    /// The definition that was asked for.
    pub(super) wanted: Definition,
    /// The iteration.
    pub(super) iteration: IterationRow,
    /// Why it is run.
    pub(super) goal: Goal,
}

/// Why an iteration is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// To crawl.
    Crawl,
    /// To end it, so that the one that was asked for can begin.
    MakeWay,
}

/// Decides what to do and does it, up to the run itself. `given` is the definition that the arguments make; absent if the one
/// in the data directory is meant.
///
/// # Errors
/// What was asked for does not fit what is there, or the store did not do its work.
pub(super) async fn prepare(
    world: &CliWorld,
    given: Option<&Definition>,
    args: &CrawlArgs,
    talk: &Talk,
) -> Result<Prepared, CliError> {
    let data = args.data.data.as_path();
    let (held, latest) = held(world, data).await?;
    let wanted = match (given, &held) {
        (Some(given), _) => given.clone(),
        (None, Some(held)) => Definition::new(args.change(held.definition.clone().into_draft()))?,
        (None, None) => return Err(CliError::NothingToCrawl { data: data.to_owned() }),
    };
    let held_now = held
        .as_ref()
        .map(|row| Held { definition: &row.definition, latest: latest.as_ref().map(|iteration| iteration.status) });
    let plan = plan(held_now, &wanted, args.abandon()).map_err(|refusal| refused(refusal, args, &wanted))?;
    if let Plan::Begin { changed } | Plan::GoOn { changed } = &plan {
        store(world, held.as_ref(), &wanted, changed).await?;
    }
    let (iteration, goal) = match (&plan, latest) {
        (Plan::GoOn { .. }, Some(latest)) => (change(world, latest, StatusChange::Resume).await?, Goal::Crawl),
        (Plan::End, Some(latest)) => (change(world, latest, StatusChange::Stop).await?, Goal::MakeWay),
        (Plan::Begin { .. }, _) | (_, None) => (begin(world, &wanted).await?, Goal::Crawl),
    };
    talk.say(&announcement(&plan, &iteration));
    Ok(Prepared { wanted, iteration, goal })
}

fn refused(refusal: Refusal, args: &CrawlArgs, wanted: &Definition) -> CliError {
    match refusal {
        Refusal::AnotherCrawl(stored) => {
            CliError::AnotherCrawl { data: args.data.data.clone(), stored, wanted: wanted.name.clone() }
        }
        Refusal::Outgrown(keys) => CliError::Outgrown { keys, go_on: args.command_to_go_on() },
    }
}

/// What the data directory holds: the crawl, if any, and its latest iteration, if any.
async fn held(world: &CliWorld, data: &Path) -> Result<(Option<CrawlRow>, Option<IterationRow>), CliError> {
    let Some(crawl) = found::in_directory(data)?.map(|found| found.crawl) else { return Ok((None, None)) };
    let frontier = world.frontier();
    Ok((frontier.load_crawl(&crawl).await?, frontier.latest_iteration(&crawl).await?))
}

/// Stores the definition if it is new or changed.
async fn store(world: &CliWorld, held: Option<&CrawlRow>, wanted: &Definition, changed: &[Key]) -> PortResult<()> {
    if held.is_some() && changed.is_empty() {
        return Ok(());
    }
    let put = PutCrawl { definition: wanted.clone(), seen: held.map(|row| row.version), next: None };
    match world.frontier().put_crawl(&put).await? {
        CrawlPut::Stored(_) => Ok(()),
        // The directory is this process's alone.
        CrawlPut::Changed => {
            let why = "the definition changed though nobody else works in the directory";
            Err(PortError::new(PortErrorKind::Corrupt, "put crawl", &wanted.name, why))
        }
    }
}

/// Changes an iteration's status, where the change means anything to it.
async fn change(world: &CliWorld, iteration: IterationRow, change: StatusChange) -> PortResult<IterationRow> {
    let changed = world.frontier().change_status(&iteration.crawl, iteration.number, change).await?;
    Ok(changed.unwrap_or(iteration))
}

async fn begin(world: &CliWorld, wanted: &Definition) -> PortResult<IterationRow> {
    let trigger = TriggerId(format!("cli-{}", world.clock().now()));
    let command = StartCommand { crawl: wanted.name.clone(), trigger };
    match schedule::start(world, &Contexts::default(), &command).await? {
        Started::Iteration(iteration) | Started::Unfinished(iteration) | Started::Busy(iteration) => Ok(iteration),
    }
}

fn announcement(plan: &Plan, iteration: &IterationRow) -> String {
    let (crawl, number) = (&iteration.crawl, iteration.number);
    match plan {
        Plan::Begin { changed } if changed.is_empty() => format!("{crawl}: iteration {number} begins"),
        Plan::Begin { changed } => format!("{crawl}: iteration {number} begins, with a new {}", key_names(changed)),
        Plan::GoOn { .. } if iteration.status == IterationStatus::Stopping => {
            format!("{crawl}: iteration {number} is being ended with what is done")
        }
        Plan::GoOn { changed } if changed.is_empty() => format!("{crawl}: iteration {number} goes on"),
        Plan::GoOn { changed } => {
            format!("{crawl}: iteration {number} goes on, from now with a new {}", key_names(changed))
        }
        Plan::End => format!("{crawl}: iteration {number} is ended with what is done, to make way for the next"),
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::Reserve;
    use dragline_domain::ids::Iteration;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn what_is_done_is_said_in_a_line() {
        let iteration = |status| {
            let (crawl, trigger) = ("example.org".parse().unwrap(), TriggerId("cli".to_owned()));
            let now = Timestamp::UNIX_EPOCH;
            let row = IterationRow::begin(crawl, Iteration::FIRST, trigger, Reserve::default(), now, None, now);
            IterationRow { status, ..row }
        };
        let keys = || vec![Key::PolitenessDelay, Key::UserAgent];
        use IterationStatus::{Open, Stopping};
        for (plan, status, expected) in [
            (Plan::Begin { changed: vec![] }, Open, "example.org: iteration 1 begins"),
            (
                Plan::Begin { changed: vec![Key::BudgetPages] },
                Open,
                "example.org: iteration 1 begins, with a new budget.pages",
            ),
            (Plan::GoOn { changed: vec![] }, Open, "example.org: iteration 1 goes on"),
            (
                Plan::GoOn { changed: keys() },
                Open,
                "example.org: iteration 1 goes on, from now with a new politeness.delay, user_agent",
            ),
            (Plan::GoOn { changed: vec![] }, Stopping, "example.org: iteration 1 is being ended with what is done"),
            (Plan::End, Stopping, "example.org: iteration 1 is ended with what is done, to make way for the next"),
        ] {
            assert_eq!(announcement(&plan, &iteration(status)), expected);
        }
    }
}
