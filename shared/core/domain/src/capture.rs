//! What is known about one entry of a segment besides the bytes: stored in its WARC record, and in the log.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::change::VisitChange;
use crate::document::LinkKind;
use crate::frontier::{Demand, Known, ObjectKey, SegmentId, Sighting, VisitPlace, millis};
use crate::ids::Iteration;
use crate::missing_page::MissingSign;
use crate::outcome::Outcome;
use crate::url::CrawlUrl;

/// How a URL came to be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrawlType {
    /// It was queued in this iteration, as a seed or a link.
    Queued,
    /// It is a candidate of an earlier iteration, due again.
    Recrawl,
    /// It was deferred after a failure and is tried again.
    Retry,
    /// It was visited by another program, whose archive has the answer.
    Import,
    /// It is not visited: its document is made again of what is stored.
    Reparse,
}

impl CrawlType {
    /// As it is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Recrawl => "recrawl",
            Self::Retry => "retry",
            Self::Import => "import",
            Self::Reparse => "reparse",
        }
    }
}

/// Whether the URL's outcome stands for this iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finality {
    /// It does: the URL is done.
    Final,
    /// It is tried again.
    Retried,
    /// It says nothing about this iteration: the URL was not visited, and only its document was made again.
    Aside,
}

/// What the crawler knows about a visit: everything but the HTTP messages. The parser needs nothing besides this and the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// How the URL was first found.
    #[serde(flatten)]
    pub sighting: Sighting,
    /// Redirects and canonical links followed in a row to get here.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub redirects: u8,
    /// How it came to be visited.
    pub crawl_type: CrawlType,
    /// How often it was requested in this iteration, this time included; 0 if it was not.
    pub tries: u8,
    /// How it ended, as far as the crawler can tell.
    pub outcome: Outcome,
    /// Whether that outcome stands.
    pub finality: Finality,
    /// The rule that decided or the error that occurred, on one line; `None` if the outcome says it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The exchange; `None` if nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Box<Exchange>>,
    /// What earlier iterations knew about the URL.
    #[serde(flatten)]
    pub known: Known,
    /// The demand that led to it; `None` if the crawl itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<Box<Demand>>,
    /// What its origin answers in the place of missing pages, as far as that was known then; `None` if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<MissingSign>>,
}

/// One request and its answer, except for the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// From the request's start to its end.
    #[serde(with = "millis", rename = "elapsed_ms")]
    pub elapsed: Duration,
    /// How often the request was sent before, in the same try, to a server that did nothing with it.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub resends: u8,
    /// From the request's start to the response header, in milliseconds; `None` without one.
    pub first_byte_ms: Option<u64>,
    /// The address that answered; `None` if no connection was made.
    pub remote: Option<SocketAddr>,
    /// The body's size as received, even if the body is not stored because it is unchanged; 0 without one.
    pub body_bytes: u64,
    /// SHA-1 of the body with its content coding undone, in hexadecimal; `None` without a body.
    pub decoded_sha1: Option<String>,
    /// The length of that decoded body, in bytes.
    pub decoded_bytes: u64,
}

/// One line of the crawl log: how a URL ended, or why it is tried again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its number within the segment's log, from 0. Captures come first.
    pub n: u32,
    /// The URL.
    pub url: CrawlUrl,
    /// When it was requested, or its outcome decided.
    pub at: Timestamp,
    /// What the crawler knew, with the parser's outcome and detail.
    pub visit: Visit,
    /// The status code; `None` without a response.
    pub status: Option<u16>,
    /// What was stored of the response; `None` without one.
    pub file: Option<Box<FileEntry>>,
    /// Where the server redirected to; `None` if it did not.
    pub redirect: Option<RedirectEntry>,
    /// When this URL's unchanged body was fetched; it was not parsed again. `None` for any other visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged_since: Option<Timestamp>,
    /// What it changed in the current state of the site; `None` if it says nothing lasting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<VisitChange>,
}

impl LogEntry {
    /// Returns the entry whose document the visit confirmed, as it found the URL's body unchanged: unless it put a document of its own, that is what the
    /// URL showed then. `None` for any other visit.
    #[must_use]
    pub fn confirmed(&self) -> Option<VisitPlace> {
        self.unchanged_since.filter(|_| self.visit.finality == Finality::Final)?;
        Some(self.visit.known.document?.place)
    }
}

/// What was stored of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// `response` or `revisit`.
    pub record: RecordKind,
    /// Where the record starts in the segment's object.
    pub offset: u64,
    /// How many bytes it takes there.
    pub length: u64,
    /// The content type without parameters, lower case; `None` if the server named none.
    pub content_type: Option<String>,
    /// The body's size as received: a `response` record holds it, a `revisit` leaves it out.
    pub body_bytes: u64,
    /// SHA-1 of the body as received.
    pub payload_sha1: [u8; 20],
    /// `ETag` as sent.
    pub etag: Option<String>,
    /// `Last-Modified` as sent.
    pub last_modified: Option<String>,
    /// Why the body is not complete, as a WARC reason; `None` if it is.
    pub truncated: Option<String>,
}

/// How a response is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// In full.
    Response,
    /// As a reference to an earlier record with the same body.
    Revisit,
}

/// Where a URL leads its visitors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedirectEntry {
    /// The target, normalised.
    pub target: CrawlUrl,
    /// Whether it is for good: 301, 308 or a canonical link.
    pub is_permanent: bool,
    /// What said so: [`LinkKind::Redirect`] or [`LinkKind::Canonical`].
    pub source: LinkKind,
}

/// The log of one segment, written once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentLog {
    /// The segment.
    pub segment: SegmentId,
    /// The iteration.
    pub iteration: Iteration,
    /// Where its captures are.
    pub object: ObjectKey,
    /// When the segment was committed: how long its log is kept counts from here.
    pub committed_at: Timestamp,
    /// The user agent that fetched them.
    pub agent: String,
    /// How each URL ended.
    pub entries: Vec<LogEntry>,
}
