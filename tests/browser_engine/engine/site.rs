//! A site that answers from memory, and remembers what it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use dragline_browser::{BrowserRenderer, BrowserSettings};
use dragline_domain::definition::{Screenshot, UserAgent};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_ports::renderer::{
    Answer, Asked, PageNetwork, PageResponse, RenderFailure, RenderLimits, RenderRequest, Rendered, Renderer, WaitFor,
};
use jiff::Timestamp;

/// The site. Paths that it does not have are refused.
#[derive(Default)]
pub(crate) struct Site {
    files: BTreeMap<String, PageResponse>,
    delay: Duration,
    silent: Option<&'static str>,
    asked: Mutex<Vec<Asked>>,
}

impl Site {
    /// A site with these files: path, media type and body.
    pub(crate) fn new(files: &[(&str, &str, &str)]) -> Self {
        let files = files.iter().map(|(path, kind, body)| ((*path).to_owned(), response(kind, body.as_bytes())));
        Self { files: files.collect(), ..Self::default() }
    }

    /// It redirects this path.
    pub(crate) fn redirected(mut self, path: &str, to: &str) -> Self {
        let headers = [("Location", to)].into_iter().collect();
        self.files.insert(path.to_owned(), PageResponse { status: 302, headers, body: Bytes::new() });
        self
    }

    /// It holds back each answer for this long.
    pub(crate) fn delayed(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// It never answers this path.
    pub(crate) fn silent_at(self, path: &'static str) -> Self {
        Self { silent: Some(path), ..self }
    }

    /// What it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl PageNetwork for Site {
    async fn answer(&self, asked: Asked) -> Answer {
        let path = asked.url.path_and_query().to_owned();
        self.asked.lock().unwrap().push(asked);
        if self.silent == Some(path.as_str()) {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(self.delay).await;
        self.files.get(&path).cloned().map_or(Answer::Refused, Answer::Response)
    }
}

/// An answer.
pub(crate) fn response(kind: &str, body: &[u8]) -> PageResponse {
    let headers = [("Content-Type", kind)].into_iter().collect();
    PageResponse { status: 200, headers, body: Bytes::copy_from_slice(body) }
}

/// A request for a page of this HTML.
pub(crate) fn page(url: &str, html: &str) -> RenderRequest {
    RenderRequest {
        url: CrawlUrl::parse(url, &UrlRules::keep_all()).unwrap(),
        response: response("text/html; charset=utf-8", html.as_bytes()),
        began: Timestamp::from_second(1_700_000_000).unwrap(),
        limits: RenderLimits {
            page_time: Duration::from_secs(5),
            wall_time: Duration::from_secs(20),
            requests_max: 50,
            dom_bytes_max: 1 << 20,
        },
        wait_for: None,
        user_agent: "Dragline/1 (+https://example.org)".parse::<UserAgent>().unwrap(),
        screenshot: Screenshot::None,
    }
}

/// As [`page`], which waits for an element.
pub(crate) fn page_with(url: &str, html: &str, selector: &str) -> RenderRequest {
    RenderRequest { wait_for: Some(WaitFor::new(selector)), ..page(url, html) }
}

/// A renderer with the ordinary settings.
pub(crate) fn renderer() -> BrowserRenderer {
    BrowserRenderer::new(BrowserSettings::default())
}

/// Renders a page on a site.
pub(crate) async fn render(
    renderer: &BrowserRenderer,
    request: RenderRequest,
    site: &Arc<Site>,
) -> Result<Rendered, RenderFailure> {
    renderer.render(request, Arc::clone(site)).await
}
