//! What tests of the functions share: example events, the local adapters in place of AWS, the contents of the template, and a function's process
//! with doubles of the Runtime API and of AWS around it.

#![expect(clippy::unwrap_used, reason = "these are helpers of tests")]

mod deployed;
mod loopback;
mod runtime_api;
mod stack;
mod template;

pub use self::deployed::{Deployed, batch, failed_from};
pub use self::runtime_api::Answer;
pub use self::template::{Function, Template, WorkQueue};

use std::sync::Arc;

use dragline_engine::{LocalWorld, local_world};
use dragline_local::{LocalStore, SqliteRetained};
use dragline_ports::error::PortResult;
use dragline_ports::notifier::{Notice, Notifier};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::Event;

/// Tells nobody.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Notifier for Nobody {
    async fn notify(&self, _notice: Notice) -> PortResult<()> {
        Ok(())
    }
}

/// Returns the local adapters over a fresh directory, which lives as long as the other value.
///
/// # Panics
/// Panics if no directory can be made.
#[must_use]
pub fn world() -> (LocalWorld<Nobody>, TempDir) {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
    (local_world(&store, Nobody), directory)
}

/// Returns the same, with what is kept in that directory.
///
/// # Panics
/// Panics if no directory can be made.
#[must_use]
pub fn world_with_retained() -> (LocalWorld<Nobody>, Arc<SqliteRetained>, TempDir) {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
    (local_world(&store, Nobody), Arc::new(store.retained()), directory)
}

/// Reads an event from its JSON.
///
/// # Panics
/// Panics if it is not an event.
#[must_use]
pub fn event(json: &str) -> Event {
    Event::read(serde_json::from_str(json).unwrap()).unwrap()
}
