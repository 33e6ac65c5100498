//! Limits on concurrent work, from the number of files that this process may open and the memory
//! for turns.

use std::num::NonZeroUsize;

use crate::run::RunOptions;

/// Files set aside for the database, the terminal, the runtime, the directory's lock, and what
/// libraries open briefly.
const ASIDE: usize = 48;

/// The memory for turns, most of which wait for their next request, in bytes. Bodies and segments
/// in progress have limits of their own.
const TURNS_BYTES_MAX: usize = 56 << 20;

/// The memory of a turn, in bytes: its task, the state of its origin, its segment, and its idle
/// connection. Measured as the growth of a crawl of 1,000 origins when it visits all of them at
/// once instead of 64 (docs/measurements/performance.md).
const TURN_BYTES: usize = 45 << 10;

/// The maximum number of origins visited at the same time, if nothing else limits them.
pub(crate) const TURNS_MAX: usize = TURNS_BYTES_MAX / TURN_BYTES;

/// The division of the process's open files and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The limits on concurrent work.
    pub options: RunOptions,
    /// The maximum number of idle connections.
    pub idle_connections_max: usize,
}

impl Room {
    /// Divides the files: up to half for idle connections, but no more than `TURNS_MAX`; one for
    /// each parser; and for each turn a connection per concurrent request and two files for its
    /// object. Visits at most `origins_max` origins at a time; `None` for as many as there is room
    /// for.
    #[must_use]
    pub fn divide(files_max: usize, concurrency: usize, origins_max: Option<NonZeroUsize>) -> Self {
        let RunOptions { turns_max, parsers_max } = RunOptions::default();
        let turns_max = origins_max.map_or(turns_max, NonZeroUsize::get);
        let files = files_max.saturating_sub(ASIDE + parsers_max);
        let idle_connections_max = (files / 2).clamp(1, TURNS_MAX);
        let turns_max = ((files - idle_connections_max.min(files)) / (concurrency + 2)).clamp(1, turns_max);
        Self { options: RunOptions { turns_max, parsers_max }, idle_connections_max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_is_never_exceeded() {
        let RunOptions { turns_max, parsers_max } = RunOptions::default();
        for (files_max, concurrency, why) in [
            (usize::MAX, 1, "no limit"),
            (1_024 + parsers_max, 16, "many requests at once at each site"),
            (256 + parsers_max, 1, "little"),
            (96 + parsers_max, 1, "very little"),
        ] {
            let Room { options, idle_connections_max } = Room::divide(files_max, concurrency, None);
            let open = ASIDE + parsers_max + idle_connections_max + options.turns_max * (concurrency + 2);
            assert!(open <= files_max && options.turns_max > 1, "{why}: {open} files, {options:?}");
        }
        let one = RunOptions { turns_max: 1, parsers_max };
        assert_eq!(Room::divide(8, 1, None).options, one, "one at a time, and what finds no room waits");
        assert_eq!(Room::divide(1 << 20, 1, None).options.turns_max, turns_max, "there memory is the limit");
    }

    #[test]
    fn origins_are_visited_up_to_the_limit() {
        let turns =
            |files_max, origins_max| Room::divide(files_max, 1, NonZeroUsize::new(origins_max)).options.turns_max;
        for (files_max, origins_max, expected, why) in [
            (1 << 20, 10, 10, "no more than wanted"),
            (1 << 20, 10_000, 10_000, "more than by default, as whoever says so has the memory"),
        ] {
            assert_eq!(turns(files_max, origins_max), expected, "{why}");
        }
        assert!((100..1_000).contains(&turns(1_024, 10_000)), "few files: {}", turns(1_024, 10_000));
    }
}
