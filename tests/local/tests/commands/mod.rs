//! Commands and schedules, over SQLite and a clock that the test moves.

mod counted;
mod desk;
mod many;
mod schedules;
mod urls;
mod walks;
mod wishes;
