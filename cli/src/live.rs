//! Pages that are asked for now, one after another, without a crawl.

use std::collections::HashMap;

use dragline_domain::definition::Draft;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_formats::http_fields::{Headers, location};
use dragline_formats::robots::RobotsRecord;
use dragline_http::HttpFetcher;
use dragline_local::SystemClock;
use dragline_pipeline::crawl::{BrokenOffPolicy, RefusedAddress, fetch_robots};
use dragline_ports::clock::Clock as _;
use dragline_ports::fetcher::{FetchLimits, FetchRequest, FetchedResponse, Fetcher as _};

use crate::error::Failure;
use crate::network::Network;

/// The answer to a request that was not refused.
#[derive(Debug)]
pub(crate) struct LiveAnswer {
    pub(crate) url: CrawlUrl,
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) headers: Headers,
    /// As received, up to a limit.
    pub(crate) body: Vec<u8>,
    /// Where it leads, if it is a redirect.
    pub(crate) redirects_to: Option<CrawlUrl>,
}

impl LiveAnswer {
    /// Whether it is the page that was asked for.
    pub(crate) const fn is_page(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Returns the error for an answer that is not the page.
    pub(crate) fn status_error(&self) -> Failure {
        Failure::new(format!("{} was answered with status {}", self.url, self.status))
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error("{url} may not be requested, by robots.txt: {rule}")]
    Forbidden { url: CrawlUrl, rule: String },
    #[error("{url} was not answered: {detail}")]
    NotAnswered { url: CrawlUrl, detail: String },
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        Self::from_error(&error)
    }
}

/// A polite client: it obeys robots.txt, and leaves time between two requests to an origin.
pub(crate) struct LiveFetcher<'d> {
    fetcher: HttpFetcher,
    draft: &'d Draft,
    clock: SystemClock,
    origins: HashMap<Origin, RobotsRecord>,
}

impl<'d> LiveFetcher<'d> {
    /// Creates a client that keeps to this definition.
    ///
    /// # Errors
    /// The client cannot be set up.
    pub(crate) fn new(network: &Network, draft: &'d Draft) -> Result<Self, Failure> {
        let fetcher = network.fetcher(draft)?;
        Ok(Self { fetcher, draft, clock: SystemClock::new(), origins: HashMap::new() })
    }

    /// Requests a URL, if robots.txt allows it. Waits if the origin was asked for another before.
    ///
    /// # Errors
    /// robots.txt forbids it or cannot be read, or the server does not answer.
    pub(crate) async fn fetch(&mut self, url: &CrawlUrl) -> Result<LiveAnswer, LiveError> {
        let not_answered = |detail| LiveError::NotAnswered { url: url.clone(), detail };
        let limits = FetchLimits::from_fetch(&self.draft.fetch).reading_all();
        let origin = url.origin();
        let was_asked = self.origins.contains_key(&origin);
        if !was_asked {
            let robots = fetch_robots(&self.fetcher, limits, &origin, BrokenOffPolicy::IsFailure).await;
            let robots = robots.map_err(|RefusedAddress(detail)| not_answered(detail))?;
            self.origins.insert(origin.clone(), robots);
        }
        let policy = self.origins[&origin].policy(self.draft.user_agent.product_token());
        let verdict = policy.verdict(url.path_and_query());
        if !verdict.is_allowed() {
            return Err(LiveError::Forbidden { url: url.clone(), rule: verdict.to_string() });
        }
        if was_asked {
            let delay = self.draft.politeness.delay;
            self.clock.sleep(policy.crawl_delay().map_or(delay, |asked| asked.max(delay))).await;
        }
        match self.fetcher.fetch(FetchRequest::new(url.clone(), limits)).await.result {
            Ok(response) => Ok(self.answer(url, response)),
            Err(failure) => Err(not_answered(failure.detail)),
        }
    }

    fn answer(&self, url: &CrawlUrl, response: FetchedResponse) -> LiveAnswer {
        let body = response.readable_body().to_vec();
        let FetchedResponse { status, reason, headers, .. } = response;
        let target = headers.get("location").filter(|_| (300..400).contains(&status));
        let target =
            target.and_then(|value| url.join_spelled(&location(value), &self.draft.strip_query_parameters).ok());
        let redirects_to = target.map(|(target, _)| target);
        LiveAnswer { url: url.clone(), status, reason, headers, body, redirects_to }
    }
}
