//! How much is done at once, by how many files this process may have open.

use crate::run::RunOptions;

/// For the database, the terminal, the runtime, the directory's lock, and what libraries open for a moment.
const ASIDE: usize = 48;

/// More connections than these are not worth keeping.
const IDLE_CONNECTIONS_MAX: usize = 1_024;

/// What a crawl may use of the process's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// What is done at once.
    pub options: RunOptions,
    /// Connections that are kept open while nothing is asked on them.
    pub idle_connections_max: usize,
}

impl Room {
    /// Shares out the files: a connection for each request under way, and two files for the object of each turn; then what parsers read. What is left is for
    /// idle connections, which take half at most.
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
    fn what_is_open_at_once_fits() {
        let RunOptions { turns_max, parsers_max } = RunOptions::default();
        for (files_max, concurrency, why) in [
            (usize::MAX, 1, "no limit"),
            (1_024 + parsers_max, 16, "many requests at once at each site"),
            (256 + parsers_max, 1, "little"),
            (96 + parsers_max, 1, "next to nothing"),
        ] {
            let Room { options, idle_connections_max } = Room::of(files_max, concurrency);
            let open = ASIDE + parsers_max + idle_connections_max + options.turns_max * (concurrency + 2);
            assert!(open <= files_max && options.turns_max > 1, "{why}: {open} files, {options:?}");
        }
        assert_eq!(Room::of(1_024 + parsers_max, 1).options.turns_max, turns_max, "what most systems allow is enough");
        let one = RunOptions { turns_max: 1, parsers_max };
        assert_eq!(Room::of(8, 1).options, one, "one after the other, and what finds no room waits");
    }
}
