//! The choice of iterations to compare.

use dragline_domain::frontier::{IterationRow, IterationStatus};
use dragline_domain::ids::Iteration;

/// Two iterations to compare, the later one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: Iteration,
    to: Iteration,
}

/// Why there is nothing to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// Only the first iteration has begun, and it is not over.
    #[error("there is nothing to compare yet: iteration 1 is not over")]
    FirstNotOver,
    /// The later iteration is the first.
    #[error("there is nothing to compare with iteration 1: it is the first")]
    NothingBefore,
    /// The later iteration is not later.
    #[error("iteration {from} is not before iteration {to}")]
    NotBefore {
        /// The requested earlier iteration.
        from: Iteration,
        /// The later one.
        to: Iteration,
    },
}

impl Span {
    /// Chooses the iterations to compare. The later one defaults to the newest that is over, the
    /// earlier one to the one before the later. Does not check whether requested iterations exist.
    ///
    /// # Errors
    /// There is nothing to compare.
    pub fn choose(from: Option<Iteration>, to: Option<Iteration>, latest: &IterationRow) -> Result<Self, SpanError> {
        let is_over = latest.status == IterationStatus::Closed;
        let newest_over = || if is_over { Some(latest.number) } else { predecessor(latest.number) };
        let to = to.or_else(newest_over).ok_or(SpanError::FirstNotOver)?;
        let from = from.or_else(|| predecessor(to)).ok_or(SpanError::NothingBefore)?;
        if from < to { Ok(Self { from, to }) } else { Err(SpanError::NotBefore { from, to }) }
    }

    /// Returns the earlier iteration.
    #[must_use]
    pub const fn from(self) -> Iteration {
        self.from
    }

    /// Returns the later iteration.
    #[must_use]
    pub const fn to(self) -> Iteration {
        self.to
    }

    /// Returns whether the two are neighbours.
    pub(super) fn is_adjacent(self) -> bool {
        self.from.next() == self.to
    }

    /// Returns the iterations whose visits lead from the earlier to the later one, the oldest
    /// first.
    pub(super) fn steps(self) -> impl DoubleEndedIterator<Item = Iteration> {
        (self.from.next().number()..=self.to.number()).filter_map(Iteration::new)
    }

    /// Returns every iteration up to the later one, the newest first.
    pub(super) fn back_to_first(self) -> impl Iterator<Item = Iteration> {
        (1..=self.to.number()).rev().filter_map(Iteration::new)
    }
}

fn predecessor(iteration: Iteration) -> Option<Iteration> {
    Iteration::new(iteration.number() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::iteration;

    #[test]
    fn the_newest_iterations_are_compared_by_default() {
        use IterationStatus::{Closed, Open};
        for (from, to, latest, status, expected, why) in [
            (None, None, 5, Closed, Ok((4, 5)), "the newest and the one before it"),
            (None, None, 5, Open, Ok((3, 4)), "the newest is not over yet"),
            (None, Some(5), 5, Open, Ok((4, 5)), "it was asked for: what it found so far"),
            (Some(2), None, 5, Closed, Ok((2, 5)), "what changed since"),
            (Some(1), Some(3), 5, Closed, Ok((1, 3)), "both are given"),
            (None, None, 1, Open, Err(SpanError::FirstNotOver), "nothing is known yet"),
            (None, None, 2, Open, Err(SpanError::NothingBefore), "one is over"),
            (None, None, 1, Closed, Err(SpanError::NothingBefore), "there is only one"),
            (None, Some(1), 5, Closed, Err(SpanError::NothingBefore), "none is before the first"),
            (Some(3), Some(3), 5, Closed, Err(not_before(3, 3)), "with itself"),
            (Some(4), Some(3), 5, Closed, Err(not_before(4, 3)), "the wrong way round"),
            (Some(5), None, 5, Closed, Err(not_before(5, 5)), "nothing came after it"),
        ] {
            let given = |number: Option<u32>| number.map(number_of);
            let latest = IterationRow { number: number_of(latest), ..iteration(status) };
            let chosen = Span::choose(given(from), given(to), &latest);
            assert_eq!(chosen.map(|span| (span.from.number(), span.to.number())), expected, "{why}");
        }
    }

    fn number_of(number: u32) -> Iteration {
        Iteration::new(number).unwrap()
    }

    fn not_before(from: u32, to: u32) -> SpanError {
        SpanError::NotBefore { from: number_of(from), to: number_of(to) }
    }

    #[test]
    fn steps_lead_from_the_earlier_to_the_later() {
        let span = Span { from: number_of(2), to: number_of(4) };
        assert_eq!(span.steps().map(Iteration::number).collect::<Vec<_>>(), [3, 4], "not those of the earlier one");
        assert_eq!(span.back_to_first().map(Iteration::number).collect::<Vec<_>>(), [4, 3, 2, 1]);
        assert_eq!([span.is_adjacent(), Span { from: number_of(3), ..span }.is_adjacent()], [false, true]);
    }
}
