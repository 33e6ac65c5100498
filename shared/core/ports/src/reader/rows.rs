//! The rows that a reader returns. The names of their columns are part of the interface, and the
//! same on both engines.

use dragline_domain::capture::{CrawlType, Exchange};
use dragline_domain::change::VisitChange;
use dragline_domain::document::{Disposition, Document, LinkKind};
use dragline_domain::frontier::{DocumentStanding, LeftoverReason, ObjectKey};
use dragline_domain::ids::Iteration;
use dragline_domain::markup::Markup;
use dragline_domain::outcome::Outcome;
use dragline_domain::rendering::PageRequest;
use dragline_domain::url::Origin;
use dragline_domain::use_preferences::UseStatement;
use dragline_formats::robots::{RobotsRecord, Unreadable};
use dragline_formats::warc::Truncation;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::row;
use crate::row::{Cell, ColumnKind, Field};

/// A committed segment whose WARC object is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSegment {
    /// The iteration that committed it.
    pub iteration: Iteration,
    /// Its origin.
    pub origin: Origin,
    /// The WARC object, below the data directory.
    pub object: ObjectKey,
    /// The object's size in bytes.
    pub object_bytes: u64,
    /// When it was committed, after all of its visits.
    pub committed_at: Timestamp,
}

/// Where a response is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The WARC object, below the data directory.
    pub object: ObjectKey,
    /// Where its record starts in the object.
    pub offset: u64,
    /// The length of the record in bytes.
    pub length: u64,
}

impl Field for RecordPlace {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Text, ColumnKind::Integer, ColumnKind::Integer];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        self.object.cells().chain(self.offset.cells()).chain(self.length.cells())
    }
}

/// What sites say of the use of a page; at least one statement. In a column, they are separated by
/// `; `.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Uses(pub Vec<UseStatement>);

impl Uses {
    /// Returns what a document says; `None` if that is nothing.
    #[must_use]
    pub fn from_document(document: &Document) -> Option<Self> {
        let uses = document.uses();
        (!uses.is_empty()).then(|| Self(uses.to_vec()))
    }

    /// Returns the size of their texts, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.0.iter().map(|statement| statement.text.len()).sum()
    }
}

impl Field for Uses {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Text];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        let told: Vec<String> = self.0.iter().map(UseStatement::with_meaning).collect();
        told.join("; ").cells()
    }
}

/// What a page requested while it was rendered; at least one request. In a column, a JSON array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageRequests(pub Vec<PageRequest>);

impl PageRequests {
    /// Returns those of a visit; `None` if there were none.
    #[must_use]
    pub fn from_exchange(exchange: &Exchange) -> Option<Self> {
        let asked = &exchange.rendering.as_ref()?.asked;
        (!asked.is_empty()).then(|| Self(asked.clone()))
    }

    /// Returns about how many bytes they take.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.0.iter().map(PageRequest::stored_bytes).sum()
    }
}

impl Field for PageRequests {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Text];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        serde_json::to_string(&self).ok().cells()
    }
}

/// A URL as the site shows it now: its last good document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// The crawl.
    pub crawl: String,
    /// The iteration of the response that it shows.
    pub iteration: u32,
    /// The URL.
    pub url: String,
    /// The outcome.
    pub outcome: Outcome,
    /// Links from a seed.
    pub depth: u32,
    /// The status code.
    pub status: Option<u16>,
    /// Without parameters; `None` if the server named none.
    pub content_type: Option<String>,
    /// The body's size as received.
    pub body_bytes: Option<u64>,
    /// When its body was requested.
    pub at: Timestamp,
    /// `<title>`. This and the following fields are `None` if it is not a page.
    pub title: Option<String>,
    /// `<meta name=description>`.
    pub description: Option<String>,
    /// The declared language.
    pub language: Option<String>,
    /// The encoding from which it was decoded.
    pub charset: Option<String>,
    /// The declared canonical URL.
    pub canonical: Option<String>,
    /// The visible text.
    pub text: Option<String>,
    /// Where the response is.
    pub record: RecordPlace,
    /// When the URL was first found.
    pub first_seen: Timestamp,
    /// When the page was last confirmed to have this content.
    pub last_checked: Option<Timestamp>,
    /// When a part of it last changed.
    pub last_changed: Option<Timestamp>,
    /// The outcome of the last visit, which may be a failure.
    pub last_outcome: Option<Outcome>,
    /// What its site and the page itself say of its use; `None` if nothing is said.
    pub uses: Option<Uses>,
    /// What its markup tells, for the link graph; it has no column. `None` if it is not an HTML
    /// page, or its document is older than this.
    pub markup: Option<Box<Markup>>,
}

impl Field for Box<Markup> {
    const KINDS: &'static [ColumnKind] = &[];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        std::iter::empty()
    }
}

/// A URL with a response in an iteration, and its contents at that time if it is a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenPageRow {
    /// The crawl.
    pub crawl: String,
    /// The iteration.
    pub iteration: u32,
    /// The URL.
    pub url: String,
    /// The outcome.
    pub outcome: Outcome,
    /// Links from a seed.
    pub depth: u32,
    /// The status code.
    pub status: Option<u16>,
    /// Without parameters; `None` if the server named none.
    pub content_type: Option<String>,
    /// The body's size as received.
    pub body_bytes: Option<u64>,
    /// When it was requested.
    pub at: Timestamp,
    /// `<title>`. This and the following fields, up to the text, are `None` if it is not a page.
    pub title: Option<String>,
    /// `<meta name=description>`.
    pub description: Option<String>,
    /// The declared language.
    pub language: Option<String>,
    /// The encoding from which it was decoded.
    pub charset: Option<String>,
    /// The declared canonical URL.
    pub canonical: Option<String>,
    /// The visible text.
    pub text: Option<String>,
    /// Where the response is.
    pub record: RecordPlace,
    /// What its site and the page itself said of its use; `None` if nothing was said.
    pub uses: Option<Uses>,
}

/// One link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRow {
    /// The crawl.
    pub crawl: String,
    /// The iteration that saw it or, for the site as it is now, the iteration of the response
    /// with it.
    pub iteration: u32,
    /// The page.
    pub from_url: String,
    /// The target.
    pub to_url: String,
    /// The kind of the link.
    pub kind: LinkKind,
    /// Its disposition, with the rule that forbids it.
    pub disposition: Disposition,
    /// The link's text; `None` if it has none, or it was not kept.
    pub anchor: Option<String>,
}

/// One visit of a URL, or the decision not to visit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// The crawl.
    pub crawl: String,
    /// The iteration.
    pub iteration: u32,
    /// The URL.
    pub url: String,
    /// Links from a seed.
    pub depth: u32,
    /// The page that led to it first; `None` for a seed.
    pub via: Option<String>,
    /// Why it was visited.
    pub crawl_type: CrawlType,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether the outcome is final for the iteration; otherwise the URL was tried again.
    pub r#final: bool,
    /// How often it was requested in the iteration, including this time.
    pub tries: u8,
    /// How often the request of this try was sent before, to a server that did not process it;
    /// `None` if nothing was sent.
    pub resends: Option<u64>,
    /// When it was requested or decided on.
    pub at: Timestamp,
    /// The status code; `None` without a response.
    pub status: Option<u16>,
    /// From the request's start to its end; `None` if nothing was sent.
    pub duration_ms: Option<u64>,
    /// From the request's start to the response header; `None` without one.
    pub first_byte_ms: Option<u64>,
    /// The address that answered; `None` if no connection was made.
    pub remote: Option<String>,
    /// The rule that decided, or the error; `None` where the outcome says it all.
    pub detail: Option<String>,
    /// Without parameters; `None` without a response, or if the server named none.
    pub content_type: Option<String>,
    /// The body's size as received; `None` without a response.
    pub body_bytes: Option<u64>,
    /// Why the body is incomplete; `None` if it is complete.
    pub truncated: Option<Truncation>,
    /// Where it redirects to; `None` if it does not.
    pub redirects_to: Option<String>,
    /// Where the response is; `None` without one.
    pub record: Option<RecordPlace>,
    /// The user agent.
    pub agent: String,
    /// Its effect on the current state of the site, and the parts that changed; `None` if it says
    /// nothing lasting.
    pub change: Option<VisitChange>,
    /// What its page requested; `None` if it was not rendered, or requested nothing.
    pub page_requests: Option<PageRequests>,
}

/// A known URL, and the details that the next iteration needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateRow {
    /// The crawl.
    pub crawl: String,
    /// The URL.
    pub url: String,
    /// The iteration in which it was last queued.
    pub queued_in: u32,
    /// When it was first found.
    pub first_seen: Timestamp,
    /// Links from a seed.
    pub depth: u32,
    /// The page that led to it; `None` for a seed.
    pub via: Option<String>,
    /// When it is due again; `None` for every iteration.
    pub due_at: Option<Timestamp>,
    /// The interval after the last visit that found it; `None` if there is none.
    pub interval_ms: Option<u64>,
    /// Its last outcome; `None` if it has none yet.
    pub last_outcome: Option<Outcome>,
    /// The time of that outcome.
    pub last_at: Option<Timestamp>,
    /// The iteration of that outcome.
    pub last_iteration: Option<u32>,
    /// The last outcome that says something lasting.
    pub last_contentful_outcome: Option<Outcome>,
    /// The time of that outcome.
    pub last_contentful_at: Option<Timestamp>,
    /// `ETag` of the last good capture.
    pub etag: Option<String>,
    /// `Last-Modified` of the last good capture.
    pub last_modified: Option<String>,
    /// SHA-1 of its body without content coding, in hexadecimal.
    pub decoded_sha1: Option<String>,
    /// Whether its last good document is shown; `None` if it has none.
    pub standing: Option<DocumentStanding>,
    /// Since when every visit has failed or found it gone; `None` if the last one did not.
    pub away_since: Option<Timestamp>,
}

row! {
    PageRow {
        crawl, iteration, url, outcome ["outcome", "outcome_name"], depth, status, content_type, body_bytes, at, title, description, language,
        charset, canonical, text, record ["object", "offset", "length"], first_seen as Text, last_checked, last_changed,
        last_outcome ["last_outcome", "last_outcome_name"], uses ["use"], markup,
    }
    SeenPageRow {
        crawl, iteration, url, outcome ["outcome", "outcome_name"], depth, status, content_type, body_bytes, at, title, description, language,
        charset, canonical, text, record ["object", "offset", "length"], uses ["use"],
    }
    LinkRow { crawl, iteration, from_url, to_url, kind, disposition ["disposition", "detail"], anchor }
    LogRow {
        crawl, iteration, url, depth, via, crawl_type, outcome ["outcome", "outcome_name"], r#final ["final"], tries, resends, at, status,
        duration_ms, first_byte_ms, remote, detail, content_type, body_bytes, truncated, redirects_to, record ["object", "offset", "length"],
        agent, change ["change", "changed_parts"], page_requests,
    }
    CandidateRow {
        crawl, url, queued_in, first_seen as Text, depth, via, due_at, interval_ms, last_outcome ["last_outcome", "last_outcome_name"], last_at,
        last_iteration, last_contentful_outcome ["last_contentful_outcome"], last_contentful_at, etag, last_modified, decoded_sha1, standing,
        away_since,
    }
}

/// The parser's result for a URL's ending, and its iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// The iteration that stored it.
    pub iteration: Iteration,
    /// The document as stored, before a decision on whether it duplicates another.
    pub document: Document,
}

/// URLs of an origin that were queued in an iteration and have no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverRow {
    /// The iteration.
    pub iteration: Iteration,
    /// The origin.
    pub origin: Origin,
    /// Why they were left over.
    pub reason: LeftoverReason,
    /// How many URLs.
    pub urls: u64,
    /// The last error of its robots.txt; `None` if it was answered.
    pub robots_error: Option<String>,
}

impl LogRow {
    /// Whether only the beginning of its body was kept, as it exceeded a limit.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.truncated == Some(Truncation::Length)
    }
}

impl LeftoverRow {
    /// Returns the error in a stored robots.txt; `None` if a response arrived.
    #[must_use]
    pub fn robots_error(kept: &RobotsRecord) -> Option<String> {
        match kept {
            RobotsRecord::Readable { .. } | RobotsRecord::Missing(_) => None,
            RobotsRecord::Unreadable(Unreadable::Status(status)) => Some(format!("status {status}")),
            RobotsRecord::Unreadable(Unreadable::Failed { detail } | Unreadable::Walled { detail }) => {
                Some(detail.clone())
            }
        }
    }
}
