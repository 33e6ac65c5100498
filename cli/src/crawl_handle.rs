//! Finds the crawl that the arguments name, in a data directory or a stack. The two differ only in
//! their readers.

use std::path::Path;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{Allowance, LocalStore, SqliteReader};
use dragline_ports::error::PortError;
use dragline_ports::reader::Reader;
use serde::Serialize;

use crate::error::CliError;
use crate::location::{CrawlLocation, DataDirectory, Directory};
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

/// A crawl, with a reader of its data.
pub(crate) struct CrawlHandle<R> {
    pub(crate) crawl: CrawlId,
    pub(crate) reader: R,
    /// Where it is stored.
    pub(crate) place: CrawlLocation,
    /// Whether certificates were checked.
    pub(crate) certificates: Certificates,
}

/// Whether servers had to prove their identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Certificates {
    /// They had to.
    Checked,
    /// They did not: the crawl was given `--insecure`.
    NotChecked,
}

/// Returns the names of the crawls in a data directory, running or not.
///
/// # Errors
/// There is no data directory, or it cannot be read.
pub(crate) fn crawls(data: &Path) -> Result<Vec<CrawlId>, CliError> {
    let reading = LocalStore::open_read_only(data)?;
    reading.crawls().map_err(|source| CliError::Query { data: data.to_owned(), source })
}

/// Returns the crawl of this name among those of a data directory, or the only one if no name is
/// given. `None` if there is no crawl at all.
///
/// # Errors
/// There is no such crawl, or there are several and none is named.
pub(crate) fn choose(data: &Path, crawls: &[CrawlId], wanted: Option<&CrawlId>) -> Result<Option<CrawlId>, CliError> {
    match (wanted, crawls) {
        (Some(wanted), crawls) if crawls.contains(wanted) => Ok(Some(wanted.clone())),
        (_, []) => Ok(None),
        (Some(wanted), crawls) => {
            Err(CliError::NoCrawl { data: data.to_owned(), wanted: wanted.clone(), crawls: crawls.to_vec() })
        }
        (None, [only]) => Ok(Some(only.clone())),
        (None, crawls) => Err(CliError::WhichCrawl { data: data.to_owned(), crawls: crawls.to_vec() }),
    }
}

/// Returns the crawl of this name in a data directory, or the only one if no name is given; `None`
/// if there is no crawl at all.
///
/// # Errors
/// There is no data directory or no such crawl, there are several and none is named, or the
/// directory cannot be read.
pub(crate) fn in_directory<'a>(
    data: impl Into<DataDirectory<'a>>,
    wanted: Option<&CrawlId>,
) -> Result<Option<CrawlHandle<SqliteReader>>, CliError> {
    let data = data.into();
    let reading = LocalStore::open_read_only(data.path)?;
    let failed = |source| CliError::Query { data: data.path.to_owned(), source };
    let crawls = reading.crawls().map_err(failed)?;
    let Some(crawl) = choose(data.path, &crawls, wanted)? else { return Ok(None) };
    let is_unchecked = reading.allowed(&crawl).map_err(failed)?.contains(&Allowance::UncheckedCertificates);
    let place = CrawlLocation::Data(Directory::locate(data, &crawl, &crawls));
    Ok(Some(CrawlHandle {
        reader: reading.into_reader(crawl.clone()),
        crawl,
        place,
        certificates: if is_unchecked { Certificates::NotChecked } else { Certificates::Checked },
    }))
}

/// Returns the error for a data directory without any crawl: a process died before it stored the
/// first.
pub(crate) fn no_crawl_error<'a>(data: impl Into<DataDirectory<'a>>) -> CliError {
    CliError::NotBegun(Directory::with_only_crawl(data))
}

impl<R: Reader> CrawlHandle<R> {
    /// Returns the given iteration, or the latest if none is given.
    ///
    /// # Errors
    /// There is no such iteration, or it cannot be read.
    pub(crate) async fn iteration(&self, wanted: Option<Iteration>) -> Result<IterationRow, CliError> {
        let latest = self.reader.latest_iteration().await.map_err(|error| self.read_error(error))?;
        let Some(latest) = latest else { return Err(self.not_begun_error()) };
        let Some(wanted) = wanted.filter(|wanted| *wanted != latest.number) else { return Ok(latest) };
        let row = self.reader.load_iteration(wanted).await.map_err(|error| self.read_error(error))?;
        row.ok_or_else(|| self.no_iteration(wanted, latest.number))
    }

    /// Returns the given iteration, or the latest if none is given, if all of it is stored.
    ///
    /// # Errors
    /// There is no such iteration, it was pruned, or it cannot be read.
    pub(crate) async fn whole_iteration(&self, wanted: Option<Iteration>) -> Result<IterationRow, CliError> {
        let row = self.iteration(wanted).await?;
        match row.pruned_at {
            Some(at) => Err(CliError::Pruned { crawl: self.crawl.clone(), iteration: row.number, at }),
            None => Ok(row),
        }
    }

    /// Returns the newest pruned iteration; `None` if none was pruned. Iterations are pruned from
    /// the oldest on.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub(crate) async fn newest_pruned(&self) -> Result<Option<Iteration>, CliError> {
        let latest = self.reader.latest_iteration().await.map_err(|error| self.read_error(error))?;
        let mut newest = None;
        // A binary search.
        let (mut low, mut high) = (1, latest.map_or(0, |latest| latest.number.number()));
        while low <= high {
            let middle = low + (high - low) / 2;
            let Some(number) = Iteration::new(middle) else { break };
            let row = self.reader.load_iteration(number).await.map_err(|error| self.read_error(error))?;
            if row.is_some_and(|row| row.pruned_at.is_some()) {
                newest = Some(number);
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        Ok(newest)
    }

    /// Returns the error for a crawl that cannot be read.
    pub(crate) fn read_error(&self, source: PortError) -> CliError {
        match &self.place {
            CrawlLocation::Data(directory) => CliError::Query { data: directory.path.clone(), source },
            #[cfg(feature = "stack")]
            CrawlLocation::Stack(_) => DeployedError::Port(source).into(),
        }
    }

    /// Returns the error for a WARC object that cannot be read.
    pub(crate) fn object_error(&self, source: PortError) -> CliError {
        match &self.place {
            CrawlLocation::Data(_) => CliError::Port(source),
            #[cfg(feature = "stack")]
            CrawlLocation::Stack(_) => DeployedError::Port(source).into(),
        }
    }

    fn not_begun_error(&self) -> CliError {
        match &self.place {
            CrawlLocation::Data(directory) => CliError::NotBegun(directory.clone()),
            #[cfg(feature = "stack")]
            CrawlLocation::Stack(stack) => {
                DeployedError::NotBegun { crawl: self.crawl.clone(), stack: stack.clone() }.into()
            }
        }
    }

    fn no_iteration(&self, wanted: Iteration, latest: Iteration) -> CliError {
        match &self.place {
            CrawlLocation::Data(_) => CliError::NoIteration { crawl: self.crawl.clone(), wanted, latest },
            #[cfg(feature = "stack")]
            CrawlLocation::Stack(_) => DeployedError::NoIteration { crawl: self.crawl.clone(), wanted, latest }.into(),
        }
    }
}
