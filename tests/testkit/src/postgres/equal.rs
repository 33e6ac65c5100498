//! Whether a database equals a crawl, read row by row by other means than the sink's.

use std::collections::BTreeMap;

use dragline_domain::item::Form;
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_ports::row::{NamedCells, Row};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::Database;
use crate::whole_crawls::every_row;

/// Rows as JSON objects, by table, sorted.
type Tables = BTreeMap<String, Vec<String>>;

/// Compares the database with the crawl, row by row: pages, links, visits and items.
///
/// # Panics
/// If they differ, or one of them cannot be read.
pub async fn assert_equal(database: &Database, reader: &impl Reader, crawl: &str) {
    let (expected, actual) = (expected(reader, crawl).await, actual(database, crawl).await);
    for (table, rows) in &expected {
        let stored = actual.get(table);
        assert_eq!(stored, Some(rows), "{table}");
    }
    assert_eq!(actual.len(), expected.len(), "{:?} and {:?}", actual.keys(), expected.keys());
}

async fn expected(reader: &impl Reader, crawl: &str) -> Tables {
    let all = &Filter::default();
    let mut tables = Tables::new();
    let read = |after: Option<Cursor>| async move { reader.pages(all, after.as_ref(), 100).await };
    put_rows(&mut tables, "page", every_row(read).await, |_| String::new());
    let read = |after: Option<Cursor>| async move { reader.links(all, after.as_ref(), 100).await };
    put_rows(&mut tables, "link", every_row(read).await, |link| link.from_url.clone());
    let latest = reader.latest_iteration().await.unwrap().unwrap().number.number();
    let mut log = Vec::new();
    for number in 1..=latest {
        let filter = &Filter::by_iteration(dragline_domain::ids::Iteration::new(number).unwrap());
        let read = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), 100).await };
        log.extend(every_row(read).await);
    }
    put_rows(&mut tables, "log", log, |visit| format!("{} {}", visit.iteration, visit.url));
    let read = |after: Option<Cursor>| async move { reader.shown_documents(all, after.as_ref(), 100).await };
    for row in every_row(read).await {
        for (n, item) in (0_u32..).zip(row.document.content.iter().flat_map(|content| &content.items)) {
            let mut object = Map::new();
            object.insert("crawl".to_owned(), json!(crawl));
            object.insert("iteration".to_owned(), json!(row.iteration.number()));
            object.insert("url".to_owned(), json!(row.document.url.as_str()));
            object.insert("n".to_owned(), json!(n));
            object.insert("types".to_owned(), json!(item.types.join(" ")));
            object.insert("item_id".to_owned(), json!(item.id));
            object.insert("at".to_owned(), json!(row.document.body.as_ref().map(|body| format!("{:.3}", body.at))));
            for (name, column) in item.columns_by_property() {
                let value = json!(column.cell);
                let nested = || serde_json::from_str(value.as_str().unwrap()).unwrap();
                object.insert(name, if column.form == Form::Json { nested() } else { value });
            }
            tables.entry(format!("item_{}", item.table())).or_default().push(comparable(&Value::Object(object)));
        }
    }
    sorted(tables)
}

/// Adds rows, numbered among those of the same key if they have one.
fn put_rows<R: Row>(tables: &mut Tables, table: &str, rows: Vec<R>, key: impl Fn(&R) -> String) {
    let columns = R::columns();
    let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        let key = key(&row);
        let mut object = serde_json::to_value(NamedCells(&columns, &row.cells())).unwrap();
        if !key.is_empty() {
            let number = numbers.entry(key).or_default();
            object.as_object_mut().unwrap().insert("n".to_owned(), json!(*number));
            *number += 1;
        }
        tables.entry(table.to_owned()).or_default().push(comparable(&object));
    }
}

async fn actual(database: &Database, crawl: &str) -> Tables {
    let mut tables = Tables::new();
    let names =
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'dragline' AND table_type = 'BASE TABLE'
                 AND table_name !~ '^(sink_|iteration_progress$)'";
    for table in database.values(names).await.into_iter().flatten() {
        let rows =
            database.values(&format!("SELECT to_jsonb(t) FROM dragline.\"{table}\" t WHERE crawl = '{crawl}'")).await;
        if !rows.is_empty() {
            let rows = rows.iter().flatten().map(|row| comparable(&serde_json::from_str(row).unwrap())).collect();
            tables.insert(table, rows);
        }
    }
    sorted(tables)
}

fn sorted(mut tables: Tables) -> Tables {
    tables.values_mut().for_each(|rows| rows.sort());
    tables
}

/// Returns an object in one form: without missing values, with times as numbers of milliseconds,
/// and with the characters that PostgreSQL cannot hold replaced.
fn comparable(object: &Value) -> String {
    let members = object.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
    let value = |value: &Value| match value {
        Value::String(text) => match text.parse::<Timestamp>() {
            Ok(at) => json!(at.as_millisecond()),
            Err(_) => json!(text.replace('\0', "\u{fffd}")),
        },
        other => other.clone(),
    };
    json!(members.map(|(name, of)| (name.clone(), value(of))).collect::<BTreeMap<_, _>>()).to_string()
}
