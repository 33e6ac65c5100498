//! A world of our own in a page: the same document, and none of the functions that the page
//! replaced.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::link::{Link, NoReply};

const READ: &str = include_str!("read.js");

/// Two frames, in which observers learn what is in view.
const TWO_FRAMES: &str = "new Promise(seen => requestAnimationFrame(() => requestAnimationFrame(() => seen(true))))";

/// The world.
#[derive(Clone, Debug)]
pub(super) struct World {
    link: Link,
    session: String,
    frame: String,
    context: Arc<OnceCell<Value>>,
}

/// A document as HTML.
#[derive(Debug)]
pub(super) struct Dom {
    pub(super) html: String,
    pub(super) is_whole: bool,
}

impl World {
    /// Describes the world of a page's main frame, which is made when it is first used.
    pub(super) fn new(link: Link, session: &str, frame: &str) -> Self {
        Self { link, session: session.to_owned(), frame: frame.to_owned(), context: Arc::default() }
    }

    async fn evaluate(&self, expression: &str) -> Result<Value, NoReply> {
        let make = async {
            let made = json!({"frameId": self.frame, "worldName": "dragline"});
            let mut made = self.link.call(&self.session, "Page.createIsolatedWorld", made).await?;
            Ok(made["executionContextId"].take())
        };
        let context = self.context.get_or_try_init(|| make).await?;
        let params =
            json!({"expression": expression, "contextId": context, "returnByValue": true, "awaitPromise": true});
        let mut result = self.link.call(&self.session, "Runtime.evaluate", params).await?;
        Ok(result["result"]["value"].take())
    }

    /// Waits for two frames.
    pub(super) async fn see(&self) -> Result<(), NoReply> {
        self.evaluate(TWO_FRAMES).await.map(drop)
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
