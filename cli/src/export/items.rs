//! `dragline export --what items`: a row for each item, with the columns of its type.
//!
//! Formats with a header read the items twice: for the columns, then for the rows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use dragline_domain::ids::CrawlId;
use dragline_domain::item::Item;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, DocumentRow, Filter, Reader, each_row};
use dragline_ports::row::{Cell, ColumnKind};
use dragline_report::ItemRow;

use super::sorted::{SortedError, each_sorted, keep_document};
use super::{BATCH_ROWS, times};

/// The maximum number of columns besides [`COMMON`](dragline_domain::item::COMMON).
const COLUMNS_MAX: usize = 2_000;

/// The maximum number of types in a hint.
const TYPES_NAMED_MAX: usize = 20;

/// The maximum number of types to compare with an unknown one.
const TYPES_COMPARED_MAX: usize = 10_000;

/// Which items to write.
pub(super) struct Items<'r, R> {
    pub(super) crawl: &'r CrawlId,
    pub(super) reader: &'r R,
    /// The items of its iteration, or the current ones.
    pub(super) filter: Filter,
    /// The type; `None` for all.
    pub(super) item_type: Option<&'r str>,
}

/// What all stored items say about a type, including those of earlier iterations and removed pages.
#[derive(Debug, Default)]
pub(super) struct TypeInfo {
    /// Its columns; `None` if no item has or had the type.
    pub(super) columns: Option<Columns>,
    /// The existing types, or some of them.
    pub(super) types: BTreeSet<String>,
}

/// The columns of a type beyond [`COMMON`](dragline_domain::item::COMMON), by name.
pub(super) type Columns = BTreeMap<String, ColumnKind>;

impl<R: Reader> Items<'_, R> {
    /// Reads the items in the order of their URLs, until `take` stops. Returns how many it took.
    pub(super) async fn each_sorted(
        &self,
        mut take: impl FnMut(ItemRow) -> ControlFlow<()>,
    ) -> Result<u64, SortedError> {
        let mut taken = 0;
        let mut take = |row: ItemRow| {
            taken += 1;
            take(row)
        };
        let read = |after: Option<Cursor>| async move { self.documents(after.as_ref()).await };
        each_sorted(read, keep_document, |row: DocumentRow| self.rows(&row).try_for_each(&mut take)).await?;
        Ok(taken)
    }

    /// The same in the order of the store, which costs less.
    async fn each(&self, mut take: impl FnMut(ItemRow) -> ControlFlow<()>) -> PortResult<()> {
        let read = |after: Option<Cursor>| async move { self.documents(after.as_ref()).await };
        each_row(read, |row: DocumentRow| self.rows(&row).try_for_each(&mut take)).await
    }

    async fn documents(&self, after: Option<&Cursor>) -> PortResult<Batch<DocumentRow>> {
        match self.filter.iteration {
            None => self.reader.shown_documents(&self.filter, after, BATCH_ROWS).await,
            Some(_) => self.reader.documents(&self.filter, after, BATCH_ROWS).await,
        }
    }

    /// Returns what is stored about the type. Columns that it once had remain, even if no current
    /// item has them.
    pub(super) async fn type_info(&self) -> PortResult<TypeInfo> {
        let mut known = TypeInfo::default();
        let all = &Filter::default();
        let read = |after: Option<Cursor>| async move { self.reader.documents(all, after.as_ref(), BATCH_ROWS).await };
        let take = |row: DocumentRow| {
            known.learn(&row, self);
            ControlFlow::Continue(())
        };
        each_row(read, take).await?;
        if let Some(columns) = &mut known.columns {
            keep_fractions(columns);
        }
        Ok(known)
    }

    /// Returns the names of the existing types; only some if they are many.
    pub(super) async fn types(&self) -> PortResult<BTreeSet<String>> {
        let mut types = BTreeSet::new();
        self.each(|row| {
            types.extend(row.first_type().map(str::to_owned));
            if types.len() < TYPES_NAMED_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
        Ok(types)
    }

    fn rows<'d>(&'d self, row: &'d DocumentRow) -> impl Iterator<Item = ItemRow> + 'd {
        ItemRow::rows_of_document(self.crawl, row, |item| self.is_wanted(item))
    }

    fn is_wanted(&self, item: &Item) -> bool {
        self.item_type.is_none_or(|wanted| item.types.iter().any(|name| name == wanted) || item.table() == wanted)
    }
}

impl TypeInfo {
    fn learn<R: Reader>(&mut self, row: &DocumentRow, items: &Items<'_, R>) {
        let types = row.document.content.iter().flat_map(|content| &content.items).flat_map(|item| &item.types);
        for name in types {
            if self.types.len() < TYPES_COMPARED_MAX && !self.types.contains(name) {
                self.types.insert(name.clone());
            }
        }
        for item in items.rows(row) {
            let columns = self.columns.get_or_insert_default();
            for (name, cell) in item.cells() {
                let kind = kind_of_cell(cell);
                if let Some(known) = columns.get_mut(name) {
                    *known = kind_of_both(*known, kind);
                } else if columns.len() < COLUMNS_MAX {
                    columns.insert(name.to_owned(), kind);
                }
            }
        }
    }
}

/// Makes columns fractional if their meaning requires it, whatever values they have today: amounts
/// of money, and ratings.
fn keep_fractions(columns: &mut Columns) {
    const FRACTIONS: [&str; 5] = ["price", "price_low", "price_high", "rating", "rating_best"];
    let money: Vec<String> =
        columns.keys().filter_map(|name| Some(name.strip_suffix("_currency")?.to_owned())).collect();
    for name in FRACTIONS.into_iter().chain(money.iter().map(String::as_str)) {
        if let Some(kind @ ColumnKind::Integer) = columns.get_mut(name) {
            *kind = ColumnKind::Number;
        }
    }
}

fn kind_of_cell(cell: &Cell) -> ColumnKind {
    match cell {
        Cell::Bool(_) => ColumnKind::Bool,
        Cell::Number(number) if number.as_i64().is_some() => ColumnKind::Integer,
        Cell::Number(_) => ColumnKind::Number,
        Cell::Text(text) if times::is_day(text) => ColumnKind::Day,
        Cell::Text(text) if times::is_instant(text) => ColumnKind::Instant,
        Cell::Text(_) => ColumnKind::Text,
    }
}

/// Returns the kind for the values of both.
const fn kind_of_both(one: ColumnKind, other: ColumnKind) -> ColumnKind {
    use ColumnKind::{Bool, Day, Instant, Integer, Number, Text};
    match (one, other) {
        (Bool, Bool) => Bool,
        (Integer, Integer) => Integer,
        (Integer | Number, Integer | Number) => Number,
        (Day, Day) => Day,
        (Day | Instant, Day | Instant) => Instant,
        _ => Text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_has_the_kind_of_all_its_values() {
        let cell = |value: serde_json::Value| match value {
            serde_json::Value::Bool(yes) => Cell::Bool(yes),
            serde_json::Value::Number(number) => Cell::Number(number),
            other => Cell::Text(other.as_str().unwrap().to_owned()),
        };
        for (values, expected, why) in [
            (json!([1, 2]), ColumnKind::Integer, "whole numbers"),
            (json!([1, 2.5]), ColumnKind::Number, "and one that is not"),
            (json!([1.5, 2]), ColumnKind::Number, "in another order"),
            (json!([u64::MAX]), ColumnKind::Number, "more than 64 bits with a sign hold"),
            (json!(["2021-03-03T10:00:00Z", "2021-03-03T10:00:00+01:00"]), ColumnKind::Instant, "times"),
            (json!(["2021-03-03", "2021-03-04"]), ColumnKind::Day, "days"),
            (json!(["2021-03-03", "2021-03-03T10:00:00Z"]), ColumnKind::Instant, "a day begins at a time"),
            (json!(["2021-03-03T10:00:00"]), ColumnKind::Text, "nobody says where that is the time"),
            (json!(["2021-03-03T10:00:00Z", "soon"]), ColumnKind::Text, "not a time"),
            (json!([true, 1]), ColumnKind::Text, "nothing holds both but a text"),
            (json!(["20210303", "2021"]), ColumnKind::Text, "numbers of products"),
        ] {
            let kinds = values.as_array().unwrap().iter().map(|value| kind_of_cell(&cell(value.clone())));
            assert_eq!(kinds.reduce(kind_of_both), Some(expected), "{values}: {why}");
        }
        let mut columns: Columns = ["price", "rating_count", "total", "total_currency"]
            .map(|name| (name.to_owned(), ColumnKind::Integer))
            .into();
        keep_fractions(&mut columns);
        let kinds: Vec<ColumnKind> = columns.into_values().collect();
        let expected = [ColumnKind::Number, ColumnKind::Integer, ColumnKind::Number, ColumnKind::Integer];
        assert_eq!(kinds, expected, "an amount of money is of one kind, whatever it is today");
    }
}
