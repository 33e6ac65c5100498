//! Rows of views.

use dragline_ports::reader::{CandidateRow, LinkRow, LogRow, PageRow, SeenPageRow};
use rusqlite::Row;
use rusqlite::types::FromSql;

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

/// Implements [`ViewRow`]: fields in the order of the struct, each with its column if that has
/// another name.
macro_rules! of_view {
    ($name:ident { $($field:ident $(= $column:literal)?),* $(,)? } $text_bytes:expr) => {
        impl ViewRow for $name {
            fn columns() -> String {
                [$(column!($field $(= $column)?)),*].join(", ")
            }

            fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
                let mut columns = Columns { row, next: first };
                Ok(Self { $($field: columns.next()?,)* })
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
        crawl, iteration, url, outcome, outcome_name, depth, status, content_type, body_bytes, at, title, description, language, charset, canonical,
        text, object, offset, length, first_seen, last_checked, last_changed, last_outcome, last_outcome_name,
    }
    |page| page.text.as_ref().map_or(0, String::len)
}

of_view! {
    SeenPageRow {
        crawl, iteration, url, outcome, outcome_name, depth, status, content_type, body_bytes, at, title, description, language, charset, canonical,
        text, object, offset, length,
    }
    |page| page.text.as_ref().map_or(0, String::len)
}

of_view! {
    LinkRow { crawl, iteration, from_url, to_url, kind, disposition, detail, anchor }
    |link| link.from_url.len() + link.to_url.len() + link.anchor.as_ref().map_or(0, String::len)
}

of_view! {
    LogRow {
        crawl, iteration, url, depth, via, crawl_type, outcome, outcome_name, r#final = "v.is_final", tries, resends, at, status, duration_ms, first_byte_ms, remote,
        detail, content_type, body_bytes, truncated, redirects_to, object, offset, length, agent, change, changed_parts,
    }
    |_| 0
}

of_view! {
    CandidateRow {
        crawl, url, queued_in, first_seen, depth, via, due_at, interval_ms, last_outcome, last_outcome_name, last_at, last_iteration,
        last_contentful_outcome, last_contentful_at, etag, last_modified, decoded_sha1, standing, away_since,
    }
    |_| 0
}
