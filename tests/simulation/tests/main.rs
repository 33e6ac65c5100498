//! Runs by seed, and tests of the invariants that check them.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod runs;
mod witnesses;
