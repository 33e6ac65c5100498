//! Sends what the SDK encoded, by the HTTP client that everything else uses.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::uri::Authority;
use dragline_http::Collector;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::terminal::Console;

/// Sends one kind of telemetry. The SDK calls it on threads of its own; requests are made on the
/// runtime.
pub(super) struct Delivery {
    /// The kind, in the plural.
    kind: &'static str,
    collector: Collector,
    timeout: Duration,
    runtime: Handle,
    console: Console,
    has_failed: AtomicBool,
}

impl Delivery {
    /// Returns a sender of this kind of telemetry. Must be called on the runtime.
    pub(super) fn new(kind: &'static str, collector: Collector, timeout: Duration, console: &Console) -> Self {
        let (runtime, console) = (Handle::current(), console.clone());
        Self { kind, collector, timeout, runtime, console, has_failed: AtomicBool::new(false) }
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let uri = request.uri();
        // Without what may be secret: a name and a password, and the query.
        let host = host_of(uri.authority().map_or("", Authority::as_str));
        let place = format!("{}://{host}", uri.scheme_str().unwrap_or("http"));
        let (collector, timeout) = (self.collector.clone(), self.timeout);
        let sent = self.runtime.spawn(async move { collector.send(request, timeout).await });
        // A program that ends cuts it off, and says so itself.
        let answer = sent.await?;
        let problem = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answered with status {}", answer.status().as_u16())),
            Err(why) => Some(why.clone()),
        };
        if let Some(problem) = problem
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            let kind = self.kind;
            self.console.warn(&format!("{kind} cannot be sent to {place}: {problem}; this is said only once"));
        }
        answer.map_err(HttpError::from)
    }
}

/// Returns an authority without a name and a password.
fn host_of(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl HttpClient for Delivery {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.send(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_no_password() {
        for (authority, expected) in
            [("127.0.0.1:4318", "127.0.0.1:4318"), ("ada:secret@example.org", "example.org"), ("a:b@c@d:1", "d:1")]
        {
            assert_eq!(host_of(authority), expected);
        }
    }
}
