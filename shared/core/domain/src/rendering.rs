//! What became of a page in a browser that ran its scripts.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document::{LinkKind, Page};
use crate::url::CrawlUrl;
use crate::words::count_words;

/// How the rendering of a page went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendering {
    /// How it ended.
    pub result: RenderResult,
    /// The requests of the page.
    #[serde(default)]
    pub requests: RequestCounts,
    /// The name and version of the browser; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// Where scripts tried to send the browser instead: links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub navigations: Vec<CrawlUrl>,
    /// What was asked of the crawl for it, in order; the first of them where that is long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<PageRequest>,
}

/// Whether there is a rendered page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderResult {
    /// There is.
    Rendered {
        /// When the page was read.
        ended: RenderEnd,
        /// Whether all of it was kept.
        extent: DomExtent,
        /// SHA-1 of the document as HTML.
        dom_sha1: [u8; 20],
    },
    /// There is not, for a reason in words. Another try may help.
    Failed(String),
}

impl Rendering {
    /// Creates a rendering that failed, with the reason in words.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        let result = RenderResult::Failed(why.into());
        Self { result, requests: RequestCounts::default(), browser: None, navigations: Vec::new(), asked: Vec::new() }
    }

    /// Returns the digest of the document; `None` if it failed.
    #[must_use]
    pub const fn dom_sha1(&self) -> Option<[u8; 20]> {
        match self.result {
            RenderResult::Rendered { dom_sha1, .. } => Some(dom_sha1),
            RenderResult::Failed(_) => None,
        }
    }

    /// Returns what is missing of the page, in words; `None` if nothing is.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        match &self.result {
            RenderResult::Failed(why) => Some(format!("not rendered: {why}")),
            RenderResult::Rendered { extent: DomExtent::Cut, .. } => {
                Some("rendered, and cut at the limit on its size".to_owned())
            }
            RenderResult::Rendered { ended: RenderEnd::Quiet, .. } => match self.requests.over_limit {
                0 => None,
                1 => Some("rendered without one of its requests, as it made too many".to_owned()),
                requests => Some(format!("rendered without {requests} of its requests, as it made too many")),
            },
            RenderResult::Rendered { ended, .. } => Some(format!("rendered, and read {ended}")),
        }
    }
}

/// A request that a page made while it was rendered, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRequest {
    /// The URL.
    pub url: CrawlUrl,
    /// Its method.
    #[serde(default, skip_serializing_if = "PageMethod::is_get")]
    pub method: PageMethod,
    /// When it was sent, or refused.
    pub at: Timestamp,
    /// What became of it.
    #[serde(flatten)]
    pub end: PageRequestEnd,
}

impl PageRequest {
    /// The limit on what is kept of a page's requests, in bytes, counted by [`Self::stored_bytes`].
    pub const STORED_BYTES_MAX: usize = 16 << 10;

    /// Returns about how many bytes it takes where it is stored.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let said = if let PageRequestEnd::Failed { failed } = &self.end { failed.len() } else { 0 };
        self.url.as_str().len() + said + 120
    }
}

/// The method of a page's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PageMethod {
    /// GET.
    #[default]
    Get,
    /// POST.
    Post,
}

impl PageMethod {
    fn is_get(&self) -> bool {
        *self == Self::Get
    }
}

/// What became of a page's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PageRequestEnd {
    /// Its server answered.
    Answered {
        /// The status code.
        status: u16,
        /// The body's size as received.
        body_bytes: u64,
        /// From the request's start to its end.
        elapsed_ms: u64,
    },
    /// It was not sent, as this forbids it.
    Refused {
        /// What does.
        refused: PageRefusal,
    },
    /// It failed, or there was no time for it.
    Failed {
        /// Why, in words.
        failed: String,
    },
}

/// What forbids a page's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageRefusal {
    /// The definition, which excludes the URL, its host or a POST; or it would end the session.
    Definition,
    /// Its robots.txt, or that it cannot be read.
    RobotsTxt,
}

/// How the page of a document was rendered, and what its server had sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageRendering {
    /// When the page was read; `None` if it was not rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<RenderEnd>,
    /// Why it was not rendered; `None` if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The name and version of the browser; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The requests of the page.
    pub requests: RequestCounts,
    /// What its server had sent; `None` if that is what the document was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<PageGist>,
}

impl PageRendering {
    /// Returns the part of a rendering that is kept with a document.
    #[must_use]
    pub fn new(rendering: &Rendering, served: Option<PageGist>) -> Self {
        let (ended, failed) = match &rendering.result {
            RenderResult::Rendered { ended, .. } => (Some(*ended), None),
            RenderResult::Failed(why) => (None, Some(why.clone())),
        };
        Self { ended, failed, browser: rendering.browser.clone(), requests: rendering.requests, served }
    }
}

/// What a page says, in short: as its server sent it, or as its scripts made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageGist {
    /// Its title; `None` if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its canonical URL; `None` if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CrawlUrl>,
    /// The number of words of its text.
    pub words: u32,
    /// The number of its links to pages.
    pub links: u32,
    /// Whether it asks not to be kept.
    #[serde(skip_serializing_if = "crate::stored_form::is_zero")]
    pub noindex: bool,
}

impl PageGist {
    /// Summarises a page with links of these kinds.
    #[must_use]
    pub fn new(page: &Page, links: impl Iterator<Item = LinkKind>) -> Self {
        Self {
            title: page.title.clone(),
            canonical: page.canonical.clone(),
            words: u32::try_from(count_words(&page.text)).unwrap_or(u32::MAX),
            links: u32::try_from(links.filter(|kind| kind.leads_to_page()).count()).unwrap_or(u32::MAX),
            noindex: page.directives.noindex,
        }
    }
}

/// How much of a document was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomExtent {
    /// All of it.
    Whole,
    /// It was cut at the limit on its size.
    Cut,
}

/// How a rendering ended. [`fmt::Display`] says when the page was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderEnd {
    /// Its page time passed, and then it requested nothing more. Where an element was waited for:
    /// it is there.
    Quiet,
    /// Its page time was spent while it still requested more, or without the element that was
    /// waited for.
    PageTime,
    /// Its wall time was spent: a request was not answered in time, or it computed for long.
    WallTime,
    /// As [`Self::WallTime`], and a script had to be stopped before the page could be read.
    Stopped,
}

impl fmt::Display for RenderEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quiet => "when it had nothing more to do",
            Self::PageTime => "before it had all that it requested, as its page time was spent",
            Self::WallTime => "before it was complete, as the time for it was spent",
            Self::Stopped => "after its scripts were stopped, as the time for it was spent",
        })
    }
}

/// How many requests a page made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestCounts {
    /// Those that the network answered by a response.
    pub answered: u32,
    /// Those that it refused, or that were still open at the end.
    pub refused: u32,
    /// Those beyond the limit on requests, which were refused.
    pub over_limit: u32,
    /// Those that are never asked, such as pictures.
    pub left_out: u32,
}
