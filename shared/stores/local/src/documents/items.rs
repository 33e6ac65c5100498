//! A table for each item type, such as `item_product`: a row for each item of each document, with
//! columns added on demand. The document's content has the same data as a whole; these tables are
//! for SQL.
//! in the document's content as a whole; these tables are for SQL.

use std::collections::BTreeSet;

use dragline_domain::document::Document;
use dragline_domain::item::{Cell, Item};
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use super::Owner;
use crate::db::values::Time;
use crate::db::{Db, StoreError, VisitId};

/// The prefix of the tables' names, which no other table has.
const PREFIX: &str = "item_";

/// The most types with a table because pages name them, and no type of the definition does. Sites
/// may make up any number of types.
const TABLES_MAX: usize = 200;

/// The most columns of a table for types that only pages name.
const COLUMNS_MAX: usize = 400;

/// The most columns of any table; SQLite has room for 2,000.
const COLUMNS_OF_DEFINITION_MAX: usize = 1_900;

/// Puts a document's items into the tables of their types.
pub(super) fn put(
    db: &Db,
    id: VisitId,
    owner: &Owner<'_>,
    document: &Document,
    items: &[Item],
) -> Result<(), StoreError> {
    let at = document.body.as_ref().map(|body| Time(body.at));
    for (n, item) in (0_i64..).zip(items) {
        let table = format!("{PREFIX}{}", item.table());
        let cells = item.columns();
        let limits = if item.is_of_definition() { Limits::OF_DEFINITION } else { Limits::OF_PAGES };
        let Some(columns) = ensure(db, &table, cells.keys(), limits)? else { continue };
        let kept: Vec<(&String, &Cell)> = cells.iter().filter(|(name, _)| columns.contains(*name)).collect();
        let names: String = kept.iter().map(|(name, _)| format!(", \"{name}\"")).collect();
        let places: String = (9..9 + kept.len()).map(|place| format!(", ?{place}")).collect();
        let sql = format!(
            "INSERT INTO {table} (id, n, crawl, iteration, url, at, types, item_id{names})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8{places})"
        );
        let mut row = db.statement(&sql)?;
        row.raw_bind_parameter(1, id)?;
        row.raw_bind_parameter(2, n)?;
        row.raw_bind_parameter(3, owner.segment.0.origin.crawl.as_str())?;
        row.raw_bind_parameter(4, owner.iteration.number())?;
        row.raw_bind_parameter(5, document.url.as_str())?;
        row.raw_bind_parameter(6, at)?;
        row.raw_bind_parameter(7, item.types.join(" "))?;
        row.raw_bind_parameter(8, &item.id)?;
        for (place, (_, cell)) in (9..).zip(kept) {
            row.raw_bind_parameter(place, StoredCell(cell))?;
        }
        row.raw_execute()?;
    }
    Ok(())
}

/// Deletes a document's items.
pub(crate) fn delete(db: &Db, id: VisitId) -> Result<(), StoreError> {
    for table in tables(db)? {
        db.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [id])?;
    }
    Ok(())
}

/// Returns the names of the tables.
fn tables(db: &Db) -> Result<Vec<String>, StoreError> {
    db.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'item_*'", [], |row| row.get(0))
}

/// The most tables besides a new one, and the most columns in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    tables: usize,
    columns: usize,
}

impl Limits {
    const OF_PAGES: Self = Self { tables: TABLES_MAX, columns: COLUMNS_MAX };
    /// The definition has few types, which are the purpose of the crawl: they always get a table.
    const OF_DEFINITION: Self = Self { tables: usize::MAX, columns: COLUMNS_OF_DEFINITION_MAX };
}

/// Creates the table and missing columns; returns the columns that exist then, or `None` if there
/// are too many tables.
fn ensure<'c>(
    db: &Db,
    table: &str,
    wanted: impl Iterator<Item = &'c String>,
    limits: Limits,
) -> Result<Option<BTreeSet<String>>, StoreError> {
    let columns = |db: &Db| db.all("SELECT name FROM pragma_table_info(?1)", [table], |row| row.get::<_, String>(0));
    let mut has: BTreeSet<String> = columns(db)?.into_iter().collect();
    if has.is_empty() {
        if tables(db)?.len() >= limits.tables {
            return Ok(None);
        }
        db.connection.execute_batch(&format!(
            "CREATE TABLE {table} (
                id        INTEGER NOT NULL REFERENCES document (id),
                n         INTEGER NOT NULL,
                crawl     TEXT NOT NULL,
                iteration INTEGER NOT NULL,
                url       TEXT NOT NULL,
                at        TEXT,
                types     TEXT NOT NULL,
                item_id   TEXT,
                PRIMARY KEY (id, n)
            ) STRICT, WITHOUT ROWID"
        ))?;
        has = columns(db)?.into_iter().collect();
    }
    for column in wanted {
        if has.len() < limits.columns && !has.contains(column) {
            db.connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN \"{column}\" ANY"))?;
            has.insert(column.clone());
        }
    }
    Ok(Some(has))
}

/// A cell in its stored form: `true` is 1.
struct StoredCell<'c>(&'c Cell);

impl ToSql for StoredCell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Bool(yes) => i64::from(*yes).into(),
            Cell::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole.into(),
                (None, Some(number)) => number.into(),
                (None, None) => ToSqlOutput::Owned(Value::Text(number.to_string())),
            },
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}
