//! Kinds of field values.

use std::fmt;

use dragline_domain::item::{Cell, Column, Form};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// The kind of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Yes or no.
    Bool,
    /// A number.
    Number,
    /// An amount of money.
    Money,
    /// A date, with a time if there is one, as in ISO 8601.
    Date,
    /// An absolute URL of `http` or `https`.
    Url,
    /// Several values, as JSON.
    List,
    /// Any other text.
    Text,
}

impl Kind {
    /// Returns the kind of a value in the column `name`. Prices that the notation gives as numbers
    /// are money too.
    #[must_use]
    pub fn infer(name: &str, column: &Column) -> Self {
        match (&column.cell, column.form) {
            (_, Form::Json) => Self::List,
            (_, Form::Money) => Self::Money,
            (Cell::Bool(_), _) => Self::Bool,
            (Cell::Number(_), _)
                if matches!(name, "price" | "price_low" | "price_high") || name.ends_with("_price") =>
            {
                Self::Money
            }
            (Cell::Number(_), _) => Self::Number,
            (Cell::Text(text), _) if is_date(text) => Self::Date,
            (Cell::Text(text), _) if text.starts_with("https://") || text.starts_with("http://") => Self::Url,
            (Cell::Text(_), _) => Self::Text,
        }
    }

    /// Returns the name for display.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Number => "number",
            Self::Money => "money",
            Self::Date => "date",
            Self::Url => "url",
            Self::List => "list",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn is_date(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    date.as_bytes()[4] == b'-' && (rest.is_empty() || rest.starts_with('T')) && date.parse::<Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_values() {
        for (name, cell, form, expected, why) in [
            ("name", Cell::Text("Chair".to_owned()), Form::Single, Kind::Text, "words"),
            ("day", Cell::Text("2024-02-29".to_owned()), Form::Single, Kind::Date, "a day"),
            ("day", Cell::Text("2024-02-29T10:00:00Z".to_owned()), Form::Single, Kind::Date, "with a time"),
            ("day", Cell::Text("2024-02-30".to_owned()), Form::Single, Kind::Text, "there is no such day"),
            ("day", Cell::Text("2024-02-2é9".to_owned()), Form::Single, Kind::Text, "cut within a character"),
            ("link", Cell::Text("https://a.example/".to_owned()), Form::Single, Kind::Url, "a URL"),
            (
                "code",
                Cell::Text("19.99".to_owned()),
                Form::Single,
                Kind::Text,
                "written as a text, it is exported as a text",
            ),
            ("size", Cell::Number(7.into()), Form::Single, Kind::Number, "a number"),
            ("price", Cell::Number(7.into()), Form::Single, Kind::Money, "a price"),
            ("total", Cell::Number(7.into()), Form::Money, Kind::Money, "money by itself"),
            ("is_new", Cell::Bool(true), Form::Single, Kind::Bool, "yes or no"),
            ("offers", Cell::Text("[1,2]".to_owned()), Form::Json, Kind::List, "several values"),
            ("offers", Cell::Text("[1,2]".to_owned()), Form::Single, Kind::Text, "only looks like several"),
        ] {
            assert_eq!(Kind::infer(name, &Column { cell, property: None, form }), expected, "{why}");
        }
    }
}
