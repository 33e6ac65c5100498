//! Finds the crawl that the arguments name, in a data directory or a stack. The two differ only in
//! their readers.

use std::path::Path;

use dragline_domain::definition::{HostPattern, Nofollow, Noindex};
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{Allowance, LocalStore, SqliteReader};
use dragline_ports::error::PortError;
#[cfg(feature = "stack")]
use dragline_ports::error::PortErrorKind;
use dragline_ports::reader::Reader;
use serde::Serialize;

use crate::args::{crawl_flag, data_flag};
use crate::error::Failure;
use crate::location::{CrawlLocation, DataDirectory, Directory};

/// A crawl, with a reader of its data.
pub(crate) struct CrawlHandle<R> {
    pub(crate) crawl: CrawlId,
    pub(crate) reader: R,
    /// Where it is stored.
    pub(crate) place: CrawlLocation,
    /// Whether certificates were checked.
    pub(crate) certificates: Certificates,
    /// The hosts whose robots.txt is not obeyed.
    pub(crate) ignored_robots: Vec<HostPattern>,
    /// Whether links that are marked `nofollow` are followed.
    pub(crate) nofollow: Nofollow,
    /// Whether pages are kept that ask for noindex.
    pub(crate) noindex: Noindex,
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
pub(crate) fn crawls(data: &Path) -> Result<Vec<CrawlId>, Failure> {
    let reading = LocalStore::open_read_only(data)?;
    reading.crawls().map_err(cannot_query(data))
}

/// Returns the crawl of this name among those of a data directory, or the only one if no name is
/// given. `None` if there is no crawl at all.
///
/// # Errors
/// There is no such crawl, or there are several and none is named.
pub(crate) fn choose(data: &Path, crawls: &[CrawlId], wanted: Option<&CrawlId>) -> Result<Option<CrawlId>, Failure> {
    match (wanted, crawls) {
        (Some(wanted), crawls) if crawls.contains(wanted) => Ok(Some(wanted.clone())),
        (_, []) => Ok(None),
        (Some(wanted), crawls) => {
            let message = format!("there is no crawl `{wanted}` in {}", data.display());
            Err(Failure::new(message).with_hint(format!("it holds {}", names(crawls))))
        }
        (None, [only]) => Ok(Some(only.clone())),
        (None, [first, ..]) => {
            let message = format!("{} holds several crawls: {}", data.display(), names(crawls));
            let (example, status) = (crawl_flag(first), format!("dragline status{}", data_flag(data)));
            let hint = format!("name one, as in `{}`; `{status}` lists them", example.trim_start());
            Err(Failure::new(message).with_hint(hint))
        }
    }
}

/// The maximum number of crawls in a message.
const NAMED_MAX: usize = 10;

/// Lists crawls for a message.
fn names(crawls: &[CrawlId]) -> String {
    let named: Vec<_> = crawls.iter().take(NAMED_MAX).map(|crawl| format!("`{crawl}`")).collect();
    let more = match crawls.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}

/// Returns a function that turns the error of a data directory's database into a failure.
pub(crate) fn cannot_query(data: &Path) -> impl Fn(PortError) -> Failure {
    move |error| {
        let message = format!("{} cannot be read: cannot read the database: {}", data.display(), error.source);
        Failure::new(message).caused_by(&error)
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
) -> Result<Option<CrawlHandle<SqliteReader>>, Failure> {
    let data = data.into();
    let reading = LocalStore::open_read_only(data.path)?;
    let failed = cannot_query(data.path);
    let crawls = reading.crawls().map_err(&failed)?;
    let Some(crawl) = choose(data.path, &crawls, wanted)? else { return Ok(None) };
    let row = reading.load_crawl(&crawl).map_err(&failed)?;
    let is_unchecked = reading.allowed(&crawl).map_err(failed)?.contains(&Allowance::UncheckedCertificates);
    let place = CrawlLocation::Data(Directory::locate(data, &crawl, &crawls));
    Ok(Some(CrawlHandle {
        reader: reading.into_reader(crawl.clone()),
        crawl,
        place,
        certificates: if is_unchecked { Certificates::NotChecked } else { Certificates::Checked },
        nofollow: row.as_ref().map(|row| row.definition.nofollow).unwrap_or_default(),
        noindex: row.as_ref().map(|row| row.definition.noindex).unwrap_or_default(),
        ignored_robots: row.map(|row| row.definition.ignore_robots.clone()).unwrap_or_default(),
    }))
}

/// Returns the error for a data directory without any crawl: a process died before it stored the
/// first.
pub(crate) fn no_crawl_error<'a>(data: impl Into<DataDirectory<'a>>) -> Failure {
    Directory::with_only_crawl(data).not_begun_error()
}

impl<R: Reader> CrawlHandle<R> {
    /// Returns the given iteration, or the latest if none is given.
    ///
    /// # Errors
    /// There is no such iteration, or it cannot be read.
    pub(crate) async fn iteration(&self, wanted: Option<Iteration>) -> Result<IterationRow, Failure> {
        let latest = self.reader.latest_iteration().await.map_err(|error| self.read_error(error))?;
        let Some(latest) = latest else { return Err(self.place.not_begun_error(&self.crawl)) };
        let Some(wanted) = wanted.filter(|wanted| *wanted != latest.number) else { return Ok(latest) };
        let row = self.reader.load_iteration(wanted).await.map_err(|error| self.read_error(error))?;
        row.ok_or_else(|| no_iteration_error(&self.crawl, wanted, latest.number))
    }

    /// Returns the given iteration, or the latest if none is given, if all of it is stored.
    ///
    /// # Errors
    /// There is no such iteration, it was pruned, or it cannot be read.
    pub(crate) async fn whole_iteration(&self, wanted: Option<Iteration>) -> Result<IterationRow, Failure> {
        let row = self.iteration(wanted).await?;
        match row.pruned_at {
            Some(at) => {
                let (crawl, iteration, day) = (&self.crawl, row.number, at.strftime("%Y-%m-%d"));
                let message = format!("iteration {iteration} was pruned on {day}; what later ones refer to is kept");
                Err(Failure::new(format!("the crawl `{crawl}`: {message}")))
            }
            None => Ok(row),
        }
    }

    /// Returns the newest pruned iteration; `None` if none was pruned. Iterations are pruned from
    /// the oldest on.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub(crate) async fn newest_pruned(&self) -> Result<Option<Iteration>, Failure> {
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
    pub(crate) fn read_error(&self, error: PortError) -> Failure {
        match &self.place {
            CrawlLocation::Data(directory) => cannot_query(&directory.path)(error),
            #[cfg(feature = "stack")]
            CrawlLocation::Stack(_) => aws_error(&error),
        }
    }

    /// Returns the error for a WARC object that cannot be read.
    pub(crate) fn object_error(&self, error: PortError) -> Failure {
        match &self.place {
            CrawlLocation::Data(_) => error.into(),
            #[cfg(feature = "stack")]
            CrawlLocation::Stack(_) => aws_error(&error),
        }
    }
}

/// Returns the error for an iteration that a crawl does not have.
pub(crate) fn no_iteration_error(crawl: &CrawlId, wanted: Iteration, latest: Iteration) -> Failure {
    Failure::new(format!("the crawl `{crawl}` has no iteration {wanted}; the latest is {latest}"))
}

#[cfg(feature = "stack")]
fn aws_error(error: &PortError) -> Failure {
    Failure::from_error(error).with_hints(aws_hint(error.kind))
}

/// Returns a hint for an error of AWS; `None` if the message is enough.
#[cfg(feature = "stack")]
pub(crate) const fn aws_hint(kind: PortErrorKind) -> Option<&'static str> {
    match kind {
        PortErrorKind::Unavailable => Some("check the network, AWS_REGION and AWS_ENDPOINT_URL, and try again"),
        PortErrorKind::Refused => Some("check the permissions that docs/reference/commands.md lists"),
        PortErrorKind::Full | PortErrorKind::Corrupt | PortErrorKind::TooLarge | PortErrorKind::Other => None,
    }
}
