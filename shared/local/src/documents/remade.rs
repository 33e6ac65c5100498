//! The [`Remaking`] over SQLite. How far it has come is a setting, which the same transaction writes as the documents.

use std::sync::Arc;

use dragline_domain::capture::RedirectEntry;
use dragline_domain::change::VisitChange;
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow, StateChange};
use dragline_domain::ids::{CrawlId, Turn};
use dragline_domain::remake::{RemadeVisit, RemakeState, Rewrite};
use dragline_ports::error::PortResult;
use dragline_ports::remaking::Remaking;
use rusqlite::params;

use super::{Owner, Packed, packed, put};
use crate::db::urls::shorten;
use crate::db::values::{Code, Millis};
use crate::db::writer::Writer;
use crate::db::{Db, StoreError, VisitId};
use crate::frontier::put_redirect;
use crate::retention::delete_document;

/// What makes documents of a data directory again.
#[derive(Clone)]
pub struct SqliteRemaking {
    writer: Arc<Writer>,
}

impl SqliteRemaking {
    pub(crate) const fn new(writer: Arc<Writer>) -> Self {
        Self { writer }
    }
}

impl Remaking for SqliteRemaking {
    async fn load_remake(&self, crawl: &CrawlId) -> PortResult<Option<RemakeState>> {
        let name = setting(crawl);
        let work = move |db: &Db| {
            // What another program wrote is not gone on with.
            Ok(db.setting(&name)?.and_then(|state| serde_json::from_str(&state).ok()))
        };
        self.writer.run("load how far documents are made again", crawl.to_string(), work).await
    }

    async fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> PortResult<Vec<SegmentRow>> {
        let (key, after) = (origin.clone(), after.cloned());
        let work = move |db: &Db| list_parsed(db, &key, after.as_ref(), limit);
        self.writer.run("list segments", origin.to_string(), work).await
    }

    async fn replace(&self, segment: &SegmentRow, visits: &[RemadeVisit], state: &RemakeState) -> PortResult<()> {
        let (row, state) = (segment.clone(), serde_json::to_string(state));
        let documents: Vec<Document> = visits.iter().map(|visit| visit.document.clone()).collect();
        let documents = packed(&segment.id.origin.origin, &documents);
        let visits: Vec<RemadeVisit> = visits.iter().map(without_content).collect();
        let work = move |db: &Db| {
            let SegmentRow { id, iteration, .. } = &row;
            let stored = db.segment(id)?.ok_or(StoreError::Missing("such segment"))?;
            let owner = Owner {
                id: db.ensure_origin(&id.origin)?,
                origin: &id.origin.origin,
                segment: (id, stored.row_id),
                iteration: *iteration,
            };
            for (packed, visit) in documents?.iter().zip(&visits) {
                replace(db, &owner, packed, visit)?;
            }
            db.put_setting(&setting(&id.origin.crawl), &state?)
        };
        self.writer.run("replace documents", segment.id.to_string(), work).await
    }

    async fn end_remake(&self, crawl: &CrawlId) -> PortResult<()> {
        let name = setting(crawl);
        let work = move |db: &Db| db.execute("DELETE FROM setting WHERE name = ?1", [&name]).map(drop);
        self.writer.run("end making documents again", crawl.to_string(), work).await
    }
}

/// Returns the name of the setting that says how far it has come.
fn setting(crawl: &CrawlId) -> String {
    format!("remake/{crawl}")
}

/// Returns the visit without what its packed document has.
fn without_content(visit: &RemadeVisit) -> RemadeVisit {
    let RemadeVisit { document: Document { n, url, outcome, detail, .. }, change, redirect, state, text } = visit;
    let document = Document { detail: detail.clone(), ..Document::bare(*n, url.clone(), *outcome) };
    RemadeVisit { document, change: change.clone(), redirect: redirect.clone(), state: *state, text: *text }
}

fn list_parsed(
    db: &Db,
    key: &OriginKey,
    after: Option<&SegmentId>,
    limit: usize,
) -> Result<Vec<SegmentRow>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(Vec::new()) };
    let sql = "SELECT turn, n FROM segment
               WHERE origin_id = ?1 AND state = 'processed' AND is_documented AND is_stored AND (?2 IS NULL OR (turn, n) > (?2, ?3))
               ORDER BY turn, n LIMIT ?4";
    let (turn, n) = (after.map(|after| after.turn.0), after.map(|after| after.n));
    let ids = db.all(sql, params![origin, turn, n, limit], |row| {
        Ok(SegmentId { origin: key.clone(), turn: Turn(row.get(0)?), n: row.get(1)? })
    })?;
    let rows = ids.iter().map(|id| db.segment(id)?.ok_or(StoreError::Missing("segment that is listed")));
    rows.map(|stored| stored.map(|stored| stored.row)).collect()
}

/// Puts a document in the place of the one that is stored; nothing if that was pruned or forgotten.
fn replace(db: &Db, owner: &Owner<'_>, packed: &Packed, visit: &RemadeVisit) -> Result<(), StoreError> {
    let RemadeVisit { document, change, redirect, state, text } = visit;
    let id = VisitId::new(owner.segment.1, document.n)?;
    let path = shorten(owner.origin, &document.url);
    let is_there = db.find("SELECT 1 FROM document WHERE id = ?1 AND url = ?2", params![id, path], |_| Ok(()))?;
    if is_there.is_none() {
        return Ok(());
    }
    delete_document(db, id)?;
    put(db, owner, packed)?;
    if let Some(text) = text {
        let sql = "UPDATE document SET words = ?2, simhash = ?3 WHERE id = ?1";
        db.execute(sql, params![id, text.words, text.simhash.0.cast_signed()])?;
    }
    log(db, id, visit)?;
    if let Rewrite::With(change) = change {
        let sql = "UPDATE visit SET change = ?2, changed_parts = ?3 WHERE id = ?1";
        let kind = change.as_ref().map(|change| change.kind.name());
        let parts = change.as_ref().map(VisitChange::part_names).filter(|names| !names.is_empty());
        db.execute(sql, params![id, kind, parts])?;
    }
    log_redirect(db, id, redirect.as_ref())?;
    show(db, owner, (id, document), state)
}

/// Writes how the visit ended, where the log and the candidate say so.
fn log(db: &Db, id: VisitId, visit: &RemadeVisit) -> Result<(), StoreError> {
    let Document { outcome, detail, .. } = &visit.document;
    db.execute("UPDATE visit SET outcome = ?2, detail = ?3 WHERE id = ?1", params![id, Code(*outcome), detail])?;
    let sql = "UPDATE known_url SET last_outcome = ?2
               FROM visit v JOIN segment s ON s.id = v.id >> 24 JOIN document d ON d.id = v.id
               WHERE v.id = ?1 AND v.is_final = 1 AND known_url.origin_id = v.origin_id AND known_url.path_query = d.url
                 AND known_url.last_turn = s.turn AND known_url.last_segment = s.n";
    db.execute(sql, params![id, Code(*outcome)])?;
    Ok(())
}

fn log_redirect(db: &Db, id: VisitId, redirect: Option<&RedirectEntry>) -> Result<(), StoreError> {
    db.execute("DELETE FROM redirect WHERE id = ?1", [id])?;
    redirect.map_or(Ok(()), |redirect| put_redirect(db, id, redirect))
}

/// Writes what the candidate says, if the document is its URL's last good one. When it last changed is what the log says by now; what that no longer
/// says stays as it is.
fn show(
    db: &Db,
    owner: &Owner<'_>,
    (id, document): (VisitId, &Document),
    state: &StateChange,
) -> Result<(), StoreError> {
    let StateChange::Shown { outcome, links, changed_at, .. } = state else { return Ok(()) };
    let path = shorten(owner.origin, &document.url);
    let sql = "UPDATE known_url SET document_outcome = ?4, links_by = ?5, links_depth = ?6 WHERE origin_id = ?1 AND path_query = ?2 AND document_id = ?3";
    let values = params![owner.id, path, id, Code(*outcome), links.by.0, links.depth];
    if db.execute(sql, values)? == 0 {
        return Ok(());
    }
    let changed_at = match changed_at {
        Some(at) => Some(Millis(*at)),
        None => {
            let sql = "SELECT max(v.at) FROM visit v LEFT JOIN difference x ON x.id = v.id
                       WHERE v.url = ?1 AND v.is_final = 1 AND v.origin_id = ?2 AND v.id < ?3
                         AND (v.change IN ('new', 'changed', 'moved') OR v.change = 'back' AND x.parts NOT IN ('', 'rest'))";
            db.find(sql, params![document.url.as_str(), owner.id, id], |row| row.get::<_, Option<Millis>>(0))?.flatten()
        }
    };
    let sql = "UPDATE known_url SET changed_at = coalesce(?3, changed_at) WHERE origin_id = ?1 AND path_query = ?2";
    db.execute(sql, params![owner.id, path, changed_at])?;
    Ok(())
}
