//! A segment's object back into captures.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use dragline_domain::capture::{FileEntry, RecordKind, RedirectEntry, Visit};
use dragline_domain::definition::limits;
use dragline_domain::document::LinkKind;
use dragline_domain::frontier::LastCapture;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::content_type;
use dragline_formats::warc::{HttpResponse, ReadLimits, RecordType, StoredRecord, WarcReader, parse_http_response};
use jiff::Timestamp;

use crate::crawl::VISIT_FIELD;

/// No record of ours is larger: the largest body and header that any definition allows, and some room for a status line.
///
/// The definition of now does not count: its limits may be lower than when the segment was written.
const RECORD_BYTES_MAX: u64 = *limits::BODY_BYTES.end() + *limits::HEADER_BYTES.end() + (64 << 10);

/// One URL's end as the segment holds it.
#[derive(Debug)]
pub(super) struct Capture {
    /// The URL.
    pub url: CrawlUrl,
    /// When it was asked for, or decided on.
    pub at: Timestamp,
    /// What the crawler knew.
    pub visit: Visit,
    /// The response; absent if there was none.
    pub response: Option<Response>,
    /// Where and how it is stored; absent without a response.
    pub file: Option<FileEntry>,
}

/// A response as stored.
#[derive(Debug)]
pub(super) struct Response {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body with its content coding; empty for a revisit.
    pub body: Bytes,
}

/// The digests of a body that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyDigests {
    pub payload_sha1: [u8; 20],
    pub decoded_sha1: [u8; 20],
}

impl Response {
    /// The values of a field, as text; those that are no text are left out.
    pub(super) fn fields<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r str> {
        let values = self.headers.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name));
        values.filter_map(|(_, value)| std::str::from_utf8(value).ok()).map(str::trim)
    }

    /// The first value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }
}

impl Capture {
    fn short_field(&self, name: &str, bytes_max: usize) -> Option<String> {
        let value = self.response.as_ref()?.field(name)?;
        (!value.is_empty() && value.len() <= bytes_max).then(|| value.to_owned())
    }

    /// `ETag` as sent, if it is worth sending back.
    pub(super) fn etag(&self) -> Option<String> {
        self.short_field("etag", LastCapture::ETAG_BYTES_MAX)
    }

    /// `Last-Modified` as sent, if it is worth sending back.
    pub(super) fn last_modified(&self) -> Option<String> {
        self.short_field("last-modified", LastCapture::LAST_MODIFIED_BYTES_MAX)
    }

    /// The digests of a whole body of a good response, for the next visit to compare with; absent for anything else.
    pub(super) fn body_kept(&self) -> Option<BodyDigests> {
        let file = self.file.as_ref().filter(|file| file.record == RecordKind::Response && file.truncated.is_none())?;
        let status = self.response.as_ref()?.status;
        let decoded = self.visit.exchange.as_ref()?.decoded_sha1.as_deref()?;
        let decoded_sha1 = HEXLOWER.decode(decoded.as_bytes()).ok()?.try_into().ok()?;
        (200..300).contains(&status).then_some(BodyDigests { payload_sha1: file.payload_sha1, decoded_sha1 })
    }

    /// Where the server sends us; absent if it does not, or names nothing that can be crawled.
    pub(super) fn redirect(&self, rules: &UrlRules) -> Option<RedirectEntry> {
        let is_permanent = match self.visit.outcome {
            Outcome::PermanentRedirect => true,
            Outcome::Redirect => false,
            _ => return None,
        };
        let location = self.response.as_ref()?.field("location")?;
        let target = self.url.join(location, rules).ok()?;
        Some(RedirectEntry { target, is_permanent, source: LinkKind::Redirect })
    }
}

/// Every capture of a segment, in the order of the object. The error says what is damaged.
pub(super) fn captures(object: &Bytes) -> Result<Vec<Capture>, String> {
    let mut captures = Vec::new();
    let limits = ReadLimits { block_bytes_max: RECORD_BYTES_MAX, ..ReadLimits::default() };
    for record in WarcReader::new(&object[..], limits) {
        let record = record.map_err(|error| error.to_string())?;
        if let Some(visit) = record.extension(VISIT_FIELD) {
            let visit = serde_json::from_str(visit).map_err(|error| format!("a visit that is none: {error}"))?;
            captures.push(capture(record, visit)?);
        }
    }
    Ok(captures)
}

fn capture(record: StoredRecord, visit: Visit) -> Result<Capture, String> {
    let url = record.target_uri().ok_or("a capture without a URL")?;
    let url = CrawlUrl::try_from(url.to_owned()).map_err(|error| format!("a capture of no URL: {error}"))?;
    let at = record.date().ok_or("a capture without a date")?;
    let kind = match record.record_type {
        RecordType::Response => RecordKind::Response,
        RecordType::Revisit => RecordKind::Revisit,
        _ => return Ok(Capture { url, at, visit, response: None, file: None }),
    };
    let payload_sha1 = record.payload_digest().map_or([0; 20], |digest| *digest.as_bytes());
    let truncated = record.truncated().filter(|_| kind == RecordKind::Response).map(|reason| reason.token().to_owned());
    let block = Bytes::from(record.block);
    let parsed = parse_http_response(&block).map_err(|error| format!("a response that is none: {error}"))?;
    let response = response_of(&block, &parsed);
    let file = FileEntry {
        record: kind,
        offset: record.span.offset,
        length: record.span.length,
        content_type: response.field("content-type").and_then(content_type).map(|kind| kind.essence),
        body_bytes: visit.exchange.as_ref().map_or(response.body.len() as u64, |exchange| exchange.body_bytes),
        payload_sha1,
        etag: None,
        last_modified: None,
        truncated,
    };
    let mut capture = Capture { url, at, visit, response: Some(response), file: None };
    capture.file = Some(FileEntry { etag: capture.etag(), last_modified: capture.last_modified(), ..file });
    Ok(capture)
}

/// The body stays where it is, in the record's block.
fn response_of(block: &Bytes, parsed: &HttpResponse<'_>) -> Response {
    Response {
        status: parsed.status,
        headers: parsed.headers.iter().map(|(name, value)| (name.to_string(), value.to_vec())).collect(),
        body: block.slice_ref(parsed.body),
    }
}
