//! Items: the things that a page describes in a form for programs, such as a product with its
//! price.

mod columns;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Number;

pub use columns::{COMMON, Cell, Column, Form};

/// An item of a page, from structured data in its markup or by a type of the crawl's definition. If
/// several notations of a page describe the same thing, it is one item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its types, the most specific first; never empty. A type of schema.org has only its name
    /// (`Product`), another one its whole URL.
    pub types: Vec<String>,
    /// The URL or other identifier that the page gives it; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its properties, by name.
    pub fields: BTreeMap<String, Field>,
    /// The normalised properties, in one form for all notations: `price`, `currency`,
    /// `availability`, `rating`, dates as in ISO 8601.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub normal: BTreeMap<String, Value>,
}

impl Item {
    /// Whether its type is defined by the crawl's definition.
    #[must_use]
    pub fn is_of_definition(&self) -> bool {
        self.fields.values().any(|field| field.from.contains(&Notation::Definition))
    }
}

/// The values of one property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The values, each once, in the order of the page; never empty.
    pub values: Vec<Value>,
    /// The notations with these values, each once.
    pub from: Vec<Notation>,
}

/// The notation of structured data in a page.
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
    /// None: a type of the definition gives the place.
    Definition,
}

impl Notation {
    /// Returns its name for people.
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
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text, which may be a URL or a date.
    Text(String),
    /// An amount of money.
    Money(Money),
    /// A nested item: a product's offer.
    Record(Record),
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Money {
    /// The amount, in the currency's main unit.
    pub amount: Number,
    /// The currency's code in ISO 4217, such as `EUR`; `None` if it is unknown.
    pub currency: Option<String>,
}

/// A nested item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its types, as in [`Item::types`]; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Its identifier, as in [`Item::id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The values of its properties; none is empty.
    #[serde(default)]
    pub fields: BTreeMap<String, Vec<Value>>,
}

/// A value of a page, or its absence, that breaks a rule of a type in the definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misfit {
    /// The type's name.
    pub item_type: String,
    /// The field's name; for a record's field, with the names of the fields around it:
    /// `offer.price`.
    pub field: String,
    /// The broken rule, as in a definition: `required`, `kind: number`, `min: 0`.
    pub rule: String,
    /// The value as written in the page, cut at 200 characters; `None` if there is none.
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
    fn an_item_is_read_back_unchanged() {
        const JSON: &str = r#"{"types":["Product"],"id":"https://a.example/#p","fields":{"isNew":{"values":[true],"from":["microdata"]},"name":{"values":["Chair",7],"from":["json_ld","open_graph"]},"offers":{"values":[{"types":["Offer"],"fields":{"price":[19.99]}},{"fields":{}}],"from":["json_ld"]},"total":{"values":[{"amount":1,"currency":null}],"from":["definition"]}},"normal":{"price":19.99}}"#;
        let item: Item = serde_json::from_str(JSON).unwrap();
        assert_eq!(serde_json::to_string(&item).unwrap(), JSON);
        assert!(matches!(item.fields["total"].values[..], [Value::Money(_)]));
        assert!(matches!(item.fields["offers"].values[..], [Value::Record(_), Value::Record(_)]));
    }
}
