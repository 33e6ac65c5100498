//! Rows of views.

use dragline_domain::capture::CrawlType;
use dragline_domain::change::{Part, VisitChange};
use dragline_domain::document::{Disposition, LinkKind};
use dragline_domain::frontier::DocumentStanding;
use dragline_domain::markup::Markup;
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::Truncation;
use dragline_ports::reader::{CandidateRow, LinkRow, LogRow, PageRequests, PageRow, RecordPlace, SeenPageRow, Uses};
use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlResult, ValueRef};

use crate::db::values::{Code, Json, Named, Text, Time};

/// A row of a view with a column for each field.
pub(super) trait ViewRow: Sized {
    /// The columns, in the order of the fields.
    fn columns() -> String;

    /// Reads them from column `first` on. Looking up each by name would take longer than everything
    /// else.
    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self>;

    /// Returns the approximate number of bytes that depend on fetched content, beyond the fixed
    /// size of a row.
    fn text_bytes(&self) -> usize;
}

/// The columns of a row, one after another.
struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl Columns<'_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let column = self.next;
        self.next += 1;
        self.row.get(column)
    }
}

/// The value of a field, in one column or several.
trait FromColumns: Sized {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self>;
}

/// Implements [`FromColumns`] for types of one column, and for missing values of them. Those that
/// SQLite does not know are read as another type.
macro_rules! of_one_column {
    ($($type:ty $(as $stored:ident)?),* $(,)?) => {$(
        impl FromColumns for $type {
            fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
                columns.next()$(.map(|$stored(value)| value))?
            }
        }

        impl FromColumns for Option<$type> {
            fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
                columns.next()$(.map(|stored: Option<_>| stored.map(|$stored(value)| value)))?
            }
        }
    )*};
}

of_one_column! {
    bool, u8, u16, u32, u64, String, Timestamp as Time, Outcome as Code, CrawlType as Named, DocumentStanding as Named, LinkKind as Named,
    Truncation as Token, Box<Markup> as Json, Uses as Json, PageRequests as Json,
}

/// The reason why a body is incomplete, as its word.
struct Token(Truncation);

impl FromSql for Token {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|word| Self(Truncation::from_reason(word)))
    }
}

impl FromColumns for RecordPlace {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let Text(object) = columns.next()?;
        Ok(Self { object, offset: columns.next()?, length: columns.next()? })
    }
}

impl FromColumns for Option<RecordPlace> {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let object: Option<Text<_>> = columns.next()?;
        let (offset, length): (Option<_>, Option<_>) = (columns.next()?, columns.next()?);
        Ok(object.and_then(|Text(object)| Some(RecordPlace { object, offset: offset?, length: length? })))
    }
}

impl FromColumns for Disposition {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let (name, rule) = (columns.next, columns.next + 1);
        columns.next += 2;
        Ok(match columns.row.get(rule)? {
            Some(rule) => Self::Blocked(rule),
            None => columns.row.get(name).map(|Named(disposition)| disposition)?,
        })
    }
}

impl FromColumns for Option<VisitChange> {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let kind: Option<Named<_>> = columns.next()?;
        let parts: Option<String> = columns.next()?;
        let parts = parts.iter().flat_map(|names| names.split(',')).filter_map(Part::from_name).collect();
        Ok(kind.map(|Named(kind)| VisitChange { kind, parts }))
    }
}

/// Implements [`ViewRow`]: fields with their columns, if these have other names.
macro_rules! of_view {
    ($name:ident { $($field:ident $(= $column:literal)?),* $(,)? } $text_bytes:expr) => {
        impl ViewRow for $name {
            fn columns() -> String {
                [$(column!($field $(= $column)?)),*].join(", ")
            }

            fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
                let mut columns = Columns { row, next: first };
                Ok(Self { $($field: FromColumns::read(&mut columns)?,)* })
            }

            fn text_bytes(&self) -> usize {
                let text_bytes: fn(&Self) -> usize = $text_bytes;
                text_bytes(self)
            }
        }
    };
}

/// The column of a field.
macro_rules! column {
    ($field:ident) => {
        concat!("v.", stringify!($field))
    };
    ($field:ident = $column:literal) => {
        $column
    };
}

of_view! {
    PageRow {
        crawl, iteration, url, outcome, depth, status, content_type, body_bytes, at, title, description, language, charset, canonical, text,
        record = "v.object, v.offset, v.length", first_seen, last_checked, last_changed, last_outcome,
        uses = "(SELECT e.record -> '$.use' FROM content e WHERE e.id = v.id)",
        markup = "(SELECT e.record -> '$.markup' FROM content e WHERE e.id = v.id)",
    }
    |page| {
        page.text.as_ref().map_or(0, String::len)
            + page.uses.as_ref().map_or(0, Uses::text_bytes)
            + page.markup.as_ref().map_or(0, |markup| markup.heap_bytes())
    }
}

of_view! {
    SeenPageRow {
        crawl, iteration, url, outcome, depth, status, content_type, body_bytes, at, title, description, language, charset, canonical, text,
        record = "v.object, v.offset, v.length",
        uses = "(SELECT e.record -> '$.use' FROM described q JOIN content e ON e.id = q.document_id WHERE q.id = v.id)",
    }
    |page| page.text.as_ref().map_or(0, String::len) + page.uses.as_ref().map_or(0, Uses::text_bytes)
}

of_view! {
    LinkRow { crawl, iteration, from_url, to_url, kind, disposition = "v.disposition, v.detail", anchor }
    |link| link.from_url.len() + link.to_url.len() + link.anchor.as_ref().map_or(0, String::len)
}

of_view! {
    LogRow {
        crawl, iteration, url, depth, via, crawl_type, outcome, r#final = "v.is_final", tries, resends, at, status, duration_ms, first_byte_ms,
        remote, detail, content_type, body_bytes, truncated, redirects_to, record = "v.object, v.offset, v.length", agent,
        change = "v.change, v.changed_parts", page_requests,
    }
    |visit| visit.page_requests.as_ref().map_or(0, PageRequests::stored_bytes)
}

of_view! {
    CandidateRow {
        crawl, url, queued_in, first_seen, depth, via, due_at, interval_ms, last_outcome, last_at, last_iteration, last_contentful_outcome,
        last_contentful_at, etag, last_modified, decoded_sha1, standing, away_since,
    }
    |_| 0
}
