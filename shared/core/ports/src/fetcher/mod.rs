//! One HTTP request at a time.

mod arriving;
mod limits;
mod session;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::definition::Draft;
use dragline_domain::frontier::Cookie;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::blob::Blob;
use dragline_formats::content_coding::DecodeError;
use dragline_formats::http_fields::{Headers, location};
use dragline_formats::warc::HttpProtocol;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::arriving::{ArrivingBody, ArrivingBytes};
pub use self::limits::{BodyLimit, BodyLimits, BodyUse, FetchLimits};
pub use self::session::{FieldValue, FilledForm, Session};
use crate::error::PortResult;
use crate::renderer::{NoRenderer, Renderer};

/// One request, never following redirects: HEAD if nothing is wanted of the body, GET, or POST if
/// it sends a form.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The URL to request.
    pub url: CrawlUrl,
    /// Path and query to send byte for byte, if their spelling differs from the URL's; visible
    /// ASCII, beginning with a slash.
    pub target: Option<String>,
    /// `Referer`: the page with the link; `None` if there is none. Only a rule of the definition
    /// makes it a field of the request.
    pub via: Option<CrawlUrl>,
    /// `Cookie`: cookies set by the URL itself; `None` nearly always.
    pub cookie: Option<Cookie>,
    /// The session that it belongs to, which gives it cookies and keeps those that the answer sets;
    /// `None`: the answer's are ignored.
    pub session: Option<Arc<Session>>,
    /// The form that it sends; `None` nearly always.
    pub form: Option<Arc<FilledForm>>,
    /// What a page says that makes this request while it is rendered; `None` for all other
    /// requests.
    pub page: Option<Arc<PageFields>>,
    /// What is wanted of the answer.
    pub wanted: AnswerPart,
    /// `If-None-Match`: the entity tag in the server's spelling; `None` if none is known.
    pub if_none_match: Option<String>,
    /// `If-Modified-Since`: the date in the server's spelling; `None` if none is known.
    pub if_modified_since: Option<String>,
    /// Its limits.
    pub limits: FetchLimits,
    /// Which connections it may use.
    pub connection: ConnectionChoice,
    /// The observer of a connection that is opened for it.
    pub watch: Option<Arc<dyn ConnectionWatch>>,
}

impl FetchRequest {
    /// Creates a plain request for a URL, without an observer.
    #[must_use]
    pub const fn new(url: CrawlUrl, limits: FetchLimits) -> Self {
        let connection = ConnectionChoice::Any;
        let (target, via, cookie, session, form, page) = (None, None, None, None, None, None);
        let (if_none_match, if_modified_since, watch) = (None, None, None);
        let wanted = AnswerPart::All;
        Self {
            url,
            target,
            via,
            cookie,
            session,
            form,
            page,
            wanted,
            if_none_match,
            if_modified_since,
            limits,
            connection,
            watch,
        }
    }
}

/// What a page that is rendered says in a request of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFields {
    /// Its header fields, such as `Accept`, `Origin` and those that scripts set. They take
    /// precedence over what is sent for pages; what a rule of the definition sets takes precedence
    /// over them.
    pub headers: Headers,
    /// The body of a POST; `None` for a GET.
    pub body: Option<Bytes>,
}

/// What is wanted of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnswerPart {
    /// All of it.
    #[default]
    All,
    /// Its header alone: the request is a HEAD (RFC 9110 section 9.3.2).
    Header,
}

impl AnswerPart {
    /// Returns the method of a request without a form.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::All => "GET",
            Self::Header => "HEAD",
        }
    }
}

/// Which connections a request may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConnectionChoice {
    /// An open one, or else a new one.
    #[default]
    Any,
    /// Only a new one, so that its behaviour says something about the server.
    New,
}

/// An observer of connections that a request has to open, as the request then leaves later than it
/// started. Neither method is called for a request on an open connection.
pub trait ConnectionWatch: fmt::Debug + Send + Sync {
    /// A connection is being opened.
    fn connecting(&self);
    /// The attempt is over: the connection is open and the request leaves, it failed, or nobody
    /// waits for it any more. Follows each [`Self::connecting`], before the request ends.
    fn connected(&self);
}

/// The reason why a body is incomplete. Stored as `WARC-Truncated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// The limit on its size, raw or decoded.
    Length,
    /// The time limit of the whole exchange.
    Time,
    /// The connection ended before the body did.
    Disconnect,
    /// The body arrived as framed, but its content coding cannot be decoded to the end.
    Coding(DecodeError),
}

/// A response. Its body has the content coding as received, without the transfer coding.
#[derive(Clone, Debug)]
pub struct FetchedResponse {
    /// The status code.
    pub status: u16,
    /// The reason phrase as received, cut at
    /// [`REASON_BYTES_MAX`](dragline_formats::warc::REASON_BYTES_MAX), or the canonical one.
    pub reason: String,
    /// The protocol that carried it; `None` if unknown.
    pub protocol: Option<HttpProtocol>,
    /// The header fields in order, with values as bytes.
    pub headers: Headers,
    /// The body as received, up to where it was cut.
    pub body: Blob,
    /// Why the body is incomplete; `None` if it is complete.
    pub truncated: Option<Truncation>,
    /// SHA-1 of the body without its content coding, as far as it was decoded.
    pub decoded_sha1: [u8; 20],
    /// The length of the decoded body, as far as it was decoded.
    pub decoded_bytes: u64,
}

impl FetchedResponse {
    /// Returns the body if it is in memory, as every parsed body is; empty for others.
    #[must_use]
    pub fn readable_body(&self) -> Bytes {
        self.body.in_memory().cloned().unwrap_or_default()
    }

    /// Returns where it leads as the answer of this URL, spelled by these rules; `None` if it is no
    /// redirect (RFC 9110 section 15.4), or leads to what cannot be crawled.
    #[must_use]
    pub fn redirect_target(&self, url: &CrawlUrl, rules: &UrlRules) -> Option<CrawlUrl> {
        if !matches!(self.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        url.join(&location(self.headers.get("location")?), rules).ok()
    }
}

/// The reason why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchFailureKind {
    /// The name has no address.
    NameNotResolved,
    /// The host is, or resolves to, a forbidden address, such as a private one. No request was
    /// sent.
    PrivateAddress,
    /// There was no TCP connection, or it ended before a response.
    Connect,
    /// The TLS handshake failed, or the certificate is not valid.
    Tls,
    /// A time limit passed before the response header arrived.
    Timeout,
    /// The answer is not HTTP, or its header is over the limit.
    Protocol,
    /// The server deliberately ended the exchange: it reset the HTTP/2 stream (RFC 9113 section
    /// 6.4).
    Reset,
    /// The server asked for fewer requests: `ENHANCE_YOUR_CALM` over HTTP/2 (RFC 9113 section 7).
    TooMany,
    /// The rules of the definition for the URL cannot be kept, so nothing was sent.
    AccessRefused,
    /// This machine cannot open another connection now, as too many files are open. No request was
    /// sent, and the server is not to blame.
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

/// The reason why a server did not process a request, which can therefore be sent again without
/// counting as a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnprocessedReason {
    /// A reused connection ended, or timed out (408), before any part of a response arrived:
    /// servers close idle connections whenever they like (RFC 9112 section 9.5).
    ConnectionEnded,
    /// The server refused the stream, or excluded it when it shut the connection down (RFC 9113
    /// section 8.7).
    StreamRefused,
    /// The server supports this request over HTTP/1.1 only: it says so, or its response is invalid
    /// over HTTP/2 (RFC 9113 sections 7 and 8.2.2). Later requests to the host use HTTP/1.1.
    Http11Required,
}

/// The result of one request.
#[derive(Clone, Debug)]
pub struct FetchOutcome {
    /// The request header as sent, for the archive: the request line's target and the fields. Empty
    /// if nothing was sent.
    pub request_headers: Headers,
    /// The address that answered; `None` if no connection was made.
    pub remote: Option<SocketAddr>,
    /// From the request's start to its response header; `None` without one.
    pub first_byte: Option<Duration>,
    /// From the request's start to its end.
    pub elapsed: Duration,
    /// The time of the original request, if this response comes from an archive; `None` if the
    /// request was made now.
    pub archived_at: Option<Timestamp>,
    /// Why the server did not process the request; `None` if it did, or if this is unknown.
    pub unprocessed: Option<UnprocessedReason>,
    /// The response, or why there is none.
    pub result: Result<FetchedResponse, FetchFailure>,
}

impl FetchOutcome {
    /// Creates the result of a request that failed after this long, with no other details.
    #[must_use]
    pub fn failed(kind: FetchFailureKind, detail: &str, elapsed: Duration) -> Self {
        let failure = FetchFailure { kind, detail: detail.to_owned() };
        let (request_headers, remote, first_byte, archived_at, unprocessed) = Default::default();
        Self { request_headers, remote, first_byte, elapsed, archived_at, unprocessed, result: Err(failure) }
    }

    /// Whether nothing was sent because the host could not be reached: it may be down, which
    /// affects all of its URLs.
    #[must_use]
    pub fn is_out_of_reach(&self) -> bool {
        use FetchFailureKind::{Connect, NameNotResolved, Timeout, Tls};
        let failure = self.result.as_ref().err().map(|failure| failure.kind);
        self.request_headers.is_empty() && matches!(failure, Some(Connect | NameNotResolved | Timeout | Tls))
    }
}

/// A client that makes one request at a time. A failure is a value.
pub trait Fetcher: Send + Sync {
    /// Makes one request within its limits. Sends exactly one, as the caller keeps the pace.
    /// Never follows a redirect. Sends no credentials but those of the definition's rules for this
    /// very URL, and no other cookies but the request's own.
    fn fetch(&self, request: FetchRequest) -> impl Future<Output = FetchOutcome> + Send;
}

impl<F: Fetcher> Fetcher for Arc<F> {
    fn fetch(&self, request: FetchRequest) -> impl Future<Output = FetchOutcome> + Send {
        (**self).fetch(request)
    }
}

/// A source of fetchers for turns: each crawl identifies itself in its own way.
pub trait Fetchers: Send + Sync + 'static {
    /// The fetcher.
    type Fetcher: Fetcher + 'static;
    /// What renders pages.
    type Renderer: Renderer;

    /// Returns the fetcher of a crawl with this definition.
    ///
    /// # Errors
    /// Fails if it cannot be set up.
    fn fetcher_for(&self, definition: &Draft) -> impl Future<Output = PortResult<Arc<Self::Fetcher>>> + Send;

    /// Returns what renders the pages of all crawls.
    fn renderer(&self) -> Arc<Self::Renderer>;

    /// Returns the same fetchers with another renderer.
    fn rendering_by<R: Renderer>(self, renderer: Arc<R>) -> RenderingFetchers<Self, R>
    where
        Self: Sized,
    {
        RenderingFetchers { fetchers: self, renderer }
    }
}

/// Fetchers with a renderer.
#[derive(Debug)]
pub struct RenderingFetchers<S, R> {
    fetchers: S,
    renderer: Arc<R>,
}

impl<S: Fetchers, R: Renderer> Fetchers for RenderingFetchers<S, R> {
    type Fetcher = S::Fetcher;
    type Renderer = R;

    fn fetcher_for(&self, definition: &Draft) -> impl Future<Output = PortResult<Arc<S::Fetcher>>> + Send {
        self.fetchers.fetcher_for(definition)
    }

    fn renderer(&self) -> Arc<R> {
        Arc::clone(&self.renderer)
    }
}

/// One fetcher for every crawl.
impl<F: Fetcher + 'static> Fetchers for Arc<F> {
    type Fetcher = F;
    type Renderer = NoRenderer;

    async fn fetcher_for(&self, _definition: &Draft) -> PortResult<Arc<F>> {
        Ok(Self::clone(self))
    }

    fn renderer(&self) -> Arc<NoRenderer> {
        Arc::new(NoRenderer)
    }
}
