//! Runs by seed, and whether what watches them sees what it should.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod runs;
mod witnesses;
