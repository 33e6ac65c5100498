//! Learns from documents what the pages of a site have in common: which items they have, with which fields, at which URLs.
//!
//! [`Learned`] takes documents one at a time, in memory that does not grow with their number, and can be added up from parts. [`drift`] says what
//! differs between two of them, [`Pairs`] between pages and the same pages before, [`yaml`], [`json_schema`], [`sql`] and [`text`] write one down.
//!
//! ```
//! use dragline_domain::document::Document;
//! use dragline_schema::{Learned, drift};
//!
//! let mut learned = Learned::default();
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
pub use learned::{FieldLearned, Learned, NamedBy, TypeLearned, Variety};
pub use page_types::{PageType, PageTypes, pattern_of};
pub use pairs::Pairs;
pub use repeated::{RepeatedFieldLearned, RepeatedLearned};
pub use sql::sql;
pub use text::{drift_text, text};
pub use yaml::yaml;

/// What one may hold at most, whatever a site makes up.
pub mod limits {
    /// Types of items.
    pub const TYPES_MAX: usize = 200;
    /// Fields of a type.
    pub const FIELDS_MAX: usize = 400;
    /// Fields of all types together.
    pub const FIELDS_OF_ALL_TYPES_MAX: usize = 4_000;
    /// Patterns of URLs.
    pub const PATTERNS_MAX: usize = 200;
    /// Types of items of one pattern.
    pub const TYPES_OF_PATTERN_MAX: usize = 20;
    /// Lists, tables and the like of one pattern.
    pub const REPEATED_OF_PATTERN_MAX: usize = 24;
    /// Fields of one list or table.
    pub const FIELDS_OF_REPEATED_MAX: usize = 40;
    /// Fields of all lists and tables together.
    pub const FIELDS_OF_ALL_REPEATED_MAX: usize = 4_000;
    /// Examples of one thing.
    pub const EXAMPLES_MAX: usize = 3;
    /// The length of an example, in characters.
    pub const EXAMPLE_CHARS_MAX: usize = 80;
    /// The length of a URL that is kept as an example, in bytes. Longer ones are not kept.
    pub const URL_BYTES_MAX: usize = 500;
    /// The length of a type's name or a property's path that is kept, in bytes. Longer ones are not kept.
    pub const NAME_BYTES_MAX: usize = 200;
}
