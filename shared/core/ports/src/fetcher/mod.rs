//! One HTTP request at a time.

mod limits;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::definition::Draft;
use dragline_domain::frontier::Cookie;
use dragline_domain::url::CrawlUrl;
use dragline_formats::blob::Blob;
use dragline_formats::content_coding::DecodeError;
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::HttpProtocol;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::limits::{BodyLimit, BodyLimits, BodyUse, FetchLimits};
use crate::error::PortResult;

/// One request to be made: always GET, never following redirects.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The URL to request.
    pub url: CrawlUrl,
    /// Path and query to be sent byte for byte, if they are not spelled as in the URL; visible ASCII, beginning with a slash.
    pub target: Option<String>,
    /// `Cookie`: what the URL itself has set; `None` nearly always.
    pub cookie: Option<Cookie>,
    /// `If-None-Match`: the entity tag as the server wrote it; `None` if none is known.
    pub if_none_match: Option<String>,
    /// `If-Modified-Since`: the date as the server wrote it; `None` if none is known.
    pub if_modified_since: Option<String>,
    /// What it may cost.
    pub limits: FetchLimits,
    /// The connection that it may use.
    pub connection: ConnectionChoice,
    /// Who is told about a connection that has to be opened for it.
    pub watch: Option<Arc<dyn ConnectionWatch>>,
}

impl FetchRequest {
    /// Returns a plain request for a URL, which nobody watches.
    #[must_use]
    pub const fn new(url: CrawlUrl, limits: FetchLimits) -> Self {
        let connection = ConnectionChoice::Any;
        let (target, cookie, if_none_match, if_modified_since, watch) = (None, None, None, None, None);
        Self { url, target, cookie, if_none_match, if_modified_since, limits, connection, watch }
    }
}

/// The connection that a request may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConnectionChoice {
    /// One that is open, or else a new one.
    #[default]
    Any,
    /// A new one: what happens on it says something about the server.
    New,
}

/// Learns when a request has to open a connection, as the request then leaves later than it started. Neither method is called for a request on an
/// open connection.
pub trait ConnectionWatch: fmt::Debug + Send + Sync {
    /// A connection is being opened.
    fn connecting(&self);
    /// It is open and the request leaves; or it cannot be opened, or nobody waits for it any more. Follows each [`Self::connecting`], before the
    /// request ends.
    fn connected(&self);
}

/// Why a body is not whole. Stored as `WARC-Truncated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// A limit on its size, raw or decoded.
    Length,
    /// The limit on the whole exchange's time.
    Time,
    /// The connection ended before the body did.
    Disconnect,
    /// The body arrived as it was framed, but its content coding cannot be undone to its end.
    Coding(DecodeError),
}

/// A response, its body with the content coding as received and the transfer coding removed.
#[derive(Clone, Debug)]
pub struct FetchedResponse {
    /// The status code.
    pub status: u16,
    /// The reason phrase as it came, cut at [`REASON_BYTES_MAX`](dragline_formats::warc::REASON_BYTES_MAX), or the canonical one.
    pub reason: String,
    /// The protocol that carried it; `None` if unknown.
    pub protocol: Option<HttpProtocol>,
    /// The header fields in their order, values as bytes.
    pub headers: Headers,
    /// The body as received, or as much of it as was kept.
    pub body: Blob,
    /// Why the body is not whole; `None` when it is.
    pub truncated: Option<Truncation>,
    /// SHA-1 of the body with its content coding undone, as far as it was decoded.
    pub decoded_sha1: [u8; 20],
    /// The length of the decoded body, as far as it was decoded.
    pub decoded_bytes: u64,
}

impl FetchedResponse {
    /// Returns the body if it is in memory, as all are that are read whatever their length; nothing of any other.
    #[must_use]
    pub fn readable_body(&self) -> Bytes {
        self.body.in_memory().cloned().unwrap_or_default()
    }
}

/// Why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchFailureKind {
    /// The name has no address.
    NameNotResolved,
    /// The host is, or resolves to, an address that Dragline never talks to. No request was sent.
    PrivateAddress,
    /// No TCP connection, or it ended before a response.
    Connect,
    /// The TLS handshake failed, or the certificate is not valid.
    Tls,
    /// A time limit passed before the response header arrived.
    Timeout,
    /// The answer is not HTTP, or its header is over the limit.
    Protocol,
    /// The server ended the exchange on purpose, and is there: it reset the HTTP/2 stream (RFC 9113 section 6.4).
    Reset,
    /// The server asked for fewer requests: `ENHANCE_YOUR_CALM` over HTTP/2 (RFC 9113 section 7).
    TooMany,
    /// This machine cannot open another connection now: too many files are open. No request was sent, and it says nothing about the server.
    NoRoom,
}

/// A request that got no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchFailure {
    /// The kind of failure.
    pub kind: FetchFailureKind,
    /// The details for a person, on one line.
    pub detail: String,
}

/// Why a server did nothing with a request, so that it may be sent again without counting as a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unprocessed {
    /// A connection that had been used before ended, or timed out (408), before anything of an answer
    /// came: servers close idle connections whenever they like (RFC 9112 section 9.5).
    ConnectionEnded,
    /// The stream was refused, or left out when the connection went away (RFC 9113 section 8.7).
    StreamRefused,
    /// The server answers this over HTTP/1.1 only: it says so, or its answer is not allowed over
    /// HTTP/2 (RFC 9113 sections 7 and 8.2.2). Later requests to the host use HTTP/1.1.
    Http11Required,
}

/// How one request ended.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The request header as sent: the request line's target and the fields, for the archive. Empty if nothing was sent.
    pub request_headers: Headers,
    /// The address that answered; `None` if no connection was made.
    pub remote: Option<SocketAddr>,
    /// From the request's start to its response header; `None` without one.
    pub first_byte: Option<Duration>,
    /// From the request's start to its end.
    pub elapsed: Duration,
    /// When somebody else made it, if this is an archived answer; `None` if it was made now.
    pub archived_at: Option<Timestamp>,
    /// Why the server did nothing with it; `None` if it did, or if that is not known.
    pub unprocessed: Option<Unprocessed>,
    /// The response, or why there is none.
    pub result: Result<FetchedResponse, FetchFailure>,
}

impl Fetched {
    /// Returns a request that failed after this long, of which nothing more is known.
    #[must_use]
    pub fn failed(kind: FetchFailureKind, detail: &str, elapsed: Duration) -> Self {
        let failure = FetchFailure { kind, detail: detail.to_owned() };
        let (request_headers, remote, first_byte, archived_at, unprocessed) = Default::default();
        Self { request_headers, remote, first_byte, elapsed, archived_at, unprocessed, result: Err(failure) }
    }

    /// Whether nothing was sent because the host could not be reached: it may be down, whatever its URLs are like.
    #[must_use]
    pub fn is_out_of_reach(&self) -> bool {
        use FetchFailureKind::{Connect, NameNotResolved, Timeout, Tls};
        let failure = self.result.as_ref().err().map(|failure| failure.kind);
        self.request_headers.is_empty() && matches!(failure, Some(Connect | NameNotResolved | Timeout | Tls))
    }
}

/// Makes requests, one at a time. A failure is a value.
pub trait Fetcher: Send + Sync {
    /// Makes one GET request within its limits: exactly one leaves the machine, as whoever calls this keeps the pace. Never follows a redirect, never
    /// sends credentials, nor cookies but the request's own.
    fn fetch(&self, request: FetchRequest) -> impl Future<Output = Fetched> + Send;
}

/// Where turns get their fetchers: each crawl presents itself in its own way.
pub trait Fetchers: Send + Sync + 'static {
    /// The fetcher.
    type Fetcher: Fetcher + 'static;

    /// Returns the fetcher of a crawl with this definition.
    ///
    /// # Errors
    /// Fails if it cannot be set up.
    fn fetcher_for(&self, definition: &Draft) -> PortResult<Arc<Self::Fetcher>>;
}

/// One fetcher for every crawl.
impl<F: Fetcher + 'static> Fetchers for Arc<F> {
    type Fetcher = F;

    fn fetcher_for(&self, _definition: &Draft) -> PortResult<Arc<F>> {
        Ok(Self::clone(self))
    }
}
