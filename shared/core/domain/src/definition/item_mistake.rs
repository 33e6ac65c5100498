//! What is wrong with a type of items.

use super::limits;

/// Why a type of items, or a field, cannot be what the user meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ItemMistake {
    /// A type has an invalid name.
    #[error("`{0}` is not a valid name of a type")]
    TypeName(String),
    /// A field has an invalid name.
    #[error("`{0}` is not a valid name of a field")]
    FieldName(String),
    /// A name is there twice.
    #[error("the name `{0}` appears twice")]
    Double(String),
    /// A type or a record without fields.
    #[error("there are no fields")]
    NoFields,
    /// More fields than are allowed.
    #[error("{count} fields, but at most {max} are allowed")]
    TooManyFields {
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// Records in records in records.
    #[error("fields are nested more than {max} deep", max = limits::RECORDS_DEPTH_MAX)]
    TooDeep,
    /// Nothing says where a field stands.
    #[error("the field has no place")]
    NoSelector,
    /// A selector without text.
    #[error("the selector is empty")]
    EmptySelector,
    /// A selector of so many bytes.
    #[error("a selector of {0} bytes, but at most {max} are allowed", max = limits::SELECTOR_BYTES_MAX)]
    SelectorTooLong(usize),
    /// So many places for a field.
    #[error("{0} places, but at most {max} are allowed", max = limits::SELECTORS_MAX)]
    TooManySelectors(usize),
    /// `json` alone, where nothing has selected any.
    #[error("there is no JSON here that `json` could look into")]
    NoJson,
    /// Bounds of a kind that has none.
    #[error("`min` and `max` are for numbers and money, not for the kind `{0}`")]
    Bounds(&'static str),
    /// A bound that is not a number.
    #[error("a bound must be a number, and not infinite")]
    EndlessBound,
    /// No value is within the bounds.
    #[error("nothing fits: `min` is `{min}`, and `max` is `{max}`")]
    CrossedBounds {
        /// The least.
        min: String,
        /// The most.
        max: String,
    },
    /// A pattern of a kind that has none.
    #[error("`pattern` is for texts, URLs and dates, not for the kind `{0}`")]
    Pattern(&'static str),
}

impl ItemMistake {
    /// What to do about it.
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
