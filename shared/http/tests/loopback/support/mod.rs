//! What these tests share: servers that misbehave on purpose, names of their own, and requests with roomy limits.

mod names;
mod raw;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_http::{HttpConfig, HttpFetcher};
use dragline_ports::fetcher::{FetchFailureKind, FetchLimits, FetchRequest, Fetched, FetchedResponse, Fetcher};

pub(crate) use names::Names;
pub(crate) use raw::RawServer;
pub(crate) use tls::TlsServer;

/// Limits that no well-behaved server meets, even on a busy machine.
pub(crate) const ROOMY: FetchLimits = FetchLimits {
    connect_timeout: Duration::from_secs(20),
    first_byte_timeout: Duration::from_secs(20),
    total_timeout: Duration::from_secs(40),
    header_bytes_max: 64 << 10,
    body_bytes_max: 4 << 20,
    decoded_bytes_max: 4 << 20,
};

/// For what is certain never to come.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

/// For what begins on a busy machine too, and is certain never to end.
pub(crate) const ENOUGH_TO_BEGIN: Duration = Duration::from_millis(500);

pub(crate) fn config(address_policy: AddressPolicy) -> HttpConfig {
    HttpConfig { address_policy, ..HttpConfig::new("dragline-test/1.0") }
}

/// A fetcher that talks to the loopback interface, and knows every name under `.test` as it.
pub(crate) fn fetcher() -> HttpFetcher {
    HttpFetcher::with_lookup(&config(AddressPolicy::AllowPrivate), Arc::new(Names::loopback())).unwrap()
}

pub(crate) fn request(url: &str) -> FetchRequest {
    let url = CrawlUrl::parse(url, &UrlRules::default()).unwrap();
    FetchRequest { url, if_none_match: None, if_modified_since: None, limits: ROOMY, watch: None }
}

pub(crate) async fn fetch(fetcher: &HttpFetcher, url: &str) -> Fetched {
    fetcher.fetch(request(url)).await
}

pub(crate) fn response(fetched: Fetched) -> FetchedResponse {
    fetched.result.expect("a response")
}

pub(crate) fn failure_kind(fetched: &Fetched) -> Option<FetchFailureKind> {
    fetched.result.as_ref().err().map(|failure| failure.kind)
}
