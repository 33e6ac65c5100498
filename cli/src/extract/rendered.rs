//! The page as its scripts make it, in a browser whose requests are the polite client's.

use std::sync::Arc;

use dragline_domain::definition::{Definition, Draft, RenderWhen};
use dragline_domain::policy::Policy;
use dragline_domain::rendering::{PageGist, PageRendering};
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::Headers;
use dragline_formats::shell::{asks_for_noindex, find_shell, headers_of_dom, without_noscript};
use dragline_pipeline::crawl::{render_request, to_page_response};
use dragline_ports::fetcher::{FetchRequest, PageFields};
use dragline_ports::renderer::{Answer, Asked, AskedMethod, PageNetwork, PageResponse, Rendered, Renderer};
use jiff::Timestamp;
use tokio::sync::Mutex;

use crate::error::Failure;
use crate::live::LiveFetcher;
use crate::rendering;
use crate::terminal::Console;

/// A page after its scripts.
pub(super) struct RenderedPage {
    pub(super) headers: Headers,
    /// Its document as HTML.
    pub(super) body: Vec<u8>,
    pub(super) rendering: PageRendering,
}

/// An answer that may be rendered.
pub(super) struct ServedPage<'p> {
    pub(super) url: &'p CrawlUrl,
    pub(super) headers: &'p Headers,
    /// Without its content coding.
    pub(super) body: &'p [u8],
    pub(super) at: Timestamp,
}

/// Returns a body without its content coding; empty if it cannot be decoded.
pub(super) fn decoded(headers: &Headers, body: &[u8], bytes_max: u64) -> Vec<u8> {
    let codings = ContentCodings::parse(headers.all("content-encoding"));
    codings.map_or_else(|_| Vec::new(), |codings| decode_all(&codings, body, bytes_max).bytes.into_owned())
}

/// Whether a page is to be rendered. One that needs it, and is not, is told of.
pub(super) fn is_wanted(page: &ServedPage<'_>, draft: &Draft, console: &Console) -> bool {
    let render = &draft.render;
    let token = draft.user_agent.product_token();
    if draft.noindex.is_obeyed() && asks_for_noindex(page.body, page.headers, token) || !render.is_for(page.url) {
        return false;
    }
    let is_shell = find_shell(page.body).is_some();
    if is_shell && render.when == RenderWhen::Never {
        console.warn("next to nothing is in the page until a browser has run its scripts");
        console.hint("`--render auto` shows what they make of it");
    }
    match render.when {
        RenderWhen::Never => false,
        RenderWhen::Auto => is_shell,
        RenderWhen::Always => true,
    }
}

/// Renders a page.
///
/// # Errors
/// There is no browser, or the page cannot be rendered.
pub(super) async fn render(
    page: &ServedPage<'_>,
    client: LiveFetcher,
    draft: &Draft,
    sent: PageGist,
) -> Result<RenderedPage, Failure> {
    let response = PageResponse { status: 200, headers: page.headers.clone(), body: page.body.to_vec().into() };
    let policy = Definition::new(draft.clone()).ok().and_then(|definition| Policy::compile(&definition).ok());
    let network = LiveNetwork { client: Mutex::new(client), policy, draft: draft.clone(), page: page.url.clone() };
    let request = render_request(draft, page.url.clone(), response, page.at);
    let browsers = rendering::browsers();
    let rendered = browsers.render(request, Arc::new(network)).await;
    browsers.close().await;
    let Rendered { html, ended, requests, browser, .. } = rendered.map_err(rendering::to_failure)?;
    Ok(RenderedPage {
        headers: headers_of_dom(page.headers),
        body: without_noscript(html.as_bytes()),
        rendering: PageRendering {
            ended: Some(ended),
            failed: None,
            browser: Some(browser),
            requests,
            served: Some(sent),
        },
    })
}

/// What a page's requests are asked by: one after another, at the pace of their sites.
struct LiveNetwork {
    client: Mutex<LiveFetcher>,
    /// What is not to be asked for; `None` without a definition.
    policy: Option<Policy>,
    draft: Draft,
    page: CrawlUrl,
}

impl PageNetwork for LiveNetwork {
    async fn answer(&self, asked: Asked) -> Answer {
        let is_excluded = self.policy.as_ref().is_some_and(|policy| policy.exclusion(&asked.url).is_some());
        if is_excluded || !self.draft.render.allows(&self.page.origin(), &asked.url, asked.method.name()) {
            return Answer::Refused;
        }
        let body = match asked.method {
            AskedMethod::Get => None,
            AskedMethod::Post { body } => Some(body),
        };
        let mut client = self.client.lock().await;
        let request = FetchRequest {
            target: asked.target,
            via: Some(self.page.clone()),
            page: Some(Arc::new(PageFields { headers: asked.headers, body })),
            ..FetchRequest::new(asked.url, client.limits())
        };
        let response = client.send(request).await.ok();
        let response = response.and_then(|response| to_page_response(response, self.draft.fetch.decoded_bytes_max));
        response.map_or(Answer::Refused, Answer::Response)
    }
}
