//! The first step: a command becomes an iteration with its seeds.

use std::collections::BTreeMap;

use dragline_domain::frontier::{
    AddTodo, Claim, Claimer, IterationRow, OriginKey, RecrawlCursor, Reserve, Sighting, TodoEntry, TodoSource,
    split_into_chunks,
};
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, Origin};

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::nudge::nudge;
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
    let frontier = world.frontier();
    let context = contexts.get(frontier, &command.crawl).await?;
    let now = world.clock().now();
    let budget = &context.definition.budget;
    let begin = BeginIteration {
        crawl: command.crawl.clone(),
        trigger: command.trigger.clone(),
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
        let seeds = by_origin(&context.definition.seeds);
        for (origin, urls) in &seeds {
            seed(world, &context, command, &iteration, origin, urls).await?;
        }
        open_for_recrawl(world, &context, command, &iteration, &seeds).await?;
        frontier.return_token(&command.crawl, iteration.number).await?;
    }
    Ok(Started::Iteration(iteration))
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

async fn seed(
    world: &impl World,
    context: &CrawlContext,
    command: &StartCommand,
    iteration: &IterationRow,
    origin: &Origin,
    paths: &[String],
) -> PortResult<()> {
    let key = OriginKey { crawl: command.crawl.clone(), origin: origin.clone() };
    let now = world.clock().now();
    let request = ClaimRequest {
        origin: key.clone(),
        iteration: iteration.number,
        claimer: Claimer::trigger(&command.trigger),
        if_due: None,
        now,
        urls: paths.iter().map(|path| (path.clone(), Sighting { depth: 0, via: None })).collect(),
    };
    let claims = world.frontier().claim(&request).await?;
    let entries = paths.iter().zip(claims).filter_map(|(path, claim)| match claim {
        Claim::Own { last } => Some(TodoEntry { path_and_query: path.clone(), via: None, redirects: 0, last }),
        Claim::Taken | Claim::NotDue => None,
    });
    let chunks = split_into_chunks(iteration.number, 0, &TodoSource::trigger(&command.trigger), entries);
    let count = chunks.iter().map(|chunk| chunk.entries.len() as u64).sum();
    open(world, context, command, iteration, key, count, chunks).await
}

async fn open(
    world: &impl World,
    context: &CrawlContext,
    command: &StartCommand,
    iteration: &IterationRow,
    origin: OriginKey,
    count: u64,
    chunks: Vec<dragline_domain::frontier::TodoChunk>,
) -> PortResult<()> {
    let now = world.clock().now();
    let add = AddTodo { count, pace: context.pace(), now, due: after(now, world.timing().grace) };
    let seed = SeedOrigin { origin, iteration: iteration.number, trigger: command.trigger.clone(), add, chunks };
    match world.frontier().seed_origin(&seed).await? {
        Seeded::Added | Seeded::Already => nudge(world, &seed.origin, iteration.number).await,
        Seeded::IterationOver => Ok(()),
    }
}

/// Opens the origins that no seed opens but that have candidates due from earlier iterations.
async fn open_for_recrawl(
    world: &impl World,
    context: &CrawlContext,
    command: &StartCommand,
    iteration: &IterationRow,
    seeds: &Seeds,
) -> PortResult<()> {
    let frontier = world.frontier();
    let mut last: Option<Origin> = None;
    loop {
        let origins = frontier.list_origins(&command.crawl, last.as_ref(), ORIGINS_PAGE).await?;
        let Some(end) = origins.last().cloned() else { return Ok(()) };
        for origin in origins.into_iter().filter(|origin| !seeds.contains_key(origin)) {
            if !context.allowed.contains_origin(&origin) {
                continue;
            }
            let key = OriginKey { crawl: command.crawl.clone(), origin };
            let due =
                frontier.due_candidates(&key, iteration.number, &RecrawlCursor::Start, iteration.started_at, 1).await?;
            if !due.entries.is_empty() {
                open(world, context, command, iteration, key, 0, Vec::new()).await?;
            }
        }
        last = Some(end);
    }
}
