//! Whether a URL would be crawled.

use dragline_domain::address::AddressPolicy;
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_formats::robots::RobotsPolicy;
use dragline_pipeline::context::CrawlContext;
use dragline_pipeline::crawl::{BrokenOffPolicy, fetch_licence, fetch_robots};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::frontier::CrawlRow;
use dragline_ports::reader::Reader;
use dragline_service::Problem;
use dragline_service::explained::{Explanation, StoredUrl, ruling};

use super::printouts::known_iteration;

/// Returns an explanation by the rules of the crawl's next iteration, as JSON. It requests
/// robots.txt if that decides, and the licence that it names if that matters.
///
/// # Errors
/// The text is not a URL, the crawl has not begun, or it cannot be read.
pub(crate) async fn explain(
    reader: &impl Reader,
    row: CrawlRow,
    (crawl, text): (&CrawlId, &str),
    (fetchers, addresses): (&impl Fetchers, AddressPolicy),
) -> Result<Vec<u8>, Problem> {
    let url = CrawlUrl::parse(text, &row.definition.strip_query_parameters);
    let url = url.map_err(|error| Problem::not_found(format!("the URL cannot be crawled: {error}")))?;
    let next_at = row.switch.next();
    let context = CrawlContext::new(row)?;
    let latest = known_iteration(reader, crawl, None).await?;
    let stored = StoredUrl::read(reader, (crawl, &latest), (&context, &url), addresses).await?;
    let stored = stored.with_next_iteration(next_at);
    let found_at = stored.found_at(&context, &url);
    let robots = async || {
        let fetcher = fetchers.fetcher_for(&context.definition).await?;
        Ok::<_, Problem>(fetch_robots(&*fetcher, context.limits(), &url.origin(), BrokenOffPolicy::IsFailure).await)
    };
    let licence = async |policy: &RobotsPolicy, at: &CrawlUrl| {
        let fetcher = fetchers.fetcher_for(&context.definition).await?;
        Ok::<_, Problem>(Some(fetch_licence(&*fetcher, context.limits(), (&url.origin(), policy), at).await))
    };
    let ruling = ruling(&context, (&url, found_at), addresses, robots, licence).await?;
    let explanation = Explanation::new(text, &url, ruling, &context.definition);
    // Texts, numbers and booleans can always be written.
    let mut json = serde_json::to_vec(&explanation.with_crawl(Some(stored))).unwrap_or_default();
    json.push(b'\n');
    Ok(json)
}
