//! Distributes answers over iterations: each visits a URL once.

use std::collections::HashMap;
use std::sync::Arc;

use dragline_domain::frontier::{Demand, IterationBegun, IterationRow, Sighting, Task, Visits};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::url::CrawlUrl;
use dragline_engine::run::{Engine, Until};
use dragline_engine::{LocalWorld, local_world};
use dragline_import::{ArchiveFetcher, Archives, Capture};
use dragline_local::LocalStore;
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{self, SightedUrl};
use dragline_ports::archive::Archive;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Iterations, SeedResult};
use dragline_ports::queue::StartCommand;

use crate::error::Failure;
use crate::location::Directory;
use crate::notify::CliNotifier;
use crate::terminal::{Console, plural};

/// The number of URLs per batch.
const BATCH: usize = 1_000;

/// Answers by URL.
type Round = HashMap<CrawlUrl, Capture>;

/// The destination and the source of answers.
pub(super) struct Rounds<'a> {
    pub(super) store: &'a LocalStore,
    pub(super) archives: &'a Archives,
    pub(super) directory: &'a Directory,
    /// Identifies all answers: an interrupted import can only continue with the same ones.
    pub(super) digest: String,
    pub(super) console: &'a Console,
}

/// An iteration that has imported its answers.
pub(super) struct FinishedRound {
    pub(super) iteration: Iteration,
    pub(super) answers: u64,
}

impl Rounds<'_> {
    /// Imports answers, starting with an interrupted iteration.
    ///
    /// # Errors
    /// The interrupted import is of other archives, or the store failed.
    pub(super) async fn take(
        &self,
        crawl: &CrawlId,
        unfinished: Option<IterationRow>,
        rounds: Vec<Round>,
    ) -> Result<Vec<FinishedRound>, Failure> {
        let fetcher = Arc::new(ArchiveFetcher::new(self.archives).spooling_in(self.store.archive().spool()));
        let mut unfinished = unfinished.map(|row| self.check_same_archives(row)).transpose()?;
        // An interrupted iteration may have visited everything, but not parsed it.
        let rounds = if rounds.is_empty() && unfinished.is_some() { vec![Round::new()] } else { rounds };
        let mut taken = Vec::with_capacity(rounds.len());
        for round in rounds {
            let world = Arc::new(local_world(self.store, CliNotifier::printing(self.console)));
            let iteration = match unfinished.take() {
                Some(row) => row,
                None => self.begin(&world, crawl).await?,
            };
            let (number, answers) = (iteration.number, round.len() as u64);
            if iteration.token_out {
                add(&world, iteration, &round).await?;
            }
            fetcher.begin(round);
            let (fetchers, queue) = (Arc::clone(&fetcher), world.queue.clone());
            Engine::new(world, fetchers, queue).run(Until::Closed(crawl.clone())).await?;
            self.console.say(&format!("{crawl}: iteration {number} took {}", plural(answers, "answer")));
            taken.push(FinishedRound { iteration: number, answers });
        }
        Ok(taken)
    }

    fn trigger(&self, iteration: Iteration) -> TriggerId {
        TriggerId(format!("import-{}-{iteration}", self.digest))
    }

    /// Returns the iteration if it imports these answers.
    fn check_same_archives(&self, row: IterationRow) -> Result<IterationRow, Failure> {
        if row.trigger == self.trigger(row.number) {
            return Ok(row);
        }
        let what = "of other archives, and is not finished";
        Err(self.directory.unfinished_import_error(&row.crawl, row.number, what))
    }

    async fn begin(&self, world: &LocalWorld<CliNotifier>, crawl: &CrawlId) -> PortResult<IterationRow> {
        let latest = world.frontier().latest_iteration(crawl).await?;
        let next = latest.map_or(Iteration::FIRST, |latest| latest.number.next());
        let command = StartCommand { crawl: crawl.clone(), trigger: self.trigger(next) };
        match schedule::open(world, &Contexts::default(), &command, &Task::Import).await? {
            IterationBegun::Iteration(row) if row.number == next => Ok(row),
            // No other process uses the directory.
            IterationBegun::Iteration(_) | IterationBegun::Busy(_) => {
                let why = "another iteration began, although no other process uses the directory";
                Err(PortError::new(PortErrorKind::Corrupt, "begin iteration", crawl, why))
            }
        }
    }
}

/// Adds the URLs of a round to its iteration, and starts it. A repetition adds the same ones.
async fn add(world: &LocalWorld<CliNotifier>, iteration: IterationRow, round: &Round) -> PortResult<()> {
    let contexts = Contexts::default();
    let context = contexts.for_iteration(world.frontier(), &iteration.crawl, iteration.number).await?;
    let demand = Demand { depth: Some(0), visits: Visits::All, ..Demand::default() };
    let sighted = |(url, capture): (&CrawlUrl, &Capture)| SightedUrl {
        url: url.clone(),
        sighting: capture.sighting.as_deref().cloned().unwrap_or(Sighting::SEED),
    };
    let mut urls: Vec<SightedUrl> = round.iter().map(sighted).collect();
    urls.sort_unstable_by(|one, other| one.url.cmp(&other.url));
    for (batch, urls) in urls.chunks(BATCH).enumerate() {
        let trigger = TriggerId(format!("{}-{batch}", iteration.trigger));
        let added = schedule::add(world, &context, &trigger, &iteration, Some(&demand), urls.to_vec()).await?;
        if added.seeded == SeedResult::IterationOver {
            let why = "the iteration ended while URLs were being added to it";
            return Err(PortError::new(PortErrorKind::Unavailable, "add URLs", &iteration.crawl, why));
        }
    }
    schedule::go_on(world, &contexts, iteration).await?;
    Ok(())
}
