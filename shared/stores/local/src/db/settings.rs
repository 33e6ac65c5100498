//! Settings of a data directory, by name.

use dragline_domain::ids::CrawlId;

use super::{Db, StoreError};
use crate::store::Allowance;

/// The value of a setting for something that is allowed.
const ALLOWED: &str = "allowed";

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

    /// Returns whether a crawl was ever allowed this.
    pub(crate) fn is_allowed(&self, crawl: &CrawlId, allowance: Allowance) -> Result<bool, StoreError> {
        Ok(self.setting(&allowed_to(crawl, allowance))?.is_some())
    }

    /// Records that a crawl is allowed this.
    pub(crate) fn allow(&self, crawl: &CrawlId, allowance: Allowance) -> Result<(), StoreError> {
        self.put_setting(&allowed_to(crawl, allowance), ALLOWED)
    }
}

/// The number of times that something was forgotten, and the number at which the file was last
/// written anew.
const FORGOTTEN: &str = "forgotten";
const WRITTEN_ANEW: &str = "written_anew";

impl Db {
    /// Returns how often something was forgotten in this directory. What was derived from its rows
    /// at a smaller number may hold what was forgotten since.
    pub(crate) fn forgotten(&self) -> Result<u64, StoreError> {
        self.number(FORGOTTEN)
    }

    /// Records that something was forgotten, so that the file has to be written anew. Belongs in
    /// the transaction that deletes it.
    pub(crate) fn raise_forgotten(&self) -> Result<(), StoreError> {
        self.put_setting(FORGOTTEN, &(self.forgotten()? + 1).to_string())
    }

    /// Returns whether remains of what was forgotten may be left in the file.
    pub(crate) fn owes_writing_anew(&self) -> Result<bool, StoreError> {
        Ok(self.number(WRITTEN_ANEW)? < self.forgotten()?)
    }

    /// Records that nothing of what was forgotten so far is left in the file.
    pub(crate) fn put_written_anew(&self) -> Result<(), StoreError> {
        self.put_setting(WRITTEN_ANEW, &self.forgotten()?.to_string())
    }

    /// Returns the number in a setting; 0 if it was never set.
    fn number(&self, name: &str) -> Result<u64, StoreError> {
        let value = self.setting(name)?;
        value.map_or(Ok(0), |text| text.parse()).map_err(|_| StoreError::OutOfRange("the number of a setting"))
    }
}

/// Returns the name of the setting that allows a crawl something.
fn allowed_to(crawl: &CrawlId, allowance: Allowance) -> String {
    format!("{}/{crawl}", allowance.name())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tempfile::TempDir;

    use super::*;
    use crate::store::LEASE_GRACE;

    #[test]
    fn a_crawl_is_allowed_what_it_was_given_and_no_other_crawl_is() {
        use Allowance::{PrivateAddresses, UncheckedCertificates};
        let name = |text: &str| text.parse::<CrawlId>().unwrap();
        let given = |db: &Db| db.allow(&name("second"), PrivateAddresses).unwrap();
        type Make<'m> = &'m dyn Fn(&Db);
        let cases: [(Make<'_>, &str, Allowance, bool, &str); 4] = [
            (&|_| (), "first", PrivateAddresses, false, "nothing was allowed"),
            (&given, "second", PrivateAddresses, true, "it was given this"),
            (&given, "second", UncheckedCertificates, false, "and not that"),
            (&given, "first", PrivateAddresses, false, "another crawl was"),
        ];
        for (make, crawl, allowance, expected, why) in cases {
            let directory = TempDir::new().unwrap();
            let store = crate::LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
            drop(store);
            let connection = rusqlite::Connection::open(directory.path().join(crate::DATABASE)).unwrap();
            let db = Db { connection, lease_grace: LEASE_GRACE };
            make(&db);
            assert_eq!(db.is_allowed(&name(crawl), allowance).unwrap(), expected, "{crawl}: {why}");
        }
    }
}
