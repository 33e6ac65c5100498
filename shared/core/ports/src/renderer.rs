//! Rendering: what becomes of a page in a browser that runs its scripts, and has no network.
//!
//! Whatever the page requests is asked of a [`PageNetwork`], so that it waits for its turn, obeys
//! robots.txt and is archived as any other request.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::definition::{Screenshot, UserAgent};
use dragline_domain::rendering::PageMethod;
pub use dragline_domain::rendering::{DomExtent, RenderEnd, RequestCounts};
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::Headers;
use jiff::Timestamp;

/// A page to render, whose own answer is known.
#[derive(Clone, Debug)]
pub struct RenderRequest {
    /// The URL of the page.
    pub url: CrawlUrl,
    /// What its server answered.
    pub response: PageResponse,
    /// The time of the visit, in whole seconds: the page's clock begins there, and it is the seed
    /// of its random numbers. So the same answers make the same page.
    pub began: Timestamp,
    /// What it may cost.
    pub limits: RenderLimits,
    /// What the page has to contain before it is read; `None`: its time passes, whatever it
    /// contains.
    pub wait_for: Option<WaitFor>,
    /// The user agent that its scripts see.
    pub user_agent: UserAgent,
    /// What is pictured of it in the end. Only then are its pictures asked of the network.
    pub screenshot: Screenshot,
}

/// An answer as a page gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageResponse {
    /// The status code. A redirect is an answer too: the browser follows it by another request.
    pub status: u16,
    /// The header fields as received. Those that describe the body's transfer are left out by the
    /// renderer, as `body` is decoded, and those that permit other origins to read it are replaced.
    pub headers: Headers,
    /// The body without its content coding.
    pub body: Bytes,
}

/// What a rendering may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderLimits {
    /// How much time passes for the page. Its clock stands still while a request of it waits for
    /// its answer, however long that takes.
    pub page_time: Duration,
    /// How much real time passes until it is read as it is, with all that it waits for.
    pub wall_time: Duration,
    /// How many of its requests are asked of the network. All beyond them are refused.
    pub requests_max: u32,
    /// The limit on what is kept of its document as HTML, in bytes.
    pub dom_bytes_max: usize,
}

/// A CSS selector for an element that a page has to contain before it is read. One that is not
/// valid matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaitFor(String);

impl WaitFor {
    /// Wraps a selector.
    #[must_use]
    pub fn new(selector: &str) -> Self {
        Self(selector.to_owned())
    }

    /// Returns the selector.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request that a page makes. Media, fonts, event streams, pings, prefetches, preflights and
/// methods other than GET and POST are never asked; pictures only for a screenshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its place among the requests of the page that were asked, from 1.
    pub number: u32,
    /// What it is for.
    pub kind: AskedKind,
    /// The URL, with all of its parameters.
    pub url: CrawlUrl,
    /// Path and query as the browser spells them, if that differs from the URL's; `None` nearly
    /// always.
    pub target: Option<String>,
    /// Its method.
    pub method: AskedMethod,
    /// `Accept`, `Origin`, `Referer`, `Content-Type`, and what scripts set, as `Authorization`.
    /// What a client says of itself and of the connection is not among them.
    pub headers: Headers,
}

/// The method of a page's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedMethod {
    /// GET.
    Get,
    /// POST. Whether it is sent is for the network to decide, as it may change something there.
    Post {
        /// The body.
        body: Bytes,
    },
}

impl AskedMethod {
    /// Returns its name.
    #[must_use]
    pub const fn name(&self) -> PageMethod {
        match self {
            Self::Get => PageMethod::Get,
            Self::Post { .. } => PageMethod::Post,
        }
    }
}

/// What a page's request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AskedKind {
    /// The document of a frame.
    Frame,
    /// A script or module of a document.
    Script,
    /// A style sheet.
    Style,
    /// What a script fetches.
    Data,
    /// A picture, where the page is to be pictured.
    Picture,
    /// What browsers do not tell apart, such as the script of a worker, or a preload.
    Other,
}

/// What a page's request gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What its server answered.
    Response(PageResponse),
    /// Nothing: a rule or a limit forbids it, or it failed. Scripts see a network error.
    Refused,
}

/// A rendered page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The document as HTML, with its open shadow roots as `<template shadowrootmode>`. Frames are
    /// empty: they are pages of their own.
    pub html: String,
    /// Whether that is all of it.
    pub extent: DomExtent,
    /// How it ended.
    pub ended: RenderEnd,
    /// Where scripts tried to send the browser instead, without repeats: links. The page stayed.
    pub navigations: Vec<CrawlUrl>,
    /// Its requests.
    pub requests: RequestCounts,
    /// The name and version of the browser, as `HeadlessChrome/156.0.8078.108`.
    pub browser: String,
    /// Its picture, as PNG; `None` if none was asked for, or none could be made.
    pub screenshot: Option<Bytes>,
}

/// Why a page was not rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderFailure {
    /// There is no browser that can be used.
    NoBrowser {
        /// What was tried, and why it cannot be used, on one line.
        detail: String,
        /// What to do about it, in the imperative.
        hint: String,
    },
    /// This machine cannot start another browser now, as it lacks memory, processes or files. It
    /// can be tried again later.
    NoRoom,
    /// The page ended its own process, mostly by the memory that it took. It would do so again.
    Crashed,
    /// There is no page to read: the answer has no content or would be saved as a file, or the page
    /// closed or replaced itself.
    NotShown,
    /// Neither the page nor the browser answered within its time, even with its scripts stopped.
    Hung,
}

impl fmt::Display for RenderFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBrowser { detail, hint } => write!(f, "no browser to render pages: {detail}; hint: {hint}"),
            Self::NoRoom => f.write_str("this machine has no room for another browser now"),
            Self::NotShown => f.write_str("there is no page to read"),
            Self::Crashed => f.write_str("the page crashed in the browser"),
            Self::Hung => f.write_str("the page hung in the browser"),
        }
    }
}

impl std::error::Error for RenderFailure {}

/// A browser, or several.
///
/// ```no_run
/// use std::sync::Arc;
/// use dragline_ports::renderer::{Answer, Asked, PageNetwork, RenderFailure, RenderRequest, Renderer};
///
/// /// Refuses everything.
/// struct Unplugged;
///
/// impl PageNetwork for Unplugged {
///     async fn answer(&self, _asked: Asked) -> Answer {
///         Answer::Refused
///     }
/// }
///
/// /// Returns what a page makes of itself without any further request.
/// async fn alone(renderer: &impl Renderer, page: RenderRequest) -> Result<String, RenderFailure> {
///     Ok(renderer.render(page, Arc::new(Unplugged)).await?.html)
/// }
/// ```
pub trait Renderer: Send + Sync + 'static {
    /// Renders a page. Waits for a browser that is free. Whatever the page does is a value, and
    /// affects no other page.
    ///
    /// # Errors
    /// [`RenderFailure`]: nothing is known of the rendered page.
    fn render<N: PageNetwork>(
        &self,
        page: RenderRequest,
        network: Arc<N>,
    ) -> impl Future<Output = Result<Rendered, RenderFailure>> + Send;
}

/// A renderer without a browser, where nothing is rendered.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRenderer;

impl Renderer for NoRenderer {
    async fn render<N: PageNetwork>(&self, _page: RenderRequest, _network: Arc<N>) -> Result<Rendered, RenderFailure> {
        let (detail, hint) = ("there is none in this program", "docs/guide/rendering.md says what renders");
        Err(RenderFailure::NoBrowser { detail: detail.to_owned(), hint: hint.to_owned() })
    }
}

/// A renderer where there may be one.
impl<R: Renderer> Renderer for Option<R> {
    async fn render<N: PageNetwork>(&self, page: RenderRequest, network: Arc<N>) -> Result<Rendered, RenderFailure> {
        match self {
            Some(renderer) => renderer.render(page, network).await,
            None => NoRenderer.render(page, network).await,
        }
    }
}

/// What pages have for a network: archive, guard, robots.txt, pace and budget are behind it.
pub trait PageNetwork: Send + Sync + 'static {
    /// Answers a request of a page. Several are asked at once, each polled for the first time in
    /// the page's order, and the page's clock stands still meanwhile. It is dropped when the
    /// rendering ends before it.
    fn answer(&self, asked: Asked) -> impl Future<Output = Answer> + Send;
}
