//! Types of columns: which one holds a value, and which one holds the values of both.

use dragline_domain::item::{Cell, Form};
use dragline_ports::row::ColumnKind;
use jiff::Timestamp;
use jiff::civil::Date;

/// The length of an ISO 8601 date.
const DAY_BYTES: usize = "2021-03-03".len();

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SqlKind {
    Bool,
    Integer,
    Number,
    Day,
    Instant,
    Text,
    Json,
}

/// What happens to the values that a column has when its type changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// They are as if they had been written to a column of the new type.
    Exact,
    /// They lose their form, and have to be written again.
    Lossy,
}

impl SqlKind {
    const ALL: [Self; 7] = [Self::Bool, Self::Integer, Self::Number, Self::Day, Self::Instant, Self::Text, Self::Json];

    /// Returns the type's name, as PostgreSQL's `format_type` returns it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Integer => "bigint",
            Self::Number => "numeric",
            Self::Day => "date",
            Self::Instant => "timestamp with time zone",
            Self::Text => "text",
            Self::Json => "jsonb",
        }
    }

    /// Returns the type with this name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the type for a value of an item.
    pub(crate) fn of_value(cell: &Cell, form: Form) -> Self {
        match cell {
            _ if form == Form::Json => Self::Json,
            Cell::Bool(_) => Self::Bool,
            Cell::Number(_) => Self::Number,
            Cell::Text(text) if is_day(text) => Self::Day,
            Cell::Text(text) if instant(text).is_some() => Self::Instant,
            Cell::Text(_) => Self::Text,
        }
    }

    /// Returns the type that holds the values of both.
    pub(crate) const fn joined(self, other: Self) -> Self {
        use SqlKind::{Bool, Day, Instant, Integer, Json, Number, Text};
        match (self, other) {
            (Bool, Bool) => Bool,
            (Integer, Integer) => Integer,
            (Integer | Number, Integer | Number) => Number,
            (Day, Day) => Day,
            (Day | Instant, Day | Instant) => Instant,
            (Json, _) | (_, Json) => Json,
            _ => Text,
        }
    }

    /// Returns what the change to a type does to values: times and numbers as text are in the form
    /// of the database instead of the page's.
    pub(crate) const fn conversion_to(self, other: Self) -> Conversion {
        match (self, other) {
            (Self::Instant, Self::Text | Self::Json) | (Self::Number, Self::Text) => Conversion::Lossy,
            _ => Conversion::Exact,
        }
    }

    /// Returns the SQL that converts a column of this type.
    pub(crate) fn converted(self, column: &str, to: Self) -> String {
        match to {
            Self::Json => format!("to_jsonb({column})"),
            _ => format!("{column}::{}", to.name()),
        }
    }
}

impl From<ColumnKind> for SqlKind {
    fn from(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Bool => Self::Bool,
            ColumnKind::Integer => Self::Integer,
            ColumnKind::Number => Self::Number,
            ColumnKind::Day => Self::Day,
            ColumnKind::Instant => Self::Instant,
            ColumnKind::Text => Self::Text,
        }
    }
}

/// Returns whether a text is an ISO 8601 date that PostgreSQL reads as the same.
fn is_day(text: &str) -> bool {
    // The round trip excludes dates without hyphens.
    text.len() == DAY_BYTES && text.parse::<Date>().is_ok_and(|day| day.year() > 0 && day.to_string() == text)
}

/// Returns the time that a text in ISO 8601 names with its offset; `None` if it is not one, or not
/// of our era, which PostgreSQL writes in another way.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    const FIRST: Timestamp = Timestamp::constant(-62_135_596_800, 0);
    text.parse::<Timestamp>().ok().filter(|at| text.len() > DAY_BYTES && *at >= FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> SqlKind {
        SqlKind::of_value(&Cell::Text(text.to_owned()), Form::Single)
    }

    #[test]
    fn a_value_has_the_narrowest_type() {
        for (text, expected, why) in [
            ("2021-03-03", SqlKind::Day, "a date"),
            ("20210303", SqlKind::Text, "the number of a product"),
            ("2021-02-30", SqlKind::Text, "there is no such day"),
            ("0000-01-01", SqlKind::Text, "PostgreSQL has no year 0"),
            ("2021-03-03T10:00:00Z", SqlKind::Instant, "a time"),
            ("2021-03-03T10:00:00+01:00", SqlKind::Instant, "elsewhere"),
            ("0000-01-01T00:00:00Z", SqlKind::Text, "the same"),
            ("2021-03-03T10:00:00", SqlKind::Text, "nobody says where"),
            ("", SqlKind::Text, "nothing"),
        ] {
            assert_eq!(kind(text), expected, "{text} because {why}");
        }
        assert_eq!(SqlKind::of_value(&Cell::Bool(true), Form::Single), SqlKind::Bool);
        assert_eq!(SqlKind::of_value(&Cell::Number(7.into()), Form::Money), SqlKind::Number);
        assert_eq!(SqlKind::of_value(&Cell::Text("[1]".to_owned()), Form::Json), SqlKind::Json);
    }

    #[test]
    fn a_joined_type_holds_both_and_joining_has_no_order() {
        for one in SqlKind::ALL {
            assert_eq!(SqlKind::by_name(one.name()), Some(one));
            for other in SqlKind::ALL {
                let both = one.joined(other);
                assert_eq!(both, other.joined(one), "{one:?} and {other:?}");
                assert_eq!(both.joined(one), both, "{one:?} and {other:?}");
                for third in SqlKind::ALL {
                    assert_eq!(both.joined(third), one.joined(other.joined(third)), "{one:?}, {other:?}, {third:?}");
                }
            }
        }
        assert_eq!(SqlKind::Day.joined(SqlKind::Instant), SqlKind::Instant);
        assert_eq!(SqlKind::Bool.joined(SqlKind::Number), SqlKind::Text);
        assert_eq!(SqlKind::Text.joined(SqlKind::Json), SqlKind::Json);
    }
}
