//! 12: people learn of an iteration's end.

use dragline_domain::ids::Iteration;
use dragline_ports::notifier::Notice;

use super::{Invariant, Violation};

/// 12: that this iteration closed was told, at least once, and it was told of none that had not closed.
#[must_use]
pub fn the_end_is_told(iteration: Iteration, told: &[Notice]) -> Vec<Violation> {
    let ends = || {
        told.iter().filter_map(|notice| match notice {
            Notice::IterationClosed(row) => Some(row),
            _ => None,
        })
    };
    let untold = (!ends().any(|row| row.number == iteration))
        .then(|| format!("nobody was told that iteration {iteration} closed"));
    let early = ends().filter(|row| row.closed_at.is_none());
    let early = early.map(|row| format!("the end of iteration {} was told, which had none", row.number));
    untold.into_iter().chain(early).map(|what| Violation { invariant: Invariant::EndTold, what }).collect()
}
