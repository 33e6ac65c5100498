//! 12: the end of an iteration is announced.

use dragline_domain::ids::Iteration;
use dragline_ports::notifier::Notice;

use super::{Invariant, Violation};

/// 12: the end of this iteration was announced at least once, and no end was announced of an
/// iteration that had not closed.
#[must_use]
pub fn the_end_is_told(iteration: Iteration, told: &[Notice]) -> Vec<Violation> {
    let ends = || {
        told.iter().filter_map(|notice| match notice {
            Notice::IterationClosed(closed) => Some(&closed.row),
            _ => None,
        })
    };
    let untold = (!ends().any(|row| row.number == iteration))
        .then(|| format!("there was no notice that iteration {iteration} closed"));
    let early = ends().filter(|row| row.closed_at.is_none());
    let early =
        early.map(|row| format!("there was a notice of the end of iteration {}, which had not closed", row.number));
    untold.into_iter().chain(early).map(|what| Violation { invariant: Invariant::EndTold, what }).collect()
}
