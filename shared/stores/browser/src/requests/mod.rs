//! The requests of one page, which the browser holds back until they are answered.

mod fields;
mod need;

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use data_encoding::BASE64;
use dragline_domain::definition::Screenshot;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;
use dragline_ports::renderer::{Answer, Asked, PageResponse, RequestCounts};
use serde_json::{Value, json};

use self::fields::{answer_fields, asked_fields, preflight_fields, read_fields};
use self::need::{Described, Need, need};
use crate::link::{BROWSER, Link, NoReply, text};

/// The limit on where scripts tried to go.
const NAVIGATIONS_MAX: usize = 100;

/// The limit on the frames of a page that are remembered, to refuse what they request too late.
const FRAMES_MAX: usize = 10_000;

/// A picture of one transparent pixel: a GIF of two colours, of which the first is not shown.
const PIXEL: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// The requests of one page.
#[derive(Debug)]
pub(crate) struct Requests {
    link: Link,
    /// The main frame, which has the name of its page.
    frame: String,
    /// The page's own answer, until the browser has requested it.
    first: Option<PageResponse>,
    requests_max: u32,
    /// What is pictured of the page in the end.
    screenshot: Screenshot,
    counts: RequestCounts,
    asked: u32,
    /// Those that are asked and not answered, by number.
    open: BTreeMap<u32, Held>,
    /// The answers of some of them, which wait for those of earlier ones.
    ready: BTreeMap<u32, Answer>,
    navigations: Vec<CrawlUrl>,
    /// The frames of this page.
    frames: HashSet<String>,
    /// The frames of the page before: what they request as they close is not of this page.
    frames_before: HashSet<String>,
}

/// A request that the browser holds back.
#[derive(Debug)]
struct Held {
    id: String,
    origin: Option<String>,
}

/// What a page's requests came to.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) counts: RequestCounts,
    pub(crate) navigations: Vec<CrawlUrl>,
    pub(crate) frames: HashSet<String>,
}

impl Requests {
    /// Begins with a page's own answer.
    pub(crate) fn new(
        link: Link,
        frame: &str,
        first: PageResponse,
        (requests_max, screenshot): (u32, Screenshot),
        frames_before: HashSet<String>,
    ) -> Self {
        Self {
            link,
            frame: frame.to_owned(),
            first: Some(first),
            requests_max,
            screenshot,
            counts: RequestCounts::default(),
            asked: 0,
            open: BTreeMap::new(),
            ready: BTreeMap::new(),
            navigations: Vec::new(),
            frames: HashSet::new(),
            frames_before,
        }
    }

    /// Handles a request (`Fetch.requestPaused`). Returns what has to be asked of the network;
    /// `None` if it is answered already.
    pub(crate) fn handle(&mut self, params: &Value) -> Option<Asked> {
        let (id, frame, request) = (text(&params["requestId"]), text(&params["frameId"]), &params["request"]);
        if self.frames_before.contains(frame) {
            refuse(&self.link, id);
            return None;
        }
        if self.frames.len() < FRAMES_MAX && !self.frames.contains(frame) {
            self.frames.insert(frame.to_owned());
        }
        let (method, resource) = (text(&request["method"]), text(&params["resourceType"]));
        if frame == self.frame && resource == "Document" {
            self.navigate(id, method, text(&request["url"]));
            return None;
        }
        let headers = read_fields(&request["headers"]);
        let origin = headers.text("origin").map(std::borrow::Cow::into_owned);
        let need = need(Described { resource, method, headers: &headers }, body(request), self.screenshot);
        let (kind, method) = match need {
            Need::Answer(kind, method) => (kind, method),
            Need::Preflight => {
                self.fulfil(id, 204, preflight_fields(&headers), b"");
                return None;
            }
            Need::Pixel => {
                self.counts.left_out += 1;
                let pixel: Headers = [("Content-Type", "image/gif")].into_iter().collect();
                self.fulfil(id, 200, answer_fields(&pixel, origin.as_deref()), PIXEL);
                return None;
            }
            Need::Refusal => {
                self.counts.left_out += 1;
                refuse(&self.link, id);
                return None;
            }
        };
        let Some((url, target)) = crawl_url(text(&request["url"])) else {
            self.counts.refused += 1;
            refuse(&self.link, id);
            return None;
        };
        if self.asked == self.requests_max {
            self.counts.over_limit += 1;
            refuse(&self.link, id);
            return None;
        }
        self.asked += 1;
        self.open.insert(self.asked, Held { id: id.to_owned(), origin });
        Some(Asked { number: self.asked, kind, url, target, method, headers: asked_fields(&headers) })
    }

    /// The main frame requests a document: first the page itself, then where scripts want it to go.
    fn navigate(&mut self, id: &str, method: &str, url: &str) {
        if let Some(first) = self.first.take() {
            return self.pass_on(id, None, &first);
        }
        if method == "GET" && self.navigations.len() < NAVIGATIONS_MAX {
            let url = crawl_url(url).map(|(url, _)| url);
            self.navigations.extend(url.filter(|url| !self.navigations.contains(url)));
        }
        // As if the user had stopped it: the document stays as it is.
        fail(&self.link, id, "Aborted");
    }

    /// Takes the answer of a request. It waits for those of earlier ones, so that answers that come
    /// together are passed on in the same order each time.
    pub(crate) fn take_answer(&mut self, number: u32, answer: Answer) {
        if self.open.contains_key(&number) {
            self.ready.insert(number, answer);
        }
        while let Some(entry) = self.ready.first_entry() {
            if self.open.first_key_value().is_some_and(|(first, _)| first < entry.key()) {
                break;
            }
            let (number, answer) = entry.remove_entry();
            self.deliver(number, &answer);
        }
    }

    /// Whether answers wait for those of earlier requests.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Passes on all answers that are there.
    pub(crate) fn pass_on_ready(&mut self) {
        for (number, answer) in std::mem::take(&mut self.ready) {
            self.deliver(number, &answer);
        }
    }

    fn deliver(&mut self, number: u32, answer: &Answer) {
        let Some(held) = self.open.remove(&number) else { return };
        match answer {
            Answer::Response(response) => {
                self.counts.answered += 1;
                self.pass_on(&held.id, held.origin.as_deref(), response);
            }
            Answer::Refused => {
                self.counts.refused += 1;
                refuse(&self.link, &held.id);
            }
        }
    }

    /// Whether any request waits for its answer.
    pub(crate) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns how many requests were asked so far.
    pub(crate) const fn asked(&self) -> u32 {
        self.asked
    }

    /// Refuses all that is open, and from now on everything.
    pub(crate) fn close(&mut self) {
        self.requests_max = self.asked;
        self.ready.clear();
        for (_, held) in std::mem::take(&mut self.open) {
            self.counts.refused += 1;
            refuse(&self.link, &held.id);
        }
    }

    /// Ends with what was requested.
    pub(crate) fn finish(self) -> Made {
        Made { counts: self.counts, navigations: self.navigations, frames: self.frames }
    }

    fn pass_on(&self, id: &str, origin: Option<&str>, response: &PageResponse) {
        self.fulfil(id, response.status, answer_fields(&response.headers, origin), &response.body);
    }

    fn fulfil(&self, id: &str, status: u16, fields: Vec<Value>, body: &[u8]) {
        let mut answer = json!({"requestId": id, "responseCode": status, "body": BASE64.encode(body)});
        answer["responseHeaders"] = Value::Array(fields);
        let (reply, link, id) =
            (self.link.send(BROWSER, "Fetch.fulfillRequest", answer), self.link.clone(), id.to_owned());
        // An answer that the browser refuses, as for its status, would leave the page waiting.
        tokio::spawn(async move {
            if let Err(NoReply::Refused(_)) = reply.get().await {
                refuse(&link, &id);
            }
        });
    }
}

/// Refuses a request: scripts see a network error.
pub(crate) fn refuse(link: &Link, id: &str) {
    fail(link, id, "BlockedByClient");
}

fn fail(link: &Link, id: &str, reason: &str) {
    link.tell(BROWSER, "Fetch.failRequest", json!({"requestId": id, "errorReason": reason}));
}

fn body(request: &Value) -> Bytes {
    let parts = request["postDataEntries"].as_array().into_iter().flatten();
    let decoded = parts.filter_map(|part| BASE64.decode(text(&part["bytes"]).as_bytes()).ok());
    decoded.flatten().collect::<Vec<u8>>().into()
}

/// Reads a URL that the browser requests; `None` if it cannot be crawled. Returns with it the path
/// and query as the browser spells them, if that differs.
fn crawl_url(text: &str) -> Option<(CrawlUrl, Option<String>)> {
    let rules = UrlRules::keep_all();
    let url = CrawlUrl::parse(text, &rules).ok()?;
    let target = url.respelled(text, &rules).filter(|target| target != url.path_and_query());
    Some((url, target))
}

#[cfg(test)]
mod tests;
