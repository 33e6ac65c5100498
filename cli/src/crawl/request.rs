//! What a run is asked to do, and all that depends on it.

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{IterationRow, Selection, Task};
use dragline_domain::ids::CrawlId;

use super::demanded::DemandedUrls;
use super::run::CliWorld;
use super::stored_crawl;
use crate::args::{CrawlArgs, RunArgs};
use crate::definition_source::Source;
use crate::error::Failure;
use crate::location::Directory;
use crate::terminal::Console;

/// What a run is asked to do.
pub(super) enum Request {
    /// Crawl.
    Crawl,
    /// Visit URLs.
    Demand(DemandedUrls),
    /// Rebuild documents.
    Reparse(Selection),
}

impl Request {
    /// Returns the request of `crawl`.
    ///
    /// # Errors
    /// The patterns of a demand are too long, one of its URLs is not valid, or their file cannot be
    /// read.
    pub(super) fn from_args(args: &CrawlArgs, run: &RunArgs<'_>) -> Result<Self, Failure> {
        let Some(demand) = args.demand.demand()? else { return Ok(Self::Crawl) };
        DemandedUrls::open(demand, args.demand.input.as_deref(), &run.source).map(Self::Demand)
    }

    /// Returns the task of the iteration.
    pub(super) fn task(&self) -> Task {
        match self {
            Self::Crawl => Task::Crawl,
            Self::Demand(_) => Task::Demand,
            Self::Reparse(selection) => Task::Reparse(selection.clone()),
        }
    }

    /// Returns whether it makes requests.
    pub(super) const fn is_online(&self) -> bool {
        !matches!(self, Self::Reparse(_))
    }

    /// Returns the definition in the arguments; `None` to use a stored one, as for URLs on demand.
    ///
    /// # Errors
    /// A file cannot be read, or it, a URL, or the definition is not valid.
    pub(super) fn definition(&self, run: &RunArgs<'_>) -> Result<Option<Definition>, Failure> {
        match (self, &run.source) {
            (Self::Demand(_), Source::Urls(_)) => Ok(None),
            _ => run.definition(),
        }
    }

    /// Returns whether it needs a stored crawl.
    pub(super) const fn needs_crawl(&self, given: Option<&Definition>) -> bool {
        match self {
            Self::Crawl => given.is_none(),
            Self::Demand(_) => false,
            Self::Reparse(_) => true,
        }
    }

    /// Returns the crawl to run, which a given definition names. If demanded URLs need a crawl that
    /// the directory does not have, its definition is given from now on.
    ///
    /// # Errors
    /// There is no such crawl, there are several and none is named, or the URLs do not make a
    /// definition.
    pub(super) fn choose_crawl(
        &mut self,
        run: &RunArgs<'_>,
        given: &mut Option<Definition>,
        crawls: &[CrawlId],
    ) -> Result<CrawlId, Failure> {
        let mut named = run.crawl.clone();
        if let (Self::Demand(demanded), None) = (&mut *self, &given) {
            named = named.or_else(|| demanded.crawl());
            if named.as_ref().map_or(crawls.is_empty(), |name| !crawls.contains(name)) {
                *given = Some(demanded.new_definition(run)?);
            }
        }
        match given {
            Some(given) if self.is_online() => Ok(given.name.clone()),
            // A crawl must exist to have documents.
            Some(given) => stored_crawl(run, crawls, Some(&given.name)),
            None => stored_crawl(run, crawls, named.as_ref()),
        }
    }

    /// Adds what it has to visit to its iteration.
    ///
    /// # Errors
    /// A file cannot be read, or the store failed.
    pub(super) async fn add_urls(
        &mut self,
        world: &CliWorld,
        iteration: &IterationRow,
        console: &Console,
    ) -> Result<(), Failure> {
        match self {
            Self::Demand(demanded) => demanded.add(world, iteration, console).await,
            Self::Crawl | Self::Reparse(_) => Ok(()),
        }
    }

    /// Returns the command that resumes it, with the same network flags, for hints.
    pub(super) fn command_to_resume(&self, run: &RunArgs<'_>, directory: &Directory) -> String {
        match self {
            Self::Crawl | Self::Demand(_) => format!("{}{}", directory.command_to_resume(), run.network.flags()),
            Self::Reparse(selection) => directory.command_to_reparse(selection),
        }
    }
}
