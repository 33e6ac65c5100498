//! The [`Remaking`] over SQLite. Its progress is a setting, written in the same transaction as the
//! documents.

use std::sync::Arc;

use dragline_domain::capture::RedirectEntry;
use dragline_domain::change::{ChangeKind, VisitChange};
use dragline_domain::document::Document;
use dragline_domain::frontier::{IterationStatus, OriginKey, SegmentId, SegmentRow, StateChange};
use dragline_domain::ids::{CrawlId, Iteration, Turn};
use dragline_domain::remake::{Recount, RemadeVisit, RemakeJob, RemakeState, Rewrite};
use dragline_ports::error::PortResult;
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};
use rusqlite::params;

use super::{Owner, PackedDocument, packed, put};
use crate::db::urls::shorten;
use crate::db::values::{Code, Millis};
use crate::db::writer::Writer;
use crate::db::{Db, StoreError, VisitId};
use crate::frontier::put_redirect;
use crate::retention::delete_document;

/// Remakes the documents of a data directory.
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
    async fn begin_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<RemakeBegun> {
        let (id, job) = (crawl.clone(), job.clone());
        let work = move |db: &Db| {
            if let Some(open) = open_iteration(db, &id)? {
                return Ok(RemakeBegun::Busy(open));
            }
            if let Some(stopped) = stored_state(db, &id)?.filter(|stopped| stopped.job == job) {
                return Ok(RemakeBegun::From(stopped));
            }
            let begun = RemakeState::begin(job);
            put_state(db, &id, &begun)?;
            Ok(RemakeBegun::From(begun))
        };
        self.writer.run("begin making documents again", crawl.to_string(), work).await
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

    async fn replace(&self, replacement: Replacement<'_>) -> PortResult<ReplaceResult> {
        let Replacement { segment, visits, state } = replacement;
        let (row, state) = (segment.clone(), state.clone());
        let documents: Vec<Document> = visits.iter().map(|visit| visit.document.clone()).collect();
        let documents = packed(&segment.id.origin.origin, &documents);
        let visits: Vec<RemadeVisit> = visits.iter().map(without_content).collect();
        let work = move |db: &Db| {
            let SegmentRow { id, iteration, .. } = &row;
            let crawl = &id.origin.crawl;
            match stored_state(db, crawl)?.filter(|stored| stored.job == state.job) {
                None => return Ok(ReplaceResult::Superseded),
                Some(stored) if stored.has_passed(id) => return Ok(ReplaceResult::Done(stored.done)),
                Some(_) => {}
            }
            if let Some(open) = open_iteration(db, crawl)? {
                return Ok(ReplaceResult::Busy(open));
            }
            let stored = db.segment(id)?.ok_or(StoreError::Missing("such segment"))?;
            let owner = Owner {
                id: db.ensure_origin(&id.origin)?,
                origin: &id.origin.origin,
                segment: (id, stored.row_id),
                iteration: *iteration,
            };
            let mut recount = Recount::default();
            for (packed, visit) in documents?.iter().zip(&visits) {
                recount.add(&replace(db, &owner, packed, visit)?);
            }
            if let Some(inbox) = db.inbox(owner.id)?.filter(|inbox| inbox.iteration == *iteration) {
                db.put_inbox(owner.id, &inbox.recounted(&recount))?;
            }
            put_state(db, crawl, &state)?;
            Ok(ReplaceResult::Done(state.done))
        };
        self.writer.run("replace documents", segment.id.to_string(), work).await
    }

    async fn end_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<()> {
        let (id, job) = (crawl.clone(), job.clone());
        let work = move |db: &Db| match stored_state(db, &id)? {
            Some(stored) if stored.job == job => {
                db.execute("DELETE FROM setting WHERE name = ?1", [setting(&id)]).map(drop)
            }
            _ => Ok(()),
        };
        self.writer.run("end making documents again", crawl.to_string(), work).await
    }
}

/// Returns the crawl's newest iteration if it is open.
fn open_iteration(db: &Db, crawl: &CrawlId) -> Result<Option<Iteration>, StoreError> {
    let open = db.latest_iteration(crawl)?.filter(|latest| latest.status != IterationStatus::Closed);
    Ok(open.map(|open| open.number))
}

/// Returns the progress of remaking. A job of another program version is not continued.
fn stored_state(db: &Db, crawl: &CrawlId) -> Result<Option<RemakeState>, StoreError> {
    Ok(db.setting(&setting(crawl))?.and_then(|state| serde_json::from_str(&state).ok()))
}

fn put_state(db: &Db, crawl: &CrawlId, state: &RemakeState) -> Result<(), StoreError> {
    db.put_setting(&setting(crawl), &serde_json::to_string(state)?)
}

/// Returns the name of the setting for the progress.
fn setting(crawl: &CrawlId) -> String {
    format!("remake/{crawl}")
}

/// Returns the visit without the parts in its packed document.
fn without_content(visit: &RemadeVisit) -> RemadeVisit {
    let RemadeVisit { document: Document { n, url, outcome, detail, .. }, .. } = visit;
    let document = Document { detail: detail.clone(), ..Document::bare(*n, url.clone(), *outcome) };
    let RemadeVisit { change, redirect, state, text, recount, .. } = visit;
    let (change, redirect, recount) = (change.clone(), redirect.clone(), recount.clone());
    RemadeVisit { document, change, redirect, state: *state, text: *text, recount }
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

/// Replaces the stored document, and returns the change in counts; none if it was pruned or
/// forgotten.
fn replace(db: &Db, owner: &Owner<'_>, packed: &PackedDocument, visit: &RemadeVisit) -> Result<Recount, StoreError> {
    let RemadeVisit { document, change, redirect, state, text, .. } = visit;
    let id = VisitId::new(owner.segment.1, document.n)?;
    let path = shorten(owner.origin, &document.url);
    let is_there = db.find("SELECT 1 FROM document WHERE id = ?1 AND url = ?2", params![id, path], |_| Ok(()))?;
    if is_there.is_none() {
        return Ok(Recount::default());
    }
    let mut recount = visit.recount.clone();
    delete_document(db, id)?;
    put(db, owner, packed)?;
    if let Some(text) = text {
        let sql = "UPDATE document SET words = ?2, simhash = ?3 WHERE id = ?1";
        db.execute(sql, params![id, text.words, text.simhash.0.cast_signed()])?;
    }
    log(db, id, visit)?;
    if let Rewrite::With(change) = change {
        let was = db.find("SELECT change FROM visit WHERE id = ?1", [id], |row| row.get::<_, Option<String>>(0))?;
        let is = change.as_ref().map(|change| change.kind);
        recount.add_change(was.flatten().as_deref().and_then(ChangeKind::from_name), is);
        let sql = "UPDATE visit SET change = ?2, changed_parts = ?3 WHERE id = ?1";
        let kind = is.map(ChangeKind::name);
        let parts = change.as_ref().map(VisitChange::part_names).filter(|names| !names.is_empty());
        db.execute(sql, params![id, kind, parts])?;
    }
    log_redirect(db, id, redirect.as_ref())?;
    show(db, owner, (id, document), state)?;
    Ok(recount)
}

/// Updates the visit's ending in the log and the candidate.
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

/// Updates the candidate, if the document is its URL's last good one. Its time of the last change
/// is taken from the updated log, and stays if the log no longer has it.
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
