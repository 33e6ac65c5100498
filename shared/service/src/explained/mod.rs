//! Whether a URL would be crawled and which rule decides, and what a stored crawl knows of it.
//! `dragline explain` and a stack's API print it.

mod stored;
#[cfg(test)]
mod tests;
mod verdict;

use dragline_domain::address::AddressPolicy;
use dragline_domain::frontier::SeedDistance;
use dragline_domain::url::CrawlUrl;
use dragline_pipeline::context::CrawlContext;

pub use stored::{LastOutcome, StoredUrl, UrlState};
pub use verdict::{Explanation, RuleKind, Ruling, SiteRobots, Verdict};

/// Where a URL counts as found if no crawl says otherwise.
pub const SEED: SeedDistance = SeedDistance { depth: 0, requisite_steps: 0 };

/// Returns the ruling of a crawl's rules on a URL, in the order in which a crawl applies them.
/// `robots` is called if robots.txt decides. What the well-known file, a header or the page say of
/// the use of the URL is not known before they are requested.
///
/// The URL counts as found at `found_at`: as a seed if only a crawl knows its depth.
///
/// # Errors
/// The error of `robots`.
pub async fn ruling<E>(
    context: &CrawlContext,
    (url, found_at): (&CrawlUrl, SeedDistance),
    addresses: AddressPolicy,
    robots: impl AsyncFnOnce() -> Result<SiteRobots, E>,
) -> Result<Ruling, E> {
    if let Some(blocked) = verdict::before_robots(context, (url, found_at), addresses) {
        return Ok(Ruling::before_robots(blocked));
    }
    let (definition, robots) = (&context.definition, robots().await?);
    let token = definition.user_agent.product_token();
    let verdict = verdict::by_robots(&robots, token, url);
    let verdict = if definition.ignores_robots(&url.origin()) { verdict.without_robots() } else { verdict };
    Ok(Ruling::with_uses(verdict, definition.purpose, verdict::uses_by_robots(&robots, token, url)))
}
