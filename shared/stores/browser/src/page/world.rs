//! A world of our own in a page: the same document, and none of the functions that the page
//! replaced.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::link::{Link, NoReply, Reply};

const READ: &str = include_str!("read.js");

const ONE_FRAME: &str = "new Promise(seen => requestAnimationFrame(() => seen(true)))";

/// Two frames, in which observers learn what is in view.
const TWO_FRAMES: &str = "new Promise(seen => requestAnimationFrame(() => requestAnimationFrame(() => seen(true))))";

/// How often a frame is commanded that the page does not see, as it waits for its style sheets or
/// has just begun.
const TRIES_MAX: u32 = 3;

/// How much later than the browser the page may say that it saw a frame.
const SEEN_TIME: Duration = Duration::from_millis(20);

/// How long the browser may take for a frame.
const FRAME_TIME: Duration = Duration::from_secs(1);

/// How long two frames by the real clock may take.
const REAL_FRAMES_TIME: Duration = Duration::from_millis(500);

/// By which clock a page's frames come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// At our command, which only the headless shell obeys.
    Commanded,
    /// By the real clock.
    Real,
}

/// The world.
#[derive(Clone, Debug)]
pub(super) struct World {
    link: Link,
    session: String,
    frame: String,
    /// The browser's time at which that of the page began, in milliseconds.
    began_ms: f64,
    context: Arc<Mutex<Value>>,
}

/// A document as HTML.
#[derive(Debug)]
pub(super) struct Dom {
    pub(super) html: String,
    pub(super) is_whole: bool,
}

impl World {
    /// Describes the world of a page's main frame, which is made when it is first used.
    pub(super) fn new(link: Link, session: &str, frame: &str, began_ms: f64) -> Self {
        Self { link, session: session.to_owned(), frame: frame.to_owned(), began_ms, context: Arc::default() }
    }

    /// Makes the world, anew if there is one.
    pub(super) async fn make(&self) -> Result<Value, NoReply> {
        let made = json!({"frameId": self.frame, "worldName": "dragline"});
        let mut made = self.link.call(&self.session, "Page.createIsolatedWorld", made).await?;
        let context = made["executionContextId"].take();
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = context.clone();
        Ok(context)
    }

    /// Returns the world that was made; null if none was.
    fn context(&self) -> Value {
        self.context.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, context: &Value, expression: &str) -> Reply {
        let params =
            json!({"expression": expression, "contextId": context, "returnByValue": true, "awaitPromise": true});
        self.link.send(&self.session, "Runtime.evaluate", params)
    }

    async fn evaluate(&self, expression: &str) -> Result<Value, NoReply> {
        let mut result = match self.send(&self.context(), expression).get().await {
            // It is not made, or went with a document that the page wrote anew.
            Err(NoReply::Refused(_)) => self.send(&self.make().await?, expression).get().await?,
            replied => replied?,
        };
        Ok(result["result"]["value"].take())
    }

    /// Has the page ask for a frame, so that there is something to show, after the part of its time
    /// that it gets next.
    pub(super) fn ask_for_frame(&self) -> Reply {
        self.send(&self.context(), ONE_FRAME)
    }

    /// Shows a frame that the page asked for, at this moment of its time.
    pub(super) async fn show(&self, asked: Reply, given: Duration) {
        let mut seen = pin!(asked.get());
        for attempt in 0..TRIES_MAX {
            // The same moment would not be another frame.
            let moment_ms = self.moment_ms(given) + f64::from(attempt) / 10.0;
            let frame = json!({"frameTimeTicks": moment_ms});
            let shown = self.link.send(&self.session, "HeadlessExperimental.beginFrame", frame);
            let has_replied = timeout(FRAME_TIME, shown.get()).await.is_ok();
            if !has_replied || timeout(SEEN_TIME, &mut seen).await.is_ok() {
                return;
            }
        }
    }

    /// Waits for frames by the real clock, for which the page's time must go. A page that does
    /// nothing but compute has none.
    pub(super) async fn await_frames(&self) {
        drop(timeout(REAL_FRAMES_TIME, self.evaluate(TWO_FRAMES)).await);
    }

    /// Returns this moment of the page's time by the browser's clock, in milliseconds.
    pub(super) fn moment_ms(&self, given: Duration) -> f64 {
        self.began_ms + given.as_secs_f64() * 1000.0
    }

    /// Returns how high the document is, in pixels.
    pub(super) async fn height(&self) -> Result<u32, NoReply> {
        let height = self.evaluate("document.documentElement?.scrollHeight ?? 0").await?;
        Ok(height.as_u64().and_then(|height| u32::try_from(height).ok()).unwrap_or_default())
    }

    /// Whether an element matches a selector; none matches one that is not valid.
    pub(super) async fn has_match(&self, selector: &str) -> bool {
        let expression = format!("document.querySelector({}) !== null", Value::from(selector));
        matches!(self.evaluate(&expression).await, Ok(Value::Bool(true)))
    }

    /// Reads the document, of which at most so many bytes are kept; `None` if it cannot be read.
    pub(super) async fn read(&self, bytes_max: usize) -> Result<Option<Dom>, NoReply> {
        let mut read = self.evaluate(&format!("{READ}({bytes_max})")).await?;
        let Value::String(mut html) = read["html"].take() else { return Ok(None) };
        let is_whole = read["isWhole"] == true && html.len() <= bytes_max;
        html.truncate(html.floor_char_boundary(bytes_max));
        Ok(Some(Dom { html, is_whole }))
    }
}
