//! The four steps of the Dragline crawler over its ports: schedule, crawl, parse, sweep.
//!
//! A step reads, decides by a pure function of the domain, and acts in a stated order. After a
//! crash at any point, another run of it, or the sweeper, continues from there. [`World`] names all
//! ports at once, and [`Adapters`] holds them.

mod access;
pub mod context;
pub mod crawl;
pub mod handover;
pub mod live;
pub mod parse;
pub mod retention;
pub mod schedule;
pub mod sweep;
pub mod tell;
pub mod wake;
mod walk;
pub mod watching;
mod world;

/// The most concurrent calls about origins in one step: each call mostly waits for an answer, and
/// the links of one segment may lead to thousands of origins.
const CALLS_AT_ONCE: usize = 16;

pub use world::{Adapters, DeadLeases, Timing, World};
