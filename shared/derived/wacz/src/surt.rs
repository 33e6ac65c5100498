//! The lookup keys of captures: URLs in the Sort-friendly URI Reordering Transform, canonicalised
//! as by the Internet Archive.
//!
//! Replay programs compute the same key from the requested URL, so the rules are those of the
//! Python package `surt`, with which the tests compare them: host names reversed and without `www`,
//! no default port, no session ids, everything in lower case, parameters in order.

use std::net::Ipv4Addr;

use url::{Host, Url};

/// Returns the key of a URL, such as `org,example)/path?a=1&b=2` for
/// `https://www.Example.org/Path/?b=2&a=1`.
#[must_use]
pub fn surt(url: &Url) -> String {
    let host = match url.host() {
        Some(Host::Domain(name)) => reversed(without_www(name)),
        Some(Host::Ipv4(address)) => reversed_address(address),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => String::new(),
    };
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    let path = path(url.path());
    let query = url.query().map_or_else(String::new, query);
    format!("{host}{port}){path}{query}")
}

/// Removes a first label of `www` and digits.
fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).filter(|rest| !rest.is_empty()).unwrap_or(host)
}

fn reversed(name: &str) -> String {
    name.trim_end_matches('.').rsplit('.').collect::<Vec<_>>().join(",")
}

fn reversed_address(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("{d},{c},{b},{a}")
}

fn path(path: &str) -> String {
    let mut normal = canonical_escapes(path).to_ascii_lowercase();
    while normal.contains("//") {
        normal = normal.replace("//", "/");
    }
    let normal = without_session_in_path(&normal);
    let trimmed = if normal.len() > 1 { normal.trim_end_matches('/') } else { &normal };
    if trimmed.is_empty() { "/".to_owned() } else { trimmed.to_owned() }
}

/// Removes an ASP.NET session id from the path, such as `(S(4hqa0555fwsecu455xqckv45))`.
fn without_session_in_path(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    let is_page = |rest: &[&str]| rest.join("/").find(".aspx").is_some_and(|at| at > 0);
    if let Some(at) = (0..parts.len()).rev().find(|at| is_session_part(parts[*at]) && is_page(&parts[at + 1..])) {
        parts.remove(at);
    }
    parts.join("/")
}

fn is_session_part(part: &str) -> bool {
    let is_id = |id: &str| id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let Some(inner) = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')) else { return false };
    // One or more of `s(…)`.
    let mut rest = inner;
    while let Some((id, after)) =
        rest.get(1..).and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'))
    {
        if !rest.starts_with(|c: char| c.is_ascii_lowercase()) || !is_id(id) {
            return false;
        }
        rest = after;
    }
    rest.is_empty() && !inner.is_empty() || is_id(inner)
}

fn query(query: &str) -> String {
    let lower = canonical_escapes(query).to_ascii_lowercase();
    let mut parts: Vec<&str> = lower.split('&').filter(|part| !is_session(part)).collect();
    // The two ids of a ColdFusion session.
    if let Some(at) = parts.windows(2).position(|two| two[0].starts_with("cfid=") && two[1].starts_with("cftoken=")) {
        parts.drain(at..at + 2);
    }
    parts.sort_unstable();
    let joined = parts.join("&");
    if joined.is_empty() { String::new() } else { format!("?{joined}") }
}

/// Returns whether a parameter is nothing but a session id.
fn is_session(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let is_id = |letters: usize| value.len() == letters && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match name {
        "jsessionid" | "phpsessid" | "sid" => is_id(32),
        name if name.strip_prefix("aspsessionid").is_some_and(|rest| rest.len() == 8) => is_id(24),
        _ => false,
    }
}

/// Undoes percent-encoding repeatedly, and encodes once where necessary, as in Google's
/// canonicalisation of URLs.
fn canonical_escapes(text: &str) -> String {
    let mut octets = text.as_bytes().to_vec();
    loop {
        let decoded = percent_decode_once(&octets);
        if decoded.len() == octets.len() {
            break;
        }
        octets = decoded;
    }
    let mut out = String::with_capacity(octets.len());
    for octet in octets {
        match octet {
            b'#' | b'%' | 0..=0x20 | 0x7f.. => out.push_str(&format!("%{octet:02x}")),
            octet => out.push(char::from(octet)),
        }
    }
    out
}

/// Undoes percent-encoding once.
fn percent_decode_once(octets: &[u8]) -> Vec<u8> {
    let digit = |octet: Option<&u8>| octet.and_then(|octet| char::from(*octet).to_digit(16));
    let mut out = Vec::with_capacity(octets.len());
    let mut at = 0;
    while at < octets.len() {
        match (octets[at], digit(octets.get(at + 1)), digit(octets.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
            }
            (octet, ..) => {
                out.push(octet);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected keys from the Python package `surt` 0.3.1.
    #[test]
    fn keys_match_those_of_replay_programs() {
        for (url, expected) in [
            ("https://www.Example.org/", "org,example)/"),
            ("https://example.org:443/x/", "org,example)/x"),
            ("http://127.0.0.1:8801/A/b.html?B=2&a=1", "1,0,0,127:8801)/a/b.html?a=1&b=2"),
            ("http://www2.example.org/?", "org,example)/"),
            ("https://[::1]:8080/x", "::1:8080)/x"),
            ("https://example.org/%7Euser/ä?q=%C3%A4", "org,example)/~user/%c3%a4?q=%c3%a4"),
            ("http://example.org/a?PHPSESSID=0123456789abcdef0123456789abcdef&x=2", "org,example)/a?x=2"),
            ("http://example.org/a//b/../c", "org,example)/a/c"),
            ("https://xn--bcher-kva.example/Ä", "example,xn--bcher-kva)/%c3%84"),
            ("http://example.org/?a&&b", "org,example)/?&a&b"),
            ("http://example.org/a?b=1?c", "org,example)/a?b=1?c"),
            (
                "http://e.org/a;jsessionid=0123456789abcdef0123456789abcdef",
                "org,e)/a;jsessionid=0123456789abcdef0123456789abcdef",
            ),
            ("http://e.org/a?jsessionid=0123456789abcdef0123456789abcdef", "org,e)/a"),
            ("http://e.org/a?x=1&sid=0123456789abcdef0123456789abcdef&y=2", "org,e)/a?x=1&y=2"),
            ("http://e.org/a?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM&x=1", "org,e)/a?x=1"),
            ("http://e.org/a?cfid=1&cftoken=2&z=1", "org,e)/a?z=1"),
            ("http://e.org/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx", "org,e)/mileg.aspx"),
            ("http://e.org/%2541%25/%20x%20y/", "org,e)/a%25/%20x%20y"),
            ("http://e.org/a%23b?c%23d%26e", "org,e)/a%23b?c%23d&e"),
            ("http://e.org//", "org,e)/"),
            ("http://e.org/a?&&", "org,e)/a?&&"),
            ("http://e.org/a?b=%2B+%20", "org,e)/a?b=++%20"),
            ("http://www.org/", "org)/"),
            ("http://e.org./x", "org,e)/x"),
            ("http://e.org/a%3Fb", "org,e)/a?b"),
            ("http://e.org/?b&a&B", "org,e)/?a&b&b"),
            ("http://e.org/a^b?q=a|b", "org,e)/a^b?q=a|b"),
            ("http://e.org/é%C3%89", "org,e)/%c3%a9%c3%89"),
            ("http://e.org/a%09b%7f%80", "org,e)/a%09b%7f%80"),
        ] {
            assert_eq!(surt(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
