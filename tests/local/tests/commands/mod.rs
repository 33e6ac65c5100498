//! Commands and schedules, over SQLite and a clock set by hand.

mod changes;
mod counted;
mod demands;
mod desk;
mod many;
mod schedules;
mod urls;
mod walks;
