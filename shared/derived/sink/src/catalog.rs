//! The tables and columns that this program made, as the schema records them.
//!
//! The record is compared with what PostgreSQL has, so that a renamed table, a dropped column and a
//! changed type are reported as such before anything is written.

use std::collections::BTreeMap;

use tokio_postgres::GenericClient;

use crate::error::{Failed, SinkError};
use crate::kind::{Conversion, SqlKind};
use crate::names::{SchemaName, quoted, quoted_list};

/// The tables by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Catalog {
    tables: BTreeMap<String, Table>,
}

/// The columns of a table, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<(String, SqlKind)>,
}

impl Table {
    /// Returns the type of a column.
    pub(crate) fn kind(&self, column: &str) -> Option<SqlKind> {
        self.columns.iter().find(|(name, _)| name == column).map(|(_, kind)| *kind)
    }
}

/// A table or columns that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needed {
    pub(crate) table: String,
    pub(crate) columns: Vec<(String, SqlKind)>,
    /// The columns of its primary key.
    pub(crate) key: &'static [&'static str],
    /// SQL for its indexes, after `ON table`.
    pub(crate) indexes: &'static [&'static str],
}

/// What has to be done for the needed columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The statements.
    pub(crate) sql: String,
    /// What it does to stored values; `None` if it touches none.
    pub(crate) conversion: Option<Conversion>,
}

impl Catalog {
    /// Reads what the schema records.
    pub(crate) async fn load(client: &impl GenericClient, schema: &SchemaName) -> Result<Self, Failed> {
        let sql =
            format!("SELECT table_name, column_name, type FROM {}.sink_column ORDER BY position", schema.quoted());
        let mut tables: BTreeMap<String, Table> = BTreeMap::new();
        for row in client.query(&sql, &[]).await? {
            let (table, column, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
            let kind = SqlKind::by_name(&kind)
                .ok_or_else(|| SinkError::Refused(format!("sink_column names a type `{kind}` that is not known")))?;
            tables.entry(table).or_default().columns.push((column, kind));
        }
        Ok(Self { tables })
    }

    /// Returns a table.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// Returns the names of the tables of items.
    pub(crate) fn item_tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str).filter(|name| name.starts_with("item_"))
    }

    /// Finds the first difference from what PostgreSQL has.
    ///
    /// # Errors
    /// A table or a column is missing, or has another type.
    pub(crate) async fn check(&self, client: &impl GenericClient, schema: &SchemaName) -> Result<(), Failed> {
        let actual = actual_columns(client, schema).await?;
        let name = || schema.as_str().to_owned();
        for (table, Table { columns }) in &self.tables {
            let Some(there) = actual.get(table) else {
                return Err(SinkError::TableMissing { schema: name(), table: table.clone() }.into());
            };
            for (column, kind) in columns {
                let (table, column) = (table.clone(), column.clone());
                match there.get(&column) {
                    None => return Err(SinkError::ColumnMissing { schema: name(), table, column }.into()),
                    Some(actual) if actual != kind.name() => {
                        let (actual, expected) = (actual.clone(), kind.name());
                        return Err(SinkError::ColumnType { schema: name(), table, column, actual, expected }.into());
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the SQL that removes the record of a missing table or column, which will be made
    /// again; `None` for another error.
    pub(crate) fn forget_sql(schema: &SchemaName, error: &SinkError) -> Option<String> {
        let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let record = schema.quoted() + ".sink_column";
        match error {
            SinkError::TableMissing { table, .. } => {
                Some(format!("DELETE FROM {record} WHERE table_name = {}", literal(table)))
            }
            SinkError::ColumnMissing { table, column, .. } => Some(format!(
                "DELETE FROM {record} WHERE table_name = {} AND column_name = {}",
                literal(table),
                literal(column)
            )),
            _ => None,
        }
    }

    /// Returns what has to be done so that the needed columns are there, and have types that hold
    /// the values of both.
    pub(crate) fn changes(&self, schema: &SchemaName, needed: &[Needed]) -> Changes {
        let mut changes = Changes::default();
        for needed in needed {
            match self.table(&needed.table) {
                None => changes.sql += &create_sql(schema, needed),
                Some(table) => add_missing(schema, table, needed, &mut changes),
            }
        }
        changes
    }
}

impl Changes {
    /// Whether nothing has to be done.
    pub(crate) fn is_empty(&self) -> bool {
        self.sql.is_empty()
    }

    /// Whether values that are stored lose their form.
    pub(crate) fn is_lossy(&self) -> bool {
        self.conversion == Some(Conversion::Lossy)
    }
}

fn create_sql(schema: &SchemaName, needed: &Needed) -> String {
    let table = format!("{}.{}", schema.quoted(), quoted(&needed.table));
    let column = |(name, kind): &(String, SqlKind)| {
        let null = if needed.key.contains(&name.as_str()) { " NOT NULL" } else { "" };
        format!("{} {}{null}", quoted(name), kind.name())
    };
    let columns: Vec<String> = needed.columns.iter().map(column).collect();
    let key = quoted_list(needed.key.iter().copied());
    let mut sql = format!("CREATE TABLE {table} ({}, PRIMARY KEY ({key}));\n", columns.join(", "));
    for index in needed.indexes {
        sql += &format!("CREATE INDEX ON {table} {index};\n");
    }
    for (column, kind) in &needed.columns {
        sql += &record_sql(schema, &needed.table, column, *kind);
    }
    sql
}

fn add_missing(schema: &SchemaName, table: &Table, needed: &Needed, changes: &mut Changes) {
    let full = format!("{}.{}", schema.quoted(), quoted(&needed.table));
    for (column, kind) in &needed.columns {
        let name = quoted(column);
        let joined = match table.kind(column) {
            None => {
                changes.sql += &format!("ALTER TABLE {full} ADD COLUMN {name} {};\n", kind.name());
                *kind
            }
            Some(known) if known.joined(*kind) == known => continue,
            Some(known) => {
                let joined = known.joined(*kind);
                let converted = known.converted(&name, joined);
                changes.sql +=
                    &format!("ALTER TABLE {full} ALTER COLUMN {name} TYPE {} USING {converted};\n", joined.name());
                let conversion = known.conversion_to(joined);
                if !changes.is_lossy() {
                    changes.conversion = Some(conversion);
                }
                joined
            }
        };
        changes.sql += &record_sql(schema, &needed.table, column, joined);
    }
}

/// Returns the SQL that records a column. Names of tables and columns have letters, digits and
/// underscores only.
fn record_sql(schema: &SchemaName, table: &str, column: &str, kind: SqlKind) -> String {
    format!(
        "INSERT INTO {}.sink_column (table_name, column_name, type) VALUES ('{table}', '{column}', '{}')
         ON CONFLICT (table_name, column_name) DO UPDATE SET type = EXCLUDED.type;\n",
        schema.quoted(),
        kind.name()
    )
}

/// Reads the columns of the schema's tables from PostgreSQL's own catalog.
async fn actual_columns(
    client: &impl GenericClient,
    schema: &SchemaName,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, Failed> {
    let sql = "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')";
    let mut tables: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for row in client.query(sql, &[&schema.as_str()]).await? {
        tables.entry(row.get(0)).or_default().insert(row.get(1), row.get(2));
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[&str] = &["url"];

    fn needed(columns: &[(&str, SqlKind)]) -> Vec<Needed> {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        vec![Needed { table: "item_product".to_owned(), columns, key: KEY, indexes: &[] }]
    }

    #[test]
    fn only_what_is_missing_or_too_narrow_changes() {
        use SqlKind::{Day, Instant, Integer, Json, Number, Text};
        let schema = SchemaName::default();
        let columns = [("url", Text), ("price", Number), ("at", Instant), ("day", Day)];
        let columns = columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let catalog = Catalog { tables: [("item_product".to_owned(), Table { columns })].into() };
        for (columns, expected, why) in [
            (&[("url", Text), ("price", Integer)][..], None, "a number holds an integer"),
            (&[("name", Text)], Some(("ADD COLUMN \"name\" text", None)), "it is new"),
            (
                &[("day", Instant)],
                Some(("TYPE timestamp with time zone USING \"day\"::timestamp", Some(Conversion::Exact))),
                "a day begins at a time",
            ),
            (&[("day", Json)], Some(("TYPE jsonb USING to_jsonb(\"day\")", Some(Conversion::Exact))), "JSON holds it"),
            (&[("price", Text)], Some(("TYPE text", Some(Conversion::Lossy))), "19.90 was 19.9"),
            (&[("at", Json), ("day", Text)], Some(("TYPE jsonb", Some(Conversion::Lossy))), "one of them is lossy"),
        ] {
            let changes = catalog.changes(&schema, &needed(columns));
            match expected {
                None => assert!(changes.is_empty(), "{why}: {changes:?}"),
                Some((sql, conversion)) => {
                    assert!(changes.sql.contains(sql) && changes.conversion == conversion, "{why}: {changes:?}");
                }
            }
        }
        let created = Catalog::default().changes(&schema, &needed(&[("url", Text), ("price", Number)]));
        assert!(created.sql.starts_with(
            "CREATE TABLE \"dragline\".\"item_product\" (\"url\" text NOT NULL, \"price\" numeric, PRIMARY KEY (\"url\"));"
        ));
    }
}
