//! The life of one page: it begins, its time passes, and it is read.

mod setup;
mod world;

use std::collections::HashSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use dragline_ports::renderer::{Answer, DomExtent, PageNetwork, RenderEnd, RenderFailure, RenderRequest, Rendered};
use serde_json::{Value, json};
use tokio::select;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};

pub(crate) use self::setup::attach;
use self::setup::{Attached, Visit, set_up, show};
use self::world::{Dom, World};
use crate::link::{BROWSER, Event, Events, Link, NoReply, text};
use crate::requests::Requests;

/// How much of its time a page gets at once while an element is waited for.
const WAIT_SLICE: Duration = Duration::from_millis(250);

/// How much time a page gets at once while two frames are waited for. They come by the real clock,
/// and only while the page's own goes.
const FRAME_SLICE: Duration = Duration::from_millis(20);

/// How long frames are waited for.
const FRAMES_TIME: Duration = Duration::from_millis(500);

/// How much more time a page gets if what came into view requested more.
const MORE_TIME: Duration = Duration::from_millis(500);

/// How often it gets that.
const ROUNDS_MAX: u32 = 5;

/// How long answers wait for those of earlier requests.
const ORDER_TIME: Duration = Duration::from_millis(20);

/// How long reading a page may take, and again once its scripts are stopped.
const READ_TIME: Duration = Duration::from_secs(3);

/// The limit on what is kept of a document, in bytes: in JSON it is up to six times as long.
const DOM_BYTES_MAX: usize = 10 << 20;

/// A page in a tab of its own.
pub(crate) struct Page<'b> {
    link: Link,
    events: &'b mut Events,
    /// The tab, whose main frame has the same name.
    tab: String,
    request: PageRequest,
    /// The session of the page; `None` until it attached.
    session: Option<String>,
    world: Option<World>,
    requests: Requests,
    phase: Phase,
    /// How often it got more time.
    rounds: u32,
    /// How many requests there were when its time was over.
    asked_before: u32,
    /// What goes on beside the page.
    steps: JoinSet<Step>,
}

/// What is asked of a page.
struct PageRequest {
    url: String,
    visit: Visit,
    wait_for: Option<String>,
    page_time: Duration,
    dom_bytes_max: usize,
}

/// Where a page is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its document has not begun, and its clock stands still.
    Loading,
    /// Its time passes, of which it has got this much.
    Living { spent: Duration },
    /// Its time is over. Frames are waited for.
    Looking,
    /// They are seen.
    Seen,
}

/// What ended beside the page.
enum Step {
    Begun(Result<(), RenderFailure>),
    SetUp,
    Answered(u32, Answer),
    FramesSeen,
    FrameSlice,
    Matched { is_there: bool },
}

/// A rendered page, and the frames that it had.
pub(crate) struct Outcome {
    pub(crate) rendered: Result<Rendered, RenderFailure>,
    pub(crate) frames: HashSet<String>,
}

impl<'b> Page<'b> {
    /// Prepares a page in a tab that exists, and waits.
    pub(crate) fn new(
        link: &Link,
        events: &'b mut Events,
        tab: &str,
        request: RenderRequest,
        frames_before: HashSet<String>,
    ) -> Self {
        let limits = request.limits;
        let requests = Requests::new(link.clone(), tab, request.response, limits.requests_max, frames_before);
        let visit = Visit { began_s: request.began.as_second(), user_agent: request.user_agent.as_str().to_owned() };
        let request = PageRequest {
            url: request.url.as_str().to_owned(),
            visit,
            wait_for: request.wait_for.map(|wait_for| wait_for.as_str().to_owned()),
            page_time: limits.page_time,
            dom_bytes_max: limits.dom_bytes_max.min(DOM_BYTES_MAX),
        };
        Self {
            link: link.clone(),
            events,
            tab: tab.to_owned(),
            request,
            session: None,
            world: None,
            requests,
            phase: Phase::Loading,
            rounds: 0,
            asked_before: 0,
            steps: JoinSet::new(),
        }
    }

    /// Has the page live until it is quiet, or its wall time is spent, and reads it.
    pub(crate) async fn run<N: PageNetwork>(
        mut self,
        network: &Arc<N>,
        wall: Pin<&mut Sleep>,
        browser: &str,
    ) -> Outcome {
        let read = match self.live(network, wall).await {
            Ok(ended) => self.read(ended).await,
            Err(failure) => Err(failure),
        };
        self.requests.close();
        let made = self.requests.finish();
        let rendered = read.map(|(dom, ended)| Rendered {
            html: dom.html,
            extent: if dom.is_whole { DomExtent::Whole } else { DomExtent::Cut },
            ended,
            navigations: made.navigations,
            requests: made.counts,
            browser: browser.to_owned(),
        });
        Outcome { rendered, frames: made.frames }
    }

    async fn live<N: PageNetwork>(
        &mut self,
        network: &Arc<N>,
        mut wall: Pin<&mut Sleep>,
    ) -> Result<RenderEnd, RenderFailure> {
        let mut order: Option<Pin<Box<Sleep>>> = None;
        loop {
            if self.phase == Phase::Seen && !self.requests.has_open() {
                if self.requests.asked() == self.asked_before {
                    return Ok(if self.lacks_element().await { RenderEnd::PageTime } else { RenderEnd::Quiet });
                }
                if self.rounds == ROUNDS_MAX {
                    return Ok(RenderEnd::PageTime);
                }
                self.rounds += 1;
                self.phase = Phase::Living { spent: self.request.page_time };
                self.give_time(MORE_TIME);
            }
            if self.requests.has_ready() {
                order.get_or_insert_with(|| Box::pin(sleep(ORDER_TIME)));
            } else {
                order = None;
            }
            select! {
                // The limits come first: a page may see to it that there is always another event.
                biased;
                () = &mut wall => return Ok(RenderEnd::WallTime),
                () = async { if let Some(order) = &mut order { order.await } }, if order.is_some() => {
                    self.requests.pass_on_ready();
                }
                Some(Ok(step)) = self.steps.join_next() => self.step(step)?,
                event = self.events.next() => self.handle(&event.ok_or(RenderFailure::Crashed)?, Some(network))?,
            }
        }
    }

    /// Whether the element that is waited for is missing at the end.
    async fn lacks_element(&self) -> bool {
        let (Some(selector), Some(world)) = (&self.request.wait_for, &self.world) else { return false };
        !timeout(READ_TIME, world.has_match(selector)).await.unwrap_or(false)
    }

    fn step(&mut self, step: Step) -> Result<(), RenderFailure> {
        match step {
            Step::Begun(begun) => begun?,
            Step::Answered(number, answer) => self.requests.take_answer(number, answer),
            Step::FramesSeen => self.phase = Phase::Seen,
            Step::FrameSlice if self.phase == Phase::Looking => self.give_time(FRAME_SLICE),
            Step::FrameSlice | Step::SetUp => {}
            Step::Matched { is_there } => match self.phase {
                Phase::Living { spent } if !is_there && spent < self.request.page_time => self.live_on(spent),
                _ => self.look(),
            },
        }
        Ok(())
    }

    /// Handles an event. Without a network, nothing is asked any more.
    fn handle<N: PageNetwork>(&mut self, event: &Event, network: Option<&Arc<N>>) -> Result<(), RenderFailure> {
        let params = &event.params;
        let is_ours = self.session.as_ref() == Some(&event.session);
        match event.method.as_str() {
            "Fetch.requestPaused" => {
                if let (Some(asked), Some(network)) = (self.requests.handle(params), network) {
                    let network = Arc::clone(network);
                    self.steps.spawn(async move { Step::Answered(asked.number, network.answer(asked).await) });
                }
            }
            "Target.attachedToTarget" => self.attached(params),
            "Page.javascriptDialogOpening" => {
                self.link.tell(&event.session, "Page.handleJavaScriptDialog", json!({"accept": false}));
            }
            "Inspector.targetCrashed" if is_ours => return Err(RenderFailure::Crashed),
            "Page.frameNavigated"
                if is_ours && self.phase == Phase::Loading && text(&params["frame"]["id"]) == self.tab =>
            {
                self.live_on(Duration::ZERO);
            }
            "Emulation.virtualTimeBudgetExpired" if is_ours => self.pass_time(),
            _ => {}
        }
        Ok(())
    }

    fn attached(&mut self, params: &Value) {
        let (session, target) = (text(&params["sessionId"]).to_owned(), &params["targetInfo"]);
        let attached = match text(&target["type"]) {
            "page" if text(&target["targetId"]) == self.tab => Attached::Page,
            // The tab that a browser opens by itself waits, and costs nothing.
            "page" if target["openerId"].is_null() => return,
            "iframe" => Attached::Frame,
            "worker" => Attached::Worker,
            _ => return self.link.tell(BROWSER, "Target.closeTarget", json!({"targetId": target["targetId"]})),
        };
        let (link, visit, url) = (self.link.clone(), self.request.visit.clone(), self.request.url.clone());
        if attached == Attached::Page {
            self.session = Some(session.clone());
            self.world = Some(World::new(link.clone(), &session, &self.tab));
        }
        self.steps.spawn(async move {
            let done = set_up(link.clone(), session.clone(), attached, visit).await;
            match attached {
                Attached::Page if done.is_ok() => Step::Begun(show(&link, &session, &url).await),
                Attached::Page => Step::Begun(done),
                Attached::Frame | Attached::Worker => Step::SetUp,
            }
        });
    }

    /// Gives the page the next part of its time, or all of it.
    fn live_on(&mut self, spent: Duration) {
        let left = self.request.page_time.saturating_sub(spent);
        let part = if self.request.wait_for.is_some() { left.min(WAIT_SLICE) } else { left };
        self.phase = Phase::Living { spent: spent + part };
        self.give_time(part);
    }

    /// The page has used the time that it got.
    fn pass_time(&mut self) {
        match self.phase {
            Phase::Living { .. } => match (&self.request.wait_for, &self.world) {
                (Some(selector), Some(world)) if self.rounds == 0 => {
                    let (selector, world) = (selector.clone(), world.clone());
                    self.steps.spawn(async move { Step::Matched { is_there: world.has_match(&selector).await } });
                }
                _ => self.look(),
            },
            Phase::Looking => {
                self.steps.spawn(async {
                    sleep(FRAME_SLICE / 2).await;
                    Step::FrameSlice
                });
            }
            Phase::Loading | Phase::Seen => {}
        }
    }

    /// Waits for two frames: then whatever is in view has been loaded, or is requested.
    fn look(&mut self) {
        let Some(world) = self.world.clone() else { return };
        self.phase = Phase::Looking;
        self.asked_before = self.requests.asked();
        self.steps.spawn(async move {
            // A page that computes shows none.
            let _ = timeout(FRAMES_TIME, world.see()).await;
            Step::FramesSeen
        });
        self.give_time(FRAME_SLICE);
    }

    /// Lets time pass for the page. It stands still while a request waits for its answer.
    fn give_time(&self, time: Duration) {
        let Some(session) = &self.session else { return };
        let budget = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        let policy = json!({
            "policy": "pauseIfNetworkFetchesPending", "budget": budget, "maxVirtualTimeTaskStarvationCount": 10_000,
        });
        self.link.tell(session, "Emulation.setVirtualTimePolicy", policy);
    }

    /// Reads the page as it is.
    async fn read(&mut self, ended: RenderEnd) -> Result<(Dom, RenderEnd), RenderFailure> {
        self.steps.shutdown().await;
        let (Some(session), Some(world)) = (self.session.clone(), self.world.clone()) else {
            return Err(RenderFailure::Hung);
        };
        if self.phase == Phase::Loading {
            return Err(RenderFailure::Hung);
        }
        // Its clock stands still before open requests fail, so that nothing makes much of that.
        self.link.tell(&session, "Emulation.setVirtualTimePolicy", json!({"policy": "pause"}));
        self.requests.close();
        if let Some(dom) = self.attend(world.read(self.request.dom_bytes_max)).await? {
            return Ok((dom, ended));
        }
        // An endless loop, perhaps: once it is over, the page can be read.
        self.link.tell(&session, "Runtime.terminateExecution", json!({}));
        let dom = self.attend(world.read(self.request.dom_bytes_max)).await?;
        dom.map(|dom| (dom, RenderEnd::Stopped)).ok_or(RenderFailure::Hung)
    }

    /// Waits for a reading, and handles what happens meanwhile; `None` if it takes too long.
    async fn attend(
        &mut self,
        reading: impl Future<Output = Result<Option<Dom>, NoReply>>,
    ) -> Result<Option<Dom>, RenderFailure> {
        let (mut reading, mut limit) = (pin!(reading), pin!(sleep(READ_TIME)));
        loop {
            select! {
                biased;
                () = &mut limit => return Ok(None),
                read = &mut reading => return match read {
                    Ok(dom) => Ok(dom),
                    Err(NoReply::Gone) => Err(RenderFailure::Crashed),
                    Err(NoReply::Refused(_)) => Ok(None),
                },
                event = self.events.next() => {
                    let event = event.ok_or(RenderFailure::Crashed)?;
                    self.handle::<Unplugged>(&event, None)?;
                }
            }
        }
    }
}

/// The network of a page that is over.
struct Unplugged;

impl PageNetwork for Unplugged {
    async fn answer(&self, _asked: dragline_ports::renderer::Asked) -> Answer {
        Answer::Refused
    }
}
