//! The ports over SQLite and a directory.
//!
//! [`LocalStore`] opens a data directory and returns the adapters; [`SqliteReader`] reads it for display.

mod archive;
mod db;
mod documents;
mod frontier;
mod open;
mod queue;
mod reader;
mod recovery;
mod retention;
mod store;

pub use archive::DirectoryArchive;
pub use documents::{SqliteDocuments, SqliteRemaking};
pub use dragline_system::{SystemClock, SystemRng, raise_open_files};
pub use frontier::SqliteFrontier;
pub use open::{DATABASE, OpenError, Reading};
pub use queue::{Mailbox, MemoryQueue};
pub use reader::SqliteReader;
pub use retention::{Compaction, Disk, Released, SqliteRetained};
pub use store::{Allowance, LEASE_GRACE, LocalStore};
