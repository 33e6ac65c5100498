//! The four steps over the local adapters wrapped in faults, driven from one seed.
//!
//! [`simulate`] runs a crawl of two small sites. Every port operation waits for its turn, which the seed draws; time moves only when
//! nothing can go on. Afterwards the invariants are recomputed from the log, the objects and the servers' own log of requests.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod checks;
mod conductor;
mod faults;
pub mod invariants;
mod mail;
mod mutations;
mod ports;
mod run;
mod site;
mod trace;
pub mod web;
mod workers;
mod world;

pub use checks::{Invariant, Violation};
pub use conductor::Worker;
pub use faults::{Plan, Scope, Side, Struck};
pub use mutations::Mutation;
pub use run::{Report, Setup, run, simulate};
pub use trace::Trace;
