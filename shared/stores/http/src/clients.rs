//! The client's connections, with a limit over all hosts together.
//!
//! The client keeps idle connections per host, and a crawl of a thousand hosts soon has more of
//! them than a process may have files open. So the client itself is replaced once it has opened as
//! many as may stay open: its idle connections close with it, and requests on the others continue.
//! A crawl of few hosts never reaches that.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dragline_domain::url::Origin;
use dragline_formats::warc::FIELDS_MAX;
use dragline_ports::fetcher::ConnectionChoice;
use lru::LruCache;
use reqwest::redirect;
use rustls::ClientConfig;

use crate::config::{HttpConfig, HttpConfigError};
use crate::guard::{ConnectLayer, GuardedResolver, NameLookup};
use crate::routes::{ReadyProxy, peer_policy};

/// The largest header that the client accepts, before the request's own limit can be checked. For
/// HTTP/1.1 it is hyper's own 408 KiB.
const HTTP2_HEADER_BYTES_MAX: u32 = 256 << 10;

/// How much a server may send ahead over HTTP/2 before the body is read: a small body, and few of
/// them per connection.
const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 << 10;
const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// The most servers remembered as HTTP/1.1 only. A forgotten one is asked over HTTP/2 once more.
const HTTP11_SERVERS_MAX: NonZeroUsize = NonZeroUsize::new(1_000).expect("not zero");

/// The HTTP versions offered to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Versions {
    Http2AndHttp11,
    Http11,
}

/// Provides the client for each request.
pub(crate) struct Clients {
    settings: Settings,
    current: Mutex<CurrentClients>,
    /// Servers that answer over HTTP/1.1 only.
    http11_servers: Mutex<LruCache<Origin, ()>>,
}

/// The settings common to all clients.
struct Settings {
    config: HttpConfig,
    /// Passed on from client to client, with the servers' TLS sessions.
    tls: ClientConfig,
    lookup: Arc<dyn NameLookup>,
    proxy: Option<ReadyProxy>,
}

/// The clients whose connections count together. Rarely used ones are built on demand.
struct CurrentClients {
    usual: reqwest::Client,
    usual_http11: OnceLock<reqwest::Client>,
    unpooled: OnceLock<reqwest::Client>,
    unpooled_http11: OnceLock<reqwest::Client>,
    opened: Arc<AtomicUsize>,
}

impl Clients {
    pub(crate) fn new(
        config: &HttpConfig,
        tls: ClientConfig,
        lookup: Arc<dyn NameLookup>,
        proxy: Option<&ReadyProxy>,
    ) -> Result<Self, HttpConfigError> {
        let settings = Settings { config: config.clone(), tls, lookup, proxy: proxy.cloned() };
        let current = Mutex::new(CurrentClients::new(&settings)?);
        Ok(Self { settings, current, http11_servers: Mutex::new(LruCache::new(HTTP11_SERVERS_MAX)) })
    }

    /// Returns the client for the next request to this server.
    pub(crate) fn client_for(&self, server: &Origin, connection: ConnectionChoice) -> reqwest::Client {
        let is_http11 = lock(&self.http11_servers).get(server).is_some();
        let versions = if is_http11 { Versions::Http11 } else { Versions::Http2AndHttp11 };
        let mut current = lock(&self.current);
        if current.opened.load(Ordering::Relaxed) >= self.settings.config.idle_connections_max {
            self.replace(&mut current);
        }
        let other = match (versions, connection) {
            (Versions::Http2AndHttp11, ConnectionChoice::Any) => return current.usual.clone(),
            (Versions::Http11, ConnectionChoice::Any) => &current.usual_http11,
            (Versions::Http2AndHttp11, ConnectionChoice::New) => &current.unpooled,
            (Versions::Http11, ConnectionChoice::New) => &current.unpooled_http11,
        };
        if let Some(client) = other.get() {
            return client.clone();
        }
        match self.settings.client(versions, connection, &current.opened) {
            Ok(client) => other.get_or_init(|| client).clone(),
            Err(error) => {
                // The usual one was built with the same settings.
                tracing::warn!(%error, "a request uses any connection");
                current.usual.clone()
            }
        }
    }

    /// Offers a server only HTTP/1.1 from now on.
    pub(crate) fn remember_http11(&self, server: &Origin) {
        lock(&self.http11_servers).put(server.clone(), ());
    }

    /// Offers a server every version again.
    pub(crate) fn forget_http11(&self, server: &Origin) {
        lock(&self.http11_servers).pop(server);
    }

    /// Closes idle connections.
    pub(crate) fn close_idle(&self) {
        let mut current = lock(&self.current);
        if current.opened.load(Ordering::Relaxed) > 0 {
            self.replace(&mut current);
        }
    }

    fn replace(&self, current: &mut CurrentClients) {
        match CurrentClients::new(&self.settings) {
            Ok(made) => *current = made,
            // It was built with the same settings before: the old one will do for longer.
            Err(error) => tracing::warn!(%error, "idle connections stay open"),
        }
    }
}

impl Settings {
    fn client(
        &self,
        versions: Versions,
        connection: ConnectionChoice,
        opened: &Arc<AtomicUsize>,
    ) -> Result<reqwest::Client, HttpConfigError> {
        let config = &self.config;
        let mut tls = self.tls.clone();
        let idle_max = match connection {
            ConnectionChoice::Any => config.idle_connections_per_host_max,
            ConnectionChoice::New => 0,
        };
        let builder = match versions {
            Versions::Http2AndHttp11 => reqwest::Client::builder(),
            Versions::Http11 => {
                tls.alpn_protocols.retain(|protocol| protocol != b"h2");
                reqwest::Client::builder().http1_only()
            }
        };
        // A proxy connects for us, which the guard cannot see: only one that somebody named is
        // used.
        let builder = match &self.proxy {
            None => builder.no_proxy(),
            Some(ready) => builder.no_proxy().proxy(ready.proxy.clone()),
        };
        let named = self.proxy.as_ref().map(|ready| (ready.host.clone(), ready.addresses));
        builder
            .tls_backend_preconfigured(tls)
            .dns_resolver(GuardedResolver::new(config.address_policy, Arc::clone(&self.lookup), named))
            .connector_layer(ConnectLayer::new(peer_policy(config, self.proxy.as_ref()), Arc::clone(opened)))
            .redirect(redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(idle_max)
            .pool_idle_timeout(config.idle_timeout)
            .http1_max_headers(FIELDS_MAX)
            .http2_max_header_list_size(HTTP2_HEADER_BYTES_MAX)
            .http2_initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
            .http2_initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
            // As lenient as browsers: a page is worth more than a malformed field.
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .build()
            .map_err(HttpConfigError::Client)
    }
}

impl CurrentClients {
    fn new(settings: &Settings) -> Result<Self, HttpConfigError> {
        let opened = Arc::default();
        let usual = settings.client(Versions::Http2AndHttp11, ConnectionChoice::Any, &opened)?;
        let (usual_http11, unpooled, unpooled_http11) = Default::default();
        Ok(Self { usual, usual_http11, unpooled, unpooled_http11, opened })
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
