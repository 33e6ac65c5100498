//! How much runs at once, given how many files this process may have open.

use crate::run::RunOptions;

/// Files set aside for the database, the terminal, the runtime, the directory's lock, and what libraries open briefly.
const ASIDE: usize = 48;

/// The maximum number of idle connections that are worth keeping.
const IDLE_CONNECTIONS_MAX: usize = 1_024;

/// How a crawl uses the files that the process may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// How much runs at once.
    pub options: RunOptions,
    /// The maximum number of idle connections.
    pub idle_connections_max: usize,
}

impl Room {
    /// Divides the files: up to half for idle connections, one for each parser, and for each turn a connection per concurrent request and two files for
    /// its object.
    #[must_use]
    pub fn of(files_max: usize, concurrency: usize) -> Self {
        let RunOptions { turns_max, parsers_max } = RunOptions::default();
        let files = files_max.saturating_sub(ASIDE + parsers_max);
        let idle_connections_max = (files / 2).clamp(1, IDLE_CONNECTIONS_MAX);
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
            let Room { options, idle_connections_max } = Room::of(files_max, concurrency);
            let open = ASIDE + parsers_max + idle_connections_max + options.turns_max * (concurrency + 2);
            assert!(open <= files_max && options.turns_max > 1, "{why}: {open} files, {options:?}");
        }
        assert_eq!(Room::of(1_024 + parsers_max, 1).options.turns_max, turns_max, "the usual limit is enough");
        let one = RunOptions { turns_max: 1, parsers_max };
        assert_eq!(Room::of(8, 1).options, one, "one at a time, and what finds no room waits");
    }
}
