//! Items of documents as rows of one table for each type.

use std::collections::BTreeMap;

use dragline_domain::ids::CrawlId;
use dragline_domain::item::{COMMON, Cell, Form, Item};
use dragline_ports::reader::DocumentRow;
use serde_json::{Map, Value, json};

use crate::batch::{Seen, Staged};
use crate::catalog::{Catalog, Needed, Table};
use crate::copy::CopyText;
use crate::kind::SqlKind;
use crate::names::{item_column, item_table};
use crate::tables;

/// The maximum number of tables. Pages can name any number of types; items of further ones are in
/// [`OTHER`].
const TABLES_MAX: usize = 500;

/// The maximum number of columns of a table. PostgreSQL allows 1,600; values of further ones are
/// in [`REST`].
const COLUMNS_MAX: usize = 800;

/// The table of types that have no table of their own. No type's table ends in an underscore.
const OTHER: &str = "item_other_";

/// The column with the values that have no column of their own, as a JSON object. No property's
/// column ends in an underscore.
const REST: &str = "rest_";

/// The items of some documents.
#[derive(Debug, Default)]
pub(crate) struct ItemBatch {
    items: Vec<ItemCells>,
}

/// An item with the values of its row.
#[derive(Debug)]
struct ItemCells {
    table: String,
    url: String,
    n: u32,
    common: [Option<Cell>; COMMON.len()],
    columns: Vec<(String, Cell, Form)>,
}

impl ItemBatch {
    /// Takes the items of documents.
    pub(crate) fn new(crawl: &CrawlId, documents: &[DocumentRow]) -> Self {
        let items = documents.iter().flat_map(|row| {
            let items = row.document.content.iter().flat_map(|content| &content.items);
            (0..).zip(items).map(move |(n, item)| ItemCells::new(crawl, row, n, item))
        });
        Self { items: items.collect() }
    }

    /// Returns the tables and columns that the items need besides those that are there, within the
    /// limits.
    pub(crate) fn needed(&self, catalog: &Catalog) -> Vec<Needed> {
        let mut tables: BTreeMap<&str, BTreeMap<&str, SqlKind>> = BTreeMap::new();
        let mut count = catalog.item_tables().count();
        for item in &self.items {
            let name = item.table.as_str();
            let is_new = !tables.contains_key(name) && catalog.table(name).is_none();
            if is_new && count >= TABLES_MAX {
                tables.entry(OTHER).or_default();
                continue;
            }
            count += usize::from(is_new);
            let known = catalog.table(name);
            let columns = tables.entry(name).or_default();
            let stored = known.map_or(COMMON.len() + 1, |table| table.columns.len());
            let mut left = COLUMNS_MAX.saturating_sub(stored + new_columns(columns, known));
            for (column, cell, form) in &item.columns {
                let kind = SqlKind::of_value(cell, *form);
                match columns.get_mut(column.as_str()) {
                    Some(needed) => *needed = needed.joined(kind),
                    None if known.is_some_and(|table| table.kind(column).is_some()) => {
                        columns.insert(column, kind);
                    }
                    None if left > 0 => {
                        left -= 1;
                        columns.insert(column, kind);
                    }
                    None => {}
                }
            }
        }
        tables.into_iter().map(|(table, columns)| needed(table, columns)).collect()
    }

    /// Encodes the items for the tables that are there, and counts them.
    pub(crate) fn stage(&self, catalog: &Catalog) -> (Vec<Staged>, Seen) {
        let mut seen = Seen::default();
        let mut tables: BTreeMap<&str, Vec<&ItemCells>> = BTreeMap::new();
        for item in &self.items {
            let name = if catalog.table(&item.table).is_some() { item.table.as_str() } else { OTHER };
            tables.entry(name).or_default().push(item);
            seen.count(&format!("{} {name} {}", item.n, item.url));
        }
        let stage = |(name, items): (&str, Vec<&ItemCells>)| {
            let columns = catalog.table(name).map(|table| table.columns.clone()).unwrap_or_default();
            let mut text = CopyText::default();
            for item in items {
                item.put(&mut text, &columns);
            }
            Staged { table: name.to_owned(), columns, text }
        };
        (tables.into_iter().map(stage).collect(), seen)
    }
}

/// Returns how many of the columns are not there yet.
fn new_columns(columns: &BTreeMap<&str, SqlKind>, known: Option<&Table>) -> usize {
    columns.keys().filter(|name| known.is_none_or(|table| table.kind(name).is_none())).count()
}

fn needed(table: &str, columns: BTreeMap<&str, SqlKind>) -> Needed {
    let common = COMMON.into_iter().map(|name| (name.to_owned(), kind_of_common(name)));
    let of_type = columns.into_iter().map(|(name, kind)| (name.to_owned(), kind));
    let columns = common.chain([(REST.to_owned(), SqlKind::Json)]).chain(of_type).collect();
    Needed { table: table.to_owned(), columns, key: tables::key(table), indexes: &[] }
}

fn kind_of_common(name: &str) -> SqlKind {
    match name {
        "iteration" | "n" => SqlKind::Integer,
        "at" => SqlKind::Instant,
        _ => SqlKind::Text,
    }
}

impl ItemCells {
    fn new(crawl: &CrawlId, row: &DocumentRow, n: u32, item: &Item) -> Self {
        let text = |text: &str| Some(Cell::Text(text.to_owned()));
        let url = row.document.url.to_string();
        let common = [
            text(crawl.as_str()),
            Some(Cell::Number(row.iteration.number().into())),
            text(&url),
            row.document.body.as_ref().map(|body| Cell::Text(format!("{:.3}", body.at))),
            Some(Cell::Number(n.into())),
            text(&item.types.join(" ")),
            item.id.as_deref().and_then(text),
        ];
        let columns = item.columns_by_property().into_iter();
        let columns = columns.map(|(name, column)| (item_column(name), column.cell, column.form)).collect();
        Self { table: item_table(&item.table()), url, n, common, columns }
    }

    /// Adds its row, in the order of the columns.
    fn put(&self, text: &mut CopyText, columns: &[(String, SqlKind)]) {
        let is_there = |name: &str| columns.iter().any(|(column, _)| column == name);
        let rest: Map<String, Value> = self
            .columns
            .iter()
            .filter(|(name, ..)| !is_there(name))
            .map(|(name, cell, form)| (name.clone(), value(cell, *form)))
            .collect();
        for (column, kind) in columns {
            if let Some(place) = COMMON.iter().position(|common| common == column) {
                text.put(self.common[place].as_ref(), *kind);
            } else if column == REST && !rest.is_empty() {
                text.put_json(&Value::Object(rest.clone()).to_string());
            } else {
                // They are sorted by name, except for PostgreSQL's own.
                let mut own = self.columns.iter();
                let own = own.find(|(name, ..)| name == column).map(|(_, cell, form)| (cell, *form));
                text.put_formed(own, *kind);
            }
        }
        text.end_row();
    }
}

/// Returns a cell as JSON.
fn value(cell: &Cell, form: Form) -> Value {
    match cell {
        Cell::Text(text) if form == Form::Json => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        cell => json!(cell),
    }
}
