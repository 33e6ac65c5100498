//! Origins that take part in an iteration, and the seeds that open them.

use dragline_domain::frontier::{Inbox, OriginKey, OriginRows, PART_CHUNKS_MAX, SeedRefused, seed};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Origins, SeedOrigin, SeedResult};
use rusqlite::params;

use super::SqliteFrontier;
use crate::db::values::Text;
use crate::db::{Db, StoreError};

impl Origins for SqliteFrontier {
    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<SeedResult> {
        let request = seed.clone();
        self.run("seed origin", &seed.origin, move |db| seed_origin(db, &request)).await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        let (id, after) = (crawl.clone(), after.cloned());
        self.run("list origins", crawl, move |db| list_origins(db, &id, after.as_ref(), limit)).await
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        let key = origin.clone();
        self.run("load origin", origin, move |db| match db.origin_id(&key)? {
            Some(id) => db.origin_rows(id),
            None => Ok(None),
        })
        .await
    }

    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        let key = origin.clone();
        self.run("load inbox", origin, move |db| match db.origin_id(&key)? {
            Some(id) => db.inbox(id),
            None => Ok(None),
        })
        .await
    }
}

fn seed_origin(db: &Db, request: &SeedOrigin) -> Result<SeedResult, StoreError> {
    if request.chunks.len() > PART_CHUNKS_MAX {
        return Err(StoreError::OutOfRange("the number of chunks of seeds"));
    }
    let Some(iteration) = db.iteration(&request.origin.crawl, request.iteration)? else {
        return Ok(SeedResult::IterationOver);
    };
    let origin = db.ensure_origin(&request.origin)?;
    let rows = db.origin_rows(origin)?;
    let mark = db.seeding_mark(origin, request.iteration, &request.seeding)?;
    let (seeded, opened) = match seed(rows.as_ref(), &iteration, mark, &request.seeding, &request.add) {
        Ok(seeded) => seeded,
        Err(SeedRefused::Already) => return Ok(SeedResult::Already),
        Err(SeedRefused::IterationOver) => return Ok(SeedResult::IterationOver),
    };
    db.put_seeding(origin, request.iteration, &request.seeding)?;
    db.put_origin_rows(origin, &seeded)?;
    if let Some(iteration) = opened {
        db.update_iteration(&iteration)?;
    }
    request.chunks.iter().try_for_each(|chunk| db.put_chunk(origin, chunk))?;
    Ok(SeedResult::Added)
}

/// Lists the origins that were ever opened.
fn list_origins(db: &Db, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> Result<Vec<Origin>, StoreError> {
    let sql = "SELECT o.origin FROM origin o JOIN crawl c ON c.id = o.crawl_id JOIN lease l ON l.origin_id = o.id
               WHERE c.name = ?1 AND o.origin > ?2 ORDER BY o.origin LIMIT ?3";
    let after = after.map_or("", Origin::as_str);
    db.all(sql, params![crawl.as_str(), after, limit], |row| Ok(row.get::<_, Text<Origin>>(0)?.0))
}
