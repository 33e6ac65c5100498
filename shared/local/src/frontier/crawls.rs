//! Definitions of crawls, and their schedules.

use dragline_domain::frontier::{DefinitionPut, Switch, put_definition};
use dragline_domain::ids::CrawlId;
use dragline_pipeline::ports::frontier::{CrawlPut, MoveSchedule, PutCrawl};

use crate::db::{Db, StoreError};

pub(super) fn put(db: &Db, put: &PutCrawl) -> Result<CrawlPut, StoreError> {
    let stored = db.crawl(&put.definition.name)?;
    let stored = stored.as_ref().map(|row| (row.version, &row.definition));
    match put_definition(stored, put.seen, &put.definition) {
        DefinitionPut::Changed => Ok(CrawlPut::Changed),
        DefinitionPut::DoneBefore(version) => Ok(CrawlPut::Stored(version)),
        DefinitionPut::Write(version) => {
            db.put_definition(put, version)?;
            Ok(CrawlPut::Stored(version))
        }
    }
}

pub(super) fn switch_off(db: &Db, crawl: &CrawlId) -> Result<(), StoreError> {
    match db.crawl_id(crawl)? {
        Some(id) => db.put_switch(id, Switch::Off),
        None => Ok(()),
    }
}

pub(super) fn move_schedule(db: &Db, passed: &MoveSchedule) -> Result<(), StoreError> {
    let (Some(id), Some(row)) = (db.crawl_id(&passed.crawl)?, db.crawl(&passed.crawl)?) else { return Ok(()) };
    match row.switch.moved(passed.seen, passed.next) {
        Some(switch) => db.put_switch(id, switch),
        None => Ok(()),
    }
}
