//! Pages with nearly the same text.

use dragline_domain::simhash::Simhash;
use rusqlite::{Connection, params};

use crate::error::FileError;

/// The maximum number of differing bits between the fingerprints of near-duplicates: three, as
/// Manku, Jain and Das Sarma (2007) found for web pages.
const DISTANCE_MAX: u32 = 3;

/// The number of parts by which fingerprints are looked up: if three bits differ, at least one of
/// four parts is equal.
const PARTS: u32 = DISTANCE_MAX + 1;

/// The maximum number of comparisons per part. Fingerprints that share a part by the thousand are
/// mostly equal.
const COMPARED_MAX: u32 = 1_000;

/// Finds, for each text, the first earlier one (by URL) that it nearly equals and that is not
/// itself a near-duplicate. Equal texts are found by their digests: one represents all.
pub(crate) fn find(db: &Connection) -> Result<(), FileError> {
    db.execute_batch("CREATE TEMP TABLE part (n INTEGER, value INTEGER, id INTEGER, simhash INTEGER, PRIMARY KEY (n, value, id)) WITHOUT ROWID;")?;
    let mut texts = db.prepare(
        "SELECT min(url), id, simhash FROM node WHERE simhash IS NOT NULL AND state IN ('page', 'copy') GROUP BY text_sha1 ORDER BY 1",
    )?;
    let mut look_up = db.prepare("SELECT id, simhash FROM part WHERE n = ?1 AND value = ?2 ORDER BY id LIMIT ?3")?;
    let mut keep = db.prepare("INSERT INTO part VALUES (?1, ?2, ?3, ?4)")?;
    let mut write = db.prepare("INSERT INTO near VALUES (?1, ?2, ?3)")?;
    let mut rows = texts.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(1)?;
        let simhash = Simhash(row.get::<_, i64>(2)?.cast_unsigned());
        let mut nearest: Option<(u32, i64)> = None;
        for n in 0..PARTS {
            let mut found = look_up.query(params![n, part(simhash, n), COMPARED_MAX])?;
            while let Some(row) = found.next()? {
                let distance = simhash.distance(Simhash(row.get::<_, i64>(1)?.cast_unsigned()));
                let candidate = (distance, row.get(0)?);
                if distance <= DISTANCE_MAX && nearest.is_none_or(|nearest| candidate < nearest) {
                    nearest = Some(candidate);
                }
            }
        }
        match nearest {
            Some((distance, like)) => {
                write.execute(params![id, like, distance])?;
            }
            None => {
                for n in 0..PARTS {
                    keep.execute(params![n, part(simhash, n), id, simhash.0.cast_signed()])?;
                }
            }
        }
    }
    Ok(())
}

/// Returns one of the equally long parts of a fingerprint.
const fn part(simhash: Simhash, n: u32) -> i64 {
    let bits = u64::BITS / PARTS;
    (simhash.0 >> (n * bits) & ((1 << bits) - 1)).cast_signed()
}
