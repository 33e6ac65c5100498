//! An opened data directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use jiff::Timestamp;

use crate::archive::DirectoryArchive;
use crate::db::Db;
use crate::db::writer::Writer;
use crate::documents::{SqliteDocuments, SqliteRemaking};
use crate::frontier::SqliteFrontier;
use crate::open::{self, OpenError, Reading};
use crate::retention::{self, Compaction, CompactionResult, SqliteRetained};
use crate::{processes, recovery};

/// The default time between the expiry of a ticket or a lease and the sweeper's action. Within a
/// process nothing is lost on the way except messages that did not fit into the queue.
pub const LEASE_GRACE: Duration = Duration::from_secs(2);

/// A permission that a crawl can get only on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// Requests to private addresses.
    PrivateAddresses,
    /// Requests to servers whose certificates are not checked.
    UncheckedCertificates,
}

impl Allowance {
    /// All allowances.
    pub const ALL: [Self; 2] = [Self::PrivateAddresses, Self::UncheckedCertificates];

    /// Returns the prefix of the settings that record it.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PrivateAddresses => "private_addresses",
            Self::UncheckedCertificates => "unchecked_certificates",
        }
    }
}

/// A data directory that only this process writes to: `dragline.db`, `raw/` and the file `lock`.
///
/// The adapters that it returns share one connection. The directory is free again when the store
/// and all of them are dropped, or the process dies.
#[derive(Clone)]
pub struct LocalStore {
    directory: PathBuf,
    writer: Arc<Writer>,
}

impl LocalStore {
    /// Opens a data directory, or creates one. Voids the leases of a process that died, and deletes
    /// what it wrote without committing.
    ///
    /// # Errors
    /// Returns an [`OpenError`] if it cannot be opened.
    pub fn open(directory: &Path, now: Timestamp) -> Result<Self, OpenError> {
        Self::open_with_grace(directory, now, LEASE_GRACE)
    }

    /// Like [`LocalStore::open`], with another time until the sweeper acts on expired tickets and
    /// leases.
    ///
    /// # Errors
    /// Returns the errors of [`LocalStore::open`].
    pub fn open_with_grace(directory: &Path, now: Timestamp, lease_grace: Duration) -> Result<Self, OpenError> {
        let (connection, lock) = open::for_writing(directory)?;
        let db = Db { connection, lease_grace };
        let failed = |e: &dyn std::fmt::Display| OpenError::failed(directory, e);
        recovery::void_leases(&db, directory, now).map_err(|e| failed(&e))?;
        recovery::end_parses(&db, now).map_err(|e| failed(&e))?;
        let process = processes::begin(&db, now).map_err(|e| failed(&e))?;
        let writer = Writer::start(db, lock, move |db| processes::end(db, process)).map_err(|e| failed(&e))?;
        Ok(Self { directory: directory.to_owned(), writer: Arc::new(writer) })
    }

    /// Opens the database of a data directory for reading, whether or not a crawl is running, and
    /// whether or not the directory is writable.
    ///
    /// # Errors
    /// Returns an [`OpenError`], also if there is no data directory.
    pub fn open_read_only(directory: &Path) -> Result<Reading, OpenError> {
        open::for_reading(directory)
    }

    /// Whether a process is writing to a data directory now. Does not disturb it.
    ///
    /// # Errors
    /// Returns an [`OpenError`] if the system does not tell.
    pub fn is_in_use(directory: &Path) -> Result<bool, OpenError> {
        open::is_in_use(directory)
    }

    /// Returns the crawls of this directory by name, including those that have not begun.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub async fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        self.writer.run("read crawls", self.subject(), Db::crawl_names).await
    }

    /// Whether this crawl ever got this permission.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub async fn was_allowed(&self, crawl: &CrawlId, allowance: Allowance) -> PortResult<bool> {
        let crawl = crawl.clone();
        self.writer.run("read settings", self.subject(), move |db| db.is_allowed(&crawl, allowance)).await
    }

    /// Records that this crawl has this permission.
    ///
    /// # Errors
    /// Fails if the database cannot be written.
    pub async fn allow(&self, crawl: &CrawlId, allowance: Allowance) -> PortResult<()> {
        let crawl = crawl.clone();
        self.writer.run("write settings", self.subject(), move |db| db.allow(&crawl, allowance)).await
    }

    fn subject(&self) -> String {
        self.directory.display().to_string()
    }

    /// Returns the frontier.
    #[must_use]
    pub fn frontier(&self) -> SqliteFrontier {
        SqliteFrontier::new(Arc::clone(&self.writer))
    }

    /// Returns the documents.
    #[must_use]
    pub fn documents(&self) -> SqliteDocuments {
        SqliteDocuments::new(Arc::clone(&self.writer))
    }

    /// Returns the adapter that remakes documents.
    #[must_use]
    pub fn remaking(&self) -> SqliteRemaking {
        SqliteRemaking::new(Arc::clone(&self.writer))
    }

    /// Returns the WARC objects.
    #[must_use]
    pub fn archive(&self) -> DirectoryArchive {
        DirectoryArchive::new(&self.directory)
    }

    /// Returns the retained data of its crawls.
    #[must_use]
    pub fn retained(&self) -> SqliteRetained {
        SqliteRetained::new(Arc::clone(&self.writer))
    }

    /// Releases the space of deleted rows to the file system, and removes directories without
    /// objects. No store of the directory may be open.
    ///
    /// # Errors
    /// Returns an [`OpenError`] if the directory cannot be opened, or is in use.
    pub fn compact(directory: &Path, compaction: Compaction) -> Result<CompactionResult, OpenError> {
        retention::compact(directory, compaction)
    }

    /// Returns its path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
