//! What to do with what the data directory holds: a pure decision.

use dragline_domain::definition::{Definition, Effect, Key, changes};
use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::CrawlId;

use crate::args::Abandon;

/// What a data directory holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held<'a> {
    /// The crawl's definition as last stored.
    pub(super) definition: &'a Definition,
    /// The status of its latest iteration; absent before the first.
    pub(super) latest: Option<IterationStatus>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Store the definition, if it changed, and begin the next iteration, which may be the first.
    Begin {
        /// What changed of the definition, if there was one.
        changed: Vec<Key>,
    },
    /// Take over what changed and go on with the iteration.
    GoOn {
        /// What changed, none of which changes which URLs are crawled.
        changed: Vec<Key>,
    },
    /// End the iteration with what is done, then decide again.
    End,
}

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The directory is another crawl's.
    AnotherCrawl(CrawlId),
    /// These changes need a new iteration, and the last one is not finished.
    Outgrown(Vec<Key>),
}

/// Decides what to do, `wanted` being the definition that was asked for.
///
/// # Errors
/// What was asked for does not fit what is there.
pub(super) fn plan(held: Option<Held<'_>>, wanted: &Definition, abandon: Abandon) -> Result<Plan, Refusal> {
    let Some(Held { definition, latest }) = held else { return Ok(Plan::Begin { changed: Vec::new() }) };
    if definition.name != wanted.name {
        return Err(Refusal::AnotherCrawl(definition.name.clone()));
    }
    let changed = changes(definition, wanted);
    let outgrown: Vec<Key> = changed.iter().copied().filter(|key| key.effect() == Effect::WhichUrls).collect();
    match (latest, abandon) {
        (None | Some(IterationStatus::Closed), _) => Ok(Plan::Begin { changed }),
        // One that is ending is finished all the same; what was asked for then begins behind it.
        (Some(IterationStatus::Stopping), _) if !outgrown.is_empty() => Ok(Plan::End),
        (Some(_), Abandon::Unfinished) => Ok(Plan::End),
        (Some(_), Abandon::Nothing) if outgrown.is_empty() => Ok(Plan::GoOn { changed }),
        (Some(_), Abandon::Nothing) => Err(Refusal::Outgrown(outgrown)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::definition::Draft;
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use super::*;

    fn definition(change: impl FnOnce(&mut Draft)) -> Definition {
        let seed = CrawlUrl::parse("https://example.org/", &UrlRules::default()).unwrap();
        let mut draft = Draft::for_seeds(vec![seed]);
        change(&mut draft);
        Definition::new(draft).unwrap()
    }

    #[test]
    fn what_is_done_depends_on_what_changed_and_whether_the_last_iteration_is_finished() {
        use Abandon::{Nothing, Unfinished};
        use IterationStatus::{Closed, Open, Paused, Stopping};
        let held = definition(|_| {});
        let same = held.clone();
        let slower = definition(|draft| draft.politeness.delay = Duration::from_secs(9));
        let smaller = definition(|draft| {
            draft.budget.pages = Some(5);
            draft.politeness.concurrency = 2;
        });
        let other = definition(|draft| draft.name = "other".parse().unwrap());
        let begin = |changed: &[Key]| Ok(Plan::Begin { changed: changed.to_vec() });
        let go_on = |changed: &[Key]| Ok(Plan::GoOn { changed: changed.to_vec() });
        let pages = || Err(Refusal::Outgrown(vec![Key::BudgetPages]));
        let both = [Key::BudgetPages, Key::PolitenessConcurrency];
        for (latest, wanted, abandon, expected, why) in [
            (None, &same, Nothing, begin(&[]), "stored, but died before it began"),
            (None, &smaller, Nothing, begin(&both), "nothing began that could mind"),
            (Some(Closed), &same, Nothing, begin(&[]), "the next iteration"),
            (Some(Closed), &smaller, Nothing, begin(&both), "the next iteration, as it is now defined"),
            (Some(Closed), &same, Unfinished, begin(&[]), "nothing is unfinished"),
            (Some(Open), &same, Nothing, go_on(&[]), "goes on where it was"),
            (Some(Open), &slower, Nothing, go_on(&[Key::PolitenessDelay]), "politeness may change at any time"),
            (Some(Open), &smaller, Nothing, pages(), "only what stands in the way is named"),
            (Some(Open), &smaller, Unfinished, Ok(Plan::End), "as it was asked for"),
            (Some(Open), &same, Unfinished, Ok(Plan::End), "a new start without a change"),
            (Some(Paused), &same, Nothing, go_on(&[]), "resumed"),
            (Some(Paused), &smaller, Nothing, pages(), "as if it ran"),
            (Some(Stopping), &same, Nothing, go_on(&[]), "its end was interrupted"),
            (Some(Stopping), &smaller, Nothing, Ok(Plan::End), "it ends anyhow"),
            (
                Some(Open),
                &other,
                Unfinished,
                Err(Refusal::AnotherCrawl("example.org".parse().unwrap())),
                "not ours to end",
            ),
        ] {
            let plan = plan(Some(Held { definition: &held, latest }), wanted, abandon);
            assert_eq!(plan, expected, "{latest:?}, {abandon:?}: {why}");
        }
        assert_eq!(plan(None, &same, Nothing), begin(&[]), "an empty directory");
    }
}
