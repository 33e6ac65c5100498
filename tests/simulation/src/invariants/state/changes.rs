//! 17: the log reports each change once.

use super::{Change, Invariant, State, Violation, Visit};

/// 17: the changes in the log are the differences between the state before the iteration and the
/// one after it, each once. Of a visit whose capture was lost nobody knows what was there before.
pub(super) fn each_is_reported_once(after: &State, changes: &[Change], visits: &[Visit]) -> Vec<Violation> {
    let name = |url: &_, change: &str, parts: &str| format!("{url} {change} {parts}").trim_end().to_owned();
    let mut due: Vec<String> = changes
        .iter()
        .filter(|it| !after.lost.contains(&it.url))
        .map(|it| name(&it.url, it.kind, &it.parts.join(",")))
        .collect();
    let reported = visits.iter().filter(|visit| !after.lost.contains(&visit.url));
    let reported = reported.filter_map(|visit| Some(name(&visit.url, visit.change.as_deref()?, &visit.parts)));
    let mut wrong = Vec::new();
    for change in reported {
        match due.iter().position(|due| *due == change) {
            Some(place) => _ = due.swap_remove(place),
            None => wrong.push(format!("the log reports `{change}`, which did not happen, or is reported before")),
        }
    }
    wrong.extend(due.into_iter().map(|change| format!("the log does not report `{change}`")));
    wrong.into_iter().map(|what| Violation { invariant: Invariant::EachChangeIsReportedOnce, what }).collect()
}
