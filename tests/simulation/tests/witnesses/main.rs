//! The witnesses themselves: sites are what their seed says, a good run satisfies every invariant, and each one sees its damage.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod damage;
mod good_runs;
mod run;
mod sites;
