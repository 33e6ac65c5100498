//! The suites of the ports, over a fresh data directory each.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

use std::future::ready;

use dragline_local::{LocalStore, SqliteFrontier};
use jiff::Timestamp;
use tempfile::TempDir;

fn store() -> (LocalStore, TempDir) {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
    (store, directory)
}

mod frontier {
    use super::*;

    fn fresh() -> impl Future<Output = (SqliteFrontier, TempDir)> {
        let (store, directory) = store();
        ready((store.frontier(), directory))
    }

    dragline_testkit::frontier_suite!(fresh());
}

mod documents {
    use super::*;

    dragline_testkit::documents_suite!(async {
        let (store, directory) = store();
        ((store.frontier(), store.documents()), directory)
    });
}

mod archive {
    use super::*;

    dragline_testkit::archive_suite!(async {
        let (store, directory) = store();
        (store.archive(), directory)
    });
}
