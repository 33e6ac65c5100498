//! Whether a URL would be crawled and which rule decides, and what a stored crawl knows of it.
//! `dragline explain` and a stack's API print it.

mod stored;
#[cfg(test)]
mod tests;
mod verdict;

use dragline_domain::address::AddressPolicy;
use dragline_domain::frontier::SeedDistance;
use dragline_domain::url::CrawlUrl;
use dragline_domain::use_preferences::{Purpose, RslAnswer};
use dragline_formats::robots::RobotsPolicy;
use dragline_formats::use_preferences::apply_licence;
use dragline_pipeline::context::CrawlContext;

pub use stored::{LastOutcome, StoredUrl, UrlState};
pub use verdict::{Explanation, RuleKind, Ruling, SiteRobots, Verdict};

/// Where a URL counts as found if no crawl says otherwise.
pub const SEED: SeedDistance = SeedDistance { depth: 0, requisite_steps: 0 };

/// Returns the ruling of a crawl's rules on a URL, in the order in which a crawl applies them.
/// `robots` is called if robots.txt decides, and `licence` for the one that it names if that may
/// reserve the purpose of the crawl; it returns `None` if nobody is to be asked. What the
/// well-known file, a header or the page say of the use of the URL is not known before they are
/// requested.
///
/// The URL counts as found at `found_at`: as a seed if only a crawl knows its depth.
///
/// # Errors
/// The error of `robots` or `licence`.
pub async fn ruling<E>(
    context: &CrawlContext,
    (url, found_at): (&CrawlUrl, SeedDistance),
    addresses: AddressPolicy,
    robots: impl AsyncFnOnce() -> Result<SiteRobots, E>,
    licence: impl AsyncFnOnce(&RobotsPolicy, &CrawlUrl) -> Result<Option<RslAnswer>, E>,
) -> Result<Ruling, E> {
    if let Some(blocked) = verdict::before_robots(context, (url, found_at), addresses) {
        return Ok(Ruling::before_robots(blocked));
    }
    let (definition, robots) = (&context.definition, robots().await?);
    let token = definition.user_agent.product_token();
    let verdict = verdict::by_robots(&robots, token, url);
    let verdict = if definition.ignores_robots(&url.origin()) { verdict.without_robots() } else { verdict };
    let Ok(policy) = robots.map(|record| record.policy(token)) else {
        return Ok(Ruling::before_robots(verdict));
    };
    let mut uses = policy.uses(url.path_and_query());
    if definition.purpose.is_some_and(Purpose::is_licensed)
        && let Some((named, at)) = policy.licence_within_site(&url.origin())
        && let Some(answer) = licence(&policy, &at).await?
    {
        apply_licence(&mut uses, named, &answer, url.path_and_query());
    }
    Ok(Ruling::with_uses(verdict, definition.purpose, uses))
}
