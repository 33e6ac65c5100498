//! What cannot be shown of what was learned.

/// Why `dragline schema` cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    /// No item has the type.
    #[error("there are no items of the type `{wanted}`")]
    NoType {
        /// The type that was asked for.
        wanted: String,
        /// The tables of the types that there are.
        types: Vec<String>,
    },
}

impl SchemaError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        let Self::NoType { types, .. } = self;
        match types.as_slice() {
            [] => "the pages have no items at all".to_owned(),
            types => format!("these are there: {}", types.join(", ")),
        }
    }
}
