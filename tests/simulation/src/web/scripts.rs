//! Pages that their scripts make: what servers send, what pages ask for, and a browser that shows
//! them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::url::CrawlUrl;
use dragline_ports::clock::Clock;
use dragline_ports::renderer::{
    DomExtent, PageNetwork, RenderEnd, RenderFailure, RenderRequest, Rendered, Renderer, RequestCounts,
};
use dragline_testkit::renderer::ScriptedRenderer;

use super::page::Arrival;
use super::{Answer, Response, Servers, Trouble, TroubleKind};

/// What servers send for a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sending {
    /// The page.
    #[default]
    Whole,
    /// A page that says nothing, and becomes the page in a browser. Those that ask for noindex,
    /// which nobody renders, are sent whole.
    Shell,
}

/// Between these the shell has the page, whose hyphens in a row would end the comment.
const BEGIN: &str = "<!doctype html><title>App</title><div id=root></div><!--page ";
const END: &str = "-->";
const HYPHENS: (&str, &str) = ("--", "\u{1}");

impl Sending {
    /// What is sent instead of an answer.
    pub(super) fn send(self, answer: Answer) -> Answer {
        match answer {
            Answer::Response(response) if self == Self::Shell && is_rendered(&response) => {
                let page = String::from_utf8_lossy(&response.body).replace(HYPHENS.0, HYPHENS.1);
                Answer::Response(Response { body: format!("{BEGIN}{page}{END}").into(), ..response })
            }
            answer => answer,
        }
    }
}

fn is_rendered(response: &Response) -> bool {
    let is_page = response.field("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    let asks = response.field("x-robots-tag").is_some() || response.body.windows(7).any(|part| part == b"noindex");
    response.status == 200 && response.truncated.is_none() && is_page && !asks
}

/// What a page asks for. A script of its origin, which pages share; data of its own, which its
/// robots.txt may forbid; and some of another origin's.
fn asked_by(url: &CrawlUrl, servers: &Servers) -> String {
    let digest = url.as_str().bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31) ^ usize::from(byte));
    let path = url.path_and_query().len() + digest % 100;
    let own = if digest % 3 == 0 { format!("/private/{path}.json") } else { format!("/data/{path}.json") };
    let mut asked = format!("<!--ask script GET /app.js--><!--ask data GET {own}-->");
    let site = servers.site();
    let others: Vec<_> = site.hosts.keys().filter(|origin| **origin != url.origin()).collect();
    if let Some(other) = others.get(digest / 7 % others.len().max(1)).filter(|_| digest % 2 == 0) {
        asked += &format!("<!--ask data GET {other}/data/of-others/{}.json-->", digest % 10);
    }
    asked
}

/// What a server says to a request of a page. One of eight URLs fails at first, another slows its
/// clients.
pub(super) fn answer(url: &CrawlUrl, arrival: &Arrival) -> Option<Answer> {
    let good = Response::new(200, format!("{{\"of\": \"{url}\"}}")).with("content-type", "application/json");
    let trouble = match url.as_str().bytes().fold(0_u8, u8::wrapping_add) % 8 {
        0 => Trouble { requests: 1, kind: TroubleKind::Unavailable },
        1 => Trouble { requests: 2, kind: TroubleKind::RetryAfterSeconds(5) },
        2 => Trouble { requests: 1, kind: TroubleKind::Hangs },
        _ => return Some(Answer::Response(good)),
    };
    if arrival.earlier < trouble.requests {
        trouble.kind.answer(good, arrival.now)
    } else {
        Some(Answer::Response(good))
    }
}

/// A browser in which the shells of these servers become their pages. The answers to what a page
/// asks for change nothing in it, as they may fail while the site's truth stays. For some pages it
/// has no room at first.
#[derive(Clone, Debug)]
pub struct SimulatedBrowser<C> {
    servers: Arc<Servers>,
    clock: C,
}

impl<C: Clock> SimulatedBrowser<C> {
    /// A browser for pages of these servers, in this clock's time.
    pub const fn new(servers: Arc<Servers>, clock: C) -> Self {
        Self { servers, clock }
    }

    /// Whether there is room for a page by now. Some wait for it longer than a lease lasts.
    fn has_room(&self, url: &CrawlUrl) -> bool {
        let is_steady = self.servers.site().page(url).is_some_and(|page| page.trouble.is_none());
        let lacking = match url.as_str().bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(13) ^ byte) % 16 {
            0 | 1 => Duration::from_secs(3),
            2 if is_steady => Duration::from_mins(4),
            _ => return true,
        };
        self.servers.rendered_for(url, self.servers.time(self.clock.monotonic())) >= lacking
    }
}

impl<C: Clock + Send + Sync + 'static> Renderer for SimulatedBrowser<C> {
    async fn render<N: PageNetwork>(
        &self,
        mut page: RenderRequest,
        network: Arc<N>,
    ) -> Result<Rendered, RenderFailure> {
        if !self.has_room(&page.url) {
            return Err(RenderFailure::NoRoom);
        }
        let sent = String::from_utf8_lossy(&page.response.body).into_owned();
        let within = sent.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        let html = within.map_or(sent.clone(), |page| page.replace(HYPHENS.1, HYPHENS.0));
        page.response.body = Bytes::from(asked_by(&page.url, &self.servers));
        let wall_time = page.limits.wall_time;
        let mut rendered = pin!(ScriptedRenderer.render(page, network));
        tokio::select! {
            biased;
            rendered = &mut rendered => Ok(Rendered { html, ..rendered? }),
            () = self.clock.sleep(wall_time) => Ok(Rendered {
                html,
                extent: DomExtent::Whole,
                ended: RenderEnd::WallTime,
                navigations: Vec::new(),
                requests: RequestCounts::default(),
                browser: "Scripted/1".to_owned(),
                screenshot: None,
            }),
        }
    }
}
