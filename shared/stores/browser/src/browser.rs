//! A browser, which shows one page at a time: so every event is about that page.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dragline_ports::renderer::{PageNetwork, RenderFailure, RenderRequest, Rendered};
use serde_json::{Value, json};
use tokio::select;
use tokio::time::{sleep, timeout};

use crate::link::{BROWSER, Event, Events, Link, text};
use crate::page::{Frames, Page, attach};
use crate::process::{Process, Starter, check_version, no_browser};
use crate::requests::refuse;
use crate::settings::{BrowserSettings, Processes};

/// How long a browser may take to open a tab, or to close one with all that it holds.
const TAB_TIME: Duration = Duration::from_secs(10);

/// How many pages a browser shows before it is replaced, as all of them leave something behind.
const PAGES_MAX: u32 = 500;

/// A browser.
pub(crate) struct Browser {
    /// Ends with this value.
    _process: Process,
    link: Link,
    events: Events,
    version: String,
    /// By which clock its frames come.
    frames_by: Frames,
    processes: Processes,
    pages: u32,
    /// The frames of the last page.
    frames: HashSet<String>,
}

/// What a browser can be used for after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// For the next page.
    Reusable,
    /// For nothing: it is to be dropped.
    Spent,
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Errors
    /// [`RenderFailure::NoRoom`], or [`RenderFailure::NoBrowser`] if it does not start as it
    /// should.
    pub(crate) async fn start(starter: &Starter, settings: &BrowserSettings) -> Result<Self, RenderFailure> {
        let (process, input, output) = starter.start(settings)?;
        let (link, events) = Link::open(input, output);
        let version = match timeout(settings.start_time, open(&link)).await {
            Ok(Some(version)) => version,
            Ok(None) => {
                // It says why on another pipe than the one that has just ended.
                sleep(Duration::from_millis(50)).await;
                let said = process.said().unwrap_or_else(|| "it said nothing".to_owned());
                return Err(no_browser(format!("{} ended at once: {said}", starter.program())));
            }
            Err(_) => {
                let time = settings.start_time.as_secs();
                return Err(no_browser(format!("{} did not answer within {time} s", starter.program())));
            }
        };
        check_version(&version)?;
        // The headless shell alone says so in its name.
        let frames_by = if version.starts_with("HeadlessChrome/") { Frames::Commanded } else { Frames::Real };
        let (processes, pages, frames) = (settings.processes, 0, HashSet::new());
        Ok(Self { _process: process, link, events, version, frames_by, processes, pages, frames })
    }

    /// Returns its name and version.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Renders a page.
    pub(crate) async fn render<N: PageNetwork>(
        &mut self,
        request: RenderRequest,
        network: &Arc<N>,
    ) -> (Result<Rendered, RenderFailure>, Afterwards) {
        let wall = pin!(sleep(request.limits.wall_time));
        self.pages += 1;
        while let Some(event) = self.events.next_ready() {
            refuse_late(&self.link, &event);
        }
        let opened = timeout(TAB_TIME, open_tab(&self.link, self.processes, self.frames_by)).await;
        let Ok(Some(Tab { tab, context })) = opened else { return (Err(RenderFailure::Hung), Afterwards::Spent) };
        let frames_before = std::mem::take(&mut self.frames);
        let page = Page::new(&self.link, &mut self.events, &tab, request, self.frames_by, frames_before);
        let outcome = page.run(network, wall, &self.version).await;
        self.frames = outcome.frames;
        let is_lasting = self.processes == Processes::Several && self.pages < PAGES_MAX;
        let is_sound = !matches!(outcome.rendered, Err(RenderFailure::Hung | RenderFailure::NoBrowser { .. }));
        let afterwards = match context {
            Some(context) if is_lasting && is_sound => self.close(&context).await,
            _ => Afterwards::Spent,
        };
        (outcome.rendered, afterwards)
    }

    /// Closes a page with all that it stored, and refuses what it requests as it goes.
    async fn close(&mut self, context: &Value) -> Afterwards {
        let closed = self.link.call(BROWSER, "Target.disposeBrowserContext", json!({"browserContextId": context}));
        let (mut closed, mut limit) = (pin!(closed), pin!(sleep(TAB_TIME)));
        loop {
            select! {
                biased;
                () = &mut limit => return Afterwards::Spent,
                closed = &mut closed => return closed.map_or(Afterwards::Spent, |_| Afterwards::Reusable),
                event = self.events.next() => match event {
                    Some(event) => refuse_late(&self.link, &event),
                    None => return Afterwards::Spent,
                },
            }
        }
    }
}

fn refuse_late(link: &Link, event: &Event) {
    if event.method == "Fetch.requestPaused" {
        refuse(link, text(&event.params["requestId"]));
    }
}

/// Has a browser hold back all requests. It does so at its own session, as that of a page misses
/// the scripts of nested workers, and what a page sends as it closes. Returns its version; `None`
/// if it is gone.
async fn open(link: &Link) -> Option<String> {
    let version = link.call(BROWSER, "Browser.getVersion", json!({})).await.ok()?;
    let all = json!({"patterns": [{"urlPattern": "*", "requestStage": "Request"}]});
    link.call(BROWSER, "Fetch.enable", all).await.ok()?;
    link.call(BROWSER, "Target.setAutoAttach", attach()).await.ok()?;
    Some(text(&version["product"]).to_owned())
}

struct Tab {
    tab: String,
    /// What the tab stores is in a context of its own; `None` in one process, where there are none.
    context: Option<Value>,
}

async fn open_tab(link: &Link, processes: Processes, frames_by: Frames) -> Option<Tab> {
    let mut blank = json!({"url": "about:blank", "enableBeginFrameControl": frames_by == Frames::Commanded});
    let mut downloads = json!({"behavior": "deny"});
    let mut context = None;
    if processes == Processes::Several {
        let mut made = link.call(BROWSER, "Target.createBrowserContext", json!({})).await.ok()?;
        let made = made["browserContextId"].take();
        (blank["browserContextId"], downloads["browserContextId"]) = (made.clone(), made.clone());
        context = Some(made);
    }
    link.call(BROWSER, "Browser.setDownloadBehavior", downloads).await.ok()?;
    let tab = link.call(BROWSER, "Target.createTarget", blank).await.ok()?;
    Some(Tab { tab: text(&tab["targetId"]).to_owned(), context })
}
