//! Disk usage, by kind.

use std::fs;
use std::io;
use std::path::Path;

use dragline_domain::ids::CrawlId;
use dragline_ports::error::{PortError, PortResult};
use rusqlite::params;
use serde::Serialize;

use crate::db::{Db, StoreError};
use crate::open::{DATABASE, Reading};

/// The disk usage of a data directory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// WARC objects: of the given crawl, or of all.
    #[serde(rename = "warc_bytes")]
    pub warc: u64,
    /// Documents with their texts and links, of all crawls.
    #[serde(rename = "documents_bytes")]
    pub documents: u64,
    /// The log: visits, requests and the places of their records, of all crawls.
    #[serde(rename = "log_bytes")]
    pub log: u64,
    /// Known URLs, and the rows of origins and segments, of all crawls.
    #[serde(rename = "frontier_bytes")]
    pub frontier: u64,
    /// Free pages of the database, which are reused.
    #[serde(rename = "free_bytes")]
    pub free: u64,
    /// The journal of the database: commits that are not yet copied into it, of all crawls, and its
    /// index.
    #[serde(rename = "journal_bytes")]
    pub journal: u64,
    /// Link graphs, which can be rebuilt: of the given crawl, or of all.
    #[serde(rename = "graph_bytes")]
    pub graph: u64,
    /// Word indexes, which can be rebuilt: of the given crawl, or of all.
    #[serde(rename = "search_bytes")]
    pub search: u64,
    /// Whether the parts of the database are estimated: it is too large to be counted while
    /// somebody waits.
    pub is_estimated: bool,
}

/// The folder of link graphs, in `CRAWL.db`. Like [`INDEXES`], it is derived from crawls and kept
/// with them.
pub const GRAPHS: &str = "graph";
/// The folder of word indexes, in `CRAWL/`.
pub const INDEXES: &str = "search";

/// The largest database whose pages are counted, which takes at most a second.
const COUNTED_BYTES_MAX: u64 = 256 << 20;

/// The number of segments sampled to estimate a larger one.
const SAMPLE: i64 = 40;

/// The tables of documents and of the log. All others belong to the frontier.
const DOCUMENTS: &str = "'document', 'document_text', 'difference'";
const LOG: &str = "'visit', 'redirect', 'agent'";

/// Returns the bytes that this user may still write to the disk of a directory.
///
/// # Errors
/// Fails if the system does not tell.
#[cfg(unix)]
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(directory)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the bytes that this user may still write to the disk of a directory.
///
/// # Errors
/// Always fails: this is only implemented for Unix.
#[cfg(not(unix))]
pub fn free_bytes(_directory: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Reading {
    /// Returns the disk usage; WARC objects only of this crawl, if one is given. Takes at most a
    /// second, however large the directory is.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn disk(&self, crawl: Option<&CrawlId>) -> PortResult<Disk> {
        let failed = |error: StoreError| {
            let subject = self.db().connection.path().unwrap_or_default().to_owned();
            PortError::new(error.kind(), "measure database", subject, error)
        };
        let disk = self.db().disk(crawl, COUNTED_BYTES_MAX).map_err(failed)?;
        let Some(database) = self.db().connection.path().map(Path::new) else { return Ok(disk) };
        let of_kind = |kind: &str, ending: &str| {
            let folder = database.with_file_name(kind);
            disk_bytes(&crawl.map_or(folder.clone(), |crawl| folder.join(format!("{crawl}{ending}"))))
        };
        Ok(Disk {
            journal: ["-wal", "-shm"]
                .map(|ending| disk_bytes(&database.with_file_name(format!("{DATABASE}{ending}"))))
                .iter()
                .sum(),
            graph: of_kind(GRAPHS, ".db"),
            search: of_kind(INDEXES, ""),
            ..disk
        })
    }
}

/// Returns the bytes of a file, or of all files in a folder; 0 if it is missing, or disappears
/// meanwhile.
fn disk_bytes(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return path.symlink_metadata().map_or(0, |file| file.len()) };
    entries.flatten().map(|entry| bytes_of_entry(&entry)).sum()
}

/// Returns the bytes of a directory entry. Links are not followed.
fn bytes_of_entry(entry: &fs::DirEntry) -> u64 {
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => disk_bytes(&entry.path()),
        _ => entry.metadata().map_or(0, |file| file.len()),
    }
}

impl Db {
    fn disk(&self, crawl: Option<&CrawlId>, counted_bytes_max: u64) -> Result<Disk, StoreError> {
        let number = |pragma: &str| {
            let number = self.connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, u64>(0))?;
            Ok::<_, StoreError>(number)
        };
        let page = number("page_size")?;
        let (all, free) = (number("page_count")? * page, number("freelist_count")? * page);
        let used = all.saturating_sub(free);
        let is_estimated = all > counted_bytes_max;
        let (documents, log) = if is_estimated { self.estimate_bytes()? } else { self.count_bytes()? };
        let documents = documents.min(used);
        let log = log.min(used - documents);
        Ok(Disk {
            warc: self.warc(crawl)?,
            documents,
            log,
            frontier: used - documents - log,
            free,
            is_estimated,
            ..Disk::default()
        })
    }

    fn warc(&self, crawl: Option<&CrawlId>) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(sum(s.object_bytes), 0) FROM segment s JOIN origin o ON o.id = s.origin_id
                   JOIN crawl c ON c.id = o.crawl_id WHERE s.is_stored AND (?1 IS NULL OR c.name = ?1)";
        Ok(self.find(sql, [crawl.map(CrawlId::as_str)], |row| row.get(0))?.unwrap_or(0))
    }

    /// Counts the pages of documents and of the log, with their indexes.
    fn count_bytes(&self) -> Result<(u64, u64), StoreError> {
        let of = |tables: &str| {
            let sql = format!(
                "SELECT coalesce(sum(p.pgsize), 0) FROM dbstat p JOIN sqlite_schema t ON t.name = p.name
                 WHERE p.aggregate = TRUE AND t.tbl_name IN ({tables})"
            );
            Ok::<_, StoreError>(self.find(&sql, [], |row| row.get(0))?.unwrap_or(0))
        };
        Ok((of(DOCUMENTS)?, of(LOG)?))
    }

    /// Estimates the same from a sample of segments: the contents of their rows, and the
    /// approximate overhead of each row and its indexes.
    fn estimate_bytes(&self) -> Result<(u64, u64), StoreError> {
        let (last, segments): (i64, i64) = self
            .find("SELECT coalesce(max(id), 0), count(*) FROM segment", [], |row| Ok((row.get(0)?, row.get(1)?)))?
            .unwrap_or_default();
        let sql = "SELECT
            (SELECT total(80 + length(d.url) + coalesce(length(d.title), 0) + coalesce(length(d.description), 0)) FROM document d WHERE d.id BETWEEN ?1 AND ?2)
            + (SELECT total(60 + coalesce(length(t.text), 0) + coalesce(length(t.links), 0)) FROM document_text t WHERE t.id BETWEEN ?1 AND ?2)
            + (SELECT total(40 + length(x.links_added) + length(x.links_removed)) FROM difference x WHERE x.id BETWEEN ?1 AND ?2),
            (SELECT total(90 + 2 * length(v.url) + coalesce(length(v.via), 0) + coalesce(length(v.detail), 0) + iif(v.record IS NULL, 0, 90)
                          + coalesce(length(v.etag), 0) + coalesce(length(v.last_modified), 0))
             FROM visit v WHERE v.id BETWEEN ?1 AND ?2)";
        let (mut sampled, mut documents, mut log) = (0_u32, 0.0, 0.0);
        for step in 0..SAMPLE {
            let near = last * step / SAMPLE;
            let Some(id) =
                self.find("SELECT id FROM segment WHERE id > ?1 LIMIT 1", [near], |row| row.get::<_, i64>(0))?
            else {
                break;
            };
            let range = params![id << 24, ((id + 1) << 24) - 1];
            let (of_documents, of_log): (f64, f64) =
                self.find(sql, range, |row| Ok((row.get(0)?, row.get(1)?)))?.unwrap_or_default();
            sampled += 1;
            documents += of_documents;
            log += of_log;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an estimate of bytes, which are never negative"
        )]
        let whole = |part: f64| (part * segments as f64 / f64::from(sampled.max(1))) as u64;
        Ok((whole(documents), whole(log)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::LEASE_GRACE;

    #[test]
    fn an_estimate_is_close_to_the_count() {
        let directory = tempfile::tempdir().unwrap();
        let (connection, _lock) = crate::open::for_writing(directory.path()).unwrap();
        connection
            .execute_batch(
                "BEGIN;
                INSERT INTO crawl (id, name) VALUES (1, 'docs'), (2, 'news');
                INSERT INTO agent VALUES (1, 'a');
                INSERT OR IGNORE INTO outcome VALUES (20, 'file_ingested', 'content');
                INSERT INTO origin (id, crawl_id, origin) VALUES (1, 1, 'https://a.example'), (2, 2, 'https://b.example');
                WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
                INSERT INTO segment (id, origin_id, turn, n, iteration, token, state, object, object_bytes, entries, committed_at, attempts, is_stored)
                SELECT n, 1 + n % 2, n, 0, 1, 't', 'processed', 'raw/' || n, 1000, 50, '', 0, n % 3 > 0 FROM n;
                WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 49)
                INSERT INTO visit (id, crawl_type, agent_id, origin_id, iteration, url, depth, redirects, outcome, is_final, tries, at, duration_ms,
                                   first_byte_ms, status, remote, record, offset, length, body_bytes, payload_sha1, decoded_sha1)
                SELECT (s.id << 24) + n.n, 'queued', 1, 1, 1, 'https://a.example/some/path/' || s.id || '/' || n.n, 1, 0, 20, 1, 1, 1795000000123, 100,
                       50, 200, '192.0.2.7:443', 'response', 100000, 10000, 20000, zeroblob(20), zeroblob(20)
                FROM segment s, n;
                INSERT INTO document (id, url, outcome, state, body_id, noindex, nofollow, cut)
                SELECT id, substr(url, 18), 20, 'processed', id, 0, 0, 'whole' FROM visit;
                INSERT INTO document_text SELECT id, hex(zeroblob(300)), hex(zeroblob(1000)) FROM visit;
                COMMIT;",
            )
            .unwrap();
        let db = Db { connection, lease_grace: LEASE_GRACE };
        let counted = db.disk(None, u64::MAX).unwrap();
        let estimated = db.disk(None, 0).unwrap();
        assert_eq!((counted.is_estimated, estimated.is_estimated), (false, true));
        for (kind, counted, estimated) in
            [("documents", counted.documents, estimated.documents), ("log", counted.log, estimated.log)]
        {
            assert!(counted > 1 << 20, "{kind}: {counted} bytes");
            assert!(counted.abs_diff(estimated) < counted / 3, "{kind}: {estimated} for {counted} bytes");
        }
        let of = |crawl: Option<&CrawlId>| db.disk(crawl, u64::MAX).unwrap().warc;
        let docs = "docs".parse().unwrap();
        assert_eq!((of(None), of(Some(&docs))), (200_000, 100_000), "objects that are stored, of a crawl or of all");
        assert_eq!(counted.warc, estimated.warc);
    }
}
