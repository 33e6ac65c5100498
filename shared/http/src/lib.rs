//! The Fetcher port over reqwest, with the guard against private addresses.
//!
//! Start at [`HttpFetcher`]. A fetch goes through `request` (what is sent), `guard` (whom it is sent to), `body` (what is
//! kept of the answer, within its limits and the process's `budget`) and, where there is no answer, `failure`.

mod body;
mod budget;
mod clients;
mod config;
mod decoded;
mod failure;
mod fetcher;
mod fetchers;
mod guard;
mod request;
mod timing;
mod tls;

pub use config::{Certificate, CertificatePolicy, HttpConfig, HttpConfigError, certificates_from_pem};
pub use fetcher::HttpFetcher;
pub use fetchers::HttpFetchers;
pub use guard::{NameLookup, SystemLookup};
