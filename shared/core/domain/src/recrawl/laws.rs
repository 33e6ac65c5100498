//! Properties of every policy, whatever is stored.

use proptest::prelude::*;

use super::*;

/// A hundred years: longer than any policy waits.
const LONG_MS: u64 = 100 * 365 * 86_400_000;
const YEAR_MS: u64 = 365 * 86_400_000;

fn time(range: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn instant() -> impl Strategy<Value = Timestamp> {
    time(0..=LONG_MS).prop_map(|since| after(Timestamp::UNIX_EPOCH, since))
}

/// Generates policies as a definition may have them: min ≤ interval ≤ max.
fn policies() -> impl Strategy<Value = RecrawlPolicy> {
    let times = prop::array::uniform3(60_000..=YEAR_MS).prop_map(|mut times| {
        times.sort_unstable();
        times.map(Duration::from_millis)
    });
    (times, 0..3).prop_map(|([min, interval, max], kind)| match kind {
        0 => RecrawlPolicy::Always { max },
        1 => RecrawlPolicy::Fixed { interval, max },
        _ => RecrawlPolicy::Adaptive { interval, min, max },
    })
}

fn endings() -> impl Strategy<Value = VisitEnd> {
    prop::sample::select(vec![VisitEnd::Changed, VisitEnd::Unchanged, VisitEnd::Gone, VisitEnd::Failed])
}

fn last_visits() -> impl Strategy<Value = LastVisits> {
    let away = (instant(), any::<bool>())
        .prop_map(|(since, is_gone)| if is_gone { Absence::Gone { since } } else { Absence::Failing { since } });
    (prop::option::of(time(0..=u64::MAX)), prop::option::of(away))
        .prop_map(|(interval, away)| LastVisits { interval, away })
}

fn visits_after(next: NextVisit) -> LastVisits {
    LastVisits { interval: next.interval, away: next.away }
}

fn wait(next: NextVisit, at: Timestamp) -> Duration {
    next.due_at.map_or(Duration::ZERO, |due| between(at, due))
}

proptest! {
    #[test]
    fn no_visit_is_due_before_the_last_one_nor_later_than_the_longest_wait(
        policy in policies(), last in last_visits(), ended in endings(), at in instant(),
    ) {
        let next = next_visit(&policy, &last, ended, at);
        prop_assert!(next.due_at.is_none_or(|due| due >= at && due <= after(at, policy.max())));
    }

    #[test]
    fn times_at_the_end_of_the_calendar_do_not_overflow(policy in policies(), last in last_visits(), ended in endings()) {
        let next = next_visit(&policy, &last, ended, Timestamp::MAX);
        prop_assert!(next.due_at.is_none_or(|due| due == Timestamp::MAX));
    }

    #[test]
    fn an_interval_stays_within_its_bounds(
        policy in policies(), last in last_visits(), is_changed in any::<bool>(), at in instant(),
    ) {
        let ended = if is_changed { VisitEnd::Changed } else { VisitEnd::Unchanged };
        let next = next_visit(&policy, &last, ended, at);
        prop_assert_eq!(next.away, None);
        match policy {
            RecrawlPolicy::Always { .. } => prop_assert_eq!((next.interval, next.due_at), (None, None)),
            RecrawlPolicy::Fixed { interval, .. } => prop_assert_eq!(next.interval, Some(interval)),
            RecrawlPolicy::Adaptive { min, max, .. } => {
                prop_assert!(next.interval.is_some_and(|interval| interval >= min && interval <= max));
            }
        }
    }

    #[test]
    fn unchanged_visits_never_shorten_the_interval_and_changes_never_lengthen_it(
        policy in policies(), visits in prop::collection::vec(any::<bool>(), 1..60), at in instant(),
    ) {
        let mut last = LastVisits::default();
        let mut at = at;
        for is_changed in visits {
            let ended = if is_changed { VisitEnd::Changed } else { VisitEnd::Unchanged };
            let next = next_visit(&policy, &last, ended, at);
            if let (Some(before), Some(now)) = (last.interval, next.interval) {
                prop_assert!(if is_changed { now <= before } else { now >= before }, "{before:?} {now:?}");
            }
            (last, at) = (visits_after(next), next.due_at.unwrap_or(at));
        }
    }

    /// A row of failures leaves no trace: after the first visit that finds the page again, the next
    /// one is due when it would be without them.
    #[test]
    fn failures_never_advance_the_scheduled_visit(
        policy in policies(), interval in prop::option::of(time(60_000..=YEAR_MS)), away_for in prop::collection::vec(time(0..=YEAR_MS), 1..20),
        is_changed in any::<bool>(), at in instant(),
    ) {
        let before = LastVisits { interval, away: None };
        let ended = if is_changed { VisitEnd::Changed } else { VisitEnd::Unchanged };
        let (mut last, mut now, mut last_wait) = (before, at, Duration::ZERO);
        for (n, later) in away_for.into_iter().enumerate() {
            let next = next_visit(&policy, &last, VisitEnd::Failed, now);
            prop_assert_eq!(next.due_at.is_none(), n == 0, "only the first failure is followed by a visit in the next iteration");
            let longest = policy.current(interval).unwrap_or(FAILING_WAIT_MAX);
            let waited = wait(next, now);
            prop_assert!(waited >= last_wait && waited <= longest, "{waited:?} after {last_wait:?}");
            (last, now, last_wait) = (visits_after(next), after(next.due_at.unwrap_or(now), later), waited);
        }
        prop_assert_eq!(next_visit(&policy, &last, ended, now), next_visit(&policy, &before, ended, now));
    }

    /// Each visit happens when it is due, or in the next iteration after that. In between, visits
    /// may fail.
    #[test]
    fn waits_for_a_page_that_is_gone_grow_up_to_the_maximum(
        policy in policies(), interval in prop::option::of(time(0..=YEAR_MS)), visits in prop::collection::vec((any::<bool>(), time(1..=86_400_000)), 40..60),
        at in instant(),
    ) {
        let first = next_visit(&policy, &LastVisits { interval, away: None }, VisitEnd::Gone, at);
        prop_assert_eq!(first.due_at, policy.first().map(|interval| after(at, interval)));
        let (mut next, mut now, mut last_wait) = (first, at, wait(first, at));
        for (n, (fails, late)) in visits.into_iter().enumerate() {
            now = after(next.due_at.unwrap_or(now), late);
            let ended = if fails { VisitEnd::Failed } else { VisitEnd::Gone };
            next = next_visit(&policy, &visits_after(next), ended, now);
            prop_assert_eq!(next.away, first.away);
            let waited = wait(next, now);
            // The second wait is as long as the first; after that it doubles.
            let least = if n == 0 { last_wait } else { last_wait * 2 };
            prop_assert!(waited >= least.min(policy.max()), "{waited:?} after {last_wait:?}");
            last_wait = waited;
        }
        // The shortest first wait is a millisecond, the longest a year: 35 doublings.
        prop_assert_eq!(last_wait, policy.max());
        let back = next_visit(&policy, &visits_after(next), VisitEnd::Changed, now);
        prop_assert_eq!(back, next_visit(&policy, &LastVisits::default(), VisitEnd::Changed, now), "its interval starts anew");
    }
}
