//! Beginning an iteration with its seeds, and adding a URL to a running one.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use dragline_domain::frontier::{
    AddTodo, Claim, Claimable, Claimer, DueQuery, IterationRow, OriginCursor, OriginKey, Pass, Reserve,
    SEEDING_URLS_MAX, Seeding, Sighting, TodoChunk, TodoEntry, TodoSource, Walk, split_into_chunks,
};
use dragline_domain::ids::TriggerId;
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, Origin};

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::wake::{Convoy, wake_into};
use crate::walk::{Until, WalkEnd, Walker};
use dragline_domain::frontier::Begun;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{BeginIteration, Candidates, ClaimRequest, Iterations, Origins, SeedOrigin, Seeded};
use dragline_ports::queue::{Message, Queue, StartCommand};

/// How many candidates are read at a time.
const CANDIDATES_PAGE: usize = 100;

/// Begins an iteration, or continues beginning it after a crash. A running iteration owes seeds while its token is out: the same command was sent
/// again, or another call continues with it.
///
/// Effects in order: trigger and iteration rows; claims of seeds; origin rows with todo; tickets; the cursor; the token returned or, if time ran
/// out first, the command sent again. The same command again repeats what is not known to be done, with the same rows.
///
/// # Errors
/// Returns the ports' errors; the command is then to be delivered again.
pub async fn start(world: &impl World, contexts: &Contexts, command: &StartCommand) -> PortResult<Begun> {
    start_with(world, contexts, command, None).await
}

/// Like [`start`], with a URL that the definition need not name. The URL comes first: if time runs out, whoever continues does not know about it.
pub(super) async fn start_with(
    world: &impl World,
    contexts: &Contexts,
    command: &StartCommand,
    url: Option<&CrawlUrl>,
) -> PortResult<Begun> {
    let (frontier, until) = (world.frontier(), Until::of(world));
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
        Begun::Iteration(row) => row,
        busy @ Begun::Busy(_) => return Ok(busy),
    };
    if !iteration.token_out {
        return Ok(Begun::Iteration(iteration));
    }
    // It may have begun with an earlier delivery of this command: whatever was put since, its seeds are those of its own version.
    let context = contexts.of_iteration(frontier, &command.crawl, iteration.number).await?;
    if let Some(url) = url {
        seed_url(world, &context, &command.trigger, &iteration, url).await?;
    }
    let seeder = Seeder { world, context: &context, trigger: &command.trigger, iteration: &iteration };
    match seeder.go_on(until).await? {
        WalkEnd::Through => {
            frontier.return_token(&command.crawl, iteration.number).await?;
            return Ok(Begun::Iteration(iteration.return_token().unwrap_or(iteration)));
        }
        WalkEnd::OutOfTime => world.queue().send(Message::Start(command.clone()), Duration::ZERO).await?,
        WalkEnd::Elsewhere => {}
    }
    Ok(Begun::Iteration(iteration))
}

/// Adds a URL to an iteration, once per trigger. If it is also one of the definition's seeds, it is claimed once.
pub(super) async fn seed_url(
    world: &impl World,
    context: &CrawlContext,
    trigger: &TriggerId,
    iteration: &IterationRow,
    url: &CrawlUrl,
) -> PortResult<Seeded> {
    let seeder = Seeder { world, context, trigger: &trigger.of_url(), iteration };
    let mut convoy = Convoy::default();
    let seeded = seeder.seed(&url.origin(), &[url.path_and_query().to_owned()], &mut convoy).await?;
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

/// An iteration that its trigger has begun and that still owes seeds.
struct Seeder<'b, W> {
    world: &'b W,
    context: &'b CrawlContext,
    trigger: &'b TriggerId,
    iteration: &'b IterationRow,
}

impl<W: World> Seeder<'_, W> {
    /// Seeds origins and opens known ones, from where the last call stopped.
    async fn go_on(&self, until: Until) -> PortResult<WalkEnd> {
        let seeds = by_origin(&self.context.definition.seeds);
        let mut convoy = Convoy::default();
        let mut seeding = Walker::resume(self.world, self.iteration, Walk::Seeds, until);
        let mut end = self.seed_all(&seeds, &mut seeding, &mut convoy).await?;
        if end == WalkEnd::Through {
            seeding.finish();
            end = self.open_for_recrawl(&seeds, until, &mut convoy).await?;
        }
        if end == WalkEnd::OutOfTime {
            seeding.store().await?;
        }
        convoy.send(self.world).await?;
        Ok(end)
    }

    async fn seed_all(&self, seeds: &Seeds, walker: &mut Walker<'_, W>, convoy: &mut Convoy) -> PortResult<WalkEnd> {
        let begin = match walker.reached() {
            OriginCursor::NotBegun => Bound::Unbounded,
            OriginCursor::After(last) => Bound::Excluded(last.clone()),
            OriginCursor::Done => return Ok(WalkEnd::Through),
        };
        for (origin, urls) in seeds.range((begin, Bound::Unbounded)) {
            self.seed(origin, urls, convoy).await?;
            convoy.send_if_full(self.world).await?;
            walker.pass(origin);
            if walker.is_to_rest()
                && let Some(end) = walker.rest(convoy).await?
            {
                return Ok(end);
            }
        }
        Ok(WalkEnd::Through)
    }

    /// Claims the seeds of an origin and adds them, as many at a time as surely fit a transaction.
    ///
    /// The parts are determined by the definition alone, so that a repeated command makes the same ones.
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
        wake_into(self.world, &key, self.iteration.number, convoy).await?;
        Ok(seeded)
    }

    /// Returns those of these seeds that the trigger owns.
    async fn claim(&self, origin: &OriginKey, paths: &[String]) -> PortResult<Vec<TodoEntry>> {
        let request = ClaimRequest {
            origin: origin.clone(),
            iteration: self.iteration.number,
            claimer: Claimer::trigger(self.trigger),
            claimable: Claimable::All,
            now: self.world.clock().now(),
            urls: paths.iter().map(|path| (path.clone(), Sighting { depth: 0, via: None })).collect(),
        };
        let claims = self.world.frontier().claim(&request).await?;
        let own = paths.iter().zip(claims).filter_map(|(path, claim)| match claim {
            Claim::Own { known } => Some(TodoEntry { known, ..TodoEntry::new(path) }),
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

    /// Opens the origins that no seed opens but that have candidates due from earlier iterations, or documents whose links other rules decided.
    /// Those of an origin that is no longer in scope are withdrawn.
    async fn open_for_recrawl(&self, seeds: &Seeds, until: Until, convoy: &mut Convoy) -> PortResult<WalkEnd> {
        let mut walker = Walker::resume(self.world, self.iteration, Walk::Known, until);
        loop {
            let origins = walker.next_page().await?;
            if origins.is_empty() {
                return Ok(WalkEnd::Through);
            }
            for origin in origins {
                if !seeds.contains_key(&origin) {
                    self.open_if_due(&origin, convoy).await?;
                    convoy.send_if_full(self.world).await?;
                }
                walker.pass(&origin);
                if walker.is_to_rest()
                    && let Some(end) = walker.rest(convoy).await?
                {
                    return Ok(end);
                }
            }
        }
    }

    async fn open_if_due(&self, origin: &Origin, convoy: &mut Convoy) -> PortResult<()> {
        let iteration = self.iteration;
        let key = OriginKey { crawl: iteration.crawl.clone(), origin: origin.clone() };
        if self.has_due(&key).await?
            && self.add(&key, Seeding::new(self.trigger, 0), Vec::new()).await? != Seeded::IterationOver
        {
            wake_into(self.world, &key, iteration.number, convoy).await?;
        }
        Ok(())
    }

    /// Whether an origin has candidates that are due. A page without any is not necessarily the last.
    async fn has_due(&self, origin: &OriginKey) -> PortResult<bool> {
        let (frontier, IterationRow { number, started_at, .. }) = (self.world.frontier(), self.iteration);
        let rules = self.context.rules;
        let query = DueQuery { iteration: *number, pass: Pass::All, rules, now: *started_at };
        let mut next = Some(String::new());
        while let Some(after) = next {
            let page = frontier.due_candidates(origin, &query, &after, CANDIDATES_PAGE).await?;
            if !page.entries.is_empty() {
                return Ok(true);
            }
            next = page.next;
        }
        Ok(false)
    }
}
