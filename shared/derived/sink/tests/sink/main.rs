//! The sink with a real PostgreSQL: whether the database equals the crawl, whatever happens on the
//! way.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod cluster;
mod crawled;
mod errors;
mod kept;
mod partitions;
mod proxy;
mod restarts;
mod roles;
mod stored;
mod values;
