//! An explicit-state model of the commit protocol, over the rows and transitions of production.
//!
//! It visits every state that the workers can reach, breadth first. The rows are those of
//! [`dragline_domain::frontier`], and its functions make every change to them, called by `store` as
//! an adapter would call them. The model only adds who calls them when, on rows read earlier, and
//! what may go wrong in between. `docs/internals/protocol.md` says what is explored and what is
//! not.

mod checker;
mod config;
mod configurations;
mod crawler;
mod fingerprint;
mod invariants;
mod model;
mod mutation;
mod parser;
mod scheduler;
mod site;
mod state;
mod steps;
mod store;
mod sweeper;
mod tidying;

pub use checker::{Finding, Report, explore};
pub use config::{Config, Cut, Faults, History, LateMessages, Reading, Sweeping, Workers};
pub use invariants::Invariant;
pub use mutation::Mutation;
pub use site::Site;
