//! What a data directory shows of the iterations that are kept, and what its next iteration does.

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::change::ChangeKind;
use dragline_domain::definition::Definition;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{DATABASE, LocalStore, SqliteReader};
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_report::diff::{PartSet, Span, Which, each_link_change, each_page_change};
use dragline_testkit::whole_crawls::{crawl, every_row};
use rusqlite::Connection;

use super::shown;

/// How many rows are read at once.
const ROWS: usize = 50;

macro_rules! rows {
    ($reader:ident, $stream:ident, $filter:expr, $to:ident) => {
        let filter = &$filter;
        let read = |after: Option<Cursor>| async move { $reader.$stream(filter, after.as_ref(), ROWS).await };
        let rows = every_row(read).await;
        let mut rows: Vec<String> = rows.iter().map(|row| format!("{} {row:?}", stringify!($stream))).collect();
        rows.sort_unstable();
        $to.extend(rows);
    };
}

/// Returns everything that is shown of what is kept if iterations up to `cut` are dropped.
pub(super) async fn view(data: &Path, crawl: &CrawlId, cut: Iteration) -> Vec<String> {
    let reader = &LocalStore::open_read_only(data).unwrap().into_reader(crawl.clone());
    let latest = reader.latest_iteration().await.unwrap().unwrap();
    let mut shown = Vec::new();
    rows!(reader, pages, Filter::default(), shown);
    rows!(reader, links, Filter::default(), shown);
    rows!(reader, candidates, Filter::default(), shown);
    let kept = || (cut.number() + 1..=latest.number.number()).filter_map(Iteration::new);
    for iteration in kept() {
        rows!(reader, log, Filter::by_iteration(iteration), shown);
        rows!(reader, seen_pages, Filter::by_iteration(iteration), shown);
        rows!(reader, seen_links, Filter::by_iteration(iteration), shown);
        rows!(reader, documents, Filter::by_iteration(iteration), shown);
    }
    for from in cut.number()..latest.number.number() {
        for to in from + 1..=latest.number.number() {
            let span = Span::choose(Iteration::new(from), Iteration::new(to), &latest).unwrap();
            shown.extend(pages_that_differ(reader, span).await);
            // Those that went since a dropped iteration are in its documents.
            if from > cut.number() {
                shown.extend(links_that_differ(reader, span).await);
            }
        }
    }
    shown.extend(bodies(data, cut));
    shown
}

async fn pages_that_differ(reader: &SqliteReader, span: Span) -> Vec<String> {
    let mut found = Vec::new();
    let is_adjacent = span.from().next() == span.to();
    for which in [Which::Changed, Which::Visited] {
        // Whether what changed several times is again what it was is known as long as its documents
        // are kept.
        if !is_adjacent && which == Which::Changed {
            continue;
        }
        let told = each_page_change(reader, span, which, |mut change| {
            if !is_adjacent && matches!(change.change, ChangeKind::Changed | ChangeKind::Unchanged) {
                (change.change, change.changed_parts) = (ChangeKind::Changed, PartSet::default());
            }
            found.push(format!("{span:?} {change:?}"));
            ControlFlow::Continue(())
        });
        told.await.unwrap();
    }
    found.sort_unstable();
    found
}

async fn links_that_differ(reader: &SqliteReader, span: Span) -> Vec<String> {
    let mut found = Vec::new();
    let told = each_link_change(reader, span, |change| {
        found.push(format!("{span:?} {change:?}"));
        ControlFlow::Continue(())
    });
    told.await.unwrap();
    found.sort_unstable();
    found
}

/// The record of each visit of the kept iterations, and the one with its body.
fn bodies(data: &Path, cut: Iteration) -> Vec<String> {
    let db = Connection::open(data.join(DATABASE)).unwrap();
    let sql = "SELECT l.url, l.iteration, s.object, f.offset, f.length, f.record, b.offset, b.length, bs.object
               FROM crawl_log l JOIN file f ON f.id = l.id JOIN segment s ON s.id = l.id >> 24
               LEFT JOIN file b ON b.id = l.body_of AND b.record = 'response' LEFT JOIN segment bs ON bs.id = b.id >> 24
               WHERE l.iteration > ?1 ORDER BY l.id";
    let mut statement = db.prepare(sql).unwrap();
    let mut rows = statement.query([cut.number()]).unwrap();
    let mut found = Vec::new();
    let part = |object: String, offset: usize, length: usize| {
        let bytes = std::fs::read(data.join(&object)).unwrap_or_else(|error| panic!("{object}: {error}"));
        let digest: u64 = bytes[offset..offset + length]
            .iter()
            .fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        format!("{object} {offset} {digest:x}")
    };
    while let Some(row) = rows.next().unwrap() {
        let name: (String, u32, String) = (row.get(0).unwrap(), row.get(1).unwrap(), row.get(5).unwrap());
        let own = part(row.get(2).unwrap(), row.get(3).unwrap(), row.get(4).unwrap());
        let earlier = row.get::<_, Option<String>>(8).unwrap();
        let earlier = earlier.map(|object| part(object, row.get(6).unwrap(), row.get(7).unwrap()));
        found.push(format!("{name:?} {own} {earlier:?}"));
    }
    found
}

/// Runs the next iteration. Returns what it did, except when and where it is stored.
pub(super) async fn next_iteration(data: &Path, definition: &Definition) -> Vec<String> {
    crawl(data, definition).await;
    let db = Connection::open(data.join(DATABASE)).unwrap();
    let mut told = Vec::new();
    for sql in [
        "SELECT url, crawl_type, outcome, status, is_final, tries, change, changed_parts, detail, redirects_to, depth, via FROM log
         WHERE iteration = (SELECT max(number) FROM iteration) ORDER BY 1, 2, 6",
        "SELECT url, outcome, title, text, status, iteration, depth, last_outcome FROM page ORDER BY 1",
        "SELECT from_url, to_url, kind, disposition, detail FROM link ORDER BY 1, 2, 3",
        "SELECT url, record, decoded_sha1, f.etag FROM crawl_log l JOIN file f USING (id)
         WHERE iteration = (SELECT max(number) FROM iteration) ORDER BY 1, 2",
        "SELECT url, last_outcome, standing, away_since IS NULL, decoded_sha1 FROM candidate ORDER BY 1",
    ] {
        let mut statement = db.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            told.push((0..columns).map(|column| shown(row.get_ref(column).unwrap()) + " | ").collect());
        }
    }
    told
}
