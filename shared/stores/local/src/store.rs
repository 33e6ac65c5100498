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
use crate::recovery;
use crate::retention::{self, Compaction, Released, SqliteRetained};

/// How long after a ticket or a lease expired the sweeper acts, by default. Within a process nothing is lost on the way except what the queue had
/// no room for.
pub const LEASE_GRACE: Duration = Duration::from_secs(2);

/// What a crawl can be allowed only on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// To make requests to private addresses.
    PrivateAddresses,
    /// To make requests to servers whose certificates are not checked.
    UncheckedCertificates,
}

impl Allowance {
    /// All allowances.
    pub const ALL: [Self; 2] = [Self::PrivateAddresses, Self::UncheckedCertificates];

    /// Returns how the settings that record it begin.
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
/// The adapters that it returns share one connection. The directory is free again when the store and all of them are dropped, or the process dies.
#[derive(Clone)]
pub struct LocalStore {
    directory: PathBuf,
    writer: Arc<Writer>,
}

impl LocalStore {
    /// Opens a data directory, or makes one. Voids the leases of a process that died, and deletes what it wrote without committing.
    ///
    /// # Errors
    /// [`OpenError`] says in one line why it cannot be opened.
    pub fn open(directory: &Path, now: Timestamp) -> Result<Self, OpenError> {
        Self::open_with_grace(directory, now, LEASE_GRACE)
    }

    /// Like [`LocalStore::open`], with another time after which the sweeper acts on tickets and leases.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_with_grace(directory: &Path, now: Timestamp, lease_grace: Duration) -> Result<Self, OpenError> {
        let (connection, lock) = open::for_writing(directory)?;
        let db = Db { connection, lease_grace };
        let failed = |e: &dyn std::fmt::Display| OpenError::failed(directory, e);
        recovery::void_leases(&db, directory, now).map_err(|e| failed(&e))?;
        recovery::end_parses(&db, now).map_err(|e| failed(&e))?;
        let writer = Writer::start(db, lock).map_err(|e| failed(&e))?;
        Ok(Self { directory: directory.to_owned(), writer: Arc::new(writer) })
    }

    /// Opens the database of a data directory for reading, whether a crawl is running or not, and whether the directory can be written or not.
    ///
    /// # Errors
    /// [`OpenError`], also if there is no data directory.
    pub fn open_read_only(directory: &Path) -> Result<Reading, OpenError> {
        open::for_reading(directory)
    }

    /// Whether a process is writing to a data directory now. Does not disturb it.
    ///
    /// # Errors
    /// [`OpenError`] if the system does not say.
    pub fn is_in_use(directory: &Path) -> Result<bool, OpenError> {
        open::is_in_use(directory)
    }

    /// Returns the crawls of this directory by name, those that have not begun included.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub async fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        self.writer.run("read crawls", self.subject(), Db::crawl_names).await
    }

    /// Whether this crawl was ever allowed this.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub async fn was_allowed(&self, crawl: &CrawlId, allowance: Allowance) -> PortResult<bool> {
        let crawl = crawl.clone();
        self.writer.run("read settings", self.subject(), move |db| db.is_allowed(&crawl, allowance)).await
    }

    /// Records that this crawl is allowed this.
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

    /// Returns what makes documents again.
    #[must_use]
    pub fn remaking(&self) -> SqliteRemaking {
        SqliteRemaking::new(Arc::clone(&self.writer))
    }

    /// Returns the WARC objects.
    #[must_use]
    pub fn archive(&self) -> DirectoryArchive {
        DirectoryArchive::new(&self.directory)
    }

    /// Returns what is kept of its crawls.
    #[must_use]
    pub fn retained(&self) -> SqliteRetained {
        SqliteRetained::new(Arc::clone(&self.writer))
    }

    /// Gives the space of deleted rows back to the file system, and removes directories without objects. No store of the directory may be open.
    ///
    /// # Errors
    /// [`OpenError`] if the directory cannot be opened, or is in use.
    pub fn compact(directory: &Path, compaction: Compaction) -> Result<Released, OpenError> {
        retention::compact(directory, compaction)
    }

    /// Returns its path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
