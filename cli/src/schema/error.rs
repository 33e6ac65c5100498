//! Why `dragline schema` cannot answer.

/// Why `dragline schema` cannot answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    /// No item has the type.
    #[error("there are no items of the type `{wanted}`")]
    NoType {
        /// The requested type.
        wanted: String,
        /// The names of the existing types' tables.
        types: Vec<String>,
    },
}

impl SchemaError {
    /// Returns a hint on how to fix it.
    pub(crate) fn hint(&self) -> String {
        let Self::NoType { types, .. } = self;
        match types.as_slice() {
            [] => "the pages have no items at all".to_owned(),
            types => format!("these are there: {}", types.join(", ")),
        }
    }
}
