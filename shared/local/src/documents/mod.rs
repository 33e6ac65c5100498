//! The [`Documents`] over SQLite.

mod difference;
pub(crate) mod links;

use std::sync::Arc;

use dragline_domain::document::{Directives, Document, DocumentState, MadeBy, Page, PageCut, StoredBody};
use dragline_domain::frontier::{ObjectKey, OriginKey, SegmentRow, VisitPlace};
use dragline_domain::ids::Turn;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;
use rusqlite::{Row, params};

use crate::db::crawls::iteration_number;
use crate::db::urls::{restore, shorten};
use crate::db::values::{Code, Text, Time};
use crate::db::writer::Writer;
use crate::db::{Db, OriginRowId, SegmentRowId, StoreError, VisitId};

/// The documents of a data directory.
#[derive(Clone)]
pub struct SqliteDocuments {
    writer: Arc<Writer>,
}

impl SqliteDocuments {
    pub(crate) fn new(writer: Arc<Writer>) -> Self {
        Self { writer }
    }
}

impl Documents for SqliteDocuments {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        let id = segment.id.clone();
        let work = move |db: &Db| match db.segment(&id)? {
            Some(segment) if segment.is_documented => Ok(Some(load(db, segment.row_id, &id.origin.origin)?)),
            _ => Ok(None),
        };
        self.writer.run("load documents", segment.id.to_string(), work).await
    }

    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        let (key, places) = (origin.clone(), places.to_vec());
        let work = move |db: &Db| {
            let Some(origin) = db.origin_id(&key)? else { return Ok(vec![None; places.len()]) };
            places.iter().map(|place| load_one(db, origin, &key.origin, place)).collect()
        };
        self.writer.run("load documents", origin.to_string(), work).await
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        let (id, documents) = (segment.id.clone(), documents.to_vec());
        let work = move |db: &Db| {
            let segment = db.segment(&id)?.ok_or(StoreError::Missing("such segment"))?;
            if segment.is_documented {
                return Ok(PutDocuments::Found(load(db, segment.row_id, &id.origin.origin)?));
            }
            let owner = (db.ensure_origin(&id.origin)?, &id.origin.origin);
            for document in &documents {
                put(db, VisitId::new(segment.row_id, document.n)?, owner, document)?;
            }
            db.execute("UPDATE segment SET is_documented = 1 WHERE id = ?1", [segment.row_id])?;
            Ok(PutDocuments::Stored)
        };
        self.writer.run("put documents", segment.id.to_string(), work).await
    }
}

const fn state_name(state: DocumentState) -> &'static str {
    match state {
        DocumentState::Processed => "processed",
        DocumentState::Stuck => "stuck",
    }
}

fn put(
    db: &Db,
    id: VisitId,
    (origin_id, origin): (OriginRowId, &Origin),
    document: &Document,
) -> Result<(), StoreError> {
    let Document { url, outcome, state, detail, .. } = document;
    let body = document.body.as_ref().map(|body| visit_id(db, origin_id, &body.visit)).transpose()?.flatten();
    let sql = "INSERT INTO document (id, url, outcome, state, detail, body_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    db.execute(sql, params![id, shorten(origin, url), Code(*outcome), state_name(*state), detail, body])?;
    if let Some(page) = &document.page {
        put_page(db, id, page, document.made_by.as_ref())?;
    }
    if !document.links.is_empty() {
        let links = links::pack(origin, &document.links)?;
        db.execute("INSERT INTO page_link (id, links) VALUES (?1, ?2)", params![id, links])?;
    }
    match &document.difference {
        Some(difference) => difference::put(db, id, (origin_id, origin), difference),
        None => Ok(()),
    }
}

/// Returns the number of a visit to this origin; `None` if its segment is not there.
fn visit_id(db: &Db, origin: OriginRowId, place: &VisitPlace) -> Result<Option<VisitId>, StoreError> {
    db.segment_at(origin, place)?.map(|segment| VisitId::new(segment, place.n)).transpose()
}

fn put_page(db: &Db, id: VisitId, page: &Page, made_by: Option<&MadeBy>) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO file_text (id, title, description, language, charset, canonical, noindex, nofollow, cut, text, made_by)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    db.execute(
        sql,
        params![
            id,
            page.title,
            page.description,
            page.language,
            page.charset,
            page.canonical.as_ref().map(CrawlUrl::as_str),
            page.directives.noindex,
            page.directives.nofollow,
            cut_name(page.cut),
            page.text,
            made_by.map(MadeBy::to_string),
        ],
    )?;
    Ok(())
}

/// A document's columns, of [`FROM`].
pub(crate) const COLUMNS: &str =
    "v.id, v.url, v.outcome, v.state, v.detail, k.links, t.id IS NOT NULL, t.title, t.description, t.language,
    t.charset, t.canonical, t.noindex, t.nofollow, t.cut, t.text, t.made_by, bf.id, bs.iteration, bs.turn, bs.n, bl.at, br.status,
    bf.content_type, bf.body_bytes, bs.object, bf.offset, bf.length, xs.iteration, xs.turn, xs.n, x.since_id, x.parts, x.links_added,
    x.links_removed";

/// What [`COLUMNS`] are of: the document `v` and what belongs to it, to the visit with its body, and to the document before it.
pub(crate) const FROM: &str = "document v LEFT JOIN file_text t ON t.id = v.id LEFT JOIN page_link k ON k.id = v.id
    LEFT JOIN file bf ON bf.id = v.body_id LEFT JOIN segment bs ON bs.id = bf.id >> 24
    LEFT JOIN crawl_log bl ON bl.id = bf.id LEFT JOIN request br ON br.id = bf.id
    LEFT JOIN difference x ON x.id = v.id LEFT JOIN segment xs ON xs.id = x.since_id >> 24";

fn load(db: &Db, segment: SegmentRowId, origin: &Origin) -> Result<Vec<Document>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE v.id BETWEEN ?1 AND ?2 ORDER BY v.id");
    let (first, last) = VisitId::of_segment(segment);
    let mut statement = db.statement(&sql)?;
    let mut rows = statement.query(params![first, last])?;
    let mut documents = Vec::new();
    while let Some(row) = rows.next()? {
        documents.push(read(row, origin)?);
    }
    Ok(documents)
}

fn load_one(
    db: &Db,
    origin_id: OriginRowId,
    origin: &Origin,
    place: &VisitPlace,
) -> Result<Option<Document>, StoreError> {
    let Some(id) = visit_id(db, origin_id, place)? else { return Ok(None) };
    db.find_with(&format!("SELECT {COLUMNS} FROM {FROM} WHERE v.id = ?1"), [id], |row| read(row, origin))
}

/// Reads [`COLUMNS`], which must be the row's first.
pub(crate) fn read(row: &Row<'_>, origin: &Origin) -> Result<Document, StoreError> {
    let state = match row.get::<_, String>(3)?.as_str() {
        "processed" => DocumentState::Processed,
        "stuck" => DocumentState::Stuck,
        _ => return Err(StoreError::Damaged("a document has an unknown state".to_owned())),
    };
    let links = match row.get::<_, Option<String>>(5)? {
        Some(packed) => links::unpack(origin, &packed)?,
        None => Vec::new(),
    };
    let has_page: bool = row.get(6)?;
    Ok(Document {
        n: row.get::<_, VisitId>(0)?.n(),
        url: restore(origin, row.get(1)?)?,
        outcome: row.get::<_, Code>(2)?.0,
        detail: row.get(4)?,
        state,
        page: if has_page { Some(read_page(row)?) } else { None },
        links,
        made_by: row.get::<_, Option<Text<MadeBy>>>(16)?.map(|made_by| made_by.0),
        body: read_body(row)?,
        difference: difference::read(row, origin)?,
    })
}

/// Reads where the body is; `None` if there is none, or the visit that fetched it is not logged yet.
fn read_body(row: &Row<'_>) -> Result<Option<StoredBody>, StoreError> {
    let Some(visit) = read_place(row, 17, 18)? else { return Ok(None) };
    Ok(Some(StoredBody {
        visit,
        at: row.get::<_, Time>(21)?.0,
        status: row.get(22)?,
        content_type: row.get(23)?,
        body_bytes: row.get(24)?,
        object: row.get::<_, Text<ObjectKey>>(25)?.0,
        offset: row.get(26)?,
        length: row.get(27)?,
    }))
}

/// Reads a visit, whose number is in the column `id` and whose segment's iteration, turn and number are in `first` and the next two. `None` if
/// there is none, or its segment is gone.
fn read_place(row: &Row<'_>, id: usize, first: usize) -> Result<Option<VisitPlace>, StoreError> {
    let (Some(id), Some(iteration)) = (row.get::<_, Option<VisitId>>(id)?, row.get::<_, Option<u32>>(first)?) else {
        return Ok(None);
    };
    let (turn, segment) = (Turn(row.get(first + 1)?), row.get(first + 2)?);
    Ok(Some(VisitPlace { iteration: iteration_number(iteration)?, turn, segment, n: id.n() }))
}

fn read_page(row: &Row<'_>) -> Result<Page, StoreError> {
    let cut = cut_of_name(&row.get::<_, String>(14)?);
    Ok(Page {
        title: row.get(7)?,
        description: row.get(8)?,
        language: row.get(9)?,
        charset: row.get(10)?,
        canonical: row.get::<_, Option<Text<CrawlUrl>>>(11)?.map(|canonical| canonical.0),
        directives: Directives { noindex: row.get(12)?, nofollow: row.get(13)? },
        cut: cut.ok_or_else(|| StoreError::Damaged("a page has an unknown cut".to_owned()))?,
        text: row.get(15)?,
    })
}

const fn cut_name(cut: PageCut) -> &'static str {
    match cut {
        PageCut::Whole => "whole",
        PageCut::Text => "text",
        PageCut::Links => "links",
        PageCut::TextAndLinks => "text_and_links",
    }
}

fn cut_of_name(name: &str) -> Option<PageCut> {
    [PageCut::Whole, PageCut::Text, PageCut::Links, PageCut::TextAndLinks]
        .into_iter()
        .find(|&cut| cut_name(cut) == name)
}
