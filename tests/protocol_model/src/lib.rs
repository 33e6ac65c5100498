//! An explicit-state model of the commit protocol, over the rows and transitions of production.
//!
//! Every state that the workers can reach is visited, breadth first. Rows are those of [`dragline_domain::frontier`], and every change
//! of them is one of its functions, called by `store` as an adapter would: the model holds only who calls them when, on what was read
//! earlier, and what may go wrong between. `docs/protocol.md` says what is explored, and what is not.

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

pub use checker::{Extent, Finding, Report, explore};
pub use config::{Config, Cut, Faults, History, LateMessages, Reading, Sweeping, Workers};
pub use invariants::Invariant;
pub use mutation::Mutation;
pub use site::Site;
