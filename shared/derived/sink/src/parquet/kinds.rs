//! The columns of a type of items, and the type of their values.

use std::collections::BTreeMap;

use dragline_domain::item::COMMON;
use dragline_ports::row::{Cell, Column, ColumnKind};
use dragline_report::ItemRow;

use super::times;

/// The maximum number of columns besides [`COMMON`].
const COLUMNS_MAX: usize = 2_000;

/// The columns of a type of items beyond [`COMMON`], with what holds all values that were learnt.
#[derive(Clone, Debug, Default)]
pub struct ItemColumns(BTreeMap<String, ColumnKind>);

impl ItemColumns {
    /// Learns the columns of an item.
    pub fn learn(&mut self, item: &ItemRow) {
        for (name, cell) in item.cells() {
            let kind = kind_of_cell(cell);
            if let Some(known) = self.0.get_mut(name) {
                *known = kind_of_both(*known, kind);
            } else if self.0.len() < COLUMNS_MAX {
                self.0.insert(name.to_owned(), kind);
            }
        }
    }

    /// Makes columns fractional if their meaning requires it, whatever values they have today:
    /// amounts of money, and ratings.
    pub fn keep_fractions(&mut self) {
        const FRACTIONS: [&str; 5] = ["price", "price_low", "price_high", "rating", "rating_best"];
        let money: Vec<String> =
            self.0.keys().filter_map(|name| Some(name.strip_suffix("_currency")?.to_owned())).collect();
        for name in FRACTIONS.into_iter().chain(money.iter().map(String::as_str)) {
            if let Some(kind @ ColumnKind::Integer) = self.0.get_mut(name) {
                *kind = ColumnKind::Number;
            }
        }
    }

    /// Returns all columns of an item of the type, the common ones first.
    #[must_use]
    pub fn all(&self) -> Vec<Column<'_>> {
        let common = COMMON.into_iter().map(|name| (name, kind_of_common(name)));
        common.chain(self.0.iter().map(|(name, kind)| (name.as_str(), *kind))).collect()
    }
}

/// Returns the cells of an item in these columns.
#[must_use]
pub fn item_cells(item: &ItemRow, columns: &[Column<'_>]) -> Vec<Option<Cell>> {
    let common = item.common();
    let cell = |(name, _): &Column<'_>| match COMMON.iter().position(|known| known == name) {
        Some(place) => common[place].clone(),
        None => item.cell(name).cloned(),
    };
    columns.iter().map(cell).collect()
}

fn kind_of_common(name: &str) -> ColumnKind {
    match name {
        "iteration" | "n" => ColumnKind::Integer,
        "at" => ColumnKind::Instant,
        _ => ColumnKind::Text,
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
        let integers = ["price", "rating_count", "total", "total_currency"];
        let mut columns = ItemColumns(integers.map(|name| (name.to_owned(), ColumnKind::Integer)).into());
        columns.keep_fractions();
        let kinds: Vec<ColumnKind> = columns.0.into_values().collect();
        let expected = [ColumnKind::Number, ColumnKind::Integer, ColumnKind::Number, ColumnKind::Integer];
        assert_eq!(kinds, expected, "an amount of money is of one kind, whatever it is today");
    }
}
