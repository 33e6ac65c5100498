//! Settings of a data directory, by name.

use super::{Db, StoreError};

impl Db {
    /// Returns a setting's value; `None` if it was never set.
    pub(crate) fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.find("SELECT value FROM setting WHERE name = ?1", [name], |row| row.get(0))
    }

    /// Sets a setting.
    pub(crate) fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)", [name, value])?;
        Ok(())
    }
}
