//! The differences between two versions of a definition.

use super::{Draft, Key, Schedule};

/// The effect of a changed key on an iteration that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Other URLs would be crawled: the iteration must start over.
    WhichUrls,
    /// The same URLs are crawled in another way: the iteration can continue.
    HowOnly,
}

/// Returns the keys that differ between two versions, in the order of [`Key::ALL`]. Empty when they
/// are the same.
#[must_use]
pub fn changes(old: &Draft, new: &Draft) -> Vec<Key> {
    Key::ALL.iter().copied().filter(|key| differs(*key, old, new)).collect()
}

/// Returns those of the changed keys that an unfinished iteration cannot adopt: other URLs would be
/// crawled. Further exclusions can be adopted, as nothing has to be found again for them.
#[must_use]
pub fn outgrown(old: &Draft, new: &Draft) -> Vec<Key> {
    let only_excludes_more = |key| match key {
        Key::ScopeExclude => old.scope.exclude.iter().all(|pattern| new.scope.exclude.contains(pattern)),
        Key::DoNotCrawl => old.do_not_crawl.iter().all(|rule| new.do_not_crawl.contains(rule)),
        _ => false,
    };
    let changed = changes(old, new).into_iter();
    changed.filter(|key| key.effect() == Effect::WhichUrls && !only_excludes_more(*key)).collect()
}

fn differs(key: Key, old: &Draft, new: &Draft) -> bool {
    match key {
        // Two keys of one field.
        Key::ScheduleCron => part(old, Schedule::cron) != part(new, Schedule::cron),
        Key::ScheduleTimeZone => part(old, Schedule::time_zone) != part(new, Schedule::time_zone),
        key => key.has_changed(old, new),
    }
}

fn part(draft: &Draft, of: fn(&Schedule) -> &str) -> Option<&str> {
    draft.schedule.as_ref().map(of)
}
