//! The four steps over local adapters with injected faults, driven by one seed.
//!
//! [`simulate`] runs a crawl of a generated site. Every port operation waits for its turn, which is
//! drawn from the seed; time moves only when nothing else can proceed. Afterwards the
//! [`invariants`] are recomputed from the log, the objects and the servers' access log.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod clocks;
mod conductor;
mod faults;
pub mod invariants;
mod life;
mod mail;
mod mutations;
mod parked;
mod ports;
mod report;
pub mod rules;
mod run;
mod scenario;
mod schedules;
mod setup;
mod trace;
pub mod web;
mod worker;
mod workers;
mod world;

pub use faults::{Plan, Scope, Side, Struck};
pub use mutations::{LateEffect, Mutation};
pub use report::{Remains, Report};
pub use run::{run, simulate};
pub use scenario::Kind;
pub use setup::Setup;
pub use trace::Trace;
