//! The word index of a crawl's current pages, and searches in it.
//!
//! It is derived from a [`Reader`](dragline_ports::reader::Reader) and the [link
//! graph](dragline_graph::Graph) into a folder of its own, so it is the same for a data directory
//! and a stack, and no step of a crawl waits for it. Updates write only what has changed. You can
//! delete the folder at any time; it will be rebuilt. Each page is indexed in its own language, and
//! a query is looked up in all languages of the index (`docs/reference/search.md`).

mod around;
mod blocks;
mod characters;
mod compile;
mod edition;
mod entry;
mod error;
mod expand;
mod fields;
mod forms;
mod hot;
mod index;
mod languages;
mod lexicon;
mod parts;
mod published;
mod query;
mod runs;
mod search;
mod similar;
mod snippet;
#[cfg(test)]
mod spelling_tests;
mod standing;
#[cfg(test)]
mod tests;
mod words;

pub use blocks::{Blocks, Ranges};
pub use compile::{Correction, Typos};
pub use edition::{Edition, IndexFile};
pub use error::{IndexError, QueryError, QueryProblem, SearchError};
pub use fields::Part;
pub use index::{Changes, Index, UpdateResult};
pub use lexicon::{Word, WordPlace};
pub use parts::Parts;
pub use query::check;
pub use search::{FacetCount, Facets, Hit, PER_PAGE_MAX, Request, Results, SHOWN_MAX, SearchReport};
pub use similar::Similar;
pub use snippet::{Marked, Piece};
