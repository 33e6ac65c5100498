//! Retention: pruning unreferenced data, and forgetting URLs.

mod forget;
mod prune;

pub use forget::forget;
pub use prune::{PruneTotals, Stores, prune};
