//! 9: delivering a message again changes nothing.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::{Invariant, Violation};

/// The rows of every table, in a comparable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, Vec<String>>);

/// Reads everything in a database except notices, which are sent when they are due, whatever
/// messages arrive.
///
/// # Errors
/// The database cannot be read.
pub fn snapshot(database: &Connection) -> rusqlite::Result<Snapshot> {
    let mut names = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'notice'",
    )?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let tables = names.into_iter().map(|name| Ok((name.clone(), rows(database, &name)?)));
    Ok(Snapshot(tables.collect::<rusqlite::Result<_>>()?))
}

fn rows(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let values: Vec<Value> = (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?;
        Ok(format!("{values:?}"))
    })?;
    let mut rows: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
    rows.sort_unstable();
    Ok(rows)
}

/// 9: the database is the same before and after all messages are delivered again.
#[must_use]
pub fn redelivery_changes_nothing(before: &Snapshot, after: &Snapshot) -> Vec<Violation> {
    let none = Vec::new();
    let tables = before.0.keys().chain(after.0.keys().filter(|name| !before.0.contains_key(*name)));
    let changed = tables.flat_map(|name| {
        let (old, new) = (before.0.get(name).unwrap_or(&none), after.0.get(name).unwrap_or(&none));
        let gone = old.iter().filter(|row| !new.contains(row)).map(move |row| format!("{name} lost {row}"));
        let come = new.iter().filter(|row| !old.contains(row)).map(move |row| format!("{name} gained {row}"));
        gone.chain(come)
    });
    changed.map(|what| Violation { invariant: Invariant::RedeliveryChangesNothing, what }).collect()
}
