//! Getting from what the data directory holds to an iteration that can be run.

use std::path::Path;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{IterationRow, IterationStatus};
use dragline_domain::ids::TriggerId;
use dragline_engine::begin::{self, Held, Outgrown, Plan};
use dragline_ports::clock::Clock;

use super::run::CliWorld;
use crate::args::CrawlArgs;
use crate::error::CliError;
use crate::found;
use crate::source::key_names;
use crate::terminal::Console;

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
    console: &Console,
) -> Result<Prepared, CliError> {
    let held = held(world, args.data.data.as_path()).await?;
    let wanted = match (given, &held) {
        (Some(given), _) => given.clone(),
        (None, Some(held)) => Definition::new(args.change(held.row.definition.clone().into_draft()))?,
        (None, None) => return Err(CliError::NothingToCrawl { data: args.data.data.clone() }),
    };
    if let Some(stored) = held.as_ref().map(|held| &held.row.definition.name).filter(|stored| **stored != wanted.name) {
        let (data, stored, wanted) = (args.data.data.clone(), stored.clone(), wanted.name.clone());
        return Err(CliError::AnotherCrawl { data, stored, wanted });
    }
    let plan = begin::plan(held.as_ref(), &wanted, args.abandon())
        .map_err(|Outgrown(keys)| CliError::Outgrown { keys, go_on: args.command_to_go_on() })?;
    let trigger = TriggerId(format!("cli-{}", world.clock.now()));
    let iteration = begin::carry_out(world, &plan, held.as_ref(), &wanted, trigger).await?;
    let goal = if plan == Plan::End { Goal::MakeWay } else { Goal::Crawl };
    console.say(&announcement(&plan, &iteration));
    Ok(Prepared { wanted, iteration, goal })
}

/// What the data directory holds, as each has one crawl.
async fn held(world: &CliWorld, data: &Path) -> Result<Option<Held>, CliError> {
    match found::in_directory(data)? {
        Some(found) => Ok(begin::held(world, &found.crawl).await?),
        None => Ok(None),
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
    use dragline_domain::definition::Key;
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
