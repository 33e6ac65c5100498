//! Which answers are rendered, and what a browser is given of them: decided by the definition and
//! the bytes alone.

use bytes::Bytes;
use dragline_domain::definition::{Draft, RenderWhen};
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::shell::{asks_for_noindex, find_shell};
use dragline_ports::fetcher::FetchedResponse;
use dragline_ports::renderer::{PageResponse, RenderLimits, RenderRequest, WaitFor};
use jiff::Timestamp;

/// Returns the page of an answer, as a browser gets it, if the definition has it rendered. A page
/// that is not whole, or asks for noindex where that is obeyed, is not.
#[must_use]
pub fn page_to_render(draft: &Draft, url: &CrawlUrl, response: &FetchedResponse) -> Option<PageResponse> {
    let render = &draft.render;
    let is_page = response.status == 200 && response.headers.content_type()?.essence == "text/html";
    if !render.is_on() || !is_page || !render.is_for(url) {
        return None;
    }
    let page = to_page_response(response, draft.fetch.decoded_bytes_max)?;
    let token = draft.user_agent.product_token();
    if draft.noindex.is_obeyed() && asks_for_noindex(&page.body, &page.headers, token) {
        return None;
    }
    (render.when == RenderWhen::Always || find_shell(&page.body).is_some()).then_some(page)
}

/// Returns an answer as a page gets it; `None` if it is not whole, or cannot be decoded.
#[must_use]
pub fn to_page_response(response: &FetchedResponse, decoded_bytes_max: u64) -> Option<PageResponse> {
    if response.truncated.is_some() {
        return None;
    }
    let codings = ContentCodings::parse(response.headers.all("content-encoding")).ok()?;
    let received = response.readable_body();
    let body = if codings.is_identity() {
        received
    } else {
        let decoded = decode_all(&codings, &received, decoded_bytes_max);
        Bytes::from((!decoded.is_garbled()).then(|| decoded.bytes.into_owned())?)
    };
    Some(PageResponse { status: response.status, headers: response.headers.clone(), body })
}

/// Returns what is asked of a browser for a page that was answered at this time.
#[must_use]
pub fn render_request(draft: &Draft, url: CrawlUrl, response: PageResponse, at: Timestamp) -> RenderRequest {
    RenderRequest {
        url,
        response,
        began: Timestamp::from_second(at.as_second()).unwrap_or(at),
        limits: RenderLimits {
            page_time: draft.render.page_time,
            wall_time: draft.render.timeout,
            requests_max: draft.render.requests_max,
            dom_bytes_max: draft.fetch.body_bytes_max,
        },
        wait_for: draft.render.wait_for.as_ref().map(|selector| WaitFor::new(selector.as_str())),
        user_agent: draft.user_agent.clone(),
        screenshot: draft.render.screenshot,
    }
}
