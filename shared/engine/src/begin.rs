//! Prepares the iteration to run: decides what to do from the stored crawl and the definition, and
//! does it.

use dragline_domain::definition::{Definition, Key, changes, outgrown};
use dragline_domain::frontier::{CrawlPut, IterationBegun, IterationRow, IterationStatus, StatusChange, Task};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_pipeline::context::Contexts;
use dragline_pipeline::{World, schedule};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlRow, Crawls, Iterations, PutCrawl};
use dragline_ports::queue::StartCommand;

/// The stored state of a crawl.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCrawl {
    /// The crawl.
    pub row: CrawlRow,
    /// Its latest iteration; `None` before the first.
    pub latest: Option<IterationRow>,
}

/// What to do with an unfinished iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandon {
    /// Resume it, and refuse a change that it cannot adopt.
    Nothing,
    /// End it as it stands, and begin a new one.
    Unfinished,
}

/// The next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Store the definition if it changed, and begin the next iteration.
    Begin {
        /// The keys that differ from the stored definition, if there is one.
        changed: Vec<Key>,
    },
    /// Adopt the changes and resume the iteration.
    GoOn {
        /// The keys that changed. None of them affects which URLs are crawled.
        changed: Vec<Key>,
    },
    /// End the iteration as it stands, then decide again.
    End,
    /// Run the iteration to its end, as it has another task, then decide again.
    Finish,
}

/// The error of a definition whose changes need a new iteration while the last one is unfinished.
/// Holds the changed keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnadoptableChange(pub Vec<Key>);

/// Loads the stored state of a crawl; `None` if there is none.
///
/// # Errors
/// The frontier failed.
pub async fn load_crawl(world: &impl World, crawl: &CrawlId) -> PortResult<Option<StoredCrawl>> {
    let Some(row) = world.frontier().load_crawl(crawl).await? else { return Ok(None) };
    let latest = world.frontier().latest_iteration(crawl).await?;
    Ok(Some(StoredCrawl { row, latest }))
}

/// Decides what to do so that an iteration with this task runs by the definition `wanted`. `held`
/// is `None` for a new crawl. URLs on demand join an unfinished crawl.
///
/// # Errors
/// The definition changed in a way that the unfinished iteration cannot adopt.
pub fn plan(
    held: Option<&StoredCrawl>,
    (wanted, task): (&Definition, &Task),
    abandon: Abandon,
) -> Result<Plan, UnadoptableChange> {
    let Some(StoredCrawl { row, latest }) = held else { return Ok(Plan::Begin { changed: Vec::new() }) };
    let joins = latest.as_ref().is_none_or(|unfinished| match (&unfinished.task, task) {
        (Task::Crawl, Task::Demand) => true,
        (unfinished, wanted) => unfinished == wanted,
    });
    let latest = latest.as_ref().map(|iteration| iteration.status);
    let changed = changes(&row.definition, wanted);
    let outgrown = outgrown(&row.definition, wanted);
    match (latest, abandon) {
        (None | Some(IterationStatus::Closed), _) => Ok(Plan::Begin { changed }),
        // Its documents by the old definition would remain.
        (Some(_), _) if joins && matches!(task, Task::Reparse(_)) && !changed.is_empty() => Ok(Plan::End),
        // An iteration that is stopping is ended first; the new one begins after it.
        (Some(IterationStatus::Stopping), _) if !outgrown.is_empty() || !joins => Ok(Plan::End),
        (Some(_), Abandon::Unfinished) => Ok(Plan::End),
        (Some(_), Abandon::Nothing) if !joins => Ok(Plan::Finish),
        (Some(_), Abandon::Nothing) if outgrown.is_empty() => Ok(Plan::GoOn { changed }),
        (Some(_), Abandon::Nothing) => Err(UnadoptableChange(outgrown)),
    }
}

/// Carries out the plan, and returns the iteration to run, whether to crawl or to finish.
pub async fn carry_out(
    world: &impl World,
    plan: &Plan,
    held: Option<&StoredCrawl>,
    (wanted, task): (&Definition, &Task),
    trigger: TriggerId,
) -> PortResult<IterationRow> {
    if matches!(plan, Plan::Begin { .. } | Plan::GoOn { .. }) {
        store(world, held, wanted).await?;
    }
    match (plan, held.and_then(|held| held.latest.clone())) {
        (Plan::GoOn { .. } | Plan::Finish, Some(latest)) => change(world, latest, StatusChange::Resume).await,
        (Plan::End, Some(latest)) => change(world, latest, StatusChange::Stop).await,
        (Plan::Begin { .. }, _) | (_, None) => {
            let command = StartCommand { crawl: wanted.name.clone(), trigger };
            let contexts = Contexts::default();
            let begun = match task {
                // Its URLs are added next; the token is not released before.
                Task::Demand | Task::Import => schedule::open(world, &contexts, &command, task).await?,
                Task::Crawl | Task::Reparse(_) => schedule::start(world, &contexts, &command, task).await?,
            };
            let (IterationBegun::Iteration(iteration) | IterationBegun::Busy(iteration)) = begun;
            Ok(iteration)
        }
    }
}

/// Stores the definition if it is new or changed.
///
/// # Errors
/// The frontier failed, or another process changed the definition.
pub async fn store(world: &impl World, held: Option<&StoredCrawl>, wanted: &Definition) -> PortResult<()> {
    if held.is_some_and(|held| changes(&held.row.definition, wanted).is_empty()) {
        return Ok(());
    }
    let put = PutCrawl { definition: wanted.clone(), seen: held.map(|held| held.row.version), next: None };
    match world.frontier().put_crawl(&put).await? {
        CrawlPut::Stored(_) => Ok(()),
        // No other process uses the directory.
        CrawlPut::Changed => {
            let why = "the definition changed, although no other process uses the directory";
            Err(PortError::new(PortErrorKind::Corrupt, "put crawl", &wanted.name, why))
        }
    }
}

/// Changes an iteration's status, if the change applies to it.
async fn change(world: &impl World, iteration: IterationRow, change: StatusChange) -> PortResult<IterationRow> {
    let changed = world.frontier().change_status(&iteration.crawl, iteration.number, change).await?;
    Ok(changed.unwrap_or(iteration))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::definition::{Condition, Draft, Key, MainRule, TextTest};
    use dragline_domain::frontier::{Reserve, Selection};
    use dragline_domain::ids::Iteration;
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use jiff::Timestamp;

    use super::*;

    fn definition(change: impl FnOnce(&mut Draft)) -> Definition {
        let seed = CrawlUrl::parse("https://example.org/", &UrlRules::default()).unwrap();
        let mut draft = Draft::for_seeds(vec![seed]);
        change(&mut draft);
        Definition::new(draft).unwrap()
    }

    fn iteration(status: IterationStatus) -> IterationRow {
        let (crawl, trigger) = ("example.org".parse().unwrap(), TriggerId("cli".to_owned()));
        let now = Timestamp::UNIX_EPOCH;
        let row = IterationRow::begin(crawl, Iteration::FIRST, trigger, Reserve::default(), now, None, now);
        IterationRow { status, ..row }
    }

    #[test]
    fn the_plan_depends_on_the_changes_and_on_whether_the_last_iteration_is_finished() {
        use Abandon::{Nothing, Unfinished};
        use IterationStatus::{Closed, Open, Paused, Stopping};
        let held = definition(|_| {});
        let same = held.clone();
        let slower = definition(|draft| draft.politeness.delay = Duration::from_secs(9));
        let smaller = definition(|draft| {
            draft.budget.pages = Some(5);
            draft.politeness.concurrency = 2;
        });
        let fewer = definition(|draft| draft.scope.exclude = vec!["/a".parse().unwrap()]);
        let begin = |changed: &[Key]| Ok(Plan::Begin { changed: changed.to_vec() });
        let go_on = |changed: &[Key]| Ok(Plan::GoOn { changed: changed.to_vec() });
        let pages = || Err(UnadoptableChange(vec![Key::BudgetPages]));
        let both = [Key::BudgetPages, Key::PolitenessConcurrency];
        for (latest, wanted, abandon, expected, why) in [
            (None, &same, Nothing, begin(&[]), "stored, but died before it began"),
            (None, &smaller, Nothing, begin(&both), "no iteration has begun that would be affected"),
            (Some(Closed), &same, Nothing, begin(&[]), "the next iteration"),
            (Some(Closed), &smaller, Nothing, begin(&both), "the next iteration, as it is now defined"),
            (Some(Closed), &same, Unfinished, begin(&[]), "nothing is unfinished"),
            (Some(Open), &same, Nothing, go_on(&[]), "resumes where it was"),
            (Some(Open), &slower, Nothing, go_on(&[Key::PolitenessDelay]), "politeness may change at any time"),
            (Some(Open), &smaller, Nothing, pages(), "only the keys that need a new iteration are named"),
            (
                Some(Open),
                &fewer,
                Nothing,
                go_on(&[Key::ScopeExclude]),
                "what is excluded now is left alone from now on",
            ),
            (Some(Open), &smaller, Unfinished, Ok(Plan::End), "as asked for"),
            (Some(Open), &same, Unfinished, Ok(Plan::End), "a new start without a change"),
            (Some(Paused), &same, Nothing, go_on(&[]), "resumed"),
            (Some(Paused), &smaller, Nothing, pages(), "as if it ran"),
            (Some(Stopping), &same, Nothing, go_on(&[]), "ending it was interrupted"),
            (Some(Stopping), &smaller, Nothing, Ok(Plan::End), "it is ending anyway"),
        ] {
            let held = StoredCrawl { row: CrawlRow::first(held.clone()), latest: latest.map(iteration) };
            let plan = plan(Some(&held), (wanted, &Task::Crawl), abandon);
            assert_eq!(plan, expected, "{latest:?}, {abandon:?}: {why}");
        }
        assert_eq!(plan(None, (&same, &Task::Crawl), Nothing), begin(&[]), "an empty directory");
    }

    #[test]
    fn an_unfinished_iteration_with_the_same_task_is_resumed_and_another_finished_first() {
        use IterationStatus::{Open, Stopping};
        let reparse = || Task::Reparse(Selection::All);
        let some = Condition::Path(TextTest::Prefix("/a".to_owned()));
        let some = || Task::Reparse(Selection::from_condition(Some(some.clone())));
        let go_on = || Plan::GoOn { changed: Vec::new() };
        for (running, status, wanted, expected, why) in [
            (Task::Crawl, Open, Task::Demand, go_on(), "URLs on demand join a crawl"),
            (Task::Demand, Open, Task::Demand, go_on(), "and an iteration of their own kind"),
            (Task::Demand, Open, Task::Crawl, Plan::Finish, "it does not visit what is due"),
            (reparse(), Open, Task::Crawl, Plan::Finish, "it visits nothing"),
            (Task::Crawl, Open, reparse(), Plan::Finish, "it makes no documents again"),
            (reparse(), Open, reparse(), go_on(), "the same documents"),
            (some(), Open, reparse(), Plan::Finish, "other documents"),
            (Task::Demand, Stopping, Task::Crawl, Plan::End, "it is ending anyway"),
        ] {
            let row = IterationRow { task: running, ..iteration(status) };
            let definition = definition(|_| {});
            let held = StoredCrawl { row: CrawlRow::first(definition.clone()), latest: Some(row) };
            let plan = plan(Some(&held), (&definition, &wanted), Abandon::Nothing);
            assert_eq!(plan, Ok(expected), "{why}");
        }
    }

    #[test]
    fn an_iteration_does_not_mix_definitions() {
        let held = definition(|_| {});
        let mended =
            definition(|draft| draft.main = vec![MainRule { ignore: vec!["aside".to_owned()], ..MainRule::default() }]);
        let smaller = definition(|draft| draft.budget.pages = Some(5));
        for (wanted, expected, why) in [
            (&held, Ok(Plan::GoOn { changed: Vec::new() }), "the same"),
            (&mended, Ok(Plan::End), "what was made by the old one would stay so"),
            (&smaller, Ok(Plan::End), "no page is visited, so nothing is lost"),
        ] {
            let reparse = Task::Reparse(Selection::All);
            let row = IterationRow { task: reparse.clone(), ..iteration(IterationStatus::Open) };
            let held = StoredCrawl { row: CrawlRow::first(held.clone()), latest: Some(row) };
            assert_eq!(plan(Some(&held), (wanted, &reparse), Abandon::Nothing), expected, "{why}");
        }
    }
}
