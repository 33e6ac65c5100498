//! The page as its scripts make it, in a browser whose requests are the polite client's.

use std::sync::Arc;

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::policy::Policy;
use dragline_domain::rendering::{PageGist, PageRendering};
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::Headers;
use dragline_formats::shell::{headers_of_dom, without_noscript};
use dragline_pipeline::crawl::to_page_response;
use dragline_ports::fetcher::{FetchRequest, PageFields};
use dragline_ports::renderer::{Answer, Asked, AskedMethod, PageNetwork, RenderRequest, Rendered, Renderer};
use tokio::sync::Mutex;

use crate::error::Failure;
use crate::live::LiveFetcher;
use crate::rendering;

/// A page after its scripts.
pub(super) struct RenderedPage {
    pub(super) headers: Headers,
    /// Its document as HTML.
    pub(super) body: Vec<u8>,
    pub(super) rendering: PageRendering,
}

/// Renders a page.
///
/// # Errors
/// There is no browser, or the page cannot be rendered.
pub(super) async fn render(
    request: RenderRequest,
    client: LiveFetcher,
    draft: &Draft,
    sent: PageGist,
) -> Result<RenderedPage, Failure> {
    let headers = headers_of_dom(&request.response.headers);
    let policy = Definition::new(draft.clone()).ok().and_then(|definition| Policy::compile(&definition).ok());
    let network = LiveNetwork { client: Mutex::new(client), policy, draft: draft.clone(), page: request.url.clone() };
    let browsers = rendering::browsers();
    let rendered = browsers.render(request, Arc::new(network)).await;
    browsers.close().await;
    let Rendered { html, ended, requests, browser, .. } = rendered.map_err(rendering::to_failure)?;
    Ok(RenderedPage {
        headers,
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
        let response = response.and_then(|response| to_page_response(&response, self.draft.fetch.decoded_bytes_max));
        response.map_or(Answer::Refused, Answer::Response)
    }
}
