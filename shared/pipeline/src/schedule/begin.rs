//! Beginning an iteration with its seeds, and adding a URL to one that runs.

use std::collections::BTreeMap;

use dragline_domain::frontier::{
    AddTodo, Claim, Claimer, IterationRow, OriginKey, RecrawlCursor, Reserve, SEEDING_URLS_MAX, Seeding, Sighting,
    TodoChunk, TodoEntry, TodoSource, split_into_chunks,
};
use dragline_domain::ids::TriggerId;
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, Origin};

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::nudge::{Convoy, nudge_into};
use crate::ports::clock::Clock;
use crate::ports::error::PortResult;
use crate::ports::frontier::{BeginIteration, Begun, ClaimRequest, Frontier, SeedOrigin, Seeded};
use crate::ports::queue::StartCommand;

/// Origins are gone through so many at a time.
const ORIGINS_PAGE: usize = 500;

/// What became of a start command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// The iteration runs, with every seed in.
    Iteration(IterationRow),
    /// An iteration that something else started still runs.
    Busy(IterationRow),
}

/// Begins an iteration, or goes on beginning it after a crash.
///
/// Effects in order: trigger and iteration rows; claims of seeds; origin rows with todo; tickets; the token returned. The same command
/// again repeats all of it with the same rows.
///
/// # Errors
/// Those of the ports; the command is then to be delivered again.
pub async fn start(world: &impl World, contexts: &Contexts, command: &StartCommand) -> PortResult<Started> {
    start_with(world, contexts, command, None).await
}

/// As [`start`], with a URL that the definition need not name.
pub(super) async fn start_with(
    world: &impl World,
    contexts: &Contexts,
    command: &StartCommand,
    url: Option<&CrawlUrl>,
) -> PortResult<Started> {
    let frontier = world.frontier();
    let context = contexts.current(frontier, &command.crawl).await?;
    let now = world.clock().now();
    let budget = &context.definition.budget;
    let begin = BeginIteration {
        crawl: command.crawl.clone(),
        trigger: command.trigger.clone(),
        version: context.version(),
        budget: Reserve { pages: budget.pages, bytes: budget.bytes },
        now,
        ends_at: budget.duration.map(|duration| after(now, duration)),
        due: after(now, world.timing().grace),
    };
    let iteration = match frontier.begin_iteration(&begin).await? {
        Begun::Busy(row) => return Ok(Started::Busy(row)),
        Begun::Iteration(row) => row,
    };
    if iteration.token_out {
        // It may have begun with an earlier delivery of this command: whatever was put since, its seeds are those of its own version.
        let context = contexts.of_iteration(frontier, &command.crawl, iteration.number).await?;
        let seeds = by_origin(&context.definition.seeds);
        let beginning = Beginning { world, context: &context, trigger: &command.trigger, iteration: &iteration };
        let mut convoy = Convoy::default();
        for (origin, urls) in &seeds {
            beginning.seed(origin, urls, &mut convoy).await?;
            convoy.send_if_full(world).await?;
        }
        beginning.open_for_recrawl(&seeds, &mut convoy).await?;
        convoy.send(world).await?;
        if let Some(url) = url {
            seed_url(world, &context, &command.trigger, &iteration, url).await?;
        }
        frontier.return_token(&command.crawl, iteration.number).await?;
    }
    Ok(Started::Iteration(iteration))
}

/// Adds a URL to an iteration, once per trigger. What the definition names may be among its seeds as well: it is claimed once.
pub(super) async fn seed_url(
    world: &impl World,
    context: &CrawlContext,
    trigger: &TriggerId,
    iteration: &IterationRow,
    url: &CrawlUrl,
) -> PortResult<Seeded> {
    let beginning = Beginning { world, context, trigger: &trigger.of_url(), iteration };
    let mut convoy = Convoy::default();
    let seeded = beginning.seed(&url.origin(), &[url.path_and_query().to_owned()], &mut convoy).await?;
    convoy.send(world).await?;
    Ok(seeded)
}

type Seeds = BTreeMap<Origin, Vec<String>>;

fn by_origin(urls: &[CrawlUrl]) -> Seeds {
    let mut seeds = Seeds::new();
    for url in urls {
        let paths = seeds.entry(url.origin()).or_default();
        if !paths.iter().any(|path| path == url.path_and_query()) {
            paths.push(url.path_and_query().to_owned());
        }
    }
    seeds
}

/// An iteration that its trigger has begun and still owes seeds.
struct Beginning<'b, W> {
    world: &'b W,
    context: &'b CrawlContext,
    trigger: &'b TriggerId,
    iteration: &'b IterationRow,
}

impl<W: World> Beginning<'_, W> {
    /// Claims the seeds of an origin and adds them, as many at once as a transaction surely holds.
    ///
    /// The parts are cut from the definition alone, so that the command, when it comes again, cuts them in the same places.
    async fn seed(&self, origin: &Origin, paths: &[String], convoy: &mut Convoy) -> PortResult<Seeded> {
        let key = OriginKey { crawl: self.iteration.crawl.clone(), origin: origin.clone() };
        let mut seeded = Seeded::Already;
        for (part, paths) in (0..).zip(paths.chunks(SEEDING_URLS_MAX)) {
            let seeding = Seeding::new(self.trigger, part);
            let entries = self.claim(&key, paths).await?;
            let chunks = split_into_chunks(self.iteration.number, 0, &TodoSource::seeds(&seeding), entries);
            seeded = self.add(&key, seeding, chunks).await?;
            if seeded == Seeded::IterationOver {
                return Ok(seeded);
            }
        }
        nudge_into(self.world, &key, self.iteration.number, convoy).await?;
        Ok(seeded)
    }

    /// Those of these seeds that are the trigger's own.
    async fn claim(&self, origin: &OriginKey, paths: &[String]) -> PortResult<Vec<TodoEntry>> {
        let request = ClaimRequest {
            origin: origin.clone(),
            iteration: self.iteration.number,
            claimer: Claimer::trigger(self.trigger),
            if_due: None,
            now: self.world.clock().now(),
            urls: paths.iter().map(|path| (path.clone(), Sighting { depth: 0, via: None })).collect(),
        };
        let claims = self.world.frontier().claim(&request).await?;
        let own = paths.iter().zip(claims).filter_map(|(path, claim)| match claim {
            Claim::Own { last } => Some(TodoEntry { path_and_query: path.clone(), via: None, redirects: 0, last }),
            Claim::Taken { .. } | Claim::NotDue => None,
        });
        Ok(own.collect())
    }

    async fn add(&self, origin: &OriginKey, seeding: Seeding, chunks: Vec<TodoChunk>) -> PortResult<Seeded> {
        let now = self.world.clock().now();
        let count = chunks.iter().map(|chunk| chunk.entries.len() as u64).sum();
        let due = after(now, self.world.timing().grace);
        let add = AddTodo { count, pace: self.context.pace(), now, due };
        let seed = SeedOrigin { origin: origin.clone(), iteration: self.iteration.number, seeding, add, chunks };
        self.world.frontier().seed_origin(&seed).await
    }

    /// Opens the origins that no seed opens but that have candidates due from earlier iterations.
    async fn open_for_recrawl(&self, seeds: &Seeds, convoy: &mut Convoy) -> PortResult<()> {
        let (frontier, iteration) = (self.world.frontier(), self.iteration);
        let mut last: Option<Origin> = None;
        loop {
            let origins = frontier.list_origins(&iteration.crawl, last.as_ref(), ORIGINS_PAGE).await?;
            let Some(end) = origins.last().cloned() else { return Ok(()) };
            for origin in origins.into_iter().filter(|origin| !seeds.contains_key(origin)) {
                if !self.context.allowed.contains_origin(&origin) {
                    continue;
                }
                let key = OriginKey { crawl: iteration.crawl.clone(), origin };
                let (start, now) = (RecrawlCursor::Start, iteration.started_at);
                let due = frontier.due_candidates(&key, iteration.number, &start, now, 1).await?;
                if !due.entries.is_empty()
                    && self.add(&key, Seeding::new(self.trigger, 0), Vec::new()).await? != Seeded::IterationOver
                {
                    nudge_into(self.world, &key, iteration.number, convoy).await?;
                    convoy.send_if_full(self.world).await?;
                }
            }
            last = Some(end);
        }
    }
}
