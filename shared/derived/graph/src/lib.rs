//! The links of a site's current pages, laid out for queries: who links to a page, what is broken,
//! which redirects form chains, which pages are orphans, how far a page is from the start, and
//! which pages are duplicates.
//!
//! It is derived from a [`Reader`](dragline_ports::reader::Reader) into a SQLite file of its own,
//! so it is the same for a data directory and a stack, and no step of a crawl waits for it. You can
//! delete the file at any time; it will be rebuilt, as it is when the crawl has progressed. Its
//! tables and views are meant for people, too (`docs/reference/links.md`).

mod alike;
mod chains;
mod error;
mod flaws;
mod made;
mod make;
mod markup;
mod nodes;
mod place;
mod reach;
mod read;
mod rows;
mod state;
mod unchecked;

pub use error::{FileError, GraphError};
pub use made::BuildResult;
pub use read::Graph;
pub use rows::{
    Broken, Chain, Counts, Direction, Duplicate, Edge, LinkingPage, Malformed, MissingFragment, Node, Orphan, SiteLink,
    Step,
};
pub use state::{State, breaks_links};
pub use unchecked::Unchecked;
