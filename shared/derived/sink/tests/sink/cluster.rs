//! Where the tests write to.

use std::time::Duration;

use dragline_sink::{Address, SchemaName, Start, Target};
use dragline_testkit::postgres::OWNER;

pub(crate) use dragline_testkit::postgres::{Database, assert_equal};

/// Returns where to write in a database, as its owner.
pub(crate) fn target_in(database: &Database) -> Target {
    target(&database.address(OWNER))
}

/// Returns where to write, with few rows a transaction and no patience.
pub(crate) fn target(address: &str) -> Target {
    let address: Address = address.parse().unwrap();
    Target {
        address,
        schema: SchemaName::default(),
        reader: None,
        start: Start::Continue,
        patience: Duration::ZERO,
        batch_rows: Some(3),
    }
}
