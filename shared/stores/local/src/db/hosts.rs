//! Rows of `host` and `domain`.

use dragline_domain::frontier::{DomainRow, HostRow};
use dragline_domain::url::{DomainKey, HostKey};
use rusqlite::params;

use super::values::Json;
use super::{Db, StoreError};

impl Db {
    pub(crate) fn host(&self, host: &HostKey) -> Result<Option<HostRow>, StoreError> {
        self.find("SELECT record FROM host WHERE name = ?1", [host.as_str()], |row| Ok(row.get::<_, Json<_>>(0)?.0))
    }

    pub(crate) fn put_host(&self, host: &HostKey, row: &HostRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO host (name, record) VALUES (?1, ?2)
                   ON CONFLICT (name) DO UPDATE SET record = excluded.record";
        self.execute(sql, params![host.as_str(), Json(row)])?;
        Ok(())
    }

    /// Returns every row with its name.
    pub(crate) fn hosts(&self) -> Result<Vec<(String, HostRow)>, StoreError> {
        self.all("SELECT name, record FROM host", [], |row| Ok((row.get(0)?, row.get::<_, Json<_>>(1)?.0)))
    }

    /// Overwrites the row with this name.
    pub(crate) fn update_host(&self, name: &str, row: &HostRow) -> Result<(), StoreError> {
        self.execute("UPDATE host SET record = ?2 WHERE name = ?1", params![name, Json(row)])?;
        Ok(())
    }

    pub(crate) fn domain(&self, domain: &DomainKey) -> Result<Option<DomainRow>, StoreError> {
        self.find("SELECT record FROM domain WHERE name = ?1", [domain.as_str()], |row| Ok(row.get::<_, Json<_>>(0)?.0))
    }

    pub(crate) fn put_domain(&self, domain: &DomainKey, row: &DomainRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO domain (name, record) VALUES (?1, ?2)
                   ON CONFLICT (name) DO UPDATE SET record = excluded.record";
        self.execute(sql, params![domain.as_str(), Json(row)])?;
        Ok(())
    }

    /// Forgets all holders of places and everyone waiting for one.
    pub(crate) fn clear_domains(&self) -> Result<(), StoreError> {
        self.execute("DELETE FROM domain", [])?;
        Ok(())
    }
}
