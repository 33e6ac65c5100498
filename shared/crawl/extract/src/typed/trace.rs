//! Where fields came from, for people who write a definition.

use serde::Serialize;

/// Where a field of an item came from, or why it did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldTrace {
    /// The type's name.
    pub item_type: String,
    /// The item's position among those of its type on the page, from 1.
    pub item: usize,
    /// The field's name; of a record's field, with the names that lead to it: `rows.score`.
    pub field: String,
    /// The places that were looked at, in order.
    pub tried: Vec<Tried>,
    /// The text that stands there, cut at 200 characters; of several, the first one. `None` if there is none.
    pub raw: Option<String>,
    /// What came of it.
    pub found: FieldResult,
}

/// A place that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The place, as one writes it.
    pub place: String,
    /// How many matches it has.
    pub matches: usize,
}

/// What came of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldResult {
    /// So many values.
    Values(usize),
    /// Nothing, which the definition allows.
    Nothing,
    /// What does not fit: the first rule that is broken.
    Misfit(String),
}
