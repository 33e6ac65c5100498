//! The ports over SQLite and a directory.
//!
//! [`LocalStore`] opens a data directory and gives the adapters; [`query`] reads its database for people.

mod archive;
mod db;
mod documents;
mod frontier;
mod open;
pub mod query;
mod queue;
mod recovery;
mod store;

pub use archive::DirectoryArchive;
pub use documents::SqliteDocuments;
pub use dragline_system::{SystemChance, SystemClock, raise_open_files};
pub use frontier::SqliteFrontier;
pub use open::{DATABASE, OpenError, Reading};
pub use queue::{Mailbox, MemoryQueue};
pub use store::{Allowance, LEASE_GRACE, LocalStore};
