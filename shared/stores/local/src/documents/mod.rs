//! The [`Documents`] over SQLite.

mod difference;
pub(crate) mod items;
pub(crate) mod links;
mod remade;

use std::sync::Arc;

use dragline_domain::document::{Directives, Document, DocumentState, ExtractorVersion, Page, PageCut, StoredBody};
use dragline_domain::frontier::{ObjectKey, OriginKey, SegmentId, SegmentRow, VisitPlace};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::item::Item;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;
use rusqlite::{Row, params};

use crate::db::crawls::iteration_number;
use crate::db::urls::{restore, shorten};
use crate::db::values::{Code, Millis, NamedColumns, Text};
use crate::db::writer::Writer;
use crate::db::{Db, OriginRowId, SegmentRowId, StoreError, VisitId};

pub use remade::SqliteRemaking;

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
        let (id, iteration) = (segment.id.clone(), segment.iteration);
        let documents = packed(&segment.id.origin.origin, documents);
        let work = move |db: &Db| {
            let segment = db.segment(&id)?.ok_or(StoreError::Missing("such segment"))?;
            if segment.is_documented {
                return Ok(PutDocuments::Found(load(db, segment.row_id, &id.origin.origin)?));
            }
            let documents = documents?;
            let owner = Owner {
                id: db.ensure_origin(&id.origin)?,
                origin: &id.origin.origin,
                segment: (&id, segment.row_id),
                iteration,
            };
            documents.iter().try_for_each(|packed| put(db, &owner, packed))?;
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

/// The owner of a segment's documents.
struct Owner<'o> {
    id: OriginRowId,
    origin: &'o Origin,
    segment: (&'o SegmentId, SegmentRowId),
    iteration: Iteration,
}

impl Owner<'_> {
    /// Returns the id of a visit to this origin; `None` if its segment is missing.
    fn visit_id(&self, db: &Db, place: &VisitPlace) -> Result<Option<VisitId>, StoreError> {
        let (own, row_id) = self.segment;
        if (own.turn, own.n) == (place.turn, place.segment) {
            return VisitId::new(row_id, place.n).map(Some);
        }
        visit_id(db, self.id, place)
    }
}

/// A document without its links and content, which are in their stored form: they are the largest
/// part that would be copied for the database's thread.
struct PackedDocument {
    document: Document,
    links: Option<String>,
    content: Option<String>,
    items: Vec<Item>,
}

fn packed(origin: &Origin, documents: &[Document]) -> Result<Vec<PackedDocument>, StoreError> {
    let packed = documents.iter().map(|document| {
        let Document { n, url, outcome, detail, state, page, links, content, made_by, body, difference } = document;
        let links = if links.is_empty() { None } else { Some(links::pack(origin, links)?) };
        let items = content.as_ref().map_or_else(Vec::new, |content| content.items.clone());
        let content = content.as_ref().map(serde_json::to_string).transpose()?;
        let document = Document {
            page: page.clone(),
            detail: detail.clone(),
            state: *state,
            made_by: made_by.clone(),
            body: body.clone(),
            difference: difference.clone(),
            ..Document::bare(*n, url.clone(), *outcome)
        };
        Ok(PackedDocument { document, links, content, items })
    });
    packed.collect()
}

// Not inlined, so that profiles show it by its name.
#[inline(never)]
fn put(db: &Db, owner: &Owner<'_>, packed: &PackedDocument) -> Result<(), StoreError> {
    let PackedDocument { document, links, content, items } = packed;
    let Document { url, outcome, state, detail, difference, .. } = document;
    let id = VisitId::new(owner.segment.1, document.n)?;
    let body = document.body.as_ref().map(|body| owner.visit_id(db, &body.visit)).transpose()?.flatten();
    let page = document.page.as_ref();
    let sql = "INSERT INTO document (id, url, outcome, state, detail, body_id, title, description, language, charset, canonical, noindex, nofollow,
                                     cut, made_by)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    db.execute(
        sql,
        params![
            id,
            shorten(owner.origin, url),
            Code(*outcome),
            state_name(*state),
            detail,
            body,
            page.and_then(|page| page.title.as_deref()),
            page.and_then(|page| page.description.as_deref()),
            page.and_then(|page| page.language.as_deref()),
            page.and_then(|page| page.charset.as_deref()),
            page.and_then(|page| page.canonical.as_ref()).map(CrawlUrl::as_str),
            page.map(|page| page.directives.noindex),
            page.map(|page| page.directives.nofollow),
            page.map(|page| cut_name(page.cut)),
            page.and(document.made_by.as_ref()).map(ExtractorVersion::to_string),
        ],
    )?;
    if page.is_some() || links.is_some() {
        let sql = "INSERT INTO document_text (id, links, text) VALUES (?1, ?2, ?3)";
        db.execute(sql, params![id, links, page.map(|page| page.text.as_str())])?;
    }
    if let Some(content) = content {
        db.execute("INSERT INTO content (id, record) VALUES (?1, ?2)", params![id, content])?;
        items::put(db, id, owner, document, items)?;
    }
    match difference {
        Some(difference) => difference::put(db, id, owner, difference),
        None => Ok(()),
    }
}

/// Returns the id of a visit to this origin; `None` if its segment is missing.
fn visit_id(db: &Db, origin: OriginRowId, place: &VisitPlace) -> Result<Option<VisitId>, StoreError> {
    db.segment_at(origin, place)?.map(|segment| VisitId::new(segment, place.n)).transpose()
}

/// A document's columns, from [`FROM`].
pub(crate) const COLUMNS: &str =
    "v.id, v.url, v.outcome, v.state, v.detail, t.links, v.cut IS NOT NULL AS is_page, v.title, v.description, v.language,
    v.charset, v.canonical, v.noindex, v.nofollow, v.cut, t.text, v.made_by,
    bf.id AS body_id, bs.iteration AS body_iteration, bs.turn AS body_turn, bs.n AS body_segment, bf.at, bf.status,
    bf.content_type, bf.body_bytes, bs.object, bf.offset, bf.length,
    x.since_id, xs.iteration AS since_iteration, xs.turn AS since_turn, xs.n AS since_segment, x.parts, x.links_added, x.links_removed, e.record";

/// The tables of [`COLUMNS`]: the document `v` with its parts, the visit with its body, and the
/// document before it.
pub(crate) const FROM: &str = "document v LEFT JOIN document_text t ON t.id = v.id
    LEFT JOIN visit bf ON bf.id = v.body_id AND bf.record IS NOT NULL LEFT JOIN segment bs ON bs.id = bf.id >> 24
    LEFT JOIN content e ON e.id = v.id
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

/// Reads [`COLUMNS`].
pub(crate) fn read(row: &Row<'_>, origin: &Origin) -> Result<Document, StoreError> {
    let row = &NamedColumns::new(row);
    let state = match row.get::<String>("state")?.as_str() {
        "processed" => DocumentState::Processed,
        "stuck" => DocumentState::Stuck,
        _ => return Err(StoreError::Damaged("a document has an unknown state".to_owned())),
    };
    let links = match row.get::<Option<String>>("links")? {
        Some(packed) => links::unpack(origin, &packed)?,
        None => Vec::new(),
    };
    let has_page: bool = row.get("is_page")?;
    Ok(Document {
        n: row.get::<VisitId>("id")?.n(),
        url: restore(origin, row.get("url")?)?,
        outcome: row.get::<Code>("outcome")?.0,
        detail: row.get("detail")?,
        state,
        page: if has_page { Some(read_page(row)?) } else { None },
        links,
        content: row.get::<Option<String>>("record")?.map(|record| serde_json::from_str(&record)).transpose()?,
        made_by: row.get::<Option<Text<ExtractorVersion>>>("made_by")?.map(|made_by| made_by.0),
        body: read_body(row)?,
        difference: difference::read(row, origin)?,
    })
}

/// Reads the place of the body; `None` if there is none, or the visit that fetched it is not logged
/// yet.
fn read_body(row: &NamedColumns<'_>) -> Result<Option<StoredBody>, StoreError> {
    let Some(visit) = read_place(row, ["body_id", "body_iteration", "body_turn", "body_segment"])? else {
        return Ok(None);
    };
    Ok(Some(StoredBody {
        visit,
        at: row.get::<Millis>("at")?.0,
        status: row.get("status")?,
        content_type: row.get("content_type")?,
        body_bytes: row.get("body_bytes")?,
        object: row.get::<Text<ObjectKey>>("object")?.0,
        offset: row.get("offset")?,
        length: row.get("length")?,
    }))
}

/// Reads the place of a visit: its id, and its segment's iteration, turn and number, from these
/// columns. `None` if there is none, or its segment is gone.
fn read_place(
    row: &NamedColumns<'_>,
    [id, iteration, turn, segment]: [&str; 4],
) -> Result<Option<VisitPlace>, StoreError> {
    let (Some(id), Some(iteration)) = (row.get::<Option<VisitId>>(id)?, row.get::<Option<u32>>(iteration)?) else {
        return Ok(None);
    };
    let (turn, segment) = (Turn(row.get(turn)?), row.get(segment)?);
    Ok(Some(VisitPlace { iteration: iteration_number(iteration)?, turn, segment, n: id.n() }))
}

fn read_page(row: &NamedColumns<'_>) -> Result<Page, StoreError> {
    let cut = cut_of_name(&row.get::<String>("cut")?);
    Ok(Page {
        title: row.get("title")?,
        description: row.get("description")?,
        language: row.get("language")?,
        charset: row.get("charset")?,
        canonical: row.get::<Option<Text<CrawlUrl>>>("canonical")?.map(|canonical| canonical.0),
        directives: Directives { noindex: row.get("noindex")?, nofollow: row.get("nofollow")? },
        cut: cut.ok_or_else(|| StoreError::Damaged("a page has an unknown cut".to_owned()))?,
        text: row.get("text")?,
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
