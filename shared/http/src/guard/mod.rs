//! Whom Dragline talks to.
//!
//! The guard stands in three places, because none sees everything:
//! 1. an address written into the URL, in any spelling, is checked before anything else (`fetcher.rs`): it never meets a resolver;
//! 2. what a name resolves to is checked, and exactly the checked addresses are connected to, with no second lookup;
//! 3. the peer of each new connection is checked before a request goes through it, should the first two ever err.

mod connector;
mod lookup;
mod refusal;
mod resolver;

pub(crate) use connector::{ConnectLayer, ends_of};
pub use lookup::{NameLookup, SystemLookup};
pub(crate) use refusal::NoConnection;
pub(crate) use resolver::GuardedResolver;
