//! URLs in commands: they start a crawl of their host, or join the existing one.

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::{Demand, IterationBegun, IterationStatus, Task};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::policy::{BlockRule, Decision};
use dragline_domain::url::CrawlUrl;

use super::begin::{SightedUrl, add, go_on};
use super::command::{CommandResult, Defaults, may_begin, open_unless_removed, put};
use super::refusal::Refusal;
use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::tell::tell;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Iterations, SeedResult};
use dragline_ports::notifier::Notice;
use dragline_ports::queue::StartCommand;

/// URLs of one crawl from a command.
pub(super) struct NamedUrls<'c> {
    pub(super) crawl: &'c CrawlId,
    pub(super) urls: &'c [CrawlUrl],
    /// The demand on them; `None` if they are crawled like seeds.
    pub(super) demand: Option<&'c Demand>,
}

/// Visits these URLs: in the running iteration, or in a new one. A new one has the definition's
/// seeds too, unless the URLs are on demand.
pub(super) async fn visit_named(
    world: &impl World,
    contexts: &Contexts,
    defaults: &Defaults,
    named: &NamedUrls<'_>,
    trigger: &TriggerId,
) -> PortResult<CommandResult> {
    let (crawl, frontier) = (named.crawl, world.frontier());
    let Some(first) = named.urls.first() else { return Ok(CommandResult::Refused(Refusal::NoUrls)) };
    if let Err(refusal) = ensure_crawl(world, defaults, crawl, first, trigger).await? {
        return Ok(CommandResult::Refused(refusal));
    }
    let running = frontier.latest_iteration(crawl).await?.filter(|latest| latest.status != IterationStatus::Closed);
    let context = match running {
        Some(running) => contexts.for_iteration(frontier, crawl, running.number).await?,
        None => contexts.current(frontier, crawl).await?,
    };
    let mut refused = Vec::new();
    let in_scope = named.urls.iter().filter_map(|url| in_scope(&context, url).map_err(|why| refused.push(why)).ok());
    let urls: Vec<SightedUrl> = in_scope.map(|url| SightedUrl::seed(url, &context.definition)).collect();
    if urls.is_empty() {
        return Ok(refused.into_iter().next().map_or(CommandResult::Refused(Refusal::NoUrls), CommandResult::Refused));
    }
    let command = StartCommand { crawl: crawl.clone(), trigger: trigger.clone() };
    let task = if named.demand.is_some() { Task::Demand } else { Task::Crawl };
    let begun = open_unless_removed(world, contexts, &command, &task).await?;
    let (IterationBegun::Iteration(iteration) | IterationBegun::Busy(iteration)) = &begun;
    match iteration.status {
        // It was this trigger's own, and ended before the message came again.
        IterationStatus::Closed => return Ok(CommandResult::Joined(iteration.clone())),
        IterationStatus::Stopping => return Ok(CommandResult::Refused(Refusal::Stopping(crawl.clone()))),
        IterationStatus::Open | IterationStatus::Paused if !iteration.task.visits() => {
            return Ok(CommandResult::Refused(Refusal::Reparsing(crawl.clone())));
        }
        IterationStatus::Open | IterationStatus::Paused => {}
    }
    match add(world, &context, &trigger.for_url(), iteration, named.demand, urls).await?.seeded {
        SeedResult::Added | SeedResult::Already => {}
        SeedResult::IterationOver => {
            let why = "the iteration ended while URLs were being added to it";
            return Err(PortError::new(PortErrorKind::Unavailable, "join crawl", crawl, why));
        }
    }
    // The definition's seeds come after the URLs: if time runs out, the next call does not know
    // about the URLs.
    let iteration = match begun {
        IterationBegun::Iteration(row) => go_on(world, contexts, row).await?,
        IterationBegun::Busy(row) => row,
    };
    tell_refused(world, crawl, &refused).await;
    Ok(CommandResult::Joined(iteration))
}

/// Tells people about URLs that are not visited although others of the same command are.
async fn tell_refused(world: &impl World, crawl: &CrawlId, refused: &[Refusal]) {
    if let Some(first) = refused.first() {
        let (crawl, urls, detail) = (crawl.clone(), refused.len() as u64, first.to_string());
        tell(world, Notice::UrlsRefused { crawl, urls, detail }).await;
    }
}

/// Makes sure that the crawl exists and is switched on.
async fn ensure_crawl(
    world: &impl World,
    defaults: &Defaults,
    crawl: &CrawlId,
    url: &CrawlUrl,
    trigger: &TriggerId,
) -> PortResult<Result<(), Refusal>> {
    match may_begin(world, crawl, trigger).await? {
        Err(Refusal::NoSuchCrawl(_)) => {}
        allowed => return Ok(allowed),
    }
    match definition_for(crawl, url, defaults) {
        Ok(definition) => put(world, &definition).await.map(|_| Ok(())),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Returns the definition for a crawl that begins with a URL.
fn definition_for(crawl: &CrawlId, url: &CrawlUrl, defaults: &Defaults) -> Result<Definition, Refusal> {
    let unsound = |why: String| Refusal::Unsound { url: url.as_str().to_owned(), why };
    let mut draft = Draft::for_seeds(Vec::new());
    let seed =
        CrawlUrl::parse(url.as_str(), &draft.strip_query_parameters).map_err(|error| unsound(error.to_string()))?;
    draft.name = crawl.clone();
    draft.seeds = vec![seed];
    draft.budget.pages = Some(defaults.url_pages_max);
    draft.user_agent = defaults.user_agent.clone();
    draft.ignore_robots.clone_from(&defaults.ignore_robots);
    Definition::new(draft).map_err(|problems| unsound(problems.to_string()))
}

/// Returns the URL as normalised by the crawl's rules, if the crawl visits it.
///
/// # Errors
/// Returns the rule that excludes it.
pub fn in_scope(context: &CrawlContext, url: &CrawlUrl) -> Result<CrawlUrl, Refusal> {
    let refused =
        |why: String| Refusal::NotInScope { url: url.as_str().to_owned(), crawl: context.definition.name.clone(), why };
    let rules = &context.definition.strip_query_parameters;
    let stripped = CrawlUrl::parse(url.as_str(), rules).map_err(|error| refused(error.to_string()))?;
    match context.policy.decide(&stripped, 0, &context.allowed) {
        // A URL that somebody names is wanted, whatever it looks like.
        Decision::Crawl | Decision::Blocked(BlockRule::Trap(_)) => Ok(stripped),
        Decision::OutOfScope(rule) => Err(refused(rule.to_string())),
        Decision::Blocked(rule) => Err(refused(rule.to_string())),
    }
}
