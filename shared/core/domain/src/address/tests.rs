//! The boundaries of every range, and properties of all addresses.

use proptest::prelude::*;

use super::AddressClass::*;
use super::*;
use crate::url::UrlRules;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("{text} is no address"))
}

/// The first and last address of each range, its class, and the classes of the addresses just
/// outside it.
#[test]
fn ranges_have_the_boundaries_of_the_registries() {
    #[rustfmt::skip]
    let rows = [
        ("0.0.0.0", "0.255.255.255", Unspecified, None, Some(Public)),
        ("10.0.0.0", "10.255.255.255", Private, Some(Public), Some(Public)),
        ("100.64.0.0", "100.100.100.199", CarrierGrade, Some(Public), Some(Metadata)),
        ("100.100.100.201", "100.127.255.255", CarrierGrade, Some(Metadata), Some(Public)),
        ("127.0.0.0", "127.255.255.255", Loopback, Some(Public), Some(Public)),
        ("168.63.129.16", "168.63.129.16", Metadata, Some(Public), Some(Public)),
        ("169.254.0.0", "169.254.0.22", LinkLocal, Some(Public), Some(Metadata)),
        ("169.254.10.10", "169.254.10.10", Metadata, Some(LinkLocal), Some(LinkLocal)),
        ("169.254.42.42", "169.254.42.42", Metadata, Some(LinkLocal), Some(LinkLocal)),
        ("169.254.169.254", "169.254.169.254", Metadata, Some(LinkLocal), Some(LinkLocal)),
        ("169.254.170.2", "169.254.170.2", Metadata, Some(LinkLocal), Some(LinkLocal)),
        ("169.254.170.23", "169.254.170.23", Metadata, Some(LinkLocal), Some(LinkLocal)),
        ("169.254.170.24", "169.254.255.255", LinkLocal, Some(Metadata), Some(Public)),
        ("172.16.0.0", "172.31.255.255", Private, Some(Public), Some(Public)),
        ("192.0.0.0", "192.0.0.191", Reserved, Some(Public), Some(Metadata)),
        ("192.0.0.193", "192.0.0.255", Reserved, Some(Metadata), Some(Public)),
        ("192.0.2.0", "192.0.2.255", Documentation, Some(Public), Some(Public)),
        ("192.31.196.0", "192.31.196.255", Public, Some(Public), Some(Public)),
        ("192.52.193.0", "192.52.193.255", Public, Some(Public), Some(Public)),
        ("192.88.99.0", "192.88.99.255", Tunnel, Some(Public), Some(Public)),
        ("192.168.0.0", "192.168.255.255", Private, Some(Public), Some(Public)),
        ("192.175.48.0", "192.175.48.255", Public, Some(Public), Some(Public)),
        ("198.18.0.0", "198.19.255.255", Benchmark, Some(Public), Some(Public)),
        ("198.51.100.0", "198.51.100.255", Documentation, Some(Public), Some(Public)),
        ("203.0.113.0", "203.0.113.255", Documentation, Some(Public), Some(Public)),
        ("224.0.0.0", "239.255.255.255", Multicast, Some(Public), Some(Reserved)),
        ("240.0.0.0", "255.255.255.254", Reserved, Some(Multicast), Some(Broadcast)),
        ("255.255.255.255", "255.255.255.255", Broadcast, Some(Reserved), None),

        ("::", "::", Unspecified, None, Some(Loopback)),
        ("::1", "::1", Loopback, Some(Unspecified), Some(Unspecified)),
        ("::808:808", "::808:808", Tunnel, Some(Tunnel), Some(Tunnel)),
        ("::1:0:0", "::fffe:ffff:ffff", Reserved, Some(Broadcast), Some(Unspecified)),
        ("::ffff:8.8.8.8", "::ffff:8.8.8.8", Public, Some(Public), Some(Public)),
        ("::1:0:0:0", "::fffe:ffff:ffff:ffff", Reserved, Some(Broadcast), Some(Unspecified)),
        ("::ffff:0:808:808", "::ffff:0:808:808", Tunnel, Some(Tunnel), Some(Tunnel)),
        ("64:ff9b::100:0", "64:ff9b::9ff:ffff", Public, Some(Unspecified), Some(Private)),
        ("64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", Reserved, Some(Broadcast), Some(Private)),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Private, Some(Reserved), Some(Reserved)),
        ("100::", "100::ffff:ffff:ffff:ffff", Reserved, Some(Reserved), Some(Reserved)),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", Reserved, Some(Reserved), Some(Reserved)),
        ("2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Some(Broadcast), Some(Benchmark)),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmark, Some(Reserved), Some(Reserved)),
        ("2001:2:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Some(Benchmark), Some(Public)),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation, Some(Public), Some(Public)),
        ("2002:808:808::", "2002:808:808:ffff:ffff:ffff:ffff:ffff", Tunnel, Some(Tunnel), Some(Tunnel)),
        ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", Public, Some(Public), Some(Public)),
        ("2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public, Some(Broadcast), Some(Documentation)),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation, Some(Public), Some(Public)),
        ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Some(Public), Some(UniqueLocal)),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Some(Reserved), Some(Reserved)),
        ("fc00::", "fd00:41:ffff:ffff:ffff:ffff:ffff:ffff", UniqueLocal, Some(Reserved), Some(UniqueLocal)),
        ("fd00:42::42", "fd00:42::42", Metadata, Some(UniqueLocal), Some(UniqueLocal)),
        ("fd00:c1::a9fe:a9fe", "fd00:c1::a9fe:a9fe", Metadata, Some(UniqueLocal), Some(UniqueLocal)),
        ("fd00:ec2::23", "fd00:ec2::23", Metadata, Some(UniqueLocal), Some(UniqueLocal)),
        ("fd00:ec2::254", "fd00:ec2::254", Metadata, Some(UniqueLocal), Some(UniqueLocal)),
        ("fd20:ce::254", "fd20:ce::254", Metadata, Some(UniqueLocal), Some(UniqueLocal)),
        ("fd20:ce::255", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", UniqueLocal, Some(Metadata), Some(Reserved)),
        ("fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved, Some(UniqueLocal), Some(LinkLocal)),
        ("fe80::a9fe:a9fe", "fe80::a9fe:a9fe", Metadata, Some(LinkLocal), Some(LinkLocal)),
        ("fe80::a9fe:a9ff", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal, Some(Metadata), Some(SiteLocal)),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", SiteLocal, Some(LinkLocal), Some(Multicast)),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast, Some(SiteLocal), None),
    ];
    for (first, last, class, before, behind) in rows {
        let (first, last) = (ip(first), ip(last));
        assert_eq!(classify(first), class, "{first}, the first of its range");
        assert_eq!(classify(last), class, "{last}, the last of its range");
        assert_eq!(neighbour(first, -1).map(classify), before, "the one before {first}");
        assert_eq!(neighbour(last, 1).map(classify), behind, "the one behind {last}");
    }
}

fn neighbour(ip: IpAddr, step: i8) -> Option<IpAddr> {
    match ip {
        IpAddr::V4(ip) => ip.to_bits().checked_add_signed(step.into()).map(|bits| Ipv4Addr::from_bits(bits).into()),
        IpAddr::V6(ip) => ip.to_bits().checked_add_signed(step.into()).map(|bits| Ipv6Addr::from_bits(bits).into()),
    }
}

#[test]
fn embedded_addresses_count() {
    #[rustfmt::skip]
    let rows = [
        ("::ffff:127.0.0.1", Loopback, "mapped"),
        ("::ffff:169.254.169.254", Metadata, "mapped"),
        ("::7f00:1", Loopback, "compatible"),
        ("::ffff:0:a00:1", Private, "translated"),
        ("64:ff9b::a9fe:a9fe", Metadata, "NAT64"),
        ("64:ff9b::808:808", Public, "NAT64, as IPv6-only networks reach the IPv4 internet"),
        ("64:ff9b:1::808:808", Private, "NAT64 of one network, whatever is within"),
        ("2002:7f00:1::", Loopback, "6to4"),
        ("2002:a9fe:a9fe::1", Metadata, "6to4"),
        ("2001:0:a00:1:0:0:f7f7:f7f7", Private, "Teredo, its server"),
        ("2001:0:808:808:0:0:80ff:fffe", Loopback, "Teredo, its client, inverted"),
        ("2001:0:808:808:0:0:f7f7:f7f7", Tunnel, "Teredo, both public"),
        ("2600::5efe:a00:1", Private, "ISATAP in a public prefix"),
        ("2600::200:5efe:c0a8:1", Private, "ISATAP that says it is global"),
        ("2600::5efe:808:808", Public, "ISATAP, both public"),
        ("fe80::5efe:808:808", LinkLocal, "ISATAP on the link: its own class stands"),
    ];
    for (text, class, why) in rows {
        assert_eq!(classify(ip(text)), class, "{text}: {why}");
    }
}

#[test]
fn the_policy_decides_by_class() {
    use AddressPolicy::{AllowPrivate, PublicOnly};
    #[rustfmt::skip]
    let rows = [
        (PublicOnly, "8.8.8.8", None, "the internet"),
        (PublicOnly, "127.0.0.1", Some("no connection to 127.0.0.1: loopback address"), "this machine"),
        (PublicOnly, "::ffff:a00:1", Some("no connection to ::ffff:10.0.0.1: private address"), "in disguise"),
        (PublicOnly, "fd00:ec2::254", Some("no connection to fd00:ec2::254: cloud metadata address"), "credentials"),
        (AllowPrivate, "8.8.8.8", None, "the internet as well"),
        (AllowPrivate, "127.0.0.1", None, "this machine"),
        (AllowPrivate, "10.0.0.1", None, "an intranet"),
        (AllowPrivate, "169.254.169.254", None, "whoever allows this means it"),
        (AllowPrivate, "0.0.0.0", Some("no connection to 0.0.0.0: unspecified address"), "no address"),
        (AllowPrivate, "224.0.0.1", Some("no connection to 224.0.0.1: multicast address"), "no single host"),
        (AllowPrivate, "64:ff9b::e000:1", Some("no connection to 64:ff9b::e000:1: multicast address"), "nor within"),
        (AllowPrivate, "240.0.0.1", Some("no connection to 240.0.0.1: reserved address"), "nobody's"),
    ];
    for (policy, text, refused, why) in rows {
        let error = check(policy, ip(text)).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), refused, "{policy:?}, {text}: {why}");
    }
    assert_eq!(AddressPolicy::default(), PublicOnly);
}

#[test]
fn literals_are_found_in_urls() {
    #[rustfmt::skip]
    let rows = [
        ("http://127.0.0.1:8080/a", Some("127.0.0.1"), "plainly"),
        ("http://2130706433/", Some("127.0.0.1"), "as one number"),
        ("http://0x7f.1/", Some("127.0.0.1"), "in hexadecimal"),
        ("http://[::1]:8080/", Some("::1"), "in brackets"),
        ("http://[::ffff:10.0.0.1]/", Some("::ffff:10.0.0.1"), "mapped"),
        ("http://127.0.0.1.example.org/", None, "a domain name"),
        ("http://localhost/", None, "a name"),
    ];
    for (text, expected, why) in rows {
        let url = CrawlUrl::parse(text, &UrlRules::default()).unwrap();
        assert_eq!(literal_address(&url), expected.map(ip), "{text}: {why}");
    }
}

#[test]
fn private_names_are_known() {
    #[rustfmt::skip]
    let rows = [
        ("localhost", Some(Loopback), "itself"),
        ("LocalHost.", Some(Loopback), "in any case, with its dot"),
        ("a.localhost", Some(Loopback), "and below it"),
        ("printer.local", Some(LinkLocal), "multicast DNS"),
        ("ip-10-0-0-1.ec2.internal", Some(Private), "a cloud's own names"),
        ("metadata.google.internal", Some(Metadata), "more exact than `.internal`"),
        ("nas.home.arpa", Some(Private), "a home network"),
        ("notlocalhost", None, "only looks like it"),
        ("localhost.example.org", None, "below something else"),
        ("example.org", None, "the internet"),
        ("ä.local", Some(LinkLocal), "even if it was not made ASCII"),
        ("äocal", None, "nor a letter cut in two"),
        ("", None, "no name"),
    ];
    for (host, class, why) in rows {
        assert_eq!(private_name(host), class, "{host}: {why}");
    }
    let refused = check_name(AddressPolicy::PublicOnly, "printer.local").map_err(|error| error.to_string());
    assert_eq!(refused, Err("no connection to printer.local: link-local name".to_owned()));
    assert_eq!(check_name(AddressPolicy::AllowPrivate, "printer.local"), Ok(()));
    assert_eq!(check_name(AddressPolicy::PublicOnly, "example.org"), Ok(()));
}

fn ipv4_of_any_class() -> impl Strategy<Value = Ipv4Addr> {
    let private = prop_oneof![
        Just(Ipv4Addr::new(169, 254, 169, 254)),
        any::<[u8; 3]>().prop_map(|[b, c, d]| Ipv4Addr::new(10, b, c, d)),
        any::<[u8; 3]>().prop_map(|[b, c, d]| Ipv4Addr::new(127, b, c, d)),
        any::<[u8; 2]>().prop_map(|[c, d]| Ipv4Addr::new(192, 168, c, d)),
    ];
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), private]
}

proptest! {
    /// Embedding an IPv4 address in an IPv6 one never makes it public.
    #[test]
    fn embedding_an_address_never_makes_it_public(v4 in ipv4_of_any_class(), other in any::<u128>(), flag in any::<bool>()) {
        let bits = u128::from(v4.to_bits());
        let client = u128::from(!v4.to_bits());
        let low = u128::from(u32::MAX);
        let isatap = if flag { 0x0200_5efe } else { 0x0000_5efe };
        let forms = [
            ("mapped", (0xffff << 32) | bits),
            ("compatible", bits),
            ("translated", (0xffff_u128 << 48) | bits),
            ("NAT64", (0x0064_ff9b_u128 << 96) | bits),
            ("local NAT64", (0x0064_ff9b_0001_u128 << 80) | (other & (low << 32)) | bits),
            ("6to4", (0x2002 << 112) | (bits << 80) | (other & ((1 << 80) - 1))),
            ("Teredo server", (0x2001_0000_u128 << 96) | (bits << 64) | (other & ((1 << 64) - 1))),
            ("Teredo client", (0x2001_0000_u128 << 96) | (other & (low << 64)) | client),
            ("ISATAP", ((other >> 64) << 64) | (isatap << 32) | bits),
        ];
        for (form, bits) in forms {
            let ip = IpAddr::V6(Ipv6Addr::from_bits(bits));
            prop_assert!(classify(v4.into()).is_public() || !classify(ip).is_public(), "{} as {} {}", v4, form, ip);
        }
    }

    /// Addresses that the standard library treats as special are never public.
    #[test]
    fn special_addresses_of_the_standard_library_are_never_public(v4 in ipv4_of_any_class(), v6 in any::<u128>().prop_map(Ipv6Addr::from_bits)) {
        if v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast() || v4.is_documentation() {
            prop_assert!(!classify(v4.into()).is_public(), "{}", v4);
        }
        if v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast() {
            prop_assert!(!classify(v6.into()).is_public(), "{}", v6);
        }
    }
}
