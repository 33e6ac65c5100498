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

    /// Returns the definition of a new crawl if the demanded URLs need one, as the directory has
    /// none for them; otherwise `None`.
    ///
    /// # Errors
    /// There is no URL, there are too many origins, or the file cannot be read.
    pub(super) fn new_definition(
        &mut self,
        run: &RunArgs<'_>,
        crawls: &[CrawlId],
    ) -> Result<Option<Definition>, Failure> {
        match (self.named_crawl(run), self) {
            (Some(name), Self::Demand(_)) if crawls.contains(&name) => Ok(None),
            (None, Self::Demand(_)) if !crawls.is_empty() => Ok(None),
            (_, Self::Demand(demanded)) => demanded.new_definition(run).map(Some),
            (_, Self::Crawl | Self::Reparse(_)) => Ok(None),
        }
    }

    /// Returns the crawl to run. A given definition names it.
    ///
    /// # Errors
    /// There is no such crawl, or there are several and none is named.
    pub(super) fn choose_crawl(
        &self,
        run: &RunArgs<'_>,
        given: Option<&Definition>,
        crawls: &[CrawlId],
    ) -> Result<CrawlId, Failure> {
        match (self, given) {
            (Self::Crawl | Self::Demand(_), Some(given)) => Ok(given.name.clone()),
            // A crawl must exist to have documents.
            (Self::Reparse(_), Some(given)) => stored_crawl(run, crawls, Some(&given.name)),
            (_, None) => stored_crawl(run, crawls, self.named_crawl(run).as_ref()),
        }
    }

    /// Returns the crawl that the arguments name, directly or by the host of a demanded URL; `None`
    /// if they name none.
    fn named_crawl(&self, run: &RunArgs<'_>) -> Option<CrawlId> {
        let by_url = || if let Self::Demand(demanded) = self { demanded.crawl() } else { None };
        run.crawl.clone().or_else(by_url)
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
