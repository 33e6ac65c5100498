//! Which addresses Dragline never talks to.

use std::net::IpAddr;

use crate::url::CrawlUrl;

/// Whether private addresses may be talked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Only addresses of the public internet.
    #[default]
    PublicOnly,
    /// Any address.
    AllowPrivate,
}

/// An address that is not talked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a public address")]
pub struct AddressRefused(IpAddr);

/// Checks one address.
///
/// # Errors
/// [`AddressRefused`] if the policy forbids it.
pub fn check(policy: AddressPolicy, ip: IpAddr) -> Result<(), AddressRefused> {
    let public = match ip.to_canonical() {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    };
    if public || policy == AddressPolicy::AllowPrivate { Ok(()) } else { Err(AddressRefused(ip)) }
}

/// The address that a URL names literally; absent if its host is a name.
#[must_use]
pub fn literal_of(url: &CrawlUrl) -> Option<IpAddr> {
    match url::Url::parse(url.as_str()).ok()?.host()? {
        url::Host::Ipv4(v4) => Some(v4.into()),
        url::Host::Ipv6(v6) => Some(v6.into()),
        url::Host::Domain(_) => None,
    }
}

/// Whether a name is one that only a private network knows.
#[must_use]
pub fn private_name(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}
