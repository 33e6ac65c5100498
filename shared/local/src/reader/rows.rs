//! Rows as the views give them.

use dragline_ports::reader::{CandidateRow, LinkRow, LogRow, PageRow};
use rusqlite::Row;

/// A row that a view has a column for each field of.
pub(super) trait OfView: Sized {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;

    /// About how many bytes of it grow with what was fetched, beyond what every row takes.
    fn text_bytes(&self) -> usize;
}

macro_rules! of_view {
    ($name:ident { $($field:ident),* $(,)? } $text_bytes:expr) => {
        impl OfView for $name {
            fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: row.get(stringify!($field).trim_start_matches("r#"))?,)* })
            }

            fn text_bytes(&self) -> usize {
                let text_bytes: fn(&Self) -> usize = $text_bytes;
                text_bytes(self)
            }
        }
    };
}

of_view! {
    PageRow {
        crawl, iteration, url, outcome, outcome_name, depth, status, content_type, body_bytes, at, title, description, language, charset,
        canonical, text, object, offset, length,
    }
    |page| page.text.as_ref().map_or(0, String::len)
}

of_view! {
    LinkRow { crawl, iteration, from_url, to_url, kind, fate, detail }
    |_| 0
}

of_view! {
    LogRow {
        crawl, iteration, url, depth, via, crawl_type, outcome, outcome_name, r#final, tries, at, status, duration_ms, first_byte_ms, remote,
        detail, content_type, body_bytes, truncated, redirects_to, object, offset, length, agent,
    }
    |_| 0
}

of_view! {
    CandidateRow {
        crawl, url, queued_in, first_seen, depth, via, due_at, interval_ms, last_outcome, last_outcome_name, last_at, last_iteration,
        last_contentful_outcome, last_contentful_at, etag, last_modified, decoded_sha1,
    }
    |_| 0
}
