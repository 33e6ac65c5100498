//! Where results are written.

use std::fmt;
use std::path::PathBuf;

use dragline_domain::ids::CrawlId;
use dragline_ports::reader::Reader;

use crate::error::SinkError;
use crate::follow::{Event, Target, Totals, write};
use crate::parquet::write_parquet;

/// Where results are written.
#[derive(Clone, Debug)]
pub enum Destination {
    /// Tables of a PostgreSQL database.
    Database(Box<Target>),
    /// Parquet files in this directory.
    Directory(PathBuf),
}

impl Destination {
    /// Writes what is new. `watch` is called after each transaction or partition, and before each
    /// pause.
    ///
    /// # Errors
    /// The crawl cannot be read, or its results cannot be written there. What was written stays.
    pub async fn write(
        &self,
        reader: &impl Reader,
        crawl: &CrawlId,
        watch: &impl Fn(Event),
    ) -> Result<Totals, SinkError> {
        match self {
            Self::Database(target) => write(reader, crawl, target, watch).await,
            Self::Directory(directory) => write_parquet(reader, crawl, directory, watch).await,
        }
    }
}

impl fmt::Display for Destination {
    /// Writes where it is, without the user and the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(target) => write!(f, "{}, schema `{}`", target.address, target.schema),
            Self::Directory(directory) => write!(f, "{}", directory.display()),
        }
    }
}
