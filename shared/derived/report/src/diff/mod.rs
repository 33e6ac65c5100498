//! What differs between two iterations: pages, and their links.
//!
//! Each iteration's log says what its visits changed, so the difference between two neighbours is what the log of the later one says, and is passed
//! on as it is read. For iterations further apart the steps of each URL are put together ([`Net`]). That needs memory for each URL that changed, but
//! little: some 50 bytes, without the URL itself, and of a million URLs at the most. If more changed, the logs are read again for the rest.

mod compact;
mod items;
mod leaves;
mod links;
mod net;
mod pages;
mod span;
#[cfg(test)]
mod tests;

pub use items::{ItemChange, ItemChangeKind, each_item_change};
pub use links::{LinkChange, LinkChangeKind, each_link_change};
pub use net::{Net, PartSet, Shows, Step};
pub use pages::{PageChange, Which, each_page_change};
pub use span::{Span, SpanError};

/// The number of rows in one read.
const BATCH_ROWS: usize = 500;

/// The most URLs or links that are remembered at once.
const REMEMBERED_MAX: usize = 1_000_000;
