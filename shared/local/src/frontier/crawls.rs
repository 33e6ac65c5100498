//! Definitions of crawls.

use dragline_domain::frontier::{DefinitionPut, put_definition};
use dragline_pipeline::ports::frontier::{CrawlPut, PutCrawl};

use crate::db::{Db, StoreError};

pub(super) fn put(db: &Db, put: &PutCrawl) -> Result<CrawlPut, StoreError> {
    let stored = db.crawl(&put.definition.name)?;
    let stored = stored.as_ref().map(|row| (row.version, &row.definition));
    match put_definition(stored, put.seen, &put.definition) {
        DefinitionPut::Changed => Ok(CrawlPut::Changed),
        DefinitionPut::DoneBefore(version) => Ok(CrawlPut::Stored(version)),
        DefinitionPut::Write(version) => {
            db.put_definition(&put.definition, version)?;
            Ok(CrawlPut::Stored(version))
        }
    }
}
