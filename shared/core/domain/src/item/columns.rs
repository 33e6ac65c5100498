//! Items as rows of tables: names for tables and columns, and a single value for each column.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, json};

use super::{Item, Money, Record, Value};

/// The greatest depth at which nested items become columns of their own, such as `offers_price`.
/// Deeper ones are JSON.
const DEPTH_MAX: usize = 3;

/// The limit on the name of a column or table, in bytes.
const NAME_BYTES_MAX: usize = 63;

/// The limit on the columns of one item. Values beyond it are only in the item.
const COLUMNS_MAX: usize = 200;

/// The columns that every row has, whatever its type.
pub const COMMON: [&str; 7] = ["crawl", "iteration", "url", "at", "n", "types", "item_id"];

/// The value of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text; lists, and nested items without columns of their own, are JSON.
    Text(String),
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Item {
    /// Returns the name of its type as part of a table name: `NewsArticle` becomes `news_article`.
    /// Never empty.
    #[must_use]
    pub fn table(&self) -> String {
        let named = self.types.first().map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or(name));
        Some(snake(named.unwrap_or_default())).filter(|name| !name.is_empty()).unwrap_or_else(|| "thing".to_owned())
    }

    /// Returns its values by column name: normalised values go before those in the page's own form.
    /// No name is one of [`COMMON`].
    #[must_use]
    pub fn columns(&self) -> BTreeMap<String, Cell> {
        self.columns_by_property().into_iter().map(|(name, column)| (name, column.cell)).collect()
    }

    /// Returns the same as [`Self::columns`], with the place of each value in the item.
    #[must_use]
    pub fn columns_by_property(&self) -> BTreeMap<String, Column> {
        let mut columns = Columns::default();
        for (name, value) in &self.normal {
            columns.put_values(&snake(name), &Path::parse(name), std::slice::from_ref(value), 1);
        }
        for (name, field) in &self.fields {
            columns.put_values(&snake(name), &Path::parse(name), &field.values, 1);
        }
        columns.0
    }
}

/// A value of an item, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The value.
    pub cell: Cell,
    /// The property names on the way to it, separated by dots, as a definition writes them under
    /// `item`; `None` if it cannot be written there: it is part of a value, or a name contains a
    /// dot.
    pub property: Option<String>,
    /// The form of the value.
    pub form: Form,
}

/// The form of a value in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One value.
    Single,
    /// An amount of money.
    Money,
    /// JSON: several values, or nested items without columns of their own.
    Json,
}

/// The property names on the way to a value; `None` if they cannot be separated by dots.
struct Path(Option<String>);

impl Path {
    fn parse(name: &str) -> Self {
        Self((!name.is_empty() && !name.contains('.')).then(|| name.to_owned()))
    }

    fn then(&self, name: &str) -> Self {
        Self(self.0.as_deref().zip(Self::parse(name).0).map(|(path, name)| format!("{path}.{name}")))
    }

    fn to(&self, cell: Cell, form: Form) -> Column {
        Column { cell, property: self.0.clone(), form }
    }
}

#[derive(Default)]
struct Columns(BTreeMap<String, Column>);

impl Columns {
    /// Adds the values of one property.
    fn put_values(&mut self, name: &str, path: &Path, values: &[Value], depth: usize) {
        match values {
            [] => {}
            [Value::Record(record)] if depth < DEPTH_MAX => self.put_record(name, path, record, depth),
            [Value::Money(Money { amount, currency })] => {
                self.put(name, path.to(Cell::Number(amount.clone()), Form::Money));
                if let Some(currency) = currency {
                    let currency = Cell::Text(currency.clone());
                    self.put(&format!("{name}_currency"), Path(None).to(currency, Form::Single));
                }
            }
            [Value::Bool(yes)] => self.put(name, path.to(Cell::Bool(*yes), Form::Single)),
            [Value::Number(number)] => self.put(name, path.to(Cell::Number(number.clone()), Form::Single)),
            [Value::Text(text)] => self.put(name, path.to(Cell::Text(text.clone()), Form::Single)),
            values => self.put(name, path.to(Cell::Text(json!(values).to_string()), Form::Json)),
        }
    }

    fn put_record(&mut self, name: &str, path: &Path, record: &Record, depth: usize) {
        if let Some(id) = record.id.as_ref().filter(|_| record.fields.is_empty()) {
            self.put(name, path.then("id").to(Cell::Text(id.clone()), Form::Single));
        }
        for (inner, values) in &record.fields {
            self.put_values(&format!("{name}_{}", snake(inner)), &path.then(inner), values, depth + 1);
        }
    }

    /// Adds a column, unless there is one with this name.
    fn put(&mut self, name: &str, column: Column) {
        let name = if COMMON.contains(&name) || name == "id" { format!("item_{name}") } else { name.to_owned() };
        let is_taken = name == "item_id" || self.0.contains_key(&name);
        if !name.is_empty() && name.len() <= NAME_BYTES_MAX && !is_taken && self.0.len() < COLUMNS_MAX {
            self.0.insert(name, column);
        }
    }
}

/// Returns a name in snake case, of ASCII letters and digits only: `datePublished` becomes
/// `date_published`. Empty if there are none.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut before = None;
    let mut chars = name.chars().peekable();
    while let Some(char) = chars.next() {
        if char.is_ascii_alphanumeric() {
            let follows_small =
                before.is_some_and(|before: char| before.is_ascii_lowercase() || before.is_ascii_digit());
            let ends_capitals = before.is_some_and(|before: char| before.is_ascii_uppercase())
                && chars.peek().is_some_and(char::is_ascii_lowercase);
            if char.is_ascii_uppercase() && (follows_small || ends_capitals) && !snake.ends_with('_') {
                snake.push('_');
            }
            snake.push(char.to_ascii_lowercase());
        } else if !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        before = Some(char);
    }
    snake.truncate(snake.floor_char_boundary(NAME_BYTES_MAX));
    snake.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_in_sql() {
        for (name, expected, why) in [
            ("Product", "product", "a word"),
            ("NewsArticle", "news_article", "two words"),
            ("datePublished", "date_published", "in camel case"),
            ("gtin13", "gtin13", "digits"),
            ("HTMLPage", "html_page", "capitals end where a word begins"),
            ("og:title", "og_title", "with a prefix"),
            ("a - b__c", "a_b_c", "other characters"),
            ("naïve", "na_ve", "other letters"),
            ("\"; DROP TABLE x; --", "drop_table_x", "no more than a name"),
            ("日本", "", "nothing is left"),
        ] {
            assert_eq!(snake(name), expected, "{why}");
        }
        assert_eq!(snake(&"x".repeat(100)).len(), NAME_BYTES_MAX);
    }

    #[test]
    fn tables_are_named_after_types() {
        for (types, expected) in [
            (&["Product", "Thing"][..], "product"),
            (&["https://vocabulary.example/terms#BigThing"], "big_thing"),
            (&["https://vocabulary.example/terms/Thing"], "thing"),
            (&["日本"], "thing"),
            (&[], "thing"),
        ] {
            let item = Item { types: types.iter().map(ToString::to_string).collect(), ..Item::default() };
            assert_eq!(item.table(), expected, "{types:?}");
        }
    }

    #[test]
    fn each_value_has_a_column() {
        let item: Item = serde_json::from_str(
            r#"{"types":["Product"],"fields":{
                "name":{"values":["A","B"],"from":["json_ld"]},
                "url":{"values":["https://a.example/"],"from":["json_ld"]},
                "id":{"values":[7],"from":["json_ld"]},
                "price":{"values":["19,99"],"from":["microdata"]},
                "total":{"values":[{"amount":5,"currency":"EUR"}],"from":["definition"]},
                "brand":{"values":[{"types":["Brand"],"fields":{"name":["Stühle"],"logo":[{"fields":{"a":[{"fields":{"b":[1]}}]}}]}}],"from":["json_ld"]},
                "maker":{"values":[{"id":"https://a.example/#maker"}],"from":["json_ld"]},
                "offers":{"values":[{"fields":{"price":[1]}},{"fields":{"price":[2]}}],"from":["json_ld"]}
            },"normal":{"name":"A","price":19.99,"isNew":true}}"#,
        )
        .unwrap();
        let text = |text: &str| Cell::Text(text.to_owned());
        let number = |number: &str| Cell::Number(number.parse().unwrap());
        let expected = [
            ("brand_logo_a", text(r#"[{"fields":{"b":[1]}}]"#)),
            ("brand_name", text("Stühle")),
            ("is_new", Cell::Bool(true)),
            ("item_url", text("https://a.example/")),
            ("maker", text("https://a.example/#maker")),
            ("name", text("A")),
            ("offers", text(r#"[{"fields":{"price":[1]}},{"fields":{"price":[2]}}]"#)),
            ("price", number("19.99")),
            ("total", number("5")),
            ("total_currency", text("EUR")),
        ];
        let expected = expected.map(|(name, cell)| (name.to_owned(), cell));
        assert_eq!(item.columns().into_iter().collect::<Vec<_>>(), expected);
    }
}
