//! A data directory, opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dragline_ports::error::PortResult;
use jiff::Timestamp;

use crate::archive::DirectoryArchive;
use crate::db::Db;
use crate::db::writer::Writer;
use crate::documents::SqliteDocuments;
use crate::frontier::SqliteFrontier;
use crate::open::{self, OpenError, Reading};
use crate::recovery;

/// How long after a ticket or a lease ran out the sweeper looks, unless told otherwise. Nothing is lost on the way within a process
/// but what the queue had no room for.
pub const LEASE_GRACE: Duration = Duration::from_secs(2);

/// What a crawl can be allowed on the command line alone, and is never unless it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// To talk to private addresses.
    PrivateAddresses,
    /// To talk to servers whose certificates are not checked.
    UncheckedCertificates,
}

impl Allowance {
    /// Every one there is.
    pub const ALL: [Self; 2] = [Self::PrivateAddresses, Self::UncheckedCertificates];

    /// The name of the setting, which is absent where it is not allowed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrivateAddresses => "private_addresses",
            Self::UncheckedCertificates => "unchecked_certificates",
        }
    }
}

/// What a setting says that is an allowance.
const ALLOWED: &str = "allowed";

/// A data directory that this process alone writes to: `dragline.db`, `raw/` and the file `lock`.
///
/// The adapters that it gives share one connection. The directory is free again when the store and all of them are dropped, or the
/// process dies.
#[derive(Clone)]
pub struct LocalStore {
    directory: PathBuf,
    writer: Arc<Writer>,
}

impl LocalStore {
    /// Opens a data directory, or makes one. Leases of a process that died are void from then on, and what it wrote without
    /// committing it is deleted.
    ///
    /// # Errors
    /// [`OpenError`] says in a line why it cannot be opened.
    pub fn open(directory: &Path, now: Timestamp) -> Result<Self, OpenError> {
        Self::open_with_grace(directory, now, LEASE_GRACE)
    }

    /// As [`LocalStore::open`], with another time after which the sweeper looks at tickets and leases.
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

    /// Opens the database of a data directory for reading, while a crawl runs or not, whether the directory can be written or not.
    ///
    /// # Errors
    /// [`OpenError`], also if there is no data directory.
    pub fn open_read_only(directory: &Path) -> Result<Reading, OpenError> {
        open::for_reading(directory)
    }

    /// Whether a process writes to a data directory at this moment. It is not disturbed.
    ///
    /// # Errors
    /// [`OpenError`]: the system does not say.
    pub fn is_in_use(directory: &Path) -> Result<bool, OpenError> {
        open::is_in_use(directory)
    }

    /// Whether a crawl in this directory was ever allowed this.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn was_allowed(&self, allowance: Allowance) -> PortResult<bool> {
        let subject = self.directory.display().to_string();
        let stored = self.writer.run("read settings", subject, move |db| db.setting(allowance.name())).await?;
        Ok(stored.is_some())
    }

    /// Keeps in mind that a crawl in this directory is allowed this.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn allow(&self, allowance: Allowance) -> PortResult<()> {
        let subject = self.directory.display().to_string();
        self.writer.run("write settings", subject, move |db| db.put_setting(allowance.name(), ALLOWED)).await
    }

    /// The frontier.
    #[must_use]
    pub fn frontier(&self) -> SqliteFrontier {
        SqliteFrontier::new(Arc::clone(&self.writer))
    }

    /// The documents.
    #[must_use]
    pub fn documents(&self) -> SqliteDocuments {
        SqliteDocuments::new(Arc::clone(&self.writer))
    }

    /// The WARC objects.
    #[must_use]
    pub fn archive(&self) -> DirectoryArchive {
        DirectoryArchive::new(&self.directory)
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
