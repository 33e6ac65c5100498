//! Finds the crawl that the arguments name, in a data directory or a stack. The two differ only in the reader.

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
    /// The reader of its data.
    pub(crate) reader: R,
    /// Where it is stored.
    pub(crate) place: Place,
    /// Whether certificates were checked.
    pub(crate) certificates: Certificates,
}

/// Whether servers had to prove their identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Certificates {
    /// They had to.
    Checked,
    /// They did not have to: the crawl was given `--insecure`.
    NotChecked,
}

/// Returns the crawl in a data directory, whether it is running or not; `None` before its first iteration.
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
    /// Returns the given iteration, or the latest if none is given.
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

    /// Returns the error of a crawl that cannot be read.
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
