//! Differences of pages and links between two iterations.
//!
//! Each iteration's log records the changes that its visits found, so the differences of two
//! neighbours are read from the log of the later one and passed on as they come. For iterations
//! further apart, the steps of each URL are combined ([`Net`]). This needs some 50 bytes of memory
//! per changed URL, not including the URL itself, for up to a million URLs. If more changed, the
//! logs are read again for the rest.

mod compact;
mod items;
mod leaves;
mod links;
mod net;
mod pages;
mod span;
#[cfg(test)]
mod tests;

pub use items::{ItemChange, ItemChangeKind, each_first_item, each_item_change};
pub use links::{LinkChange, LinkChangeKind, each_link_change};
pub use net::{Net, PartSet, Step, VisitResult};
pub use pages::{PageChange, Which, each_page_change};
pub use span::{Span, SpanError};

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// The maximum number of URLs or links in memory.
const REMEMBERED_MAX: usize = 1_000_000;
