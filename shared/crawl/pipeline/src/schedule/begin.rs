//! Beginning an iteration with its seeds, and adding URLs to a running one.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    AddTodo, Claim, Claimable, Claimer, Demand, DueQuery, IterationRow, OriginCursor, OriginKey, Pass, ReadAs, Reserve,
    SEEDING_URLS_MAX, Seeding, Selection, ShorterWays, Sighting, Task, TodoChunk, TodoEntry, TodoPlace, TodoSource,
    Walk, split_into_chunks,
};
use dragline_domain::ids::TriggerId;
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_formats::robots::ROBOTS_PATH;

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::wake::{Convoy, wake_into};
use crate::walk::{Until, WalkEnd, Walker};
use dragline_domain::frontier::IterationBegun;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, Candidates, ClaimRequest, DueCandidate, Iterations, Origins, SeedOrigin, SeedResult,
};
use dragline_ports::queue::{Message, Queue, StartCommand};
use futures_util::future::join_all;

/// The number of candidates read at a time.
const CANDIDATES_PAGE: usize = 100;

/// The pause before a crawl asks again whether it may begin.
const BUSY_PAUSE: Duration = Duration::from_secs(60);

/// Whether a start command is sent again later, as the running iteration is not a crawl.
pub(super) fn is_put_off(running: &IterationRow, task: &Task) -> bool {
    *task == Task::Crawl && running.task != Task::Crawl
}

/// Begins an iteration with this task, or continues to begin it after a crash. A running iteration
/// owes seeds while its token is out: the same command was sent again, or another call continues
/// with it.
///
/// Effects in order: trigger and iteration rows; claims of seeds; origin rows with todo; tickets;
/// the cursor; the token returned or, if time ran out first, the command sent again. A repeated
/// command repeats everything that is not known to be done, with the same rows.
///
/// # Errors
/// Returns the ports' errors; the command is then to be delivered again.
pub async fn start(
    world: &impl World,
    contexts: &Contexts,
    command: &StartCommand,
    task: &Task,
) -> PortResult<IterationBegun> {
    let until = Until::end_of_walk(world);
    match open(world, contexts, command, task).await? {
        IterationBegun::Iteration(row) => {
            Ok(IterationBegun::Iteration(go_on_until(world, contexts, row, until).await?))
        }
        busy @ IterationBegun::Busy(_) => Ok(busy),
    }
}

/// Continues to begin an iteration that owes seeds, and returns its token once they are in. An
/// iteration that owes none stays as it is.
///
/// # Errors
/// Returns the ports' errors.
pub async fn go_on(world: &impl World, contexts: &Contexts, iteration: IterationRow) -> PortResult<IterationRow> {
    go_on_until(world, contexts, iteration, Until::end_of_walk(world)).await
}

async fn go_on_until(
    world: &impl World,
    contexts: &Contexts,
    iteration: IterationRow,
    until: Until,
) -> PortResult<IterationRow> {
    if !iteration.token_out {
        return Ok(iteration);
    }
    let (frontier, IterationRow { crawl, trigger, number, .. }) = (world.frontier(), &iteration);
    // An earlier delivery of the command may have begun it: even if the definition was put anew
    // since, its seeds are those of its own version.
    let context = contexts.for_iteration(frontier, crawl, *number).await?;
    let seeder = Seeder { world, context: &context, trigger, iteration: &iteration, demand: None };
    match seeder.go_on(until).await? {
        WalkEnd::Through => {
            frontier.return_token(crawl, *number).await?;
            return Ok(iteration.return_token().unwrap_or(iteration));
        }
        WalkEnd::OutOfTime => {
            let command = StartCommand { crawl: crawl.clone(), trigger: trigger.clone() };
            world.queue().send(Message::Start(command), Duration::ZERO).await?;
        }
        WalkEnd::Elsewhere => {}
    }
    Ok(iteration)
}

/// Begins an iteration, or returns the one that this trigger has begun. Its token stays out, so
/// that it cannot end before [`go_on`] has the seeds in and returns the token. If an iteration with
/// another task is running, the command is sent again later.
///
/// # Errors
/// Returns the ports' errors.
pub async fn open(
    world: &impl World,
    contexts: &Contexts,
    command: &StartCommand,
    task: &Task,
) -> PortResult<IterationBegun> {
    let frontier = world.frontier();
    let context = contexts.current(frontier, &command.crawl).await?;
    let now = world.clock().now();
    let budget = &context.definition.budget;
    let limits = match task {
        Task::Crawl | Task::Demand => Reserve { pages: budget.pages, bytes: budget.bytes },
        Task::Import | Task::Reparse(_) => Reserve::default(),
    };
    let begin = BeginIteration {
        crawl: command.crawl.clone(),
        trigger: command.trigger.clone(),
        version: context.version(),
        joined: context.joined(),
        budget: limits,
        now,
        ends_at: budget.duration.filter(|_| *task != Task::Import).map(|duration| after(now, duration)),
        due: after(now, world.timing().grace),
        task: task.clone(),
    };
    let begun = frontier.begin_iteration(&begin).await?;
    if let IterationBegun::Busy(running) = &begun
        && is_put_off(running, task)
    {
        world.queue().send(Message::Start(command.clone()), BUSY_PAUSE).await?;
    }
    Ok(begun)
}

/// A URL to visit, and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SightedUrl {
    /// The URL.
    pub url: CrawlUrl,
    /// How it was found.
    pub sighting: Sighting,
}

impl SightedUrl {
    /// Returns a URL that a command or definition names, in a crawl with this definition.
    /// robots.txt names sitemaps, if these are followed.
    #[must_use]
    pub fn seed(url: CrawlUrl, definition: &Definition) -> Self {
        let names_sitemaps = url.path_and_query() == ROBOTS_PATH && definition.sitemaps.are_followed();
        let read_as = if names_sitemaps { ReadAs::Robots } else { ReadAs::Typed };
        Self { url, sighting: Sighting { read_as, ..Sighting::SEED } }
    }
}

/// The result of adding URLs to an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedUrls {
    /// Whether the iteration accepted them.
    pub seeded: SeedResult,
    /// The number of newly queued URLs.
    pub queued: u64,
    /// The number of known URLs that are not due.
    pub not_due: u64,
}

/// Adds named URLs to an iteration, once per trigger. URLs that the iteration already has stay as
/// they are.
///
/// # Errors
/// Returns the ports' errors.
pub async fn add(
    world: &impl World,
    context: &CrawlContext,
    trigger: &TriggerId,
    iteration: &IterationRow,
    demand: Option<&Demand>,
    urls: Vec<SightedUrl>,
) -> PortResult<AddedUrls> {
    let seeder = Seeder { world, context, trigger, iteration, demand };
    let mut added = AddedUrls { seeded: SeedResult::Already, queued: 0, not_due: 0 };
    let mut convoy = Convoy::default();
    for (origin, urls) in &by_origin(urls) {
        let of_origin = seeder.seed(origin, urls, &mut convoy).await?;
        added.queued += of_origin.queued;
        added.not_due += of_origin.not_due;
        added.seeded = of_origin.seeded;
        if added.seeded == SeedResult::IterationOver {
            break;
        }
    }
    convoy.send(world).await?;
    Ok(added)
}

type Seeds = BTreeMap<Origin, Vec<SightedUrl>>;

/// Returns the seeds of a crawl by origin, each with its robots.txt if sitemaps are followed.
fn collect_seeds(definition: &Definition) -> Seeds {
    let seed = |url: &CrawlUrl| SightedUrl::seed(url.clone(), definition);
    let mut seeds = by_origin(definition.seeds.iter().map(seed).collect());
    if definition.sitemaps.are_followed() {
        for (origin, urls) in &mut seeds {
            // It comes first, so that the URLs in it are found as sitemaps before pages link to
            // them.
            urls.retain(|seed| seed.url.path_and_query() != ROBOTS_PATH);
            if let Ok(robots) = origin.url_at(ROBOTS_PATH) {
                urls.insert(0, SightedUrl::seed(robots, definition));
            }
        }
    }
    seeds
}

/// Returns each URL once, by origin and depth, and otherwise in the given order.
fn by_origin(urls: Vec<SightedUrl>) -> Seeds {
    let (mut seeds, mut seen) = (Seeds::new(), HashSet::new());
    for sighted in urls {
        if seen.insert(sighted.url.clone()) {
            seeds.entry(sighted.url.origin()).or_default().push(sighted);
        }
    }
    for urls in seeds.values_mut() {
        urls.sort_by_key(|sighted| sighted.sighting.depth);
    }
    seeds
}

/// An iteration that its trigger has begun and that still owes seeds.
struct Seeder<'b, W> {
    world: &'b W,
    context: &'b CrawlContext,
    trigger: &'b TriggerId,
    iteration: &'b IterationRow,
    /// The demand on the URLs; `None` for seeds, which are visited in any case.
    demand: Option<&'b Demand>,
}

impl<W: World> Seeder<'_, W> {
    /// Seeds origins and opens known ones, from where the last call stopped.
    async fn go_on(&self, until: Until) -> PortResult<WalkEnd> {
        let seeds = match &self.iteration.task {
            Task::Crawl => collect_seeds(&self.context.definition),
            // The demand or import adds its URLs itself.
            Task::Demand | Task::Import => return Ok(WalkEnd::Through),
            Task::Reparse(_) => Seeds::new(),
        };
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
        let left: Vec<_> = seeds.range((begin, Bound::Unbounded)).collect();
        for group in left.chunks(walker.origins_at_once()) {
            for seeded in join_all(group.iter().map(|(origin, urls)| self.seed_apart(origin, urls))).await {
                let (_, tickets) = seeded?;
                convoy.join(tickets);
            }
            convoy.send_if_full(self.world).await?;
            if walker.pass_all(group.iter().map(|(origin, _)| *origin))
                && let Some(end) = walker.rest(convoy).await?
            {
                return Ok(end);
            }
        }
        Ok(WalkEnd::Through)
    }

    /// Like [`Seeder::seed`], with a convoy of its own, so that several can run concurrently.
    async fn seed_apart(&self, origin: &Origin, urls: &[SightedUrl]) -> PortResult<(AddedUrls, Convoy)> {
        let mut convoy = Convoy::default();
        let added = self.seed(origin, urls, &mut convoy).await?;
        Ok((added, convoy))
    }

    /// Claims the seeds of an origin and adds them, as many at a time as surely fit a transaction.
    ///
    /// The definition alone determines the parts, so that a repeated command makes the same ones.
    async fn seed(&self, origin: &Origin, urls: &[SightedUrl], convoy: &mut Convoy) -> PortResult<AddedUrls> {
        let key = OriginKey { crawl: self.iteration.crawl.clone(), origin: origin.clone() };
        let mut added = AddedUrls { seeded: SeedResult::Already, queued: 0, not_due: 0 };
        let of_depths = urls.chunk_by(|one, next| one.sighting.depth == next.sighting.depth);
        for (part, urls) in (0..).zip(of_depths.flat_map(|urls| urls.chunks(SEEDING_URLS_MAX))) {
            let (seeding, depth) = (Seeding::new(self.trigger, part), urls[0].sighting.depth);
            let (entries, not_due) = self.claim(&key, urls).await?;
            added.queued += entries.len() as u64;
            added.not_due += not_due;
            let chunks = split_into_chunks(
                self.iteration.number,
                TodoPlace::by_depth(depth),
                &TodoSource::seeds(&seeding),
                entries,
            );
            added.seeded = self.add(&key, seeding, chunks).await?;
            if added.seeded == SeedResult::IterationOver {
                return Ok(added);
            }
        }
        wake_into(self.world, &key, self.iteration.number, convoy).await?;
        Ok(added)
    }

    /// Returns the URLs that the trigger owns or that links led to first, and the number of those
    /// not due.
    async fn claim(&self, origin: &OriginKey, urls: &[SightedUrl]) -> PortResult<(Vec<TodoEntry>, u64)> {
        let claimed = |SightedUrl { url, sighting }: &SightedUrl| (url.path_and_query().to_owned(), sighting.clone());
        let request = ClaimRequest {
            origin: origin.clone(),
            iteration: self.iteration.number,
            claimer: Claimer::trigger(self.trigger),
            // The iteration's own time: a repeated command must make the same claims.
            claimable: self.demand.map_or(Claimable::All, |demand| demand.visits.claimable(self.iteration.started_at)),
            shorter_ways: match self.demand {
                None => self.context.shorter_ways(&self.iteration.task),
                Some(_) => ShorterWays::Ignored,
            },
            now: self.world.clock().now(),
            urls: urls.iter().map(claimed).collect(),
        };
        let claims = self.world.frontier().claim(&request).await?;
        let not_due = claims.iter().filter(|claim| matches!(claim, Claim::NotDue)).count() as u64;
        let demand = self.demand.map(|demand| Box::new(demand.clone()));
        let own = urls.iter().zip(claims).filter_map(|(SightedUrl { url, sighting }, claim)| match claim {
            Claim::Own { known } | Claim::Nearer { known } => {
                let Sighting { via, requisite_steps, read_as, depth: _ } = sighting.clone();
                let demand = demand.clone();
                Some(TodoEntry { via, requisite_steps, read_as, known, demand, ..TodoEntry::new(url.path_and_query()) })
            }
            Claim::Taken { .. } | Claim::NotDue => None,
        });
        Ok((own.collect(), not_due))
    }

    async fn add(&self, origin: &OriginKey, seeding: Seeding, chunks: Vec<TodoChunk>) -> PortResult<SeedResult> {
        let now = self.world.clock().now();
        let count = chunks.iter().map(|chunk| chunk.entries.len() as u64).sum();
        let due = after(now, self.world.timing().grace);
        let add = AddTodo { count, pace: self.context.pace(), now, due };
        let seed = SeedOrigin { origin: origin.clone(), iteration: self.iteration.number, seeding, add, chunks };
        self.world.frontier().seed_origin(&seed).await
    }

    /// Opens the origins that no seed opens but that have candidates due from earlier iterations,
    /// or documents whose links were decided by other rules. Those of an origin that is no longer
    /// in scope are withdrawn.
    async fn open_for_recrawl(&self, seeds: &Seeds, until: Until, convoy: &mut Convoy) -> PortResult<WalkEnd> {
        let mut walker = Walker::resume(self.world, self.iteration, Walk::Known, until);
        loop {
            let origins = walker.next_page().await?;
            if origins.is_empty() {
                return Ok(WalkEnd::Through);
            }
            for group in origins.chunks(walker.origins_at_once()) {
                let known = group.iter().filter(|origin| !seeds.contains_key(*origin));
                for opened in join_all(known.map(|origin| self.open_if_due(origin))).await {
                    convoy.join(opened?);
                }
                convoy.send_if_full(self.world).await?;
                if walker.pass_all(group)
                    && let Some(end) = walker.rest(convoy).await?
                {
                    return Ok(end);
                }
            }
        }
    }

    async fn open_if_due(&self, origin: &Origin) -> PortResult<Convoy> {
        let (iteration, mut convoy) = (self.iteration, Convoy::default());
        let key = OriginKey { crawl: iteration.crawl.clone(), origin: origin.clone() };
        if self.has_due(&key).await?
            && self.add(&key, Seeding::new(self.trigger, 0), Vec::new()).await? != SeedResult::IterationOver
        {
            wake_into(self.world, &key, iteration.number, &mut convoy).await?;
        }
        Ok(convoy)
    }

    /// Whether an origin has due candidates. A page without any is not necessarily the last.
    async fn has_due(&self, origin: &OriginKey) -> PortResult<bool> {
        let (frontier, IterationRow { number, started_at, task, .. }) = (self.world.frontier(), self.iteration);
        let rules = self.context.rules;
        let (pass, selection) = match task {
            Task::Crawl | Task::Demand | Task::Import => (Pass::All, &Selection::All),
            Task::Reparse(selection) => (Pass::Documents, selection),
        };
        let query = DueQuery { iteration: *number, pass, rules, now: *started_at };
        let is_selected = |candidate: &DueCandidate| {
            origin.origin.url_at(&candidate.entry.path_and_query).is_ok_and(|url| selection.contains(&url))
        };
        let mut next = Some(String::new());
        while let Some(after) = next {
            let page = frontier.due_candidates(origin, &query, &after, CANDIDATES_PAGE).await?;
            if page.entries.iter().any(is_selected) {
                return Ok(true);
            }
            next = page.next;
        }
        Ok(false)
    }
}
