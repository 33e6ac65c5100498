//! Traces of where fields came from, for authors of definitions.

use serde::Serialize;

/// Where a field of an item came from, or why it is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldTrace {
    /// The type's name.
    pub item_type: String,
    /// The item's position among those of its type on the page, from 1.
    pub item: usize,
    /// The field's name; for a record's field, with the names of the enclosing fields:
    /// `rows.score`.
    pub field: String,
    /// The places examined, in order.
    pub tried: Vec<TriedPlace>,
    /// The text found, cut at 200 characters; the first if there are several, `None` if there is
    /// none.
    pub raw: Option<String>,
    /// The result.
    pub found: FieldResult,
}

/// An examined place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedPlace {
    /// The place, as written in a definition.
    pub place: String,
    /// The number of matches.
    pub matches: usize,
}

/// The result for a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldResult {
    /// This many values.
    Values(usize),
    /// Nothing, as the definition allows.
    Nothing,
    /// A value that does not fit; contains the first broken rule.
    Misfit(String),
}
