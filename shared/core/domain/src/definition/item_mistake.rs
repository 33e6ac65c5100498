//! Mistakes in types of items.

use super::limits;

/// The reason why a type of items, or a field, makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ItemMistake {
    /// A type has an invalid name.
    #[error("`{0}` is not a valid name of a type")]
    TypeName(String),
    /// A field has an invalid name.
    #[error("`{0}` is not a valid name of a field")]
    FieldName(String),
    /// A name occurs twice.
    #[error("the name `{0}` appears twice")]
    Double(String),
    /// A type or a record without fields.
    #[error("there are no fields")]
    NoFields,
    /// More fields than allowed.
    #[error("{count} fields, but at most {max} are allowed")]
    TooManyFields {
        /// Their number.
        count: usize,
        /// Their limit.
        max: usize,
    },
    /// Records are nested too deeply.
    #[error("fields are nested more than {max} deep", max = limits::RECORDS_DEPTH_MAX)]
    TooDeep,
    /// A field has no place.
    #[error("the field has no place")]
    NoSelector,
    /// A selector without text.
    #[error("the selector is empty")]
    EmptySelector,
    /// A selector is too long, at so many bytes.
    #[error("a selector of {0} bytes, but at most {max} are allowed", max = limits::SELECTOR_BYTES_MAX)]
    SelectorTooLong(usize),
    /// A field has too many places, at so many.
    #[error("{0} places, but at most {max} are allowed", max = limits::SELECTORS_MAX)]
    TooManySelectors(usize),
    /// `json` alone, although no JSON has been selected.
    #[error("there is no JSON here that `json` could look into")]
    NoJson,
    /// Bounds for a kind that has none.
    #[error("`min` and `max` are for numbers and money, not for the kind `{0}`")]
    Bounds(&'static str),
    /// A bound that is not a number.
    #[error("a bound must be a number, and not infinite")]
    EndlessBound,
    /// The lower bound is above the upper one.
    #[error("nothing fits: `min` is `{min}`, and `max` is `{max}`")]
    CrossedBounds {
        /// The lower bound.
        min: String,
        /// The upper bound.
        max: String,
    },
    /// A pattern for a kind that has none.
    #[error("`pattern` is for texts, URLs and dates, not for the kind `{0}`")]
    Pattern(&'static str),
}

impl ItemMistake {
    /// Returns the remedy.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::TypeName(_) => "begin with a letter, and use at most 64 letters and digits, such as `Product`",
            Self::FieldName(_) => {
                "begin with a letter, and use at most 64 letters, digits and `_`, such as `list_price` or `listPrice`"
            }
            Self::Double(_) => "rename one, or give one field several places under `any`",
            Self::NoFields => "name at least one under `fields`, such as `title: { css: h1 }`",
            Self::TooManyFields { .. } => "remove those that nobody asks for",
            Self::TooDeep => "select what is deep inside by one selector",
            Self::NoSelector => "add `css`, `path`, `regex`, `json_ld`, `script` with `json`, or `item`",
            Self::EmptySelector => "write what to select, or remove the key",
            Self::SelectorTooLong(_) => "select by fewer parts: the last ones are often enough",
            Self::TooManySelectors(_) => "a CSS selector can have several alternatives, with commas between them",
            Self::NoJson => "write `script` beside it, or `json_ld` in place of it",
            Self::Bounds(_) => "remove them, or choose another `kind`",
            Self::EndlessBound => "remove it: without a bound there is none",
            Self::CrossedBounds { .. } => "exchange them",
            Self::Pattern(_) => "remove it, or choose another `kind`",
        }
    }
}
