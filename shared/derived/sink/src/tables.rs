//! The tables that do not depend on the crawled site.

use dragline_ports::reader::{LinkRow, LogRow, PageRow};
use dragline_ports::row::{ColumnKind, Row};

use crate::catalog::Needed;
use crate::kind::SqlKind;

/// The number of a row among those of the same page or URL.
pub(crate) const NUMBER: &str = "n";

/// The site as it is now.
pub(crate) const PAGE: &str = "page";

/// The links of its pages.
pub(crate) const LINK: &str = "link";

/// Every visit.
pub(crate) const LOG: &str = "log";

/// The totals of each iteration.
pub(crate) const ITERATION_PROGRESS: &str = "iteration_progress";

/// The columns of [`ITERATION_PROGRESS`].
pub(crate) const ITERATION_COLUMNS: [(&str, SqlKind); 18] = [
    ("crawl", SqlKind::Text),
    ("iteration", SqlKind::Integer),
    ("status", SqlKind::Text),
    ("started_at", SqlKind::Instant),
    ("closed_at", SqlKind::Instant),
    ("pruned_at", SqlKind::Instant),
    ("origins", SqlKind::Integer),
    ("origins_open", SqlKind::Integer),
    ("urls_added", SqlKind::Integer),
    ("urls_taken", SqlKind::Integer),
    ("segments", SqlKind::Integer),
    ("segments_parsed", SqlKind::Integer),
    ("requests", SqlKind::Integer),
    ("retries", SqlKind::Integer),
    ("body_bytes", SqlKind::Integer),
    ("outcomes", SqlKind::Json),
    ("changes", SqlKind::Json),
    ("leftovers", SqlKind::Json),
];

/// The view of changes is made of the log, so it can never disagree with it.
pub(crate) const CHANGE_COLUMNS: &str =
    "crawl, iteration, url, n, at, change, changed_parts, outcome, outcome_name, status, redirects_to";

/// Returns the tables.
pub(crate) fn fixed() -> Vec<Needed> {
    let iterations = ITERATION_COLUMNS.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
    vec![
        Needed {
            table: PAGE.to_owned(),
            columns: columns::<PageRow>(),
            key: key(PAGE),
            indexes: &["(crawl, outcome)", "(crawl, last_changed)"],
        },
        Needed {
            table: LINK.to_owned(),
            columns: numbered::<LinkRow>(),
            key: key(LINK),
            indexes: &["USING hash (to_url)"],
        },
        Needed {
            table: LOG.to_owned(),
            columns: numbered::<LogRow>(),
            key: key(LOG),
            indexes: &[
                "USING hash (url)",
                "(crawl, iteration, outcome)",
                "(crawl, iteration, change) WHERE change <> 'unchanged'",
            ],
        },
        Needed {
            table: ITERATION_PROGRESS.to_owned(),
            columns: iterations,
            key: key(ITERATION_PROGRESS),
            indexes: &[],
        },
    ]
}

/// Returns the columns of a table's primary key.
pub(crate) fn key(table: &str) -> &'static [&'static str] {
    match table {
        PAGE => &["crawl", "url"],
        LINK => &["crawl", "from_url", NUMBER],
        LOG => &["crawl", "iteration", "url", NUMBER],
        ITERATION_PROGRESS => &["crawl", "iteration"],
        // Items.
        _ => &["crawl", "url", NUMBER],
    }
}

/// Returns the columns of rows, with their types.
pub(crate) fn columns<R: Row>() -> Vec<(String, SqlKind)> {
    R::columns().into_iter().map(|(name, kind)| (name.to_owned(), kind_of_column(name, kind))).collect()
}

/// Returns the same, followed by the row's number.
pub(crate) fn numbered<R: Row>() -> Vec<(String, SqlKind)> {
    let mut columns = columns::<R>();
    columns.push((NUMBER.to_owned(), SqlKind::Integer));
    columns
}

fn kind_of_column(name: &str, kind: ColumnKind) -> SqlKind {
    match name {
        // Files of rows have had this time as a text since before they had times.
        "first_seen" => SqlKind::Instant,
        _ => kind.into(),
    }
}
