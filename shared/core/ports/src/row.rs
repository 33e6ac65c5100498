//! Rows as cells: the description of a row's columns, from which every format is written.

use dragline_domain::capture::CrawlType;
use dragline_domain::change::{ChangeKind, VisitChange};
use dragline_domain::document::{Disposition, LinkKind};
use dragline_domain::frontier::{DocumentStanding, ObjectKey};
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::Truncation;
use jiff::Timestamp;
use serde::{Serialize, Serializer};

pub use dragline_domain::item::Cell;

/// The type of a column's values. Any may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A boolean.
    Bool,
    /// A 64-bit integer.
    Integer,
    /// A number.
    Number,
    /// A day, as a text in ISO 8601.
    Day,
    /// A time, as a text in ISO 8601.
    Instant,
    /// A text.
    Text,
}

/// A column: its name, and the type of its values.
pub type Column<'c> = (&'c str, ColumnKind);

/// Cells with the names of their columns, in order: as JSON, an object.
pub struct NamedCells<'c>(pub &'c [Column<'c>], pub &'c [Option<Cell>]);

impl Serialize for NamedCells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, _)| name).zip(self.1))
    }
}

/// A row of a table. [`row!`](crate::row!) implements it.
pub trait Row: Sized {
    /// Returns its columns, in order.
    fn columns() -> Vec<Column<'static>>;

    /// Returns its value in each of them; `None` where it is missing.
    fn cells(self) -> Vec<Option<Cell>>;
}

impl<R: Row + Clone> Row for &R {
    fn columns() -> Vec<Column<'static>> {
        R::columns()
    }

    fn cells(self) -> Vec<Option<Cell>> {
        self.clone().cells()
    }
}

/// The value of a row's field, in one column or several. [`fields!`](crate::fields!) implements it
/// for one.
pub trait Field: Sized {
    /// The types of its columns.
    const KINDS: &'static [ColumnKind];

    /// Returns the value in each of them.
    fn cells(self) -> impl Iterator<Item = Option<Cell>>;
}

/// Implements [`Row`](crate::row::Row) for structs: lists all fields in the order of their columns.
/// A field's column has its name; a list of other names or several ones may follow it, and so may
/// the type of a text's column: `published as Instant`.
#[macro_export]
macro_rules! row {
    (@names $field:ident) => { [stringify!($field)] };
    (@names $field:ident [$($column:literal),+]) => { [$($column),+] };
    (@kinds $field:ident) => { $crate::row::kinds(|row: &Self| &row.$field) };
    (@kinds $field:ident $kind:ident) => { &[$crate::row::ColumnKind::$kind] };
    ($($name:ident $(<$life:lifetime>)? {
        $($field:ident $(as $kind:ident)? $([$($column:literal),+])?),* $(,)?
    })*) => {$(
        impl $(<$life>)? $crate::row::Row for $name $(<$life>)? {
            fn columns() -> Vec<$crate::row::Column<'static>> {
                let mut columns = Vec::new();
                $(columns.extend(
                    $crate::row!(@names $field $([$($column),+])?)
                        .into_iter()
                        .zip($crate::row!(@kinds $field $($kind)?).iter().copied()),
                );)*
                columns
            }

            fn cells(self) -> Vec<Option<$crate::row::Cell>> {
                let Self { $($field),* } = self;
                let mut cells = Vec::new();
                $(cells.extend(
                    $crate::row::Field::cells($field).take($crate::row!(@names $field $([$($column),+])?).len()),
                );)*
                cells
            }
        }
    )*};
}

/// Returns the types of a field's columns.
#[doc(hidden)]
pub const fn kinds<R, F: Field>(_: fn(&R) -> &F) -> &'static [ColumnKind] {
    F::KINDS
}

/// Implements [`Field`](crate::row::Field) for types of one column: its type, theirs, and how they
/// become cells.
#[macro_export]
macro_rules! fields {
    ($($kind:ident $($type:ty),+ => $cell:expr;)*) => {$($(
        impl $crate::row::Field for $type {
            const KINDS: &'static [$crate::row::ColumnKind] = &[$crate::row::ColumnKind::$kind];

            fn cells(self) -> impl Iterator<Item = Option<$crate::row::Cell>> {
                let cell: fn(Self) -> $crate::row::Cell = $cell;
                std::iter::once(Some(cell(self)))
            }
        }
    )+)*};
}

fields! {
    Bool bool => Cell::Bool;
    Integer i16, u8, u16, u32, u64, usize => |number| Cell::Number(number.into());
    Instant Timestamp => |at| Cell::Text(format!("{at:.3}"));
    Text String => Cell::Text;
    Text &str => |text| text.to_owned().into();
    Text ObjectKey => |key| key.to_string().into();
    Text ChangeKind, CrawlType, DocumentStanding, LinkKind => |value| value.name().to_owned().into();
    Text Truncation => |reason| reason.token().to_owned().into();
}

impl<T: Field> Field for Option<T> {
    const KINDS: &'static [ColumnKind] = T::KINDS;

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        let mut cells = self.map(T::cells);
        T::KINDS.iter().map(move |_| cells.as_mut()?.next()?)
    }
}

/// Its number, and its name.
impl Field for Outcome {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Integer, ColumnKind::Text];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        self.code().cells().chain(self.name().cells())
    }
}

/// Its name, and the rule that forbids the link.
impl Field for Disposition {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Text; 2];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        let rule = if let Self::Blocked(rule) = &self { Some(rule.clone()) } else { None };
        self.name().cells().chain(rule.cells())
    }
}

/// Its kind, and the parts that changed, separated by commas.
impl Field for VisitChange {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Text; 2];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        let parts = Some(self.part_names()).filter(|names| !names.is_empty());
        self.kind.cells().chain(parts.cells())
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::change::Part;

    use super::*;

    struct Sample {
        r#final: bool,
        written: Option<String>,
        first: Outcome,
        last: Option<Outcome>,
        change: Option<VisitChange>,
    }

    row! { Sample { r#final ["final"], written as Instant, first ["first"], last ["last", "last_name"], change ["change", "parts"] } }

    #[test]
    fn a_field_has_as_many_cells_as_columns() {
        use ColumnKind::{Bool, Instant, Integer, Text};
        let columns =
            [("final", Bool), ("written", Instant), ("first", Integer), ("last", Integer), ("last_name", Text)];
        assert_eq!(Sample::columns(), [&columns[..], &[("change", Text), ("parts", Text)]].concat());
        let (text, number) =
            (|text: &str| Some(Cell::Text(text.to_owned())), |code: i16| Some(Cell::Number(code.into())));
        let change = VisitChange { kind: ChangeKind::Changed, parts: vec![Part::Title, Part::Links] };
        let (first, last) = (Outcome::FileIngested, Some(Outcome::FileNotFound));
        let row = Sample { r#final: true, written: None, first, last, change: Some(change) };
        let rest = [number(44), text("file_not_found"), text("changed"), text("title,links")];
        assert_eq!(row.cells(), [&[Some(Cell::Bool(true)), None, number(20)][..], &rest].concat());
        let row = Sample {
            r#final: true,
            written: text("soon").map(|cell| cell.to_string()),
            first,
            last: None,
            change: None,
        };
        let rest = [None, None, None, None];
        assert_eq!(row.cells(), [&[Some(Cell::Bool(true)), text("soon"), number(20)][..], &rest].concat());
    }
}
