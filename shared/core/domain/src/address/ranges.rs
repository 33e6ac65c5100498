//! The special ranges, as tables. The first range that contains an address decides.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::AddressClass::{self, *};

type Ipv4Range = (Ipv4Addr, u32, AddressClass);
type Ipv6Range = (Ipv6Addr, u32, AddressClass);

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix_bits: u32, class: AddressClass) -> Ipv4Range {
    (Ipv4Addr::new(a, b, c, d), prefix_bits, class)
}

/// Takes the first four groups, then the last two. The groups between are zero in all ranges.
const fn v6(start: [u16; 4], end: [u16; 2], prefix_bits: u32, class: AddressClass) -> Ipv6Range {
    let [a, b, c, d] = start;
    let [g, h] = end;
    (Ipv6Addr::new(a, b, c, d, 0, 0, g, h), prefix_bits, class)
}

/// IANA IPv4 Special-Purpose Address Registry, multicast (RFC 5771), and metadata.
///
/// Left out, hence public, are those that the registry calls globally reachable: AS112
/// (`192.31.196.0/24`, `192.175.48.0/24`) and AMT (`192.52.193.0/24`). The anycast addresses in
/// `192.0.0.0/24` are reachable too, but serve no web pages.
#[rustfmt::skip]
const IPV4: &[Ipv4Range] = &[
    v4(169, 254, 169, 254, 32, Metadata),   // AWS, Azure, Google, Oracle, OpenStack and nearly all others
    v4(169, 254, 170, 2, 32, Metadata),     // AWS container credentials
    v4(169, 254, 170, 23, 32, Metadata),    // AWS pod identity
    v4(169, 254, 0, 23, 32, Metadata),      // Tencent
    v4(169, 254, 10, 10, 32, Metadata),     // Tencent
    v4(169, 254, 42, 42, 32, Metadata),     // Scaleway
    v4(100, 100, 100, 200, 32, Metadata),   // Alibaba
    v4(168, 63, 129, 16, 32, Metadata),     // Azure's host agent, in a public range
    v4(192, 0, 0, 192, 32, Metadata),       // Oracle, classic
    v4(0, 0, 0, 0, 8, Unspecified),         // RFC 1122, 3.2.1.3
    v4(10, 0, 0, 0, 8, Private),            // RFC 1918
    v4(100, 64, 0, 0, 10, CarrierGrade),    // RFC 6598
    v4(127, 0, 0, 0, 8, Loopback),          // RFC 1122, 3.2.1.3
    v4(169, 254, 0, 0, 16, LinkLocal),      // RFC 3927
    v4(172, 16, 0, 0, 12, Private),         // RFC 1918
    v4(192, 0, 0, 0, 24, Reserved),         // RFC 6890: protocol assignments
    v4(192, 0, 2, 0, 24, Documentation),    // RFC 5737
    v4(192, 88, 99, 0, 24, Tunnel),         // RFC 7526: 6to4 relays
    v4(192, 168, 0, 0, 16, Private),        // RFC 1918
    v4(198, 18, 0, 0, 15, Benchmark),       // RFC 2544
    v4(198, 51, 100, 0, 24, Documentation), // RFC 5737
    v4(203, 0, 113, 0, 24, Documentation),  // RFC 5737
    v4(224, 0, 0, 0, 4, Multicast),         // RFC 5771
    v4(255, 255, 255, 255, 32, Broadcast),  // RFC 919, 7
    v4(240, 0, 0, 0, 4, Reserved),          // RFC 1112, 4
];

/// IANA IPv6 Special-Purpose Address Registry, the address types of RFC 4291, and metadata.
///
/// Only `2000::/3` was ever allocated (RFC 4291, 2.4), so everything outside it and this table is
/// reserved. Some blocks of `2001::/23`, reserved for protocols (RFC 2928), are called globally
/// reachable, but have no web servers; AS112's `2620:4f:8000::/48` is left out as in IPv4.
#[rustfmt::skip]
const IPV6: &[Ipv6Range] = &[
    v6([0xfd00, 0x0ec2, 0, 0], [0, 0x0254], 128, Metadata),      // AWS
    v6([0xfd00, 0x0ec2, 0, 0], [0, 0x0023], 128, Metadata),      // AWS pod identity
    v6([0xfd20, 0x00ce, 0, 0], [0, 0x0254], 128, Metadata),      // Google
    v6([0xfd00, 0x00c1, 0, 0], [0xa9fe, 0xa9fe], 128, Metadata), // Oracle
    v6([0xfe80, 0, 0, 0], [0xa9fe, 0xa9fe], 128, Metadata),      // OpenStack
    v6([0xfd00, 0x0042, 0, 0], [0, 0x0042], 128, Metadata),      // Scaleway
    v6([0, 0, 0, 0], [0, 0], 128, Unspecified),                  // RFC 4291, 2.5.2
    v6([0, 0, 0, 0], [0, 1], 128, Loopback),                     // RFC 4291, 2.5.3
    v6([0, 0, 0, 0], [0, 0], 96, Tunnel),                        // RFC 4291, 2.5.5.1: IPv4-compatible
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, Tunnel),    // RFC 2765, 2.1: IPv4-translated
    v6([0x0064, 0xff9b, 0, 0], [0, 0], 96, Public),              // RFC 6052: NAT64, as public as the embedded address
    v6([0x0064, 0xff9b, 1, 0], [0, 0], 48, Private),             // RFC 8215: NAT64 of one network
    v6([0x2001, 0x0002, 0, 0], [0, 0], 48, Benchmark),           // RFC 5180
    v6([0x2001, 0, 0, 0], [0, 0], 32, Tunnel),                   // RFC 4380: Teredo
    v6([0x2001, 0, 0, 0], [0, 0], 23, Reserved),                 // RFC 2928
    v6([0x2001, 0x0db8, 0, 0], [0, 0], 32, Documentation),       // RFC 3849
    v6([0x2002, 0, 0, 0], [0, 0], 16, Tunnel),                   // RFC 3056: 6to4, deprecated by RFC 7526
    v6([0x3fff, 0, 0, 0], [0, 0], 20, Documentation),            // RFC 9637
    v6([0x2000, 0, 0, 0], [0, 0], 3, Public),                    // RFC 4291, 2.4
    v6([0xfc00, 0, 0, 0], [0, 0], 7, UniqueLocal),               // RFC 4193
    v6([0xfe80, 0, 0, 0], [0, 0], 10, LinkLocal),                // RFC 4291, 2.5.6
    v6([0xfec0, 0, 0, 0], [0, 0], 10, SiteLocal),                // RFC 3879
    v6([0xff00, 0, 0, 0], [0, 0], 8, Multicast),                 // RFC 4291, 2.7
];

pub(super) fn class_of_ipv4(ip: Ipv4Addr) -> AddressClass {
    let holds = |(start, prefix_bits, _): &&Ipv4Range| (ip.to_bits() ^ start.to_bits()).leading_zeros() >= *prefix_bits;
    IPV4.iter().find(holds).map_or(Public, |(_, _, class)| *class)
}

pub(super) fn class_of_ipv6(ip: Ipv6Addr) -> AddressClass {
    let holds = |(start, prefix_bits, _): &&Ipv6Range| (ip.to_bits() ^ start.to_bits()).leading_zeros() >= *prefix_bits;
    IPV6.iter().find(holds).map_or(Reserved, |(_, _, class)| *class)
}
