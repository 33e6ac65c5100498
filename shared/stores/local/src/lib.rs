//! The ports over SQLite and a directory.
//!
//! [`LocalStore`] opens a data directory and returns the adapters; [`SqliteReader`] reads it for
//! display.

mod archive;
mod db;
mod documents;
mod frontier;
mod hosts;
mod open;
mod processes;
mod queue;
mod reader;
mod recovery;
mod retention;
mod secrets;
mod store;

pub use archive::DirectoryArchive;
pub use documents::{SqliteDocuments, SqliteRemaking};
pub use dragline_ports::system::{SystemClock, SystemRng, raise_open_files};
pub use frontier::SqliteFrontier;
pub use hosts::{HostSlots, SlottedFetchers};
pub use open::{DATABASE, OpenError, Reading, Remaining};
pub use queue::{Mailbox, MemoryQueue};
pub use reader::{Pulse, SqliteReader};
pub use retention::{Compaction, CompactionResult, Disk, GRAPHS, INDEXES, SqliteRetained, free_bytes};
pub use secrets::LocalSecrets;
pub use store::{Allowance, LEASE_GRACE, LocalStore};
