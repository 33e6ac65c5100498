//! Pages that are asked for now, one after another, without a crawl.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_extract::Source;
use dragline_formats::robots::RobotsRecord;
use dragline_http::HttpFetcher;
use dragline_local::SystemClock;
use dragline_pipeline::crawl::{BrokenOffPolicy, RefusedAddress, fetch_robots};
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchFailureKind, FetchLimits, FetchOutcome, FetchRequest, FetchedResponse, Fetcher};

use crate::error::Failure;
use crate::network::Network;
use crate::terminal::{Console, duration};

/// The limit on redirects that follow one another.
const REDIRECTS_MAX: usize = 5;

/// A longer wait between requests is announced.
const WAIT_ANNOUNCED_MIN: Duration = Duration::from_secs(5);

/// An answer.
#[derive(Debug)]
pub(crate) struct LiveAnswer {
    pub(crate) url: CrawlUrl,
    pub(crate) response: FetchedResponse,
    /// Where it leads, if it is a redirect.
    pub(crate) redirects_to: Option<CrawlUrl>,
}

impl LiveAnswer {
    /// Returns it as a page to read.
    pub(crate) fn source(&self) -> Source<'_> {
        let body = self.response.body.in_memory().map_or(&[][..], |body| body);
        Source { url: &self.url, headers: &self.response.headers, body }
    }

    /// Whether it is the page that was asked for.
    pub(crate) const fn is_page(&self) -> bool {
        matches!(self.response.status, 200..=299)
    }

    /// Returns the error for an answer that is not the page.
    pub(crate) fn status_error(&self) -> LiveError {
        LiveError::Status { url: self.url.clone(), status: self.response.status }
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error("{url} may not be requested, by robots.txt: {rule}")]
    Forbidden { url: CrawlUrl, rule: String },
    #[error("{url} was not answered: {detail}")]
    PrivateAddress { url: CrawlUrl, detail: String },
    #[error("{url} was not answered: {detail}")]
    NotAnswered { url: CrawlUrl, detail: String },
    #[error("{url} was answered with status {status}")]
    Status { url: CrawlUrl, status: u16 },
    #[error("{url} comes after {REDIRECTS_MAX} redirects, and is another one")]
    Redirects { url: CrawlUrl },
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        let failure = Self::from_error(&error);
        match error {
            LiveError::PrivateAddress { .. } => failure.with_hint("if the site is yours, `--allow-private` allows it"),
            LiveError::Status { status: 401 | 403 | 429, .. } => {
                failure.with_hint("sites may refuse whom they do not know: say who you are with `--user-agent`")
            }
            _ => failure,
        }
    }
}

/// A polite client: it obeys robots.txt, and leaves time between two requests to a site.
pub(crate) struct LiveFetcher<F = Arc<HttpFetcher>, C = SystemClock> {
    paced: Paced<F, C>,
    draft: Draft,
    limits: FetchLimits,
    console: Console,
    robots: Vec<(Origin, RobotsRecord)>,
}

impl LiveFetcher {
    /// Creates a client of the network.
    ///
    /// # Errors
    /// The client cannot be set up.
    pub(crate) async fn connect(network: &Network, draft: &Draft, console: &Console) -> Result<Self, Failure> {
        Ok(Self::new(network.fetcher(draft).await?, SystemClock::new(), draft, console))
    }
}

impl<F: Fetcher, C: Clock> LiveFetcher<F, C> {
    /// Creates a client that uses the definition's pace, limits and name.
    pub(crate) fn new(fetcher: F, clock: C, draft: &Draft, console: &Console) -> Self {
        let paces = Mutex::default();
        let limits = FetchLimits::from_fetch(&draft.fetch).reading_all();
        Self {
            paced: Paced { fetcher, clock, delay_min: draft.politeness.delay, paces },
            draft: draft.clone(),
            limits,
            console: console.clone(),
            robots: Vec::new(),
        }
    }

    /// Requests a page, and what it redirects to.
    ///
    /// # Errors
    /// robots.txt forbids it or cannot be read, the server does not answer, or the answer is not
    /// good.
    pub(crate) async fn follow(&mut self, mut url: CrawlUrl) -> Result<LiveAnswer, LiveError> {
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.fetch(&url).await?;
            match answer.redirects_to {
                Some(target) => url = target,
                None if answer.is_page() => return Ok(answer),
                None => return Err(answer.status_error()),
            }
        }
        Err(LiveError::Redirects { url })
    }

    /// Requests a URL, if robots.txt allows it.
    ///
    /// # Errors
    /// robots.txt forbids it or cannot be read, or the server does not answer.
    pub(crate) async fn fetch(&mut self, url: &CrawlUrl) -> Result<LiveAnswer, LiveError> {
        let response = self.send(FetchRequest::new(url.clone(), self.limits)).await?;
        Ok(self.answer(url, response))
    }

    /// Makes a request, if robots.txt allows it.
    ///
    /// # Errors
    /// As [`Self::fetch`].
    pub(crate) async fn send(&mut self, request: FetchRequest) -> Result<FetchedResponse, LiveError> {
        let url = request.url.clone();
        self.check_robots(&url).await?;
        self.paced.fetch(request).await.result.map_err(|failure| match failure.kind {
            FetchFailureKind::PrivateAddress => LiveError::PrivateAddress { url, detail: failure.detail },
            _ => LiveError::NotAnswered { url, detail: failure.detail },
        })
    }

    /// Returns the limits of a request.
    pub(crate) const fn limits(&self) -> FetchLimits {
        self.limits
    }

    fn answer(&self, url: &CrawlUrl, response: FetchedResponse) -> LiveAnswer {
        let redirects_to = response.redirect_target(url, &self.draft.strip_query_parameters);
        LiveAnswer { url: url.clone(), response, redirects_to }
    }

    async fn check_robots(&mut self, url: &CrawlUrl) -> Result<(), LiveError> {
        let product_token = self.draft.user_agent.product_token().to_owned();
        let record = self.robots(url).await?;
        if let RobotsRecord::Unreadable(why) = record {
            return Err(LiveError::NotAnswered { url: url.clone(), detail: why.failure() });
        }
        let policy = record.policy(&product_token);
        let verdict = policy.verdict(url.path_and_query());
        if verdict.is_allowed() {
            return Ok(());
        }
        Err(LiveError::Forbidden { url: url.clone(), rule: verdict.to_string() })
    }

    /// Returns the robots.txt of a URL's origin, which is requested once.
    ///
    /// # Errors
    /// It is at an address that must not be contacted.
    pub(crate) async fn robots(&mut self, url: &CrawlUrl) -> Result<&RobotsRecord, LiveError> {
        let origin = url.origin();
        let at = match self.robots.iter().position(|(known, _)| *known == origin) {
            Some(at) => at,
            None => {
                let fetched = fetch_robots(&self.paced, self.limits, &origin, BrokenOffPolicy::IsFailure).await;
                let private = |RefusedAddress(detail)| LiveError::PrivateAddress { url: url.clone(), detail };
                let record = fetched.map_err(private)?;
                self.obey_delay(&origin, &record);
                self.robots.push((origin, record));
                self.robots.len() - 1
            }
        };
        Ok(&self.robots[at].1)
    }

    /// Waits between further requests to an origin as long as its robots.txt asks for.
    fn obey_delay(&self, origin: &Origin, record: &RobotsRecord) {
        let asked = record.policy(self.draft.user_agent.product_token()).crawl_delay();
        if let Some(delay) = asked
            && self.paced.slow_down(origin, delay)
            && delay >= WAIT_ANNOUNCED_MIN
        {
            self.console.say(&format!("robots.txt asks for {} between requests: waiting as long", duration(delay)));
        }
    }
}

/// A fetcher that waits between requests to an origin.
struct Paced<F, C> {
    fetcher: F,
    clock: C,
    delay_min: Duration,
    paces: Mutex<HashMap<Origin, Pace>>,
}

/// The pace of an origin.
struct Pace {
    delay: Duration,
    /// The monotonic reading at the end of the last request; `None` before the first one.
    last: Option<Duration>,
}

impl<F, C: Clock> Paced<F, C> {
    fn at_pace<T>(&self, origin: &Origin, act: impl FnOnce(&mut Pace) -> T) -> T {
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        act(paces.entry(origin.clone()).or_insert(Pace { delay: self.delay_min, last: None }))
    }

    /// Makes the delay this long, and returns whether it was shorter.
    fn slow_down(&self, origin: &Origin, delay: Duration) -> bool {
        self.at_pace(origin, |pace| {
            let is_slower = delay > pace.delay;
            pace.delay = pace.delay.max(delay);
            is_slower
        })
    }

    fn wait_left(&self, origin: &Origin) -> Duration {
        let now = self.clock.monotonic();
        self.at_pace(origin, |pace| pace.last.map_or(Duration::ZERO, |last| (last + pace.delay).saturating_sub(now)))
    }
}

impl<F: Fetcher, C: Clock> Fetcher for Paced<F, C> {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let origin = request.url.origin();
        self.clock.sleep(self.wait_left(&origin)).await;
        let outcome = self.fetcher.fetch(request).await;
        self.at_pace(&origin, |pace| pace.last = Some(self.clock.monotonic()));
        outcome
    }
}
