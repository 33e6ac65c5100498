//! The description of a site.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::access::{AccessLog, Keep};
use super::answer::Coding;
use super::content::{Content, Nothing};
use super::generated::GeneratedPages;
use super::mood::{Mood, Moods, Nth};
use super::serve::{Shared, serve};
use super::{Directory, GeneratedSite, Site};

/// A fixed answer to every request for a path.
#[derive(Clone, Debug)]
pub struct Reply {
    response: Response<Bytes>,
}

impl Reply {
    /// An answer with this status, without header fields or body.
    #[must_use]
    pub fn new(status: StatusCode) -> Self {
        let mut response = Response::default();
        *response.status_mut() = status;
        Self { response }
    }

    /// Adds a header field; a name may be used several times.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.response.headers_mut().append(name, value);
        self
    }

    /// Sets the body, which is sent unchanged.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        *self.response.body_mut() = body.into();
        self
    }

    pub(super) fn response(&self) -> Response<Full<Bytes>> {
        self.response.clone().map(Full::new)
    }
}

/// Describes a [`Site`].
pub struct SiteBuilder {
    content: Box<dyn Content>,
    replies: HashMap<String, Reply>,
    delay: Duration,
    coding: Coding,
    keep: Keep,
    moods: Moods,
    tls: Option<TlsAcceptor>,
    address: SocketAddr,
}

impl Default for SiteBuilder {
    fn default() -> Self {
        Self {
            content: Box::new(Nothing),
            replies: HashMap::new(),
            delay: Duration::ZERO,
            coding: Coding::Identity,
            keep: Keep::Every,
            moods: Moods::default(),
            tls: None,
            address: (Ipv4Addr::LOCALHOST, 0).into(),
        }
    }
}

impl SiteBuilder {
    /// Serves this content, in place of what was set before.
    #[must_use]
    pub fn content(mut self, content: impl Content) -> Self {
        self.content = Box::new(content);
        self
    }

    /// Serves the files of a directory.
    #[must_use]
    pub fn directory(self, root: impl Into<PathBuf>) -> Self {
        self.content(Directory::new(root))
    }

    /// Serves generated pages.
    #[must_use]
    pub fn generated(self, site: GeneratedSite) -> Self {
        self.content(GeneratedPages::new(site))
    }

    /// Answers a path (with its query, if any) with a reply, in place of the content.
    ///
    /// A reply for a path without a query also answers queries that have no reply of their own.
    #[must_use]
    pub fn reply(mut self, target: impl Into<String>, reply: Reply) -> Self {
        self.replies.insert(target.into(), reply);
        self
    }

    /// Sets the robots.txt; without one the site answers 404 for it.
    #[must_use]
    pub fn robots(self, text: impl Into<Bytes>) -> Self {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        self.reply("/robots.txt", Reply::new(StatusCode::OK).header(CONTENT_TYPE, plain).body(text))
    }

    /// Waits this long before each answer.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Compresses text for clients that accept it.
    #[must_use]
    pub fn gzip(mut self) -> Self {
        self.coding = Coding::Gzip;
        self
    }

    /// Counts requests without recording them, so that a long benchmark does not fill memory.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        self.keep = Keep::Nothing;
        self
    }

    /// Listens on this address, in place of a free port of 127.0.0.1. Each address of the loopback
    /// interface is a host of its own.
    #[must_use]
    pub fn address(mut self, address: impl Into<SocketAddr>) -> Self {
        self.address = address.into();
        self
    }

    /// Serves over TLS, and over HTTP/2 to those who agree on it in the handshake.
    #[must_use]
    pub fn tls(mut self, acceptor: TlsAcceptor) -> Self {
        self.tls = Some(acceptor);
        self
    }

    /// Treats each request as this function says, instead of answering them all.
    #[must_use]
    pub fn moods(mut self, moods: impl Fn(Nth) -> Mood + Send + Sync + 'static) -> Self {
        self.moods = Moods::new(moods);
        self
    }

    /// Starts serving, on the runtime of the caller.
    ///
    /// # Errors
    /// If the port cannot be bound.
    pub async fn start(self) -> io::Result<Site> {
        let listener = TcpListener::bind(self.address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            content: self.content,
            replies: self.replies,
            delay: self.delay,
            coding: self.coding,
            log: AccessLog::new(self.keep),
            moods: self.moods,
            tls: self.tls,
            requests: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn(serve(listener, address, Arc::clone(&shared)));
        Ok(Site { address, shared, accepting })
    }
}
