//! The links of a crawled site as it is now, laid out for questions: who links to a page, what is broken, which redirects follow one another, which
//! pages nobody links to, how far a page is from the start, and which pages are alike.
//!
//! It is derived from a [`Reader`](dragline_ports::reader::Reader) into a SQLite file of its own, so it is the same for a data directory and a
//! stack, and no step of a crawl waits for it. The file can be deleted at any time, and is made again when the crawl has gone on. Its tables and views
//! are meant for people, too (`docs/links.md`).

mod alike;
mod chains;
mod error;
mod made;
mod make;
mod nodes;
mod place;
mod reach;
mod read;
mod rows;
mod state;
mod unchecked;

pub use error::{FileError, GraphError};
pub use made::Made;
pub use read::Graph;
pub use rows::{Broken, Chain, Counts, Direction, Duplicate, Edge, Holder, Node, Orphan, SiteLink, Step};
pub use state::{State, breaks_links};
pub use unchecked::Unchecked;
