//! The requests: one after the other, at the pace that the site asks for, and none that its
//! robots.txt forbids.

use dragline_domain::definition::Draft;
use dragline_domain::frontier::ReadAs;
use dragline_domain::url::CrawlUrl;
use dragline_extract::look;
use dragline_formats::robots::{RobotsRecord, sitemaps};
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::Fetcher;

use super::site::{SeenPage, SeenSitemaps, Site};
use super::{read, read_sitemap};
use crate::error::Failure;
use crate::live::{LiveError, LiveFetcher};
use crate::terminal::Console;

/// The limit on sitemaps that are requested.
const SITEMAPS_MAX: u64 = 2;

/// The limit on sitemaps that are known, as in an index.
const SITEMAPS_NAMED_MAX: usize = 50_000;

/// A visitor of one site.
pub(super) struct Visitor<'v, F, C> {
    live: LiveFetcher<F, C>,
    draft: &'v Draft,
}

impl<'v, F: Fetcher, C: Clock> Visitor<'v, F, C> {
    /// Creates a visitor that uses the definition's pace, limits and name.
    pub(super) fn new(fetcher: F, clock: C, draft: &'v Draft, console: &'v Console) -> Self {
        Self { live: LiveFetcher::new(fetcher, clock, draft, console), draft }
    }

    /// Looks at a page, the robots.txt of its site and its sitemaps.
    ///
    /// # Errors
    /// The page does not answer, or robots.txt forbids it.
    pub(super) async fn look_at(&mut self, given: CrawlUrl) -> Result<Site, Failure> {
        let answer = self.live.follow(given.clone()).await.map_err(not_seen)?;
        let page = match look(&answer.source(), &read(self.draft)) {
            Ok(seen) => SeenPage::from_look(&seen),
            Err(unread) => SeenPage::from_unread(&unread),
        };
        let url = answer.url;
        let product_token = self.draft.user_agent.product_token();
        let policy = self.live.robots(&url).await?.policy(product_token);
        let (robots, crawl_delay) = (policy.verdict(url.path_and_query()).to_string(), policy.crawl_delay());
        let sitemaps = self.sitemaps(&url).await?;
        Ok(Site { given, url, robots, crawl_delay, sitemaps, page })
    }

    /// Reads the first sitemaps that robots.txt names, or else the one in the usual place.
    async fn sitemaps(&mut self, page: &CrawlUrl) -> Result<SeenSitemaps, Failure> {
        let named = match self.live.robots(page).await? {
            RobotsRecord::Readable { text } => sitemaps(text.as_bytes(), SITEMAPS_NAMED_MAX),
            RobotsRecord::Missing(_) | RobotsRecord::Unreadable(_) => Vec::new(),
        };
        let base = page.origin().url_at("/").unwrap_or_else(|_| page.clone());
        let rules = &self.draft.strip_query_parameters;
        let named: Vec<_> = named.iter().filter_map(|url| base.join(url, rules).ok()).collect();
        let mut seen = SeenSitemaps { files: named.len() as u64, ..SeenSitemaps::default() };
        let mut left = named.clone();
        left.reverse();
        seen.named = named;
        if seen.named.is_empty() {
            // Nobody said that there is one, so that it need not be a sitemap, nor there at all.
            let Ok(usual) = base.join("/sitemap.xml", rules) else { return Ok(seen) };
            let Ok(answer) = self.live.follow(usual).await else { return Ok(seen) };
            let listed = read_sitemap(&answer.source(), self.draft, ReadAs::Typed).unwrap_or_default();
            if listed.is_empty() || answer.url.origin() != page.origin() {
                return Ok(seen);
            }
            seen.files = 1;
            left = seen.count(&listed, page);
            left.reverse();
            seen.unnamed = Some(answer.url);
        }
        let mut requested = seen.files_read;
        while requested < SITEMAPS_MAX
            && let Some(url) = left.pop()
        {
            requested += 1;
            let listed = match self.live.follow(url).await {
                Ok(answer) => read_sitemap(&answer.source(), self.draft, ReadAs::Sitemap),
                Err(error) => Err(error.to_string()),
            };
            match listed {
                Ok(listed) => left.extend(seen.count(&listed, page).into_iter().rev()),
                Err(why) => seen.unread = seen.unread.or(Some(why)),
            }
        }
        Ok(seen)
    }
}

/// Returns the failure to see the page where the crawl is to begin.
fn not_seen(error: LiveError) -> Failure {
    let hint = match &error {
        LiveError::Forbidden { .. } => {
            Some("a crawl could not request it either; name another page, or ask the owner of the site")
        }
        LiveError::Status { status: 404 | 410, .. } => {
            Some("name a page that is there, such as the first one of the site")
        }
        _ => None,
    };
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
