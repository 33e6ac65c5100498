//! Reading captures back from a segment's object.

use std::io::{self, Read};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use dragline_domain::capture::{RecordKind, RedirectEntry, Visit};
use dragline_domain::conclusion::Visited;
use dragline_domain::document::{LinkKind, StoredBody};
use dragline_domain::frontier::{FieldsDigest, SegmentRow, VisitPlace};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, Spelling, UrlRules};
use dragline_formats::blob::Blob;
use dragline_formats::deflated::GZIP_MEMBER_START;
use dragline_formats::http_fields::location;
use dragline_formats::warc::{
    ExtensionName, HttpResponse, ReadLimits, RecordId, RecordSpan, RecordType, StoredRecord, TargetUri, WarcError,
    WarcFault, WarcReader, parse_http_response,
};
use jiff::Timestamp;

use crate::context::CrawlContext;
use crate::handover::AnswerRecord;
pub(crate) use crate::handover::{Capture, Response};
use dragline_extract::FILE_BYTES_MAX;
use dragline_extract::fields::fields_digest;
use dragline_extract::wall::Head;

/// How often to look for the next record after damage. A body may contain bytes that look like the
/// start of a member.
const RESYNCS_MAX: u32 = 10_000;

/// The readable content of an object.
#[derive(Debug, Default)]
pub(crate) struct ReadCaptures {
    /// Every readable capture, in the order of the object.
    pub captures: Vec<Capture>,
    /// The first damage; `None` if there is none.
    pub damage: Option<String>,
}

/// How much of each body to keep in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// Bodies are parsed. Keeps at most this many bytes of each, enough for all that are parsed.
    Kept {
        /// The most bytes of one.
        bytes_max: u64,
    },
    /// Bodies are not needed.
    Dropped,
}

impl Bodies {
    /// Returns how much of the bodies to keep for a crawl: as much as it parses. Of other bodies,
    /// the beginning tells the media type.
    pub(crate) fn for_crawl(context: &CrawlContext) -> Self {
        Self::Kept { bytes_max: (context.definition.fetch.body_bytes_max as u64).max(FILE_BYTES_MAX + 1) }
    }

    const fn bytes_max(self) -> u64 {
        match self {
            Self::Kept { bytes_max } => bytes_max,
            Self::Dropped => 0,
        }
    }
}

/// The number of bytes of an object that are searched at once.
const WINDOW_BYTES: usize = 64 << 10;

/// The digests of a kept body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyDigests {
    pub payload_sha1: [u8; 20],
    pub decoded_sha1: [u8; 20],
}

impl Capture {
    /// Returns the digests of the complete body of a good response, for the next visit to compare
    /// with; `None` for anything else.
    pub(crate) fn kept_digests(&self) -> Option<BodyDigests> {
        let file = self.file.as_ref().filter(|file| file.record == RecordKind::Response && file.truncated.is_none())?;
        let status = self.response.as_ref()?.status;
        let decoded = self.visit.exchange.as_ref()?.decoded_sha1.as_deref()?;
        let decoded_sha1 = HEXLOWER.decode(decoded.as_bytes()).ok()?.try_into().ok()?;
        (200..300).contains(&status).then_some(BodyDigests { payload_sha1: file.payload_sha1, decoded_sha1 })
    }

    /// Returns the parts of a response that reveal a wall.
    pub(crate) const fn head<'c>(&'c self, response: &'c Response) -> Head<'c> {
        Head { url: &self.url, status: response.status, headers: &response.headers }
    }

    /// Returns the digest of the header fields that decide how its body is read; `None` without a
    /// response.
    pub(crate) fn read_by(&self, context: &CrawlContext) -> Option<FieldsDigest> {
        let response = self.response.as_ref()?;
        let product_token = context.definition.user_agent.product_token();
        Some(fields_digest(&response.headers, product_token, self.visit.sighting.read_as))
    }

    /// Returns where its response is stored, as the `n`-th entry of its segment; `None` without
    /// one.
    pub(crate) fn stored_body(&self, segment: &SegmentRow, n: u32) -> Option<StoredBody> {
        let (file, response) = (self.file.as_ref()?, self.response.as_ref()?);
        Some(StoredBody {
            visit: place(segment, n),
            at: self.at,
            status: response.status,
            content_type: file.content_type.clone(),
            body_bytes: file.body_bytes,
            object: segment.object.clone(),
            offset: file.offset,
            length: file.length,
        })
    }

    /// Whether the server sent no body because ours is current (304).
    pub(crate) fn is_not_modified(&self) -> bool {
        self.response.as_ref().is_some_and(|response| response.status == 304)
    }

    /// Returns the visit as its document is judged by, which is entry `n` of a segment.
    pub(crate) fn visited(&self, segment: &SegmentRow, n: u32) -> Visited<'_> {
        Visited {
            visit: &self.visit,
            at: self.at,
            place: place(segment, n),
            status: self.response.as_ref().map(|response| response.status),
            unchanged_since: self.unchanged_since(),
        }
    }

    /// Returns when its unchanged body was fetched; `None` if the body is new, or was read again.
    pub(crate) fn unchanged_since(&self) -> Option<Timestamp> {
        let last = self.visit.known.last.as_ref().filter(|_| self.visit.outcome == Outcome::FileDidNotChange)?;
        Some(last.fetched_at)
    }

    /// Returns the target of a redirect, and whether the URL was spelled in full; `None` without a
    /// redirect, or if its target cannot be crawled.
    pub(crate) fn redirect(&self, rules: &UrlRules) -> Option<(RedirectEntry, Spelling)> {
        let is_permanent = match self.visit.outcome {
            Outcome::PermanentRedirect => true,
            Outcome::TemporaryRedirect => false,
            _ => return None,
        };
        let location = location(self.response.as_ref()?.headers.get("location")?);
        let (target, spelling) = self.url.join_spelled(&location, rules).ok()?;
        Some((RedirectEntry { target, is_permanent, source: LinkKind::Redirect }, spelling))
    }
}

/// Reads every readable capture of a segment, in the order of the object. Each record is a gzip
/// member, so damage costs only the records that it hits.
///
/// # Errors
/// Fails if the object's file cannot be read.
pub(crate) fn captures(object: &Blob, bodies: Bodies) -> io::Result<ReadCaptures> {
    let mut reading = ReadCaptures::default();
    // The name of the file's first record, which is secret: after damage, a record that does not
    // refer to it may be part of a body.
    let mut file = None;
    let (mut start, mut resyncs) = (0, 0);
    while start < object.len_bytes() {
        let mut rest = object.reader();
        rest.move_to(start);
        let mut failed_at = None;
        for record in WarcReader::new(rest, ReadLimits::holding(bodies.bytes_max())) {
            match record {
                Ok(record) => reading.take(record, start, bodies, resyncs > 0, &mut file),
                Err(WarcError { fault: WarcFault::Io(error), .. }) => return Err(error),
                Err(error) => {
                    failed_at = Some(error.offset);
                    reading.note(&error.to_string());
                }
            }
        }
        let Some(failed_at) = failed_at else { break };
        resyncs += 1;
        if resyncs > RESYNCS_MAX {
            break;
        }
        let Some(next) = member_from(object, start + failed_at + 1)? else { break };
        start = next;
    }
    Ok(reading)
}

/// Returns where the next gzip member may begin, at or after this byte; `None` if there is none.
fn member_from(object: &Blob, from: u64) -> io::Result<Option<u64>> {
    let mut rest = object.reader();
    rest.move_to(from);
    let mut window = Vec::new();
    let mut window_at = from;
    loop {
        let more = rest.by_ref().take(WINDOW_BYTES as u64).read_to_end(&mut window)?;
        if let Some(place) = window.windows(GZIP_MEMBER_START.len()).position(|bytes| bytes == GZIP_MEMBER_START) {
            return Ok(Some(window_at + place as u64));
        }
        if more == 0 {
            return Ok(None);
        }
        // A start at the end of a window may continue in the next one.
        let passed = window.len().saturating_sub(GZIP_MEMBER_START.len() - 1);
        window.drain(..passed);
        window_at += passed as u64;
    }
}

impl ReadCaptures {
    fn note(&mut self, damage: &str) {
        self.damage.get_or_insert_with(|| damage.to_owned());
    }

    fn take(
        &mut self,
        record: StoredRecord,
        start: u64,
        bodies: Bodies,
        is_behind_damage: bool,
        file: &mut Option<RecordId>,
    ) {
        if record.record_type == RecordType::WarcInfo {
            if !is_behind_damage {
                *file = record.id();
            }
            return;
        }
        if is_behind_damage && (file.is_none() || record.warcinfo_id() != *file) {
            return;
        }
        if record.record_type == RecordType::Resource {
            self.take_shown(record, bodies);
            return;
        }
        let Some(visit) = record.extension(ExtensionName::VISIT) else { return };
        let read = serde_json::from_str(visit).map_err(|error| format!("not a valid visit: {error}"));
        // A later program may write it otherwise, and the capture is worth more than what was said.
        let uses = record.extension(ExtensionName::USE).and_then(|uses| serde_json::from_str(uses).ok());
        let read = read.map(|visit: Visit| Visit { uses: uses.unwrap_or_default(), ..visit });
        match read.and_then(|visit| capture(record, start, visit)) {
            Ok(mut capture) => {
                if let Some(response) = capture.response.as_mut() {
                    let held = usize::try_from(bodies.bytes_max()).unwrap_or(usize::MAX);
                    response.body.truncate(held);
                }
                self.captures.push(capture);
            }
            Err(damage) => self.note(&damage),
        }
    }
}

impl ReadCaptures {
    /// Takes a rendered document, which is right behind the answer of its page, or the picture
    /// behind that.
    fn take_shown(&mut self, record: StoredRecord, bodies: Bodies) {
        let pictured = record.target_uri().and_then(TargetUri::page_of_view);
        if let Some(last) = self.captures.last_mut().filter(|last| pictured == Some(last.url.as_str())) {
            last.extend_file(record.span.length);
            return;
        }
        let page = record.target_uri().and_then(TargetUri::page_of_dom);
        let Some(last) = self.captures.pop_if(|last| page == Some(last.url.as_str())) else { return };
        let dom = Bytes::from(record.block);
        let is_whole = dom.len() as u64 <= bodies.bytes_max();
        let last = last.rendered(dom, record.span.length);
        self.captures.push(if is_whole { last } else { Capture { dom: None, ..last } });
    }
}

fn capture(record: StoredRecord, start: u64, visit: Visit) -> Result<Capture, String> {
    let url = record.target_uri().ok_or("a capture without a URL")?;
    let url = CrawlUrl::try_from(url.to_owned()).map_err(|error| format!("a capture without a valid URL: {error}"))?;
    let at = record.date().ok_or("a capture without a date")?;
    let kind = match record.record_type {
        RecordType::Response => RecordKind::Response,
        RecordType::Revisit => RecordKind::Revisit,
        _ => return Ok(Capture::unanswered(url, at, visit)),
    };
    let span = RecordSpan { offset: start + record.span.offset, ..record.span };
    let stored = AnswerRecord { kind, span, payload: record.payload_digest(), truncated: record.truncated() };
    let block = Bytes::from(record.block);
    let answer = parse_http_response(&block).map(|parsed| to_response(&block, parsed));
    Ok(Capture::answered(url, at, visit, stored, answer))
}

/// The body stays in the record's block.
fn to_response(block: &Bytes, parsed: HttpResponse<'_>) -> Response {
    Response { status: parsed.status, headers: parsed.headers, body: block.slice_ref(parsed.body) }
}

/// Returns the place of an entry of a segment.
pub(crate) fn place(segment: &SegmentRow, n: u32) -> VisitPlace {
    VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n }
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
