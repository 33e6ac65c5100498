//! A collector of telemetry, to which a program sends what it measures of itself.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Request, Response, header};
use reqwest::redirect;

use crate::config::{HttpConfig, HttpConfigError};
use crate::tls;
use crate::with_causes;

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// The idle connections that are kept.
const IDLE_MAX: usize = 1;

/// A client for collectors. Its operator names them, so they may be anywhere, and most are on the
/// machine itself. Redirects are not followed, as the request has what a collector knows its
/// senders by.
#[derive(Clone, Debug)]
pub struct Collector {
    client: reqwest::Client,
    user_agent: HeaderValue,
}

impl Collector {
    /// Returns a client with the certificates and the user agent of these settings.
    ///
    /// # Errors
    /// The client cannot be set up.
    pub fn new(config: &HttpConfig) -> Result<Self, HttpConfigError> {
        let user_agent = HeaderValue::from_str(&config.user_agent)
            .map_err(|_| HttpConfigError::UserAgent(config.user_agent.clone()))?;
        let tls = tls::client_configs(config.certificates, &config.extra_roots, None)?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.hosts)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .pool_max_idle_per_host(IDLE_MAX)
            .pool_idle_timeout(config.idle_timeout)
            .build()
            .map_err(HttpConfigError::Client)?;
        Ok(Self { client, user_agent })
    }

    /// Sends a request, and returns the answer, whatever its status. Both together take no longer
    /// than `limit`.
    ///
    /// # Errors
    /// There is no answer, or it is too long. The text says why, without the URL.
    pub async fn send(&self, mut request: Request<Bytes>, limit: Duration) -> Result<Response<Bytes>, String> {
        let why = |error: reqwest::Error| with_causes(&error.without_url());
        request.headers_mut().insert(header::USER_AGENT, self.user_agent.clone());
        let mut request = reqwest::Request::try_from(request).map_err(why)?;
        *request.timeout_mut() = Some(limit);
        let mut answer = self.client.execute(request).await.map_err(why)?;
        let status = answer.status();
        let headers = std::mem::take(answer.headers_mut());
        let mut body = BytesMut::new();
        while let Some(part) = answer.chunk().await.map_err(why)? {
            if body.len() + part.len() > ANSWER_BYTES_MAX {
                return Err("the answer is too long".to_owned());
            }
            body.extend_from_slice(&part);
        }
        let mut response = Response::new(body.freeze());
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }
}
