//! Addresses to which Dragline never connects.
//!
//! A crawler follows strangers' links from inside somebody's network, so every address is
//! classified here before a connection: those written in a URL ([`literal_address`]), those that a
//! name resolved to, and the peer's own.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::url::CrawlUrl;

mod names;
mod ranges;
#[cfg(test)]
mod tests;

pub use names::{NameRefused, check_name, private_name};

/// The purpose of an address, according to the IANA special-purpose registries (RFC 6890) and the
/// manuals of cloud providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// Part of the internet.
    Public,
    /// Not an address: `::`, and all of `0.0.0.0/8`, which some systems treat as their own (RFC
    /// 1122).
    Unspecified,
    /// This machine: `127.0.0.0/8`, `::1`.
    Loopback,
    /// A private network: RFC 1918, and the local translation prefix `64:ff9b:1::/48` (RFC 8215).
    Private,
    /// A private network in IPv6: `fc00::/7` (RFC 4193).
    UniqueLocal,
    /// A private network in IPv6, in a form deprecated in 2004: `fec0::/10` (RFC 3879).
    SiteLocal,
    /// The same link: `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// A provider's network behind its address translation: `100.64.0.0/10` (RFC 6598).
    CarrierGrade,
    /// A cloud provider's source of credentials and settings for a machine. Some of these addresses
    /// look public.
    Metadata,
    /// An IPv6 tunnel, wherever it ends: 6to4, Teredo, IPv4-compatible and translated addresses,
    /// and 6to4 relays.
    Tunnel,
    /// Test benches: `198.18.0.0/15` (RFC 2544), `2001:2::/48` (RFC 5180).
    Benchmark,
    /// Examples in text: RFC 5737, RFC 3849, RFC 9637.
    Documentation,
    /// Multicast: `224.0.0.0/4`, `ff00::/8`.
    Multicast,
    /// Every machine on the link: `255.255.255.255`.
    Broadcast,
    /// Reserved by IANA, and all unallocated IPv6 space.
    Reserved,
}

impl AddressClass {
    /// Whether this is part of the internet.
    #[must_use]
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Public)
    }

    /// Whether a TCP connection to such an address makes sense on any network.
    const fn takes_connections(self) -> bool {
        !matches!(self, Self::Unspecified | Self::Multicast | Self::Broadcast | Self::Reserved)
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::UniqueLocal => "unique-local",
            Self::SiteLocal => "site-local",
            Self::LinkLocal => "link-local",
            Self::CarrierGrade => "carrier-grade",
            Self::Metadata => "cloud metadata",
            Self::Tunnel => "tunnel",
            Self::Benchmark => "benchmark",
            Self::Documentation => "documentation",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Reserved => "reserved",
        })
    }
}

/// The addresses to which connections are allowed. Set where Dragline is started or deployed, never
/// by a crawl's definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressPolicy {
    /// Only the internet.
    #[default]
    PublicOnly,
    /// Also private networks, as for crawling an intranet: all addresses that accept connections,
    /// including metadata. Still not multicast, broadcast, unspecified and reserved addresses.
    AllowPrivate,
}

impl AddressPolicy {
    const fn allows(self, class: AddressClass) -> bool {
        match self {
            Self::PublicOnly => class.is_public(),
            Self::AllowPrivate => class.takes_connections(),
        }
    }
}

/// An address that the policy forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no connection to {ip}: {class} address")]
pub struct AddressRefused {
    /// The address.
    pub ip: IpAddr,
    /// Its class.
    pub class: AddressClass,
}

/// Checks that the policy allows connections to this address.
///
/// # Errors
/// [`AddressRefused`] if it does not.
pub fn check(policy: AddressPolicy, ip: IpAddr) -> Result<(), AddressRefused> {
    let class = classify(ip);
    if policy.allows(class) { Ok(()) } else { Err(AddressRefused { ip, class }) }
}

/// Returns the class of an address. An IPv4 address embedded in an IPv6 one counts too: neither
/// form is public unless both are.
#[must_use]
pub fn classify(ip: IpAddr) -> AddressClass {
    match ip {
        IpAddr::V4(ip) => ranges::class_of_ipv4(ip),
        IpAddr::V6(ip) => classify_ipv6(ip),
    }
}

fn classify_ipv6(ip: Ipv6Addr) -> AddressClass {
    // A mapped address is only another spelling of the IPv4 address (RFC 4291, 2.5.5.2).
    if let Some(mapped) = ip.to_ipv4_mapped() {
        return ranges::class_of_ipv4(mapped);
    }
    match ranges::class_of_ipv6(ip) {
        own @ (AddressClass::Public | AddressClass::Tunnel) => embedded_ipv4(ip)
            .into_iter()
            .flatten()
            .map(ranges::class_of_ipv4)
            .find(|class| !class.is_public())
            .unwrap_or(own),
        own => own,
    }
}

/// Returns the IPv4 addresses at which packets to an IPv6 address may arrive.
///
/// Excludes those within `64:ff9b:1::/48`: their bits depend on the network (RFC 6052, 2.2), and
/// the range is private anyway.
fn embedded_ipv4(ip: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let bits = ip.to_bits();
    let ipv4_at = |shift: u32| {
        let [.., a, b, c, d] = (bits >> shift).to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match ip.segments() {
        // NAT64 (RFC 6052); IPv4-compatible (RFC 4291, 2.5.5.1); IPv4-translated (RFC 2765, 2.1).
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] | [0, 0, 0, 0, 0, 0, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] => {
            [Some(ipv4_at(0)), None]
        }
        // 6to4 (RFC 3056, 2): the router behind which the address lives.
        [0x2002, ..] => [Some(ipv4_at(80)), None],
        // Teredo (RFC 4380, 4): server, and client with its bits inverted.
        [0x2001, 0, ..] => [Some(ipv4_at(64)), Some(Ipv4Addr::from_bits(!ipv4_at(0).to_bits()))],
        // ISATAP (RFC 5214, 6.1), in any prefix; 0x0200 says that the IPv4 address is a global one.
        [_, _, _, _, 0 | 0x0200, 0x5efe, _, _] => [Some(ipv4_at(0)), None],
        _ => [None, None],
    }
}

/// Returns the address that is written in a URL and so never passes a resolver; `None` for domain
/// names.
///
/// Every spelling is covered: parsing the URL has turned `2130706433` and `0x7f.1` into
/// `127.0.0.1`.
#[must_use]
pub fn literal_address(url: &CrawlUrl) -> Option<IpAddr> {
    let host = url.host();
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(ipv6) => ipv6.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}
