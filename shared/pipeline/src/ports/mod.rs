//! What the steps need of the world outside. Narrow and coarse: each operation is a whole commit point.
//!
//! Expected races and failures are values; an error is a surprise.

pub mod fetcher;
