//! The retention of a crawl's data: which iterations are kept, and which entries are unreferenced.
//!
//! Iterations are dropped from the oldest on ([`Retention::cut`]). From a dropped iteration,
//! everything stays that a candidate or a later entry refers to ([`retained_parts`]): the document
//! of each URL's last good visit, the body with which its next visit is compared, the body that a
//! later visit found unchanged, and its last ending.
//!
//! Both are safe beside a running crawl: a URL is visited once in an iteration, and its candidate
//! refers to the data for comparison until then. So unreferenced data is never referred to again.

mod refers;

use std::num::NonZeroU32;
use std::time::Duration;

use jiff::Timestamp;

use crate::frontier::{IterationRow, IterationStatus, SegmentId};
use crate::ids::Iteration;
use crate::url::Origin;

pub use refers::{Entry, GoodDocument, Pointers, References, RetainedPart, retained_parts};

/// The iterations to keep. One that is not over, and the newest that is over, are always kept.
/// Iterations that only remade documents do not count; they are kept or dropped with the ones
/// around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retention {
    /// This many of the newest ones that are over.
    Newest(NonZeroU32),
    /// Those that ended at most this long ago.
    Within(Duration),
}

impl Retention {
    /// Returns the newest iteration to drop, together with all before it; `None` if all are kept.
    ///
    /// Iterations follow each other without gaps, and each begins after the one before it is over.
    /// `newest_first` may end before iterations that no longer exist; a row that was pruned before
    /// counts like any other.
    #[must_use]
    pub fn cut<'r>(
        self,
        newest_first: impl IntoIterator<Item = &'r IterationRow>,
        now: Timestamp,
    ) -> Option<Iteration> {
        let over = newest_first.into_iter().filter(|row| row.status == IterationStatus::Closed);
        // An iteration that only remade documents contains nothing that a later one would be
        // compared with.
        let mut over = over.filter(|row| row.task.visits());
        let dropped = match self {
            Self::Newest(kept) => over.nth(usize::try_from(kept.get()).unwrap_or(usize::MAX)),
            // Longer than all time: nothing is that old.
            Self::Within(time) => {
                let oldest = now.checked_sub(time).ok();
                over.skip(1).find(|row| row.closed_at.zip(oldest).is_some_and(|(closed, oldest)| closed < oldest))
            }
        };
        dropped.map(|row| row.number)
    }
}

/// The place where a walk through a crawl's origins continues.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PrunePlace {
    /// After this origin.
    After(Origin),
    /// In the middle of an origin, after this segment.
    Within(SegmentId),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{Reserve, Selection, Task};
    use crate::ids::TriggerId;

    const DAY: i64 = 86_400;

    /// Creates an iteration that ended on this day, or has not ended.
    fn row(number: u32, day: Option<i64>) -> IterationRow {
        let at = |day: i64| Timestamp::from_second(day * DAY).unwrap();
        let number = Iteration::new(number).unwrap();
        let crawl = "docs".parse().unwrap();
        let began = IterationRow::begin(crawl, number, TriggerId("t".into()), Reserve::default(), at(0), None, at(0));
        let status = if day.is_some() { IterationStatus::Closed } else { IterationStatus::Open };
        IterationRow { status, closed_at: day.map(at), ..began }
    }

    /// The retention, the iterations, the day; the newest dropped iteration, and why.
    type Case<'c> = (Retention, &'c [IterationRow], i64, Option<u32>, &'c str);

    #[test]
    fn iterations_are_dropped_from_the_oldest_on() {
        let newest = |kept| Retention::Newest(NonZeroU32::new(kept).unwrap());
        let within = |days: u64| Retention::Within(Duration::from_secs(days * 86_400));
        let over = vec![row(4, Some(40)), row(3, Some(30)), row(2, Some(20)), row(1, Some(10))];
        let running = vec![row(4, None), row(3, Some(30)), row(2, Some(20)), row(1, Some(10))];
        let remade = |row| IterationRow { task: Task::Reparse(Selection::All), ..row };
        let with_remade = vec![remade(row(4, Some(40))), row(3, Some(30)), remade(row(2, Some(20))), row(1, Some(10))];
        let cases: [Case<'_>; 15] = [
            (newest(1), &with_remade, 50, Some(1), "documents made again do not count"),
            (newest(2), &with_remade, 50, None, "there are two that visited something"),
            (within(1), &with_remade, 900, Some(1), "the latest that visited something is kept"),
            (newest(1), &over, 50, Some(3), "only the latest is kept"),
            (newest(3), &over, 50, Some(1), "the oldest goes"),
            (newest(4), &over, 50, None, "there are four"),
            (newest(9), &over, 50, None, "there are fewer"),
            (newest(1), &running, 50, Some(2), "one that is not over is kept and does not count"),
            (newest(3), &running, 50, None, "three are over"),
            (newest(1), &[], 50, None, "there is none"),
            (within(25), &over, 50, Some(2), "two ended more than 25 days ago"),
            (within(30), &over, 50, Some(1), "exactly as old is kept"),
            (within(1), &over, 900, Some(3), "the latest is kept, however old"),
            (within(1), &running, 900, Some(2), "the latest that is over is kept beside one that is not"),
            (Retention::Within(Duration::MAX), &over, 50, None, "longer than all time"),
        ];
        for (retention, rows, day, expected, why) in cases {
            let now = Timestamp::from_second(day * DAY).unwrap();
            assert_eq!(retention.cut(rows, now).map(Iteration::number), expected, "{retention:?}: {why}");
        }
    }
}
