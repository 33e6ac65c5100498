//! The requests: one after the other, at the pace that the site asks for, and none that its
//! robots.txt forbids.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::frontier::ReadAs;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_extract::{Source, look};
use dragline_formats::http_fields::{Headers, location};
use dragline_formats::robots::{RobotsRecord, sitemaps};
use dragline_pipeline::crawl::{BrokenOffPolicy, RefusedAddress, fetch_robots};
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchFailureKind, FetchLimits, FetchOutcome, FetchRequest, FetchedResponse, Fetcher};

use super::site::{SeenPage, SeenSitemaps, Site};
use super::{read, read_sitemap};
use crate::error::Failure;
use crate::terminal::{Console, duration};

/// The limit on redirects that follow one another.
const REDIRECTS_MAX: usize = 5;

/// The limit on sitemaps that are requested.
const SITEMAPS_MAX: u64 = 2;

/// The limit on sitemaps that are known, as in an index.
const SITEMAPS_NAMED_MAX: usize = 50_000;

/// A longer wait between requests is announced.
const WAIT_ANNOUNCED_MIN: Duration = Duration::from_secs(5);

/// A visitor of one site.
pub(super) struct Visitor<'v, F, C> {
    paced: Paced<F, C>,
    draft: &'v Draft,
    limits: FetchLimits,
    console: &'v Console,
    robots: Vec<(Origin, RobotsRecord)>,
}

/// A good answer.
struct Answer {
    /// The URL at the end of the redirects.
    url: CrawlUrl,
    headers: Headers,
    body: Vec<u8>,
}

impl Answer {
    fn source(&self) -> Source<'_> {
        Source { url: &self.url, headers: &self.headers, body: &self.body }
    }
}

impl<'v, F: Fetcher, C: Clock> Visitor<'v, F, C> {
    /// Creates a visitor that uses the definition's pace, limits and name.
    pub(super) fn new(fetcher: F, clock: C, draft: &'v Draft, console: &'v Console) -> Self {
        let pace = Mutex::new(Pace { delay: draft.politeness.delay, last: None });
        let limits = FetchLimits::from_fetch(&draft.fetch).reading_all();
        Self { paced: Paced { fetcher, clock, pace }, draft, limits, console, robots: Vec::new() }
    }

    /// Looks at a page, the robots.txt of its site and its sitemaps.
    ///
    /// # Errors
    /// The page does not answer, or robots.txt forbids it.
    pub(super) async fn look_at(&mut self, given: CrawlUrl) -> Result<Site, Failure> {
        let answer = self.follow(given.clone()).await?;
        let page = match look(&answer.source(), &read(self.draft)) {
            Ok(seen) => SeenPage::from_look(&seen),
            Err(unread) => SeenPage::from_unread(&unread),
        };
        let url = answer.url;
        let product_token = self.draft.user_agent.product_token();
        let policy = self.robots(&url).await?.policy(product_token);
        let (robots, crawl_delay) = (policy.verdict(url.path_and_query()).to_string(), policy.crawl_delay());
        let sitemaps = self.sitemaps(&url).await?;
        Ok(Site { given, url, robots, crawl_delay, sitemaps, page })
    }

    /// Reads the first sitemaps that robots.txt names, or else the one in the usual place.
    async fn sitemaps(&mut self, page: &CrawlUrl) -> Result<SeenSitemaps, Failure> {
        let named = match self.robots(page).await? {
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
            let Ok(answer) = self.follow(usual).await else { return Ok(seen) };
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
            let listed = match self.follow(url).await {
                Ok(answer) => read_sitemap(&answer.source(), self.draft, ReadAs::Sitemap),
                Err(failure) => Err(failure.message),
            };
            match listed {
                Ok(listed) => left.extend(seen.count(&listed, page).into_iter().rev()),
                Err(why) => seen.unread = seen.unread.or(Some(why)),
            }
        }
        Ok(seen)
    }

    /// Requests a URL and what it redirects to, as far as robots.txt allows it.
    async fn follow(&mut self, mut url: CrawlUrl) -> Result<Answer, Failure> {
        for _ in 0..=REDIRECTS_MAX {
            self.check_robots(&url).await?;
            let response = match self.paced.fetch(FetchRequest::new(url.clone(), self.limits)).await.result {
                Ok(response) => response,
                Err(failure) if failure.kind == FetchFailureKind::PrivateAddress => {
                    return Err(is_private(&url, &failure.detail));
                }
                Err(failure) => return Err(not_answered(&url, &failure.detail)),
            };
            match response {
                FetchedResponse { status: 200..=299, ref headers, .. } => {
                    let body = response.readable_body().to_vec();
                    return Ok(Answer { url, headers: headers.clone(), body });
                }
                response => url = self.redirect_target(&url, &response)?,
            }
        }
        Err(Failure::new(format!("{url} comes after {REDIRECTS_MAX} redirects, and is another one")))
    }

    fn redirect_target(&self, url: &CrawlUrl, response: &FetchedResponse) -> Result<CrawlUrl, Failure> {
        let status = response.status;
        let field = response.headers.get("location").filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308));
        let target = field.and_then(|value| url.join(&location(value), &self.draft.strip_query_parameters).ok());
        target.ok_or_else(|| {
            let failure = Failure::new(format!("{url} was answered with status {status}"));
            match status {
                401 | 403 | 429 => {
                    failure.with_hint("sites may refuse whom they do not know: say who you are with `--user-agent`")
                }
                404 | 410 => failure.with_hint("name a page that is there, such as the first one of the site"),
                _ => failure,
            }
        })
    }

    async fn check_robots(&mut self, url: &CrawlUrl) -> Result<(), Failure> {
        let product_token = self.draft.user_agent.product_token();
        let record = self.robots(url).await?;
        if let RobotsRecord::Unreadable(why) = record {
            return Err(not_answered(url, &why.failure()));
        }
        let policy = record.policy(product_token);
        let verdict = policy.verdict(url.path_and_query());
        if verdict.is_allowed() {
            return Ok(());
        }
        Err(Failure::new(format!("{url} may not be requested, by robots.txt: {verdict}"))
            .with_hint("a crawl could not request it either; name another page, or ask the owner of the site"))
    }

    /// Returns the robots.txt of a URL's origin, which is requested once.
    async fn robots(&mut self, url: &CrawlUrl) -> Result<&RobotsRecord, Failure> {
        let origin = url.origin();
        let known = self.robots.iter().position(|(of, _)| *of == origin);
        let at = match known {
            Some(at) => at,
            None => {
                let fetched = fetch_robots(&self.paced, self.limits, &origin, BrokenOffPolicy::IsFailure).await;
                let record = fetched.map_err(|RefusedAddress(detail)| is_private(url, &detail))?;
                self.obey_delay(&record);
                self.robots.push((origin, record));
                self.robots.len() - 1
            }
        };
        Ok(&self.robots[at].1)
    }

    /// Waits between all further requests as long as a robots.txt asks for.
    fn obey_delay(&self, record: &RobotsRecord) {
        let asked = record.policy(self.draft.user_agent.product_token()).crawl_delay();
        if let Some(delay) = asked
            && self.paced.slow_down(delay)
            && delay >= WAIT_ANNOUNCED_MIN
        {
            self.console.say(&format!("robots.txt asks for {} between requests: waiting as long", duration(delay)));
        }
    }
}

fn not_answered(url: &CrawlUrl, detail: &str) -> Failure {
    Failure::new(format!("{url} was not answered: {detail}"))
}

fn is_private(url: &CrawlUrl, detail: &str) -> Failure {
    not_answered(url, detail).with_hint("if the site is yours, `--allow-private` allows it")
}

/// A fetcher that waits between requests.
struct Paced<F, C> {
    fetcher: F,
    clock: C,
    pace: Mutex<Pace>,
}

struct Pace {
    delay: Duration,
    /// The monotonic reading at the end of the last request; `None` before the first one.
    last: Option<Duration>,
}

impl<F, C: Clock> Paced<F, C> {
    /// Makes the delay this long, and returns whether it was shorter.
    fn slow_down(&self, delay: Duration) -> bool {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let is_slower = delay > pace.delay;
        pace.delay = pace.delay.max(delay);
        is_slower
    }

    fn wait_left(&self) -> Duration {
        let pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.last.map_or(Duration::ZERO, |last| (last + pace.delay).saturating_sub(self.clock.monotonic()))
    }
}

impl<F: Fetcher, C: Clock> Fetcher for Paced<F, C> {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        self.clock.sleep(self.wait_left()).await;
        let outcome = self.fetcher.fetch(request).await;
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).last = Some(self.clock.monotonic());
        outcome
    }
}
