//! The life of one page: it begins, its time passes, and it is read.

mod picture;
mod reading;
mod setup;
mod time;
mod world;

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use dragline_domain::definition::Screenshot;
use dragline_ports::renderer::{
    Answer, Asked, DomExtent, PageNetwork, RenderEnd, RenderFailure, RenderRequest, Rendered,
};
use serde_json::{Value, json};
use tokio::select;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

pub(crate) use self::setup::attach;
use self::setup::{Attached, Visit, navigate, set_up};
use self::time::{Clock, Phase};
pub(crate) use self::world::Frames;
use self::world::World;
use crate::link::{BROWSER, Event, Events, Link, Reply, text};
use crate::requests::Requests;

/// How long answers wait for those of earlier requests.
const ORDER_TIME: Duration = Duration::from_millis(20);

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
    frames: Frames,
    /// The frame that the page asked for, if frames come at our command.
    asked_frame: Option<Reply>,
    clock: Clock,
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
    screenshot: Screenshot,
}

/// What ended beside the page.
enum Step {
    PageSetUp(Result<Value, RenderFailure>),
    OtherSetUp,
    Navigated(Result<(), RenderFailure>),
    Ready,
    Answered(u32, Answer),
    Shown { is_there: Option<bool> },
    FramePartOver,
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
        frames: Frames,
        frames_before: HashSet<String>,
    ) -> Self {
        let limits = request.limits;
        let requests = Requests::new(
            link.clone(),
            tab,
            request.response,
            (limits.requests_max, request.screenshot),
            frames_before,
        );
        let visit = Visit { began_s: request.began.as_second(), user_agent: request.user_agent.as_str().to_owned() };
        let request = PageRequest {
            url: request.url.as_str().to_owned(),
            visit,
            wait_for: request.wait_for.map(|wait_for| wait_for.as_str().to_owned()),
            page_time: limits.page_time,
            dom_bytes_max: limits.dom_bytes_max.min(DOM_BYTES_MAX),
            screenshot: request.screenshot,
        };
        Self {
            link: link.clone(),
            events,
            tab: tab.to_owned(),
            request,
            session: None,
            world: None,
            requests,
            frames,
            asked_frame: None,
            clock: Clock::new(),
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
        let screenshot = if read.is_ok() { self.picture().await } else { None };
        self.requests.close();
        let made = self.requests.finish();
        let rendered = read.map(|(dom, ended)| Rendered {
            html: dom.html,
            extent: if dom.is_whole { DomExtent::Whole } else { DomExtent::Cut },
            ended,
            navigations: made.navigations,
            requests: made.counts,
            browser: browser.to_owned(),
            screenshot,
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
            if let Some(ended) = self.end_or_go_on() {
                return Ok(ended);
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
                event = self.events.next() => {
                    if let Some(asked) = self.handle(&event.ok_or(RenderFailure::Crashed)?)? {
                        let (network, number) = (Arc::clone(network), asked.number);
                        let answered = async move { Step::Answered(number, network.answer(asked).await) };
                        let mut answered = Box::pin(answered);
                        // It begins here, so that the network has requests in the page's order.
                        match poll_fn(|context| Poll::Ready(answered.as_mut().poll(context))).await {
                            Poll::Ready(step) => self.step(step)?,
                            Poll::Pending => drop(self.steps.spawn(answered)),
                        }
                    }
                }
            }
        }
    }

    fn step(&mut self, step: Step) -> Result<(), RenderFailure> {
        match step {
            Step::PageSetUp(last_reply) => self.navigate(&last_reply?),
            Step::OtherSetUp => {}
            Step::Navigated(navigated) => navigated?,
            Step::Answered(number, answer) => self.requests.take_answer(number, answer),
            Step::Ready => self.go_on(self.request.page_time),
            Step::Shown { is_there } => self.see_frame(is_there),
            Step::FramePartOver => self.await_frame(),
        }
        Ok(())
    }

    /// Handles an event. Returns the request that has to be asked of the network, if it is one.
    fn handle(&mut self, event: &Event) -> Result<Option<Asked>, RenderFailure> {
        let params = &event.params;
        let is_ours = self.session.as_ref() == Some(&event.session);
        match event.method.as_str() {
            "Fetch.requestPaused" => return Ok(self.requests.handle(params)),
            "Target.attachedToTarget" => self.attached(params),
            "Page.javascriptDialogOpening" => {
                self.link.tell(&event.session, "Page.handleJavaScriptDialog", json!({"accept": false}));
            }
            "Inspector.targetCrashed" if is_ours => return Err(RenderFailure::Crashed),
            "Page.frameNavigated" if is_ours && text(&params["frame"]["id"]) == self.tab => {
                if self.clock.phase != Phase::Loading {
                    return Err(RenderFailure::NotShown);
                }
                // There is no page that it could go back to.
                self.link.tell(&event.session, "Page.resetNavigationHistory", json!({}));
                let world = self.world.clone();
                self.steps.spawn(async move {
                    if let Some(world) = world {
                        // If it cannot be made now, it is when it is needed.
                        drop(world.make().await);
                    }
                    Step::Ready
                });
                self.clock.phase = Phase::Beginning;
            }
            "Target.detachedFromTarget" if self.session.as_deref() == Some(text(&params["sessionId"])) => {
                return Err(RenderFailure::NotShown);
            }
            "Emulation.virtualTimeBudgetExpired" if is_ours => self.pass_time(),
            _ => {}
        }
        Ok(None)
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
        if attached == Attached::Page {
            self.session = Some(session.clone());
        }
        let (link, visit) = (self.link.clone(), self.request.visit.clone());
        self.steps.spawn(async move {
            let done = set_up(&link, &session, attached, visit).await;
            match attached {
                Attached::Page => Step::PageSetUp(done),
                Attached::Frame | Attached::Worker => Step::OtherSetUp,
            }
        });
    }

    /// The page is set up, of whose clock this is the reply. Shows its document.
    fn navigate(&mut self, clock: &Value) {
        let Some(session) = self.session.clone() else { return };
        let began_ms = clock["virtualTimeTicksBase"].as_f64().unwrap_or_default();
        self.world = Some(World::new(self.link.clone(), &session, &self.tab, began_ms));
        let (link, url) = (self.link.clone(), self.request.url.clone());
        self.steps.spawn(async move { Step::Navigated(navigate(&link, &session, &url).await) });
    }
}
