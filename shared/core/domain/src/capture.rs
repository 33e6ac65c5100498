//! The data of a segment's entry besides the bytes: stored in its WARC record, and in the log.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::change::VisitChange;
use crate::document::LinkKind;
use crate::frontier::{Demand, ObjectKey, SegmentId, Sighting, UrlHistory, VisitPlace, millis};
use crate::ids::Iteration;
use crate::missing_page::MissingSign;
use crate::outcome::Outcome;
use crate::rendering::Rendering;
use crate::url::CrawlUrl;
use crate::use_preferences::UseStatement;

/// The reason why a URL was visited.
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
    /// It is not visited: its document is remade from the stored body.
    Reparse,
}

impl CrawlType {
    /// Returns its name as stored and shown.
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

/// Whether the URL's outcome is the final one of this iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finality {
    /// It does: the URL is done.
    Final,
    /// It is tried again.
    Retried,
    /// It says nothing about this iteration: the URL was not visited, and only its document was
    /// remade.
    Aside,
}

/// The crawler's data about a visit: everything but the HTTP messages. The parser needs only this
/// and the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// How the URL was first found.
    #[serde(flatten)]
    pub sighting: Sighting,
    /// Redirects and canonical links followed in a row to get here.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub redirects: u8,
    /// Why it was visited.
    pub crawl_type: CrawlType,
    /// How often it was requested in this iteration, including this time; 0 if it was not.
    pub tries: u8,
    /// Its outcome, as far as the crawler can tell.
    pub outcome: Outcome,
    /// Whether that outcome is final.
    pub finality: Finality,
    /// The rule that decided or the error that occurred, on one line; `None` if the outcome says it
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The exchange; `None` if nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Box<Exchange>>,
    /// The data of earlier iterations about the URL.
    #[serde(flatten)]
    pub known: UrlHistory,
    /// The demand that led to it; `None` if the crawl itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<Box<Demand>>,
    /// Its origin's response for missing pages, as far as it was known then; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<MissingSign>>,
    /// What robots.txt and the well-known file said of the use of the URL when it was requested.
    /// Empty if they said nothing, and in visits older than this field. A WARC record has it in a
    /// field of its own, as the visit's may be full.
    #[serde(skip)]
    pub uses: Vec<UseStatement>,
}

/// What robots.txt says of a request that was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsStand {
    /// It allows it.
    #[default]
    Approved,
    /// It forbids it, and the owner of the site said not to obey it.
    Ignored,
}

impl RobotsStand {
    /// Whether robots.txt allows it.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        *self == Self::Approved
    }
}

/// One request and its response, without the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// From the request's start to its end.
    #[serde(with = "millis", rename = "elapsed_ms")]
    pub elapsed: Duration,
    /// What robots.txt says of it.
    #[serde(default, skip_serializing_if = "RobotsStand::is_approved")]
    pub robots: RobotsStand,
    /// How often the request was sent before, in the same try, to a server that did not process it.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub resends: u8,
    /// From the request's start to the response header, in milliseconds; `None` without one.
    pub first_byte_ms: Option<u64>,
    /// The address that answered; `None` if no connection was made.
    pub remote: Option<SocketAddr>,
    /// The body's size as received, even if the body is not stored because it is unchanged; 0
    /// without one.
    pub body_bytes: u64,
    /// SHA-1 of the body without its content coding, or of the rendered document, in hexadecimal;
    /// `None` without a body.
    pub decoded_sha1: Option<String>,
    /// The length of that decoded body, in bytes.
    pub decoded_bytes: u64,
    /// The status of an answer that is not stored, as its URL was only checked; `None` if it is
    /// stored, or there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How its page was rendered; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering: Option<Box<Rendering>>,
}

/// One line of the crawl log: the outcome of a URL, or the reason for another try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its number within the segment's log, from 0. Captures come first.
    pub n: u32,
    /// The URL.
    pub url: CrawlUrl,
    /// When it was requested, or its outcome decided.
    pub at: Timestamp,
    /// The crawler's data, with the parser's outcome and detail.
    pub visit: Visit,
    /// The status code; `None` without a response.
    pub status: Option<u16>,
    /// The stored response; `None` without one.
    pub file: Option<Box<FileEntry>>,
    /// Where the server redirected to; `None` if it did not.
    pub redirect: Option<RedirectEntry>,
    /// When this URL's unchanged body, which was not parsed again, was fetched. `None` for any
    /// other visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged_since: Option<Timestamp>,
    /// Its effect on the current state of the site; `None` if it says nothing lasting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<VisitChange>,
}

impl LogEntry {
    /// Returns the entry of the document that the visit confirmed by finding the URL's body
    /// unchanged: the URL showed it at that time, unless the visit stored a document of its own.
    /// `None` for any other visit.
    #[must_use]
    pub fn confirmed(&self) -> Option<VisitPlace> {
        self.unchanged_since.filter(|_| self.visit.finality == Finality::Final)?;
        Some(self.visit.known.document?.place)
    }
}

/// A stored response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// `response` or `revisit`.
    pub record: RecordKind,
    /// The record's offset in the segment's object.
    pub offset: u64,
    /// Its length there, in bytes, with the record of the rendered document behind it, if there is
    /// one.
    pub length: u64,
    /// The content type without parameters, lower case; `None` if the server named none.
    pub content_type: Option<String>,
    /// The body's size as received: a `response` record contains it, a `revisit` record does not.
    pub body_bytes: u64,
    /// SHA-1 of the body as received.
    pub payload_sha1: [u8; 20],
    /// `ETag` as sent.
    pub etag: Option<String>,
    /// `Last-Modified` as sent.
    pub last_modified: Option<String>,
    /// Why the body is incomplete, as a WARC reason; `None` if it is complete.
    pub truncated: Option<String>,
}

/// The form in which a response is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// In full.
    Response,
    /// As a reference to an earlier record with the same body.
    Revisit,
}

/// The redirect of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedirectEntry {
    /// The target, normalised.
    pub target: CrawlUrl,
    /// Whether it is permanent: 301, 308 or a canonical link.
    pub is_permanent: bool,
    /// Its source: [`LinkKind::Redirect`] or [`LinkKind::Canonical`].
    pub source: LinkKind,
}

/// The log of one segment, written once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentLog {
    /// The segment.
    pub segment: SegmentId,
    /// The iteration.
    pub iteration: Iteration,
    /// The object with its captures.
    pub object: ObjectKey,
    /// When the segment was committed; the retention of its log counts from here.
    pub committed_at: Timestamp,
    /// The user agent that fetched them.
    pub agent: String,
    /// The outcome of each URL.
    pub entries: Vec<LogEntry>,
}
