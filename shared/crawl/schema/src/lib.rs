//! Learns the schema of a site from its documents: the items on its pages, their fields, and the
//! URLs where they occur.
//!
//! [`LearnedSchema`] takes one document at a time, in memory that does not grow with their number;
//! parts can be merged. [`drift`] compares two schemas, [`Pairs`] compares pages with their earlier
//! captures, and [`yaml`], [`json_schema`], [`sql`] and [`text`] write a schema out.
//!
//! ```
//! use dragline_domain::document::Document;
//! use dragline_schema::{LearnedSchema, drift};
//!
//! let mut learned = LearnedSchema::default();
//! let document = r#"{"n":0,"url":"https://shop.example/product/7","outcome":20,"detail":null,"state":"processed","page":null,"links":[],
//!     "content":{"items":[{"types":["Product"],"fields":{"name":{"values":["Chair"],"from":["json_ld"]}}}]}}"#;
//! learned.learn(&serde_json::from_str::<Document>(document).unwrap());
//! assert_eq!(learned.page_types().keys().collect::<Vec<_>>(), ["/product/*"]);
//! assert_eq!(learned.types()["product"].fields["name"].items, 1);
//! assert!(drift(&learned, &learned).is_empty());
//! ```

mod drift;
mod json_schema;
mod kind;
mod learned;
mod page_types;
mod pairs;
mod repeated;
mod sql;
mod text;
mod yaml;

pub use drift::{Change, Drift, Share, drift};
pub use json_schema::json_schema;
pub use kind::Kind;
pub use learned::{LearnedField, LearnedSchema, LearnedType, NamedBy, Variety};
pub use page_types::{PageType, PageTypes, path_pattern};
pub use pairs::Pairs;
pub use repeated::{LearnedRepeatedField, LearnedRepetition};
pub use sql::sql;
pub use text::{drift_text, text};
pub use yaml::yaml;

/// Limits on the size of a schema, whatever a site makes up.
pub mod limits {
    /// Item types.
    pub const TYPES_MAX: usize = 200;
    /// Fields of one type.
    pub const FIELDS_MAX: usize = 400;
    /// Fields of all types together.
    pub const FIELDS_OF_ALL_TYPES_MAX: usize = 4_000;
    /// Patterns of URLs.
    pub const PATTERNS_MAX: usize = 200;
    /// Item types of one pattern.
    pub const TYPES_OF_PATTERN_MAX: usize = 20;
    /// Repeated structures of one pattern.
    pub const REPEATED_OF_PATTERN_MAX: usize = 24;
    /// Fields of one repeated structure.
    pub const FIELDS_OF_REPEATED_MAX: usize = 40;
    /// Fields of all repeated structures together.
    pub const FIELDS_OF_ALL_REPEATED_MAX: usize = 4_000;
    /// Examples of one type, field or pattern.
    pub const EXAMPLES_MAX: usize = 3;
    /// The length of an example, in characters.
    pub const EXAMPLE_CHARS_MAX: usize = 80;
    /// The length of a URL kept as an example, in bytes. Longer ones are not kept.
    pub const URL_BYTES_MAX: usize = 500;
    /// The length of a type's name or a property's path, in bytes. Longer ones are not kept.
    pub const NAME_BYTES_MAX: usize = 200;
}
