//! Example events, and the local adapters as a replacement of those for AWS.

use std::sync::Arc;

use dragline_engine::{LocalWorld, local_world};
use dragline_lambda::Event;
use dragline_local::{LocalStore, SqliteRetained};
use dragline_testkit::whole_crawls::Silent;
use jiff::Timestamp;
use tempfile::TempDir;

/// Returns the local adapters over a fresh directory, which is deleted with the second value.
pub(crate) fn world() -> (LocalWorld<Silent>, TempDir) {
    let (world, _, directory) = world_with_retained();
    (world, directory)
}

/// Returns the same with the directory's retained data.
pub(crate) fn world_with_retained() -> (LocalWorld<Silent>, Arc<SqliteRetained>, TempDir) {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
    (local_world(&store, Silent), Arc::new(store.retained()), directory)
}

/// Reads an event from its JSON.
pub(crate) fn event(json: &str) -> Event {
    Event::read(serde_json::from_str(json).unwrap()).unwrap()
}
