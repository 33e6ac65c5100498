//! What of a crawl is kept: pruning what nothing refers to, and forgetting URLs.

mod forget;
mod prune;

pub use forget::forget;
pub use prune::{Pruned, Stores, prune};
