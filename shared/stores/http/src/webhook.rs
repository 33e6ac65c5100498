//! Webhooks: notices as signed requests, as Standard Webhooks specifies
//! (<https://www.standardwebhooks.com>).

use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use dragline_domain::address::{AddressPolicy, check, literal_address};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::ConnectionChoice;
use http::{HeaderValue, header};
use jiff::Timestamp;
use ring::hmac;

use crate::clients::Clients;
use crate::config::{HttpConfig, HttpConfigError};
use crate::guard::SystemLookup;
use crate::timing::{ATTEMPT, Attempt};
use crate::tls;
use crate::with_causes;

/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The prefix of a secret.
const SECRET_PREFIX: &str = "whsec_";

/// The shortest secret, in bytes. Standard Webhooks asks for 24 to 64.
const SECRET_BYTES_MIN: usize = 24;

/// A secret that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a webhook's secret is `{SECRET_PREFIX}` and at least {SECRET_BYTES_MIN} bytes in Base64")]
pub struct WebhookSecretError;

/// The key by which a receiver knows the sender.
pub struct WebhookSecret(hmac::Key);

impl WebhookSecret {
    /// Reads a secret: `whsec_` and at least 24 bytes in Base64.
    ///
    /// # Errors
    /// It has another form.
    pub fn parse(text: &str) -> Result<Self, WebhookSecretError> {
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(WebhookSecretError)?;
        let bytes = BASE64.decode(encoded.as_bytes()).map_err(|_| WebhookSecretError)?;
        if bytes.len() < SECRET_BYTES_MIN {
            return Err(WebhookSecretError);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// Returns the value of `webhook-signature`.
    fn sign(&self, id: &str, at_s: i64, body: &str) -> String {
        let signed = hmac::sign(&self.0, format!("{id}.{at_s}.{body}").as_bytes());
        format!("v1,{}", BASE64.encode(signed.as_ref()))
    }
}

/// A receiver of notices.
pub struct Webhook {
    url: CrawlUrl,
    secret: Option<WebhookSecret>,
    clients: Clients,
    address_policy: AddressPolicy,
    user_agent: HeaderValue,
}

impl Webhook {
    /// Returns a receiver. Its address is guarded like those of sites, and redirects are not
    /// followed.
    ///
    /// # Errors
    /// The client cannot be set up.
    pub fn new(config: &HttpConfig, url: CrawlUrl, secret: Option<WebhookSecret>) -> Result<Self, HttpConfigError> {
        let user_agent = HeaderValue::from_str(&config.user_agent)
            .map_err(|_| HttpConfigError::UserAgent(config.user_agent.clone()))?;
        let tls = tls::client_configs(config.certificates, &config.extra_roots, None)?;
        let clients = Clients::new(config, tls.hosts, Arc::new(SystemLookup), None)?;
        Ok(Self { url, secret, clients, address_policy: config.address_policy, user_agent })
    }

    /// Sends a message. A receiver drops those whose id it has seen.
    ///
    /// # Errors
    /// It is `Unavailable` for everything that another try may mend.
    pub async fn send(&self, id: &str, at: Timestamp, body: String) -> PortResult<()> {
        let failed = |why: String| PortError::new(PortErrorKind::Unavailable, "call webhook", &self.url, why);
        if let Some(address) = literal_address(&self.url) {
            check(self.address_policy, address).map_err(|refused| failed(refused.to_string()))?;
        }
        let at_s = at.as_second();
        let client = self.clients.client_for(&self.url.origin(), ConnectionChoice::Any);
        let mut request = client
            .post(self.url.as_str())
            .header(header::USER_AGENT, self.user_agent.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", at_s)
            .timeout(TIMEOUT);
        if let Some(secret) = &self.secret {
            request = request.header("webhook-signature", secret.sign(id, at_s, &body));
        }
        // The guard connects only for an attempt.
        let attempt = Arc::new(Attempt::new(TIMEOUT));
        let sent = Box::pin(ATTEMPT.scope(attempt, request.body(body).send())).await;
        let response = sent.map_err(|error| failed(with_causes(&error.without_url())))?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { Err(failed(format!("it answered with status {}", status.as_u16()))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_specification() {
        // Computed by OpenSSL: `openssl dgst -sha256 -mac HMAC -macopt hexkey:…`.
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_weak_secret_is_refused() {
        for (text, why) in [
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "no prefix"),
            ("whsec_MfKQ9r8GKYqrTwjU", "too short"),
            ("whsec_no base64", "not encoded"),
        ] {
            assert!(WebhookSecret::parse(text).is_err(), "{why}");
        }
    }
}
