//! Crawls that were found where the arguments say, to be read. What they are read by is all in which those of data directories and of stacks differ.

use std::path::Path;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{Allowance, LocalStore, SqliteReader};
use dragline_ports::error::PortError;
use dragline_ports::reader::Reader;
use serde::Serialize;

use crate::error::CliError;
use crate::place::Place;
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

/// A crawl that was found.
pub(crate) struct Found<R> {
    /// Its name.
    pub(crate) crawl: CrawlId,
    /// What reads it.
    pub(crate) reader: R,
    /// Where it is.
    pub(crate) place: Place,
    /// Whether certificates were checked.
    pub(crate) certificates: Certificates,
}

/// Whether servers had to prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Certificates {
    /// They had.
    Checked,
    /// They had not: the crawl was given `--insecure`.
    NotChecked,
}

/// The crawl that a data directory holds, whether it runs or not; absent before its first iteration began.
///
/// # Errors
/// There is no data directory, or it cannot be read.
pub(crate) fn in_directory(data: &Path) -> Result<Option<Found<SqliteReader>>, CliError> {
    let reading = LocalStore::open_read_only(data)?;
    let failed = |source| CliError::Query { data: data.to_owned(), source };
    let Some(crawl) = reading.crawl().map_err(failed)? else { return Ok(None) };
    let is_unchecked = reading.allowed().map_err(failed)?.contains(&Allowance::UncheckedCertificates);
    Ok(Some(Found {
        reader: reading.into_reader(crawl.clone()),
        crawl,
        place: Place::Data(data.to_owned()),
        certificates: if is_unchecked { Certificates::NotChecked } else { Certificates::Checked },
    }))
}

impl<R: Reader> Found<R> {
    /// An iteration of it; where none is named, the latest.
    ///
    /// # Errors
    /// There is no such iteration, or it cannot be read.
    pub(crate) async fn iteration(&self, wanted: Option<Iteration>) -> Result<IterationRow, CliError> {
        let latest = self.reader.latest_iteration().await.map_err(|error| self.failed(error))?;
        let Some(latest) = latest else { return Err(self.not_begun()) };
        let Some(wanted) = wanted.filter(|wanted| *wanted != latest.number) else { return Ok(latest) };
        let row = self.reader.load_iteration(wanted).await.map_err(|error| self.failed(error))?;
        row.ok_or_else(|| self.no_iteration(wanted, latest.number))
    }

    /// It cannot be read.
    pub(crate) fn failed(&self, source: PortError) -> CliError {
        match &self.place {
            Place::Data(data) => CliError::Query { data: data.clone(), source },
            #[cfg(feature = "stack")]
            Place::Stack(_) => DeployedError::Port(source).into(),
        }
    }

    fn not_begun(&self) -> CliError {
        match &self.place {
            Place::Data(data) => CliError::NotBegun { data: data.clone() },
            #[cfg(feature = "stack")]
            Place::Stack(stack) => DeployedError::NotBegun { crawl: self.crawl.clone(), stack: stack.clone() }.into(),
        }
    }

    fn no_iteration(&self, wanted: Iteration, latest: Iteration) -> CliError {
        match &self.place {
            Place::Data(data) => CliError::NoIteration { data: data.clone(), wanted, latest: Some(latest) },
            #[cfg(feature = "stack")]
            Place::Stack(_) => DeployedError::NoIteration { crawl: self.crawl.clone(), wanted, latest }.into(),
        }
    }
}
