//! Stand-in names for hosts that rustls does not accept as server names: those whose first label
//! begins or ends with `-`.
//!
//! Such hosts exist (browsers and curl reach them), but `DnsName` of rustls-pki-types refuses them,
//! and there is no other way to name the expected server. So for such a host the client gets
//! another name of the same domain. Only this crate's [lookup](StandInLookup),
//! [verifier](crate::tls) and [request](crate::request) know better: the addresses are the host's,
//! the certificate must cover all names of its domain, `*.example`, and the request is for the host
//! itself. The server sees the stand-in in the handshake (SNI), and chooses the same certificate by
//! it.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::HeaderValue;
use rustls::pki_types::ServerName;
use url::{Position, Url};

use crate::guard::NameLookup;

/// Replaces a URL's host by a stand-in if it needs one. Returns the real host, and the port if it
/// is not the scheme's default, for the request's `Host`.
pub(crate) fn put(url: &mut Url) -> Option<HeaderValue> {
    let name = url.host_str().filter(|_| url.scheme() == "https").and_then(stand_in)?;
    let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]).ok()?;
    url.set_host(Some(&name)).ok().map(|()| host)
}

/// Returns the stand-in for a host; `None` if it needs none, or its other labels are not valid
/// either.
fn stand_in(host: &str) -> Option<String> {
    if ServerName::try_from(host).is_ok() {
        return None;
    }
    let (label, domain) = host.split_once('.')?;
    let tail = label.trim_start_matches('-');
    let core = tail.trim_end_matches('-');
    let (before, after) = (label.len() - tail.len(), tail.len() - core.len());
    let core = if core.is_empty() { String::new() } else { format!("{core}-") };
    let name = format!("h{before}-{core}{after}h.{domain}");
    ServerName::try_from(name.as_str()).is_ok().then_some(name)
}

/// Returns the host behind a stand-in.
fn real_host(name: &str) -> Option<String> {
    let (label, domain) = name.split_once('.')?;
    let (before, rest) = label.strip_prefix('h')?.strip_suffix('h')?.split_once('-')?;
    let (core, after) = rest.rsplit_once('-').unwrap_or(("", rest));
    let hyphens = |number: &str| number.parse().ok().map(|number| "-".repeat(number));
    Some(format!("{}{core}{}.{domain}", hyphens(before)?, hyphens(after)?))
}

/// Finds the addresses of the hosts behind stand-ins.
pub(crate) struct StandInLookup(pub(crate) Arc<dyn NameLookup>);

impl NameLookup for StandInLookup {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.0.lookup(&real_host(name).unwrap_or_else(|| name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_host() {
        let table: [(&str, Option<&str>, &str); 11] = [
            ("-a.example", Some("h1-a-0h.example"), "a hyphen first"),
            ("a-.example", Some("h0-a-1h.example"), "a hyphen last"),
            ("--a-b-.c.example", Some("h2-a-b-1h.c.example"), "several, and one in the middle"),
            ("-1-2-.example", Some("h1-1-2-1h.example"), "next to numbers"),
            ("-.example", Some("h1-0h.example"), "nothing else"),
            ("a.example", None, "a server name"),
            ("a_b.example", None, "a server name to rustls"),
            ("_.example", None, "a server name to rustls"),
            ("a.-b.example", None, "no certificate could be for it: a wildcard covers the first label only"),
            ("-", None, "no domain whose certificate could cover it"),
            ("192.0.2.1", None, "an address"),
        ];
        for (host, expected, why) in table {
            let name = stand_in(host);
            assert_eq!(name.as_deref(), expected, "{host}: {why}");
            if let Some(name) = name {
                assert_eq!(real_host(&name).as_deref(), Some(host), "{name}: {why}");
            }
        }
    }

    #[test]
    fn only_https_needs_one() {
        for (url, expected, host, why) in [
            ("https://-a.example:8443/b", "https://h1-a-0h.example:8443/b", Some("-a.example:8443"), "with its port"),
            ("https://-a.example/b", "https://h1-a-0h.example/b", Some("-a.example"), "without one"),
            ("http://-a.example/b", "http://-a.example/b", None, "no certificate"),
            ("https://a.example/b", "https://a.example/b", None, "a server name"),
        ] {
            let mut put_into = Url::parse(url).unwrap();
            let named = put(&mut put_into);
            assert_eq!(
                (put_into.as_str(), named.as_ref().map(|host| host.to_str().unwrap())),
                (expected, host),
                "{why}"
            );
        }
    }
}
