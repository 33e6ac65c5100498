//! Items: the things that a page describes in a form that programs read, such as a product with its price.

mod columns;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Number;

pub use columns::{COMMON, Cell, Column, Form};

/// A thing that a page describes: by structured data in its markup, or by a type of the crawl's definition. What several notations of a page say of
/// the same thing is one item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What it is, the type that says most first; never empty. A type of schema.org has its name alone (`Product`), another one its whole URL.
    pub types: Vec<String>,
    /// The URL or other name by which the page identifies it; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is said of it, by the property's name.
    pub fields: BTreeMap<String, Field>,
    /// The same in one form for all notations, where it is known how: `price`, `currency`, `availability`, `rating`, dates as in ISO 8601.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub normal: BTreeMap<String, Value>,
}

impl Item {
    /// Whether a type of the crawl's definition says what it has.
    #[must_use]
    pub fn is_of_definition(&self) -> bool {
        self.fields.values().any(|field| field.from.contains(&Notation::Definition))
    }
}

/// What is said of one property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The values, each once, in the order of the page; never empty.
    pub values: Vec<Value>,
    /// Which notations say it, each once.
    pub from: Vec<Notation>,
}

/// How a page says something to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notation {
    /// A script with JSON-LD.
    JsonLd,
    /// Attributes of HTML microdata: `itemscope`, `itemprop`.
    Microdata,
    /// Attributes of RDFa Lite: `typeof`, `property`.
    Rdfa,
    /// OpenGraph's meta elements: `og:title`.
    OpenGraph,
    /// None: a type of the definition says where it stands.
    Definition,
}

impl Notation {
    /// The name that people read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonLd => "json_ld",
            Self::Microdata => "microdata",
            Self::Rdfa => "rdfa",
            Self::OpenGraph => "open_graph",
            Self::Definition => "definition",
        }
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One value of a property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text, which may be a URL or a date.
    Text(String),
    /// An amount of money.
    Money(Money),
    /// Another thing, which belongs to this one: a product's offer.
    Record(Record),
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Money {
    /// How much, in the currency's main unit.
    pub amount: Number,
    /// The currency's code in ISO 4217, such as `EUR`; `None` if it is not known.
    pub currency: Option<String>,
}

/// A thing within another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What it is; empty if nobody says. As [`Item::types`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// As [`Item::id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is said of it: each property's values, never none.
    #[serde(default)]
    pub fields: BTreeMap<String, Vec<Value>>,
}

/// A value that a page has, or does not have, against what a type of the definition says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misfit {
    /// The type's name.
    pub item_type: String,
    /// The field's name; of a record's field, with the names that lead to it: `offer.price`.
    pub field: String,
    /// The rule that is broken, as one writes it: `required`, `kind: number`, `min: 0`.
    pub rule: String,
    /// The value as it stands in the page, cut at 200 characters; `None` if there is none.
    pub value: Option<String>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item_type, field, rule, value } = self;
        match value {
            Some(value) => write!(f, "{item_type}.{field} does not fit `{rule}`: {value:?}"),
            None => write!(f, "{item_type}.{field} does not fit `{rule}`: nothing is there"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_reads_as_it_is_written() {
        const JSON: &str = r#"{"types":["Product"],"id":"https://a.example/#p","fields":{"isNew":{"values":[true],"from":["microdata"]},"name":{"values":["Chair",7],"from":["json_ld","open_graph"]},"offers":{"values":[{"types":["Offer"],"fields":{"price":[19.99]}},{"fields":{}}],"from":["json_ld"]},"total":{"values":[{"amount":1,"currency":null}],"from":["definition"]}},"normal":{"price":19.99}}"#;
        let item: Item = serde_json::from_str(JSON).unwrap();
        assert_eq!(serde_json::to_string(&item).unwrap(), JSON);
        assert!(matches!(item.fields["total"].values[..], [Value::Money(_)]));
        assert!(matches!(item.fields["offers"].values[..], [Value::Record(_), Value::Record(_)]));
    }
}
