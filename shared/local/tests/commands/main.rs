//! Commands and schedules, over SQLite and a clock that the test moves.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod counted;
mod desk;
mod many;
mod schedules;
mod urls;
mod walks;
mod wishes;
