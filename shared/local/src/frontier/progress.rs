//! The progress of an iteration: the sums over its origins.

use dragline_domain::frontier::{Inbox, Lease, LeftoverReason, OriginRows};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::frontier::Progress;
use rusqlite::params;

use crate::db::values::Json;
use crate::db::{CrawlRowId, Db, StoreError};

pub(crate) fn progress(db: &Db, crawl: &CrawlId, iteration: Iteration) -> Result<Progress, StoreError> {
    let mut progress = Progress::default();
    let Some(id) = db.crawl_id(crawl)? else { return Ok(progress) };
    let sql = "SELECT l.record, b.record FROM origin o
               JOIN lease l ON l.origin_id = o.id JOIN inbox b ON b.origin_id = o.id
               WHERE o.crawl_id = ?1 AND b.iteration = ?2";
    let mut statement = db.statement(sql)?;
    let mut rows = statement.query(params![id, iteration.number()])?;
    while let Some(row) = rows.next()? {
        let (Json(lease), Json(inbox)): (Json<Lease>, Json<Inbox>) = (row.get(0)?, row.get(1)?);
        progress.add_origin(&OriginRows { lease, inbox });
    }
    progress.set_leftovers(leftovers(db, id, iteration)?);
    Ok(progress)
}

fn leftovers(db: &Db, crawl: CrawlRowId, iteration: Iteration) -> Result<Vec<(LeftoverReason, u64)>, StoreError> {
    let sql = "SELECT reason, sum(urls) FROM leftover f JOIN origin o ON o.id = f.origin_id
               WHERE o.crawl_id = ?1 AND f.iteration = ?2 GROUP BY reason";
    let sums = db.all(sql, params![crawl, iteration.number()], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let named = |(name, urls): (String, u64)| {
        let reason = LeftoverReason::from_name(&name)
            .ok_or_else(|| StoreError::Damaged("a leftover has an unknown reason".to_owned()))?;
        Ok((reason, urls))
    };
    let mut sums = sums.into_iter().map(named).collect::<Result<Vec<_>, StoreError>>()?;
    sums.sort_unstable();
    Ok(sums)
}
