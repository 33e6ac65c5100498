//! The results of a crawl in a PostgreSQL database or in Parquet files, for people who use SQL.
//!
//! It is derived from a [`Reader`](dragline_ports::reader::Reader), so it is the same for a data
//! directory and a stack, and no step of a crawl waits for it. [`write()`] compares the crawl with
//! the database, batch by batch, and commits each batch together with its place: killed at any
//! moment and run again it goes on, and once it is through, the database equals the crawl. Tables
//! and columns are in `docs/reference/sink.md`. [`parquet`] writes files, [`Destination`] is
//! either, and [`keep()`] keeps it up to date while the crawl goes on.

mod address;
mod batch;
mod catalog;
mod copy;
mod destination;
mod error;
mod follow;
mod items;
mod iterations;
mod keep;
mod kind;
mod names;
pub mod parquet;
mod place;
mod session;
mod source;
mod tables;
mod tls;

pub use address::{Address, AddressError};
pub use destination::Destination;
pub use error::SinkError;
pub use follow::{Event, Start, Target, Totals, write};
pub use keep::{Notice, keep};
pub use names::{NameError, RoleName, SchemaName};
