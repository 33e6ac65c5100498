//! The WARC object of a segment, record by record.

use std::borrow::Cow;
use std::io;

use bytes::Bytes;
use dragline_domain::capture::{Exchange, RecordKind, Visit};
use dragline_domain::definition::{Definition, Hostname, Line, Provenance};
use dragline_domain::frontier::{ObjectKey, ReadAs};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_formats::blob::{Blob, Spool};
use dragline_formats::content_coding::ContentCodings;
use dragline_formats::warc::{
    self, CaptureEvent, ExtensionField, ExtensionName, Metadata, Record, RecordId, RefersTo, Revisit, Sha1Digest,
    TargetUri, WarcInfo, WarcWriter, http_request_block, http_response_head, http_revisit_head, parse_http_response,
};
use jiff::Timestamp;
use serde::Serialize;

use super::paced::Answer;
use super::render::PageAnswer;
use super::visit::wanted_part;
use crate::handover::{AnswerRecord, Capture, Handover, Response, SegmentCaptures};
use dragline_ports::fetcher::{FetchOutcome, FetchedResponse, Truncation};

/// Returns the description of a segment's object for its `warcinfo` record.
pub(super) fn describe(object: &ObjectKey, iteration: Iteration, definition: &Definition) -> WarcInfo {
    let Provenance { operator, publisher, description, is_part_of, hostname } = &definition.archive;
    let text = |line: &Option<Line>| line.as_ref().map(|line| line.as_str().to_owned());
    let crawl = format!("{}-{iteration}", definition.name);
    WarcInfo {
        filename: object.as_str().rsplit('/').next().map(str::to_owned),
        software: concat!("Dragline/", env!("CARGO_PKG_VERSION")).to_owned(),
        operator: text(operator),
        publisher: text(publisher),
        description: text(description),
        hostname: hostname.as_ref().map(Hostname::to_string),
        user_agent: Some(definition.user_agent.as_str().to_owned()),
        robots: Some(robots_policy(definition)),
        is_part_of: [crawl].into_iter().chain(text(is_part_of)).collect(),
    }
}

/// Returns whose rules are obeyed, in the words of `warcinfo`.
fn robots_policy(definition: &Definition) -> String {
    let mut policy = "obey".to_owned();
    if !definition.ignore_robots.is_empty() {
        let hosts: Vec<String> = definition.ignore_robots.iter().map(ToString::to_string).collect();
        policy += &format!(", except of {}", hosts.join(", "));
    }
    if !definition.nofollow.is_obeyed() {
        policy += "; nofollow links are followed";
    }
    if !definition.noindex.is_obeyed() {
        policy += "; pages with noindex are kept";
    }
    if let Some(purpose) = definition.purpose {
        policy += &format!("; what sites reserve for {purpose} is left out");
    }
    policy
}

/// Writes a segment's records, and keeps their contents for the parser of this process.
pub struct SegmentRecords {
    writer: WarcWriter,
    ids: u128,
    warcinfo: RecordId,
    kept: Option<SegmentCaptures>,
}

impl SegmentRecords {
    /// Begins an object with a `warcinfo` record of this content. The records' names are derived
    /// from the random `bits`.
    #[must_use]
    pub fn new(bits: u128, info: &WarcInfo, now: Timestamp) -> Self {
        let warcinfo = RecordId::from_bits(bits);
        let mut records = Self { writer: WarcWriter::new(), ids: bits, warcinfo, kept: None };
        records.warcinfo = records.next_id();
        let record = Record::warcinfo(records.warcinfo, now, info);
        records.writer.write(&record);
        records
    }

    /// Returns the same records, which keep the captures added from now on, as long as there is
    /// room.
    #[must_use]
    pub fn keeping_captures(self, handover: &Handover) -> Self {
        Self { kept: handover.begin(), ..self }
    }

    /// Returns the same records, which move to this spool once one of their bodies is not in
    /// memory.
    #[must_use]
    pub fn spooled_in(self, spool: Spool) -> Self {
        Self { writer: self.writer.with_spool(spool), ..self }
    }

    /// Returns the object's size so far.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.writer.len_bytes()
    }

    /// Returns the number of its bytes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.writer.memory_bytes()
    }

    /// Returns the number of its bytes on disk.
    #[must_use]
    pub fn spooled_bytes(&self) -> u64 {
        self.len_bytes() - self.memory_bytes()
    }

    /// Returns the whole object, and all of its captures if they were kept.
    ///
    /// # Errors
    /// Fails if a body cannot be read, or the spool has no room.
    pub fn into_object(mut self) -> io::Result<(Blob, Option<SegmentCaptures>)> {
        Ok((self.writer.take_file()?, self.kept))
    }

    fn keep(&mut self, capture: impl FnOnce() -> Capture) {
        self.kept = self.kept.take().and_then(|kept| kept.with_capture(capture()));
    }

    fn next_id(&mut self) -> RecordId {
        self.ids = self.ids.wrapping_add(1);
        RecordId::from_bits(self.ids)
    }

    fn event(&self, url: &CrawlUrl, at: Timestamp, fetched: Option<&FetchOutcome>) -> CaptureEvent {
        CaptureEvent {
            date: in_milliseconds(at),
            target_uri: TargetUri::new(url.as_str()),
            ip_address: fetched.and_then(|fetched| fetched.remote).map(|remote| remote.ip()),
            protocol: fetched.and_then(|fetched| fetched.result.as_ref().ok()?.protocol),
            warcinfo_id: Some(self.warcinfo),
        }
    }

    /// Adds a URL that was not requested: the visit says why.
    pub fn add_unsent(&mut self, url: &CrawlUrl, at: Timestamp, visit: &Visit) {
        let event = self.event(url, at, None);
        let record = self.metadata(&event, visit);
        self.writer.write(&record);
        self.keep(|| Capture::unanswered(url.clone(), event.date, visit.clone()));
    }

    /// Adds a requested URL: its request, and its response, a reference to an earlier one, or the
    /// fact that there was none, or that it was not wanted.
    pub fn add_fetched(&mut self, url: &CrawlUrl, at: Timestamp, visit: &Visit, fetched: &FetchOutcome) {
        self.add_sent(url, url.path_and_query(), at, visit, (fetched, None));
    }

    /// Like [`Self::add_fetched`], where `target` was sent as path and query. The request's record
    /// has it; all records are named after the URL, by which others refer to them. A page that was
    /// rendered has its document right behind its answer.
    pub fn add_sent(
        &mut self,
        url: &CrawlUrl,
        target: &str,
        at: Timestamp,
        visit: &Visit,
        (fetched, shown): (&FetchOutcome, Option<&ShownPage>),
    ) {
        let event = self.event(url, at, Some(fetched));
        let capture = match &fetched.result {
            Ok(response) if is_archived(visit) => {
                self.add_answer(url, &event, visit, (&archived(fetched, response), shown))
            }
            Ok(_) | Err(_) => {
                let record = self.metadata(&event, visit);
                self.writer.write(&record);
                self.keep(|| Capture::unanswered(url.clone(), event.date, visit.clone()));
                record.id()
            }
        };
        if fetched.remote.is_some() || fetched.result.is_ok() {
            let wanted = wanted_part(visit.sighting.read_as, visit.tries.saturating_sub(1));
            let block = http_request_block(wanted.method(), target, &fetched.request_headers);
            self.add_request(block, &event, capture);
        }
    }

    /// Adds an answer that is not a visit: robots.txt, a redirect on the way to it, or a page
    /// requested to check that its server still answers. It is there for readers of the archive;
    /// parsers ignore it. A request without an answer is not added.
    pub fn add_aside(&mut self, url: &CrawlUrl, at: Timestamp, fetched: &FetchOutcome) {
        self.add_beside((url, url.path_and_query(), None), at, fetched);
    }

    /// Adds the answer to a request that a page made while it was rendered, with path and query as
    /// sent, and the body of a POST. It is there for readers of the archive, too.
    pub(super) fn add_for_page(&mut self, answer: &PageAnswer) {
        let PageAnswer { answer: Answer { url, at, fetched }, target, posted } = answer;
        self.add_beside((url, target, posted.as_deref()), *at, fetched);
    }

    fn add_beside(
        &mut self,
        (url, target, posted): (&CrawlUrl, &str, Option<&[u8]>),
        at: Timestamp,
        fetched: &FetchOutcome,
    ) {
        let Ok(response) = &fetched.result else { return };
        let event = self.event(url, at, Some(fetched));
        let response = archived(fetched, response);
        let FetchedResponse { status, reason, headers, body, .. } = &*response;
        let head = http_response_head(*status, reason, headers, body.len_bytes());
        let record = Record::response(self.next_id(), &event, head, body.clone(), payload_digest(&response));
        let record = match response.truncated {
            None => record,
            Some(reason) => record.truncated(warc_truncation(reason)),
        };
        self.writer.write(&record);
        let method = if posted.is_some() { "POST" } else { "GET" };
        let mut block = http_request_block(method, target, &fetched.request_headers);
        block.extend_from_slice(posted.unwrap_or_default());
        self.add_request(block, &event, record.id());
    }

    fn add_request(&mut self, block: Vec<u8>, event: &CaptureEvent, capture: RecordId) {
        let request = Record::request(self.next_id(), event, block).concurrent_to(capture);
        self.writer.write(&request);
    }

    /// Adds an answer, and returns its record's name.
    fn add_answer(
        &mut self,
        url: &CrawlUrl,
        event: &CaptureEvent,
        visit: &Visit,
        (response, shown): (&FetchedResponse, Option<&ShownPage>),
    ) -> RecordId {
        let id = self.next_id();
        let digest = payload_digest(response);
        let last = visit.known.last.as_ref().filter(|_| visit.outcome == Outcome::FileDidNotChange);
        let revisit = last.and_then(|last| {
            let known = Sha1Digest::from(last.payload_sha1);
            let refers_to = RefersTo { target_uri: event.target_uri.clone(), date: last.fetched_at };
            match response.status {
                304 => Some((Revisit::ServerNotModified { payload_digest: Some(known) }, known, refers_to)),
                _ if known == digest => Some((Revisit::IdenticalPayload { payload_digest: digest }, known, refers_to)),
                // The same content in other bytes, perhaps compressed anew: stored, as no earlier
                // record has these bytes.
                _ => None,
            }
        });
        let FetchedResponse { status, reason, headers, body, .. } = response;
        let (head, body, kind, payload, truncated) = match &revisit {
            Some((_, known, _)) => {
                (http_revisit_head(*status, reason, headers), Blob::default(), RecordKind::Revisit, *known, None)
            }
            None => {
                let head = http_response_head(*status, reason, headers, body.len_bytes());
                (head, body.clone(), RecordKind::Response, digest, response.truncated.map(warc_truncation))
            }
        };
        // A parser reads as much as it needs of a body that is not in memory.
        self.kept = self.kept.take().filter(|_| body.in_memory().is_some());
        let answer = self.kept.as_ref().and(body.in_memory()).map(|body| {
            parse_http_response(&head).map(|parsed| Response {
                status: parsed.status,
                headers: parsed.headers,
                body: body.clone(),
            })
        });
        let record = match revisit {
            Some((revisit, _, refers_to)) => Record::revisit(id, event, head, &revisit, Some(refers_to)),
            None => Record::response(id, event, head, body, digest),
        };
        let record = with_visit(record, visit);
        let span = self.writer.write(&match truncated {
            None => record,
            Some(reason) => record.truncated(reason),
        });
        let shown = shown.filter(|_| kind == RecordKind::Response);
        let dom = shown.map(|shown| (shown.dom.clone(), self.add_shown(url, event, (visit, id), shown)));
        if let Some(answer) = answer {
            let stored = AnswerRecord { kind, span, payload: Some(payload), truncated };
            self.keep(|| {
                let capture = Capture::answered(url.clone(), event.date, visit.clone(), stored, answer);
                match dom {
                    Some((dom, record_bytes)) => capture.rendered(dom, record_bytes),
                    None => capture,
                }
            });
        }
        id
    }

    /// Adds the document that scripts made of a page, and its picture, and returns the length of
    /// their records.
    fn add_shown(
        &mut self,
        url: &CrawlUrl,
        event: &CaptureEvent,
        (visit, answer): (&Visit, RecordId),
        ShownPage { dom, screenshot }: &ShownPage,
    ) -> u64 {
        let target_uri = TargetUri::for_dom(url.as_str());
        let event = CaptureEvent { target_uri, ip_address: None, protocol: None, ..event.clone() };
        let mut record = Record::resource(self.next_id(), &event, "text/html; charset=utf-8", dom.to_vec());
        let rendering = visit.exchange.as_ref().and_then(|exchange| exchange.rendering.as_deref());
        if let Some(rendering) = rendering {
            record = record.extension(json_field(ExtensionName::RENDERED, rendering));
        }
        let dom_bytes = self.writer.write(&record.concurrent_to(answer)).length;
        let Some(screenshot) = screenshot else { return dom_bytes };
        let event = CaptureEvent { target_uri: TargetUri::for_view(url.as_str()), ..event };
        let record = Record::resource(self.next_id(), &event, "image/png", screenshot.to_vec());
        dom_bytes + self.writer.write(&record.concurrent_to(answer)).length
    }

    fn metadata(&mut self, event: &CaptureEvent, visit: &Visit) -> Record {
        let metadata = Metadata {
            via: visit.sighting.via.as_ref().map(ToString::to_string),
            fetch_time: visit.exchange.as_deref().map(|exchange: &Exchange| exchange.elapsed),
        };
        with_visit(Record::metadata(self.next_id(), event, &metadata), visit)
    }
}

/// A page as a browser showed it.
#[derive(Clone, Debug)]
pub struct ShownPage {
    /// Its document as HTML.
    pub dom: Bytes,
    /// Its picture, as PNG; `None` if there is none.
    pub screenshot: Option<Bytes>,
}

/// Whether the answer to a visit is archived. Where a URL was only checked, it would pass for the
/// page; but a redirect leads on.
fn is_archived(visit: &Visit) -> bool {
    let is_redirect = matches!(visit.outcome, Outcome::PermanentRedirect | Outcome::TemporaryRedirect);
    visit.sighting.read_as != ReadAs::Check || is_redirect
}

/// Returns an answer as it is archived. If the request said who the crawl is, the cookies that come
/// with the answer would let anybody in.
fn archived<'f>(fetched: &FetchOutcome, response: &'f FetchedResponse) -> Cow<'f, FetchedResponse> {
    let mut sent = fetched.request_headers.iter();
    if response.headers.get("set-cookie").is_none() || !sent.any(|(_, value)| value == warc::REDACTED) {
        return Cow::Borrowed(response);
    }
    let headers = response.headers.iter().map(|(name, value)| match name.eq_ignore_ascii_case("set-cookie") {
        true => (name.to_owned(), redacted_cookie(value)),
        false => (name.to_owned(), value.to_vec()),
    });
    Cow::Owned(FetchedResponse { headers: headers.collect(), ..response.clone() })
}

/// Returns `Set-Cookie` with its name and attributes alone.
fn redacted_cookie(value: &[u8]) -> Vec<u8> {
    let end = value.iter().position(|b| *b == b';').unwrap_or(value.len());
    let (pair, attributes) = value.split_at(end);
    let name = pair.split(|b| *b == b'=').next().unwrap_or_default();
    [name, b"=", warc::REDACTED, attributes].concat()
}

/// Returns the digest of the body as received. Without a content coding it equals the fetcher's
/// digest of the decoded body.
fn payload_digest(response: &FetchedResponse) -> Sha1Digest {
    let codings = ContentCodings::parse(response.headers.all("content-encoding")).unwrap_or(ContentCodings::IDENTITY);
    if codings == ContentCodings::IDENTITY && response.decoded_bytes == response.body.len_bytes() {
        return response.decoded_sha1.into();
    }
    // An unreadable body cannot be written either, and then the segment is not stored.
    Sha1Digest::compute_blob(&response.body).unwrap_or_else(|_| response.decoded_sha1.into())
}

/// Rounds to the precision of stored times, so that later references to the record have the same
/// date.
pub(super) fn in_milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// Adds the crawler's data about a visit to its record.
fn with_visit(record: Record, visit: &Visit) -> Record {
    let record = record.extension(json_field(ExtensionName::VISIT, visit));
    if visit.uses.is_empty() {
        return record;
    }
    record.extension(json_field(ExtensionName::USE, &visit.uses))
}

fn json_field(name: ExtensionName, value: &impl Serialize) -> ExtensionField {
    let json = serde_json::to_string(value).expect("it is made of texts and numbers");
    // A control character would become a space in the field. JSON escapes those of ASCII; others
    // occur only in strings.
    let escaped = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    let value = if json.contains(char::is_control) { json.chars().map(escaped).collect() } else { json };
    ExtensionField { name, value }
}

const fn warc_truncation(reason: Truncation) -> warc::Truncation {
    match reason {
        Truncation::Length => warc::Truncation::Length,
        Truncation::Time => warc::Truncation::Time,
        Truncation::Disconnect => warc::Truncation::Disconnect,
        Truncation::Coding(_) => warc::Truncation::Unspecified,
    }
}
