//! Decides what stays of a segment's entries, by everything stored about their URLs.

use std::collections::HashMap;

use dragline_domain::capture::{CrawlType, Finality};
use dragline_domain::change::ChangeKind;
use dragline_domain::frontier::{OriginKey, PageFinding};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::retention::{Entry, GoodDocument, Pointers, RetainedPart, retained_parts};
use dragline_domain::url::CrawlUrl;
use rusqlite::{Row, params};

use super::{delete_content, delete_entry};
use crate::db::crawls::iteration_number;
use crate::db::values::{Code, Millis, Text};
use crate::db::{CrawlRowId, Db, SegmentRowId, StoreError, VisitId};

/// An entry of a segment of a dropped iteration.
pub(super) struct PrunedEntry {
    id: VisitId,
    /// The part of it that stays.
    pub(super) stay: RetainedPart,
    /// Whether a document is stored for it.
    pub(super) has_document: bool,
}

/// Returns the entries of a segment with the parts that stay.
pub(super) fn load_entries(
    db: &Db,
    crawl: &CrawlId,
    segment: SegmentRowId,
    cut: Iteration,
) -> Result<Vec<PrunedEntry>, StoreError> {
    let crawl_id = db.crawl_id(crawl)?.ok_or(StoreError::Missing("such crawl"))?;
    let (first, last) = VisitId::of_segment(segment);
    let sql = "SELECT l.id, l.url, EXISTS (SELECT 1 FROM document d WHERE d.id = l.id) FROM visit l
               WHERE l.id BETWEEN ?1 AND ?2 ORDER BY l.id";
    let entries: Vec<(VisitId, Text<CrawlUrl>, bool)> =
        db.all(sql, params![first, last], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut known: HashMap<CrawlUrl, HashMap<VisitId, RetainedPart>> = HashMap::new();
    entries
        .into_iter()
        .map(|(id, Text(url), has_document)| {
            if !known.contains_key(&url) {
                known.insert(url.clone(), decide_url(db, (crawl_id, crawl), &url, cut)?);
            }
            // Missing entries were tried again, and have no lasting meaning.
            let stay = known[&url].get(&id).copied().unwrap_or(RetainedPart::Nothing);
            Ok(PrunedEntry { id, stay, has_document })
        })
        .collect()
}

/// Returns what stays of each final visit of a URL, and of each time its document was remade.
fn decide_url(
    db: &Db,
    (crawl_id, crawl): (CrawlRowId, &CrawlId),
    url: &CrawlUrl,
    cut: Iteration,
) -> Result<HashMap<VisitId, RetainedPart>, StoreError> {
    let entries = entries(db, crawl_id, url)?;
    let stays = retained_parts(&entries, &pointers(db, crawl, url)?, cut);
    Ok(entries.into_iter().zip(stays).map(|(entry, stay)| (entry.place, stay)).collect())
}

const ENTRIES: &str =
    "SELECT l.id, l.iteration, l.at, l.crawl_type, l.change, b.at AS unchanged_since, d.body_id, d.outcome, d.cut IS NOT NULL AS is_page, d.state,
        iif(b.id IS NULL, NULL, (SELECT s.document_id FROM described s WHERE s.id = l.id)) AS confirmed
    FROM visit l JOIN origin o ON o.id = l.origin_id
    LEFT JOIN visit b ON b.id = l.body_of
    LEFT JOIN document d ON d.id = l.id
    WHERE o.crawl_id = ?1 AND l.url = ?2 AND ";

fn entries(db: &Db, crawl: CrawlRowId, url: &CrawlUrl) -> Result<Vec<Entry<VisitId>>, StoreError> {
    let mut entries = Vec::new();
    // Each condition is that of an index.
    for condition in ["l.is_final = 1", "l.is_final = 0 AND l.crawl_type = 'reparse'"] {
        let mut statement = db.statement(&format!("{ENTRIES}{condition}"))?;
        let mut rows = statement.query(params![crawl, url.as_str()])?;
        while let Some(row) = rows.next()? {
            entries.push(read(row)?);
        }
    }
    entries.sort_unstable_by_key(|entry| entry.place);
    Ok(entries)
}

fn read(row: &Row<'_>) -> Result<Entry<VisitId>, StoreError> {
    let is_remade = row.get::<_, String>("crawl_type")? == CrawlType::Reparse.name();
    let outcome = row.get::<_, Option<Code>>("outcome")?.map(|Code(outcome)| outcome);
    // A STUCK page has items that do not fit their types; other STUCK captures have no content.
    let is_read =
        row.get::<_, Option<String>>("state")?.is_some_and(|state| state == "processed") || row.get("is_page")?;
    let is_good = is_read
        && outcome.is_some_and(|outcome| outcome.page_finding() == PageFinding::Content || is_withheld(row, outcome));
    Ok(Entry {
        place: row.get("id")?,
        iteration: iteration_number(row.get("iteration")?)?,
        at: row.get::<_, Millis>("at")?.0,
        finality: if is_remade { Finality::Aside } else { Finality::Final },
        change: row.get::<_, Option<String>>("change")?.as_deref().and_then(ChangeKind::from_name),
        made: if is_good { GoodDocument::Document } else { GoodDocument::Nothing },
        unchanged_since: row.get::<_, Option<Millis>>("unchanged_since")?.map(|time| time.0),
        confirmed: row.get("confirmed")?,
        body: row.get("body_id")?,
    })
}

/// Whether a page is kept without its contents, as it asks for noindex or its use is reserved. It
/// shares its outcome with a refusal, or a URL that was not requested, which have no page.
fn is_withheld(row: &Row<'_>, outcome: Outcome) -> bool {
    matches!(outcome, Outcome::BlockedAtRequestOfRemote | Outcome::UseReserved) && row.get("is_page").unwrap_or(false)
}

fn pointers(db: &Db, crawl: &CrawlId, url: &CrawlUrl) -> Result<Pointers<VisitId>, StoreError> {
    let none = Pointers { document: None, compared_with: None };
    // An excluded URL is logged with the segment that found it, whatever its own origin.
    let Some(origin) = db.origin_id(&OriginKey { crawl: crawl.clone(), origin: url.origin() })? else {
        return Ok(none);
    };
    let sql = "SELECT document_id, captured_at FROM known_url WHERE origin_id = ?1 AND path_query = ?2";
    let found = db.find(sql, params![origin, url.path_and_query()], |row| {
        let compared_with = row.get::<_, Option<Millis>>(1)?.map(|time| time.0);
        Ok(Pointers { document: row.get(0)?, compared_with })
    })?;
    Ok(found.unwrap_or(none))
}

/// Deletes the parts of an entry that do not stay.
pub(super) fn reduce(db: &Db, entry: &PrunedEntry) -> Result<(), StoreError> {
    match entry.stay {
        RetainedPart::Whole => Ok(()),
        RetainedPart::Ending => delete_content(db, entry.id),
        RetainedPart::Nothing => delete_entry(db, entry.id),
    }
}
