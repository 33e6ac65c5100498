//! Forgetting URLs.

use dragline_domain::frontier::{ObjectKey, OriginKey};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::Cursor;
use dragline_ports::retention::{ForgetTotals, Forgetting, ObjectsNaming};
use rusqlite::params;

use super::{SqliteRetained, delete_entry};
use crate::db::values::Text;
use crate::db::{CrawlRowId, Db, SegmentRowId, StoreError, VisitId};

/// The number of objects listed at once.
const OBJECTS_MAX: usize = 100;

impl Forgetting for SqliteRetained {
    async fn objects_naming(
        &self,
        crawl: &CrawlId,
        urls: &[CrawlUrl],
        after: Option<&Cursor>,
    ) -> PortResult<ObjectsNaming> {
        let (id, urls, after) = (crawl.clone(), urls.to_vec(), after.cloned());
        let work = move |db: &Db| match db.crawl_id(&id)? {
            Some(crawl) => objects_naming(db, (crawl, &id), &urls, after.as_ref()),
            None => Ok(ObjectsNaming::default()),
        };
        self.writer.run("list objects", crawl.to_string(), work).await
    }

    async fn forget_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> PortResult<ForgetTotals> {
        let (id, urls) = (crawl.clone(), urls.to_vec());
        let work = move |db: &Db| match db.crawl_id(&id)? {
            Some(crawl) => forget(db, (crawl, &id), &urls),
            None => Ok(ForgetTotals::default()),
        };
        self.writer.run("forget URLs", crawl.to_string(), work).await
    }
}

/// Creates a table of the URLs: in full, and in the short form used in rows of their origin.
fn name(db: &Db, crawl: &CrawlId, urls: &[CrawlUrl]) -> Result<(), StoreError> {
    db.execute(
        "CREATE TEMP TABLE IF NOT EXISTS forgotten (url TEXT PRIMARY KEY, origin_id INTEGER, path TEXT) WITHOUT ROWID",
        [],
    )?;
    db.execute("CREATE INDEX IF NOT EXISTS temp.forgotten_path ON forgotten (path, origin_id)", [])?;
    db.execute("DELETE FROM temp.forgotten", [])?;
    for url in urls {
        let origin = db.origin_id(&OriginKey { crawl: crawl.clone(), origin: url.origin() })?;
        let sql = "INSERT OR IGNORE INTO temp.forgotten (url, origin_id, path) VALUES (?1, ?2, ?3)";
        db.execute(sql, params![url.as_str(), origin, url.path_and_query()])?;
    }
    Ok(())
}

/// Whether `via` of a row with an `origin_id` is one of the URLs.
const VIA: &str = "via IS NOT NULL AND (via IN (SELECT f.url FROM temp.forgotten f)
    OR EXISTS (SELECT 1 FROM temp.forgotten f WHERE f.path = via AND f.origin_id = v.origin_id))";

fn objects_naming(
    db: &Db,
    (crawl_id, crawl): (CrawlRowId, &CrawlId),
    urls: &[CrawlUrl],
    after: Option<&Cursor>,
) -> Result<ObjectsNaming, StoreError> {
    name(db, crawl, urls)?;
    let after: i64 =
        after.map_or(Ok(0), |cursor| cursor.as_str().parse()).map_err(|_| StoreError::OutOfRange("a cursor"))?;
    let sql = format!(
        "SELECT s.id, s.object FROM segment s JOIN origin o ON o.id = s.origin_id
         WHERE o.crawl_id = ?1 AND s.id > ?2 AND s.is_stored AND EXISTS (
             SELECT 1 FROM visit v WHERE v.id BETWEEN s.id << 24 AND ((s.id + 1) << 24) - 1
                AND (v.url IN (SELECT f.url FROM temp.forgotten f) OR {VIA}))
         ORDER BY s.id LIMIT ?3"
    );
    let found: Vec<(SegmentRowId, Text<ObjectKey>)> =
        db.all(&sql, params![crawl_id, after, OBJECTS_MAX], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let next = found.last().filter(|_| found.len() == OBJECTS_MAX).map(|(id, _)| Cursor::new(id.0.to_string()));
    Ok(ObjectsNaming { objects: found.into_iter().map(|(_, Text(object))| object).collect(), next })
}

fn forget(db: &Db, (crawl_id, crawl): (CrawlRowId, &CrawlId), urls: &[CrawlUrl]) -> Result<ForgetTotals, StoreError> {
    // Until the file is rewritten, deleted rows must not remain readable in it.
    db.connection.pragma_update(None, "secure_delete", true)?;
    name(db, crawl, urls)?;
    let mut forgotten = ForgetTotals::default();
    for url in urls {
        let visits = visits(db, crawl_id, url)?;
        for &(id, has_document) in &visits {
            delete_entry(db, id)?;
            forgotten.documents += u64::from(has_document);
        }
        forgotten.visits += u64::try_from(visits.len()).unwrap_or(u64::MAX);
        let known = match db.origin_id(&OriginKey { crawl: crawl.clone(), origin: url.origin() })? {
            Some(origin) => {
                let sql = "DELETE FROM known_url WHERE origin_id = ?1 AND path_query = ?2";
                db.execute(sql, params![origin, url.path_and_query()])?
            }
            None => 0,
        };
        forgotten.urls += u64::from(known > 0 || !visits.is_empty());
    }
    let mut namings = 0;
    for table in ["known_url", "visit"] {
        let sql = format!(
            "UPDATE {table} AS v SET via = NULL
             WHERE v.origin_id IN (SELECT id FROM origin WHERE crawl_id = ?1) AND {VIA}"
        );
        namings += db.execute(&sql, [crawl_id])?;
    }
    if namings > 0 || forgotten != ForgetTotals::default() {
        db.raise_forgotten()?;
    }
    db.execute("DROP TABLE temp.forgotten", [])?;
    Ok(forgotten)
}

/// Returns all visits of a URL, including tries, and whether each has a document.
fn visits(db: &Db, crawl: CrawlRowId, url: &CrawlUrl) -> Result<Vec<(VisitId, bool)>, StoreError> {
    let mut visits = Vec::new();
    // Each condition is that of an index.
    for condition in ["l.is_final = 1", "l.is_final = 0"] {
        let sql = format!(
            "SELECT l.id, EXISTS (SELECT 1 FROM document d WHERE d.id = l.id) FROM visit l
             JOIN origin o ON o.id = l.origin_id WHERE o.crawl_id = ?1 AND l.url = ?2 AND {condition}"
        );
        visits.extend(db.all(&sql, params![crawl, url.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?);
    }
    Ok(visits)
}
