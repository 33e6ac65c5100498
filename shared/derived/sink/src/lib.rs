//! The results of a crawl in a PostgreSQL database, for people who use SQL.
//!
//! It is derived from a [`Reader`](dragline_ports::reader::Reader), so it is the same for a data
//! directory and a stack, and no step of a crawl waits for it. [`write()`] compares the crawl with
//! the database, batch by batch, and commits each batch together with its place: killed at any
//! moment and run again it goes on, and once it is through, the database equals the crawl. Tables
//! and columns are in `docs/reference/sink.md`.

mod address;
mod batch;
mod catalog;
mod copy;
mod error;
mod follow;
mod items;
mod iterations;
mod kind;
mod names;
mod place;
mod session;
mod source;
mod tables;
mod tls;

pub use address::{Address, AddressError};
pub use error::SinkError;
pub use follow::{Event, Start, Target, Totals, write};
pub use names::{NameError, RoleName, SchemaName};
