//! Finds where an iteration's segments begin, without reading those of earlier iterations.

use dragline_domain::frontier::OriginKey;
use dragline_domain::ids::{Iteration, Turn};
use dragline_ports::error::PortResult;

use crate::frontier::{DynamoFrontier, ListedRows};
use crate::rows::keys;

/// Returns a sort key after an origin's segments of all earlier iterations and before those of this
/// one; `None` if that is the beginning.
///
/// Turns grow with iterations, so a binary search finds the place, with some two reads for each
/// doubling of the number of turns.
pub(super) async fn before_iteration(
    frontier: &DynamoFrontier,
    origin: &OriginKey,
    iteration: Iteration,
) -> PortResult<Option<String>> {
    if iteration == Iteration::FIRST {
        return Ok(None);
    }
    let (mut earlier, mut later) = (None, None);
    while let Some(turn) = next_probe(earlier, later) {
        let ListedRows { rows, .. } = frontier.list_segments(origin, Some(keys::before_turn(turn)), 1).await?;
        match rows.first() {
            Some(segment) if segment.iteration < iteration => earlier = Some(segment.id.turn),
            _ => later = Some(turn),
        }
    }
    Ok(later.map(keys::before_turn))
}

/// Returns the turn to examine next, between one of an earlier iteration and one that is not;
/// `None` if nothing is between them.
fn next_probe(earlier: Option<Turn>, later: Option<Turn>) -> Option<Turn> {
    let low = earlier.map_or(0, |turn| turn.0);
    match later {
        None => Some(Turn(low.saturating_mul(2).saturating_add(1))),
        Some(Turn(high)) => {
            let middle = low + high.saturating_sub(low) / 2;
            (middle > low).then_some(Turn(middle))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches among turns, of which those below `first` belong to earlier iterations. Returns the
    /// place and the number of probes.
    fn search(first: u64) -> (u64, u32) {
        let (mut earlier, mut later, mut probes) = (None, None, 0);
        while let Some(turn) = next_probe(earlier, later) {
            probes += 1;
            if turn.0 < first { earlier = Some(turn) } else { later = Some(turn) }
        }
        (later.unwrap().0, probes)
    }

    #[test]
    fn the_first_turn_is_found_in_few_probes() {
        for (first, probes_max) in [(1, 1), (2, 4), (3, 4), (4, 6), (250, 17), (3_650, 25), (1_000_000, 42)] {
            let (turn, probes) = search(first);
            assert_eq!(turn, first);
            assert!(probes <= probes_max, "{probes} probes for turn {first}");
        }
    }
}
