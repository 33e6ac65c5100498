//! A URL alone: it makes a crawl of its host, or joins the one that exists.

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::{Begun, IterationStatus};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::policy::{BlockRule, Decision};
use dragline_domain::url::CrawlUrl;

use super::begin::{seed_url, start_with};
use super::command::{Defaults, Handled, may_begin, put};
use super::refusal::Refusal;
use crate::World;
use crate::context::{Contexts, CrawlContext};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Iterations, Seeded};
use dragline_ports::queue::StartCommand;

/// Crawls a URL: in the running iteration, or in one that begins with the definition's seeds and the URL.
pub(super) async fn crawl_url(
    world: &impl World,
    contexts: &Contexts,
    defaults: &Defaults,
    url: &CrawlUrl,
    trigger: &TriggerId,
) -> PortResult<Handled> {
    let crawl = CrawlId::for_origin(&url.origin());
    if let Err(refusal) = ensure_crawl(world, defaults, &crawl, url, trigger).await? {
        return Ok(Handled::Refused(refusal));
    }
    let frontier = world.frontier();
    let running = frontier.latest_iteration(&crawl).await?.filter(|latest| latest.status != IterationStatus::Closed);
    let context = match running {
        Some(running) => contexts.of_iteration(frontier, &crawl, running.number).await?,
        None => contexts.current(frontier, &crawl).await?,
    };
    let url = match in_scope(&context, url) {
        Ok(url) => url,
        Err(refusal) => return Ok(Handled::Refused(refusal)),
    };
    let command = StartCommand { crawl: crawl.clone(), trigger: trigger.clone() };
    let iteration = match start_with(world, contexts, &command, Some(&url)).await? {
        Begun::Iteration(row) | Begun::Busy(row) => row,
    };
    match iteration.status {
        // It was this trigger's own, and ended before the message came again.
        IterationStatus::Closed => return Ok(Handled::Joined(iteration)),
        IterationStatus::Stopping => return Ok(Handled::Refused(Refusal::Stopping(crawl))),
        IterationStatus::Open | IterationStatus::Paused => {}
    }
    match seed_url(world, &context, trigger, &iteration, &url).await? {
        Seeded::Added | Seeded::Already => Ok(Handled::Joined(iteration)),
        Seeded::IterationOver => {
            let why = "the iteration ended while the URL was being added to it";
            Err(PortError::new(PortErrorKind::Unavailable, "join crawl", &crawl, why))
        }
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

/// Returns the definition of a crawl that begins with a URL.
fn definition_for(crawl: &CrawlId, url: &CrawlUrl, defaults: &Defaults) -> Result<Definition, Refusal> {
    let unsound = |why: String| Refusal::Unsound { url: url.as_str().to_owned(), why };
    let mut draft = Draft::for_seeds(Vec::new());
    let seed =
        CrawlUrl::parse(url.as_str(), &draft.strip_query_parameters).map_err(|error| unsound(error.to_string()))?;
    draft.name = crawl.clone();
    draft.seeds = vec![seed];
    draft.budget.pages = Some(defaults.url_pages_max);
    draft.user_agent = defaults.user_agent.clone();
    Definition::new(draft).map_err(|problems| unsound(problems.to_string()))
}

/// Returns the URL as the crawl's rules leave it, if the crawl fetches it.
fn in_scope(context: &CrawlContext, url: &CrawlUrl) -> Result<CrawlUrl, Refusal> {
    let refused =
        |why: String| Refusal::NotInScope { url: url.as_str().to_owned(), crawl: context.definition.name.clone(), why };
    let rules = &context.definition.strip_query_parameters;
    let stripped = CrawlUrl::parse(url.as_str(), rules).map_err(|error| refused(error.to_string()))?;
    match context.policy.decide(&stripped, 0, &context.allowed) {
        // Whoever names a URL wants it, whatever it looks like.
        Decision::Crawl | Decision::Blocked(BlockRule::Trap(_)) => Ok(stripped),
        Decision::OutOfScope(rule) => Err(refused(rule.to_string())),
        Decision::Blocked(rule) => Err(refused(rule.to_string())),
    }
}
