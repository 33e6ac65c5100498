//! Prepares the iteration to run, from the arguments and the data directory.

use dragline_domain::definition::{Definition, Key, changes};
use dragline_domain::frontier::{IterationRow, IterationStatus, Task};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_engine::begin::{self, Plan, UnadoptableChange};
use dragline_ports::clock::Clock;

use super::nothing_to_crawl;
use super::request::Request;
use super::run::CliWorld;
use crate::args::RunArgs;
use crate::definition_source::{Source, key_names};
use crate::error::Failure;
use crate::location::Directory;
use crate::summary::numbered_task;
use crate::terminal::Console;

/// An iteration that is ready to run.
pub(super) struct PreparedIteration {
    /// The definition in force.
    pub(super) wanted: Definition,
    pub(super) iteration: IterationRow,
    /// The purpose of the run.
    pub(super) goal: Goal,
}

/// The purpose of running an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Crawl.
    Crawl,
    /// End or finish it, so that the next one can begin.
    MakeWay,
}

/// Decides what to do with a crawl, and does everything up to the run itself. `given` is the
/// definition in the arguments; `None` to use the stored one.
///
/// # Errors
/// The arguments do not fit the stored crawl, or the store failed.
pub(super) async fn prepare(
    world: &CliWorld,
    (crawl, directory): (&CrawlId, &Directory),
    (given, request): (Option<&Definition>, &Request),
    run: &RunArgs<'_>,
    console: &Console,
) -> Result<PreparedIteration, Failure> {
    let held = begin::load_crawl(world, crawl).await?;
    let wanted = match (given, &held) {
        (Some(given), _) => given.clone(),
        (None, Some(held)) => Definition::new(run.change(held.row.definition.clone().into_draft()))?,
        (None, None) => return Err(nothing_to_crawl(&directory.path)),
    };
    let task = request.task();
    let plan = begin::plan(held.as_ref(), (&wanted, &task), run.abandon)
        .map_err(|UnadoptableChange(keys)| outgrown(&keys, &request.command_to_resume(run, directory)))?;
    let latest = held.as_ref().and_then(|held| held.latest.as_ref());
    if let (Plan::Finish | Plan::GoOn { .. }, Some(latest)) = (&plan, latest)
        && latest.task == Task::Import
    {
        // Its answers come from archives, not from the web.
        return Err(directory.unfinished_import_error(crawl, latest.number, "that is not finished"));
    }
    if let (false, Plan::Finish, Some(latest)) = (request.is_online(), &plan, latest)
        && latest.task.visits()
    {
        // Finishing it would make requests.
        return Err(directory.unfinished_error(crawl, latest.number));
    }
    let trigger = TriggerId(format!("cli-{}", world.clock.now()));
    let iteration = begin::carry_out(world, &plan, held.as_ref(), (&wanted, &task), trigger).await?;
    let goal = if matches!(plan, Plan::End | Plan::Finish) { Goal::MakeWay } else { Goal::Crawl };
    console.say(&announcement(&plan, &iteration));
    if goal == Goal::Crawl && wanted.schedule.is_some() {
        console.hint("its `schedule` is followed by `dragline serve`, not by this command");
    }
    if let (Some(held), Source::Urls(_)) = (&held, &run.source) {
        let kept = run.change(held.row.definition.clone().into_draft());
        let reset = changes(&kept, &wanted.clone().into_draft());
        let reset: Vec<Key> = reset.into_iter().filter(|key| !matches!(key, Key::Name | Key::Seeds)).collect();
        if !reset.is_empty() {
            let (names, go_on) = (key_names(&reset), directory.command_to_resume());
            console.hint(&format!(
                "a URL begins with default options, so {names} is reset; `{go_on}` keeps what the last run had"
            ));
        }
    }
    Ok(PreparedIteration { wanted, iteration, goal })
}

/// Returns the error for a definition that changed in a way that an unfinished iteration cannot
/// adopt. `go_on` resumes the iteration.
pub(super) fn outgrown(keys: &[Key], go_on: &str) -> Failure {
    let names = key_names(keys);
    Failure::new(format!("the definition changed ({names}), but its last iteration is not finished"))
        .with_hint(format!("finish it as it was defined: `{go_on}`"))
        .with_hint("or end it as it stands and begin the next one: add `--abandon`")
}

fn announcement(plan: &Plan, iteration: &IterationRow) -> String {
    let (crawl, number) = (&iteration.crawl, numbered_task(iteration.number, &iteration.task));
    match plan {
        Plan::Begin { changed } if changed.is_empty() => format!("{crawl}: iteration {number} begins"),
        Plan::Begin { changed } => format!("{crawl}: iteration {number} begins, with changed {}", key_names(changed)),
        Plan::GoOn { .. } if iteration.status == IterationStatus::Stopping => {
            format!("{crawl}: iteration {number} is being ended as it stands")
        }
        Plan::GoOn { changed } if changed.is_empty() => format!("{crawl}: iteration {number} resumes"),
        Plan::GoOn { changed } => {
            format!("{crawl}: iteration {number} resumes, with changed {}", key_names(changed))
        }
        Plan::Finish => format!("{crawl}: iteration {number} is finished first"),
        Plan::End => format!("{crawl}: iteration {number} is being ended as it stands, so that the next can begin"),
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::Reserve;
    use dragline_domain::ids::Iteration;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn the_plan_is_announced_in_one_line() {
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
                "example.org: iteration 1 begins, with changed budget.pages",
            ),
            (Plan::GoOn { changed: vec![] }, Open, "example.org: iteration 1 resumes"),
            (
                Plan::GoOn { changed: keys() },
                Open,
                "example.org: iteration 1 resumes, with changed politeness.delay, user_agent",
            ),
            (Plan::GoOn { changed: vec![] }, Stopping, "example.org: iteration 1 is being ended as it stands"),
            (Plan::End, Stopping, "example.org: iteration 1 is being ended as it stands, so that the next can begin"),
        ] {
            assert_eq!(announcement(&plan, &iteration(status)), expected);
        }
    }
}
