//! A browser that does what a page says, and runs no scripts.

use std::sync::Arc;

use dragline_domain::definition::Screenshot;
use dragline_domain::url::UrlRules;
use dragline_formats::http_fields::Headers;
use dragline_ports::renderer::{
    Answer, Asked, AskedKind, AskedMethod, DomExtent, PageNetwork, RenderEnd, RenderFailure, RenderRequest, Rendered,
    Renderer, RequestCounts,
};
use futures_util::future::join_all;

/// A page is asked for what its comments name, all at once: `<!--ask data GET /api/list-->`, with a
/// kind, a method and a URL. Its document is the page with the answers in `<div id=root></div>`, in
/// the order of the comments: a function of them alone. `<!--crash-->` in the page ends its
/// process, `<!--to URL-->` tries to send the browser elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptedRenderer;

/// Where the answers go.
const ROOT: &str = "<div id=root></div>";

impl Renderer for ScriptedRenderer {
    async fn render<N: PageNetwork>(&self, page: RenderRequest, network: Arc<N>) -> Result<Rendered, RenderFailure> {
        let html = String::from_utf8_lossy(&page.response.body).into_owned();
        let (mut asked, mut navigations) = (Vec::new(), Vec::new());
        for comment in html.split("<!--").skip(1).filter_map(|rest| rest.split_once("-->")).map(|(said, _)| said) {
            let words: Vec<&str> = comment.split(' ').collect();
            match words[..] {
                ["ask", kind, method, url] => {
                    let number = u32::try_from(asked.len() + 1).unwrap_or(u32::MAX);
                    let url = page.url.join(url, &UrlRules::keep_all());
                    let Ok(url) = url else { continue };
                    let referer = [("referer", page.url.as_str())].into_iter().collect::<Headers>();
                    asked.push(Asked {
                        number,
                        kind: to_kind(kind),
                        url,
                        target: None,
                        method: to_method(method),
                        headers: referer,
                    });
                }
                ["to", url] => navigations.extend(page.url.join(url, &UrlRules::keep_all()).ok()),
                ["crash"] => return Err(RenderFailure::Crashed),
                _ => {}
            }
        }
        let mut requests = RequestCounts::default();
        let max = page.limits.requests_max as usize;
        requests.over_limit = u32::try_from(asked.len().saturating_sub(max)).unwrap_or(u32::MAX);
        asked.truncate(max);
        let answers = join_all(asked.into_iter().map(|asked| network.answer(asked))).await;
        let mut shown = String::new();
        for answer in answers {
            match answer {
                Answer::Response(response) => {
                    requests.answered += 1;
                    shown += &format!("<div>{}</div>", String::from_utf8_lossy(&response.body));
                }
                Answer::Refused => {
                    requests.refused += 1;
                    shown += "<div>refused</div>";
                }
            }
        }
        let html = html.replace(ROOT, &format!("<div id=root>{shown}</div>"));
        let (ended, extent, browser) = (RenderEnd::Quiet, DomExtent::Whole, "Scripted/1".to_owned());
        let screenshot = (page.screenshot != Screenshot::None).then(|| format!("PNG of {}", page.url).into());
        Ok(Rendered { html, extent, ended, navigations, requests, browser, screenshot })
    }
}

fn to_kind(word: &str) -> AskedKind {
    match word {
        "frame" => AskedKind::Frame,
        "script" => AskedKind::Script,
        "style" => AskedKind::Style,
        "data" => AskedKind::Data,
        _ => AskedKind::Other,
    }
}

fn to_method(word: &str) -> AskedMethod {
    if word == "POST" { AskedMethod::Post { body: b"{}".as_slice().into() } } else { AskedMethod::Get }
}
