//! The Fetcher port over reqwest, with the guard against private addresses.
//!
//! Start at [`HttpFetcher`]. A fetch goes through `request` (the outgoing request), `guard` (the
//! allowed addresses), `body` (receiving the answer, within its limits and the process's `budget`)
//! and, without an answer, `failure`.

mod access;
mod body;
mod budget;
mod clients;
mod collector;
mod config;
mod decoded;
mod failure;
mod fetcher;
mod fetchers;
mod framing;
mod guard;
mod identity;
mod rate;
mod request;
mod routes;
mod stand_in;
mod timing;
mod tls;
mod webhook;

pub use dragline_formats::blob::Spool;

pub use collector::Collector;
pub use config::{Certificate, CertificatePolicy, HttpConfig, HttpConfigError, certificates_from_pem};
pub use fetcher::HttpFetcher;
pub use fetchers::{HttpFetchers, SecretSettings};
pub use guard::{NameLookup, SystemLookup};
pub use identity::{IdentityError, IdentityKey};
pub use rate::ByteRate;
pub use routes::Proxies;
pub use webhook::{Webhook, WebhookSecret, WebhookSecretError};

/// Returns an error and what caused it, on one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(source) = cause {
        text += &format!(": {source}");
        cause = source.source();
    }
    text
}
