//! Rendering a page within its visit. The browser has no network: whatever the page requests is
//! asked here, and is a request like any other. It waits for its host's turn, obeys robots.txt and
//! the definition, and is archived.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::definition::logs_out;
use dragline_domain::frontier::{HostWaiter, OriginKey};
use dragline_domain::ids::Iteration;
use dragline_domain::politeness::RobotsUse;
use dragline_domain::rendering::{PageMethod, PageRefusal, PageRequest, PageRequestEnd, RenderResult, Rendering};
use dragline_domain::shown::one_line;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_formats::robots::RobotsPolicy;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{FetchRequest, Fetcher, PageFields, Session};
use dragline_ports::renderer::{
    Answer, Asked, AskedKind, AskedMethod, PageNetwork, PageResponse, RenderFailure, Rendered, Renderer,
};
use futures_util::poll;
use jiff::Timestamp;
use sha1::{Digest, Sha1};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::line::{Line, PlaceInLine};
use super::paced::{self, PacedRequests};
use super::pacer::Pacer;
use super::renderable::{render_request, to_page_response};
use super::robots::{BrokenOffPolicy, Robots, StoredUse, base_delay, robots};
use super::segment::in_milliseconds;
use super::use_file::forbidden;
use crate::World;
use crate::context::CrawlContext;

/// The limit on the scripts and styles that are kept of an origin for its next pages, in bytes.
const KEPT_BYTES_MAX: u64 = 16 << 20;

/// How long they are kept: the site may change.
const KEPT_FOR: Duration = Duration::from_mins(5);

/// The most origins of which they are kept, the latest ones.
const ORIGINS_MAX: usize = 8;

/// How many characters are kept of why a request failed.
const FAILED_CHARS_MAX: usize = 200;

/// The pause before the next try of a page for which this machine had no room.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

/// A page after its visit's browser.
#[derive(Debug)]
pub(super) struct RenderedPage {
    /// How it went.
    pub rendering: Rendering,
    /// The document as HTML; `None` if it failed.
    pub html: Option<Bytes>,
    /// Its picture, as PNG; `None` if there is none.
    pub screenshot: Option<Bytes>,
    /// The answers to its requests, for the archive.
    pub answers: Vec<PageAnswer>,
    /// How many requests were made for it.
    pub requests: u64,
    /// What it lacked, if it failed only by that; `None` otherwise.
    pub lack: Option<Lack>,
}

/// What another try of a page may find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// No browser had room for it.
    Room,
    /// When its answer was there, no time was left.
    Time,
}

impl Lack {
    /// Returns the log's detail.
    pub(super) const fn detail(self) -> &'static str {
        match self {
            Self::Room => "no browser had room for it",
            Self::Time => "no time was left to render it",
        }
    }
}

/// The answer to a request of a page, for the archive.
#[derive(Debug)]
pub(super) struct PageAnswer {
    pub answer: paced::Answer,
    /// Path and query as sent.
    pub target: String,
    /// The body of a POST; `None` for a GET.
    pub posted: Option<Bytes>,
}

/// What the pages of the latest origins have in common, in this process. Clones share the same
/// state.
#[derive(Clone, Debug, Default)]
pub(crate) struct RenderedOrigins(Arc<Mutex<VecDeque<RenderedOrigin>>>);

#[derive(Debug)]
struct RenderedOrigin {
    key: OriginKey,
    iteration: Iteration,
    /// When the first page was rendered, by the monotonic clock.
    since: Duration,
    pages: Arc<OriginPages>,
}

impl RenderedOrigins {
    /// Returns what the pages of an origin have in common at this monotonic reading.
    pub(crate) fn at(&self, key: &OriginKey, iteration: Iteration, now: Duration) -> Arc<OriginPages> {
        let mut origins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        origins.retain(|origin| now.saturating_sub(origin.since) < KEPT_FOR);
        if let Some(known) = origins.iter().find(|origin| origin.key == *key && origin.iteration == iteration) {
            return Arc::clone(&known.pages);
        }
        let pages = Arc::default();
        let origin = RenderedOrigin { key: key.clone(), iteration, since: now, pages: Arc::clone(&pages) };
        origins.truncate(ORIGINS_MAX - 1);
        origins.push_front(origin);
        pages
    }
}

/// What the pages of an origin have in common.
#[derive(Debug, Default)]
pub(crate) struct OriginPages {
    /// Scripts and styles by URL: a site's pages share them.
    kept: Mutex<HashMap<String, PageResponse>>,
    kept_bytes: AtomicU64,
    /// The rules of other origins that were asked; `None` if they cannot be read.
    rules: tokio::sync::Mutex<HashMap<Origin, Option<Arc<RobotsPolicy>>>>,
}

impl OriginPages {
    fn find(&self, asked: &Asked) -> Option<PageResponse> {
        is_shared(asked)
            .then(|| self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(asked.url.as_str()).cloned())?
    }

    fn keep(&self, asked: &Asked, response: &PageResponse) {
        let bytes = response.body.len() as u64;
        let is_good = is_shared(asked) && response.status == 200;
        if is_good && self.kept_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= KEPT_BYTES_MAX {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(asked.url.as_str().to_owned(), response.clone());
        }
    }
}

/// Whether pages share what is asked: scripts and styles, not data.
const fn is_shared(asked: &Asked) -> bool {
    matches!(asked.kind, AskedKind::Script | AskedKind::Style) && matches!(asked.method, AskedMethod::Get)
}

/// What the requests of a page need of its turn.
pub(super) struct PageRequests<W, H> {
    pub world: Arc<W>,
    pub fetcher: Arc<H>,
    pub pacer: Arc<Pacer>,
    pub context: Arc<CrawlContext>,
    /// The turn at whose origin the page is.
    pub waiter: HostWaiter,
    /// The rules of that origin; `None` if they are not obeyed.
    pub rules: Option<Arc<RobotsPolicy>>,
    /// The session at that origin; `None` if its cookies are ignored.
    pub session: Option<Arc<Session>>,
    /// The monotonic reading after which no request starts.
    pub latest_start: Duration,
    pub pages: Arc<OriginPages>,
    pub page: CrawlUrl,
    pub made: MadeRequests,
}

/// The requests of a page so far.
#[derive(Debug, Default)]
pub(super) struct MadeRequests {
    answers: Mutex<Vec<(u32, PageAnswer)>>,
    /// What became of those that no server answered.
    unanswered: Mutex<Vec<(u32, PageRequest)>>,
    requests: AtomicU64,
    /// When the page made its first one, by the monotonic clock.
    first: OnceLock<Duration>,
}

impl<W: World, H: Fetcher + 'static> PageRequests<W, H> {
    /// Asks for what the page requests, if that is allowed.
    async fn make(&self, asked: &Asked, place: Option<PlaceInLine>) -> Answer {
        if !self.is_allowed(asked) {
            return self.refuse(asked, PageRequestEnd::Refused { refused: PageRefusal::Definition });
        }
        if let Some(kept) = self.pages.find(asked) {
            return Answer::Response(kept);
        }
        match self.delay_by_robots(&asked.url).await {
            Ok(Some(delay)) => self.fetch(asked, delay, place).await,
            Ok(None) => self.refuse(asked, PageRequestEnd::Refused { refused: PageRefusal::RobotsTxt }),
            Err(error) => {
                tracing::warn!(url = %asked.url, %error, "a request of a page could not be made");
                self.refuse(asked, PageRequestEnd::Failed { failed: one_line(&error.to_string(), FAILED_CHARS_MAX) })
            }
        }
    }

    /// Records what became of a request that no server answered.
    fn refuse(&self, asked: &Asked, end: PageRequestEnd) -> Answer {
        let request = PageRequest {
            url: asked.url.clone(),
            method: asked.method.name(),
            at: in_milliseconds(self.world.clock().now()),
            end,
        };
        self.made.unanswered.lock().unwrap_or_else(PoisonError::into_inner).push((asked.number, request));
        Answer::Refused
    }

    /// Whether the definition allows a request.
    fn is_allowed(&self, asked: &Asked) -> bool {
        let would_log_out = self.session.is_some() && logs_out(&asked.url);
        self.context.definition.render.allows(&self.page.origin(), &asked.url, asked.method.name())
            && !self.context.excludes(&asked.url)
            && !would_log_out
    }

    /// Returns the delay that is kept at a URL's host, of which its turn's pacer may know a longer
    /// one; `None` if the robots.txt of its origin forbids it. One that cannot be read does.
    async fn delay_by_robots(&self, url: &CrawlUrl) -> PortResult<Option<Duration>> {
        let origin = url.origin();
        let is_own = origin == self.waiter.origin.origin;
        let without_rules = Some(self.context.definition.politeness.delay);
        let rules = match &self.rules {
            _ if self.context.definition.ignores_robots(&origin) => return Ok(without_rules),
            None if is_own => return Ok(without_rules),
            Some(own) if is_own => Some(Arc::clone(own)),
            _ => self.rules_of(&origin).await?,
        };
        let allowing = rules.filter(|rules| forbidden(rules, &origin, url).is_none());
        Ok(allowing.map(|rules| base_delay(&self.context, &rules)))
    }

    /// Returns the rules of another origin, which are read once for several pages; `None` if they
    /// cannot be.
    async fn rules_of(&self, origin: &Origin) -> PortResult<Option<Arc<RobotsPolicy>>> {
        let mut known = self.pages.rules.lock().await;
        if let Some(rules) = known.get(origin) {
            return Ok(rules.clone());
        }
        let key = OriginKey { crawl: self.waiter.origin.crawl.clone(), origin: origin.clone() };
        let age_max = self.context.definition.politeness.robots_max_age;
        let known_use = (StoredUse::ServesChecks { age_max }, RobotsUse::Used, BrokenOffPolicy::IsObeyed);
        let (world, fetcher, pacer) = (&self.world, &*self.fetcher, &self.pacer);
        let read =
            robots(world, fetcher, &self.context, pacer, self.latest_start(), (&self.waiter, &key), known_use).await?;
        for answer in read.answers {
            let target = answer.url.path_and_query().to_owned();
            self.note(0, PageAnswer { answer, target, posted: None });
        }
        let rules = match read.robots {
            Robots::Known(rules) => Some(rules),
            // Others are using its host: it may be read for the next page.
            Robots::HostBusy(_) => return Ok(None),
            _ => None,
        };
        known.insert(origin.clone(), rules.clone());
        Ok(rules)
    }

    /// Makes a request when those before it have begun, with this delay to those to the same host.
    async fn fetch(&self, asked: &Asked, delay: Duration, place: Option<PlaceInLine>) -> Answer {
        let body = match &asked.method {
            AskedMethod::Get => None,
            AskedMethod::Post { body } => Some(body.clone()),
        };
        let is_own = asked.url.origin() == self.waiter.origin.origin;
        let request = FetchRequest {
            target: asked.target.clone(),
            via: Some(self.page.clone()),
            session: self.session.clone().filter(|_| is_own && self.context.keeps_session(&asked.url)),
            page: Some(Arc::new(PageFields { headers: asked.headers.clone(), body: body.clone() })),
            ..FetchRequest::new(asked.url.clone(), self.context.limits().reading_all())
        };
        let (world, fetcher, pacer) = (&self.world, &*self.fetcher, &self.pacer);
        let hosts_per_domain = self.context.definition.politeness.hosts_per_domain;
        let paced = PacedRequests::new(world, fetcher, pacer, self.latest_start(), &self.waiter, hosts_per_domain)
            .keeping(delay);
        if let Some(place) = &place {
            place.is_first().await;
        }
        let fetched = {
            let mut fetching = Box::pin(paced.fetch(request));
            // Then it waits for its start behind those before it.
            let begun = poll!(&mut fetching);
            drop(place);
            match begun {
                Poll::Ready(fetched) => fetched,
                Poll::Pending => fetching.await,
            }
        };
        self.made.requests.fetch_add(paced.sent(), Ordering::Relaxed);
        for answer in paced.into_answers() {
            let target = asked.target.clone().unwrap_or_else(|| asked.url.path_and_query().to_owned());
            self.note(asked.number, PageAnswer { answer, target, posted: body.clone() });
        }
        let response = match fetched.result {
            Ok(response) => response,
            Err(failure) => {
                let failed = one_line(&failure.detail, FAILED_CHARS_MAX);
                return self.refuse(asked, PageRequestEnd::Failed { failed });
            }
        };
        let response = to_page_response(&response, self.context.definition.fetch.decoded_bytes_max);
        let Some(response) = response else { return Answer::Refused };
        self.pages.keep(asked, &response);
        Answer::Response(response)
    }

    fn note(&self, number: u32, answer: PageAnswer) {
        self.made.answers.lock().unwrap_or_else(PoisonError::into_inner).push((number, answer));
    }
}

/// The requests of a page under way. Each is a task of its own, so that one whose page no longer
/// waits for it ends in order, and is archived.
struct Tasks<W, H> {
    requests: Arc<PageRequests<W, H>>,
    running: Mutex<JoinSet<()>>,
    /// Of those to the page's own origin.
    line: Arc<Line>,
}

impl<W: World, H: Fetcher + 'static> PageNetwork for Tasks<W, H> {
    async fn answer(&self, asked: Asked) -> Answer {
        let (answered, answer) = oneshot::channel();
        let requests = Arc::clone(&self.requests);
        let place = (asked.url.origin() == requests.waiter.origin.origin).then(|| self.line.join());
        self.running.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
            // The page may not wait for it any more.
            let _ = answered.send(requests.make(&asked, place).await);
        });
        answer.await.unwrap_or(Answer::Refused)
    }
}

impl<W: World, H> PageRequests<W, H> {
    /// Returns the reading after which no request of the page starts: nobody would wait for its
    /// answer.
    fn latest_start(&self) -> Duration {
        let first = *self.made.first.get_or_init(|| self.world.clock().monotonic());
        self.latest_start.min(first + self.context.definition.render.timeout)
    }
}

/// Renders a page that was answered at this time, and ends with the last of its requests. `None`
/// without a browser: the page is then what its server sent.
pub(super) async fn render<W: World, H: Fetcher + 'static>(
    renderer: &impl Renderer,
    requests: PageRequests<W, H>,
    (page, at): (PageResponse, Timestamp),
) -> Option<RenderedPage> {
    let requests = Arc::new(requests);
    let request = render_request(&requests.context.definition, requests.page.clone(), page, at);
    let clock = requests.world.clock();
    let tasks = Arc::new(Tasks { requests: Arc::clone(&requests), running: Mutex::default(), line: Arc::default() });
    let had_time = clock.monotonic() < requests.latest_start;
    let rendered = loop {
        let left = requests.latest_start.saturating_sub(clock.monotonic());
        let rendered = tokio::select! {
            biased;
            rendered = renderer.render(request.clone(), Arc::clone(&tasks)) => rendered,
            // Too many others wait for a browser.
            () = clock.sleep(left) => Err(RenderFailure::NoRoom),
        };
        match rendered {
            Err(RenderFailure::NoRoom) if clock.monotonic() + NO_ROOM_PAUSE <= requests.latest_start => {
                clock.sleep(NO_ROOM_PAUSE).await;
            }
            rendered => break rendered,
        }
    };
    let mut running = std::mem::take(&mut *tasks.running.lock().unwrap_or_else(PoisonError::into_inner));
    while running.join_next().await.is_some() {}
    match rendered {
        Ok(rendered) => Some(with(rendered, &requests)),
        Err(failure @ RenderFailure::NoBrowser { .. }) => {
            tracing::warn!(url = %requests.page, %failure, "a page that is to be rendered is not");
            None
        }
        Err(failure) => {
            let page = without(Rendering::failed(failure.to_string()), &requests);
            let lack = if had_time { Lack::Room } else { Lack::Time };
            Some(RenderedPage { lack: (failure == RenderFailure::NoRoom).then_some(lack), ..page })
        }
    }
}

fn with<W, H>(rendered: Rendered, requests: &PageRequests<W, H>) -> RenderedPage {
    let Rendered { html, extent, ended, navigations, requests: counts, browser, screenshot } = rendered;
    let result = RenderResult::Rendered { ended, extent, dom_sha1: Sha1::digest(&html).into() };
    let rendering = Rendering { result, requests: counts, browser: Some(browser), navigations, asked: Vec::new() };
    RenderedPage { html: Some(Bytes::from(html)), screenshot, ..without(rendering, requests) }
}

fn without<W, H>(rendering: Rendering, requests: &PageRequests<W, H>) -> RenderedPage {
    let mut answers = std::mem::take(&mut *requests.made.answers.lock().unwrap_or_else(PoisonError::into_inner));
    // In the order in which the page asked, not in that of their ends.
    answers.sort_by_key(|(number, _)| *number);
    let mut asked = std::mem::take(&mut *requests.made.unanswered.lock().unwrap_or_else(PoisonError::into_inner));
    asked.extend(answers.iter().filter_map(|(number, answer)| Some((*number, to_request(answer)?))));
    asked.sort_by_key(|(number, request)| (*number, request.at));
    let mut stored_bytes = 0;
    let is_kept = |request: &PageRequest| {
        stored_bytes += request.stored_bytes();
        stored_bytes <= PageRequest::STORED_BYTES_MAX
    };
    let asked = asked.into_iter().map(|(_, request)| request).take_while(is_kept).collect();
    let answers = answers.into_iter().map(|(_, answer)| answer).collect();
    let rendering = Rendering { asked, ..rendering };
    RenderedPage {
        rendering,
        html: None,
        screenshot: None,
        answers,
        requests: requests.made.requests.load(Ordering::Relaxed),
        lack: None,
    }
}

/// Returns an answer as the log has it; `None` if there was none.
fn to_request(PageAnswer { answer, posted, .. }: &PageAnswer) -> Option<PageRequest> {
    let response = answer.fetched.result.as_ref().ok()?;
    Some(PageRequest {
        url: answer.url.clone(),
        method: if posted.is_some() { PageMethod::Post } else { PageMethod::Get },
        at: in_milliseconds(answer.at),
        end: PageRequestEnd::Answered {
            status: response.status,
            body_bytes: response.body.len_bytes(),
            elapsed_ms: u64::try_from(answer.fetched.elapsed.as_millis()).unwrap_or(u64::MAX),
        },
    })
}
