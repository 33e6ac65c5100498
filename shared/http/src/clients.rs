//! The client's connections, with a limit over all hosts together.
//!
//! The client keeps idle connections per host, and a crawl of a thousand hosts soon has more of them than a process may have files open. So the
//! client itself is replaced once it has opened as many as may stay open: its idle connections close with it, and what is under way on the others
//! continues. A crawl of few hosts never reaches that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dragline_formats::warc::FIELDS_MAX;
use reqwest::redirect;
use rustls::ClientConfig;

use crate::config::{HttpConfig, HttpConfigError};
use crate::guard::{ConnectLayer, GuardedResolver, NameLookup};

/// The largest header that the client accepts, whatever a request's limit says, before that limit can be checked. Over HTTP/1.1 it is hyper's own
/// 408 KiB.
const HTTP2_HEADER_BYTES_MAX: u32 = 256 << 10;

/// What a server may send ahead over HTTP/2 before the body is read: a small body, and few of them per connection.
const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 << 10;
const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// Provides the client for each request.
pub(crate) struct Clients {
    config: HttpConfig,
    /// Passed on from client to client, with the servers' TLS sessions.
    tls: ClientConfig,
    lookup: Arc<dyn NameLookup>,
    current: Mutex<Current>,
}

struct Current {
    client: reqwest::Client,
    opened: Arc<AtomicUsize>,
}

impl Clients {
    pub(crate) fn new(
        config: &HttpConfig,
        tls: ClientConfig,
        lookup: Arc<dyn NameLookup>,
    ) -> Result<Self, HttpConfigError> {
        let current = Mutex::new(make(config, &tls, &lookup)?);
        Ok(Self { config: config.clone(), tls, lookup, current })
    }

    /// Returns the client for the next request.
    pub(crate) fn current(&self) -> reqwest::Client {
        let mut current = self.lock();
        if current.opened.load(Ordering::Relaxed) >= self.config.idle_connections_max {
            self.replace(&mut current);
        }
        current.client.clone()
    }

    /// Closes the connections on which nothing is under way.
    pub(crate) fn close_idle(&self) {
        let mut current = self.lock();
        if current.opened.load(Ordering::Relaxed) > 0 {
            self.replace(&mut current);
        }
    }

    fn replace(&self, current: &mut Current) {
        match make(&self.config, &self.tls, &self.lookup) {
            Ok(made) => *current = made,
            // It could be made with the same settings before: the old one will do for longer.
            Err(error) => tracing::warn!(%error, "idle connections stay open"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make(config: &HttpConfig, tls: &ClientConfig, lookup: &Arc<dyn NameLookup>) -> Result<Current, HttpConfigError> {
    let opened = Arc::new(AtomicUsize::new(0));
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .dns_resolver(GuardedResolver::new(config.address_policy, Arc::clone(lookup)))
        .connector_layer(ConnectLayer::new(config.address_policy, Arc::clone(&opened)))
        // A proxy would connect for us, unseen by the guard.
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(config.idle_connections_per_host_max)
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
        .map_err(HttpConfigError::Client)?;
    Ok(Current { client, opened })
}
