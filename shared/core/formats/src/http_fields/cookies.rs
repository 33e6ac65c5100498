//! `Set-Cookie` (RFC 6265), as far as one request after the response needs it.

use dragline_domain::url::{CrawlUrl, Scheme};
use jiff::Timestamp;

/// Returns the cookies of a response from this URL to send back with a request for this path on the
/// same host: names and values in order, with the last value of each name.
///
/// Left out are cookies that expire at once, that are for another host or path, or, if they are
/// secure, came without TLS; and those that are not text.
#[must_use]
pub fn cookies_for<'v>(
    set: impl Iterator<Item = &'v [u8]>,
    url: &CrawlUrl,
    path: &str,
    now: Timestamp,
) -> Vec<(&'v str, &'v str)> {
    let mut cookies: Vec<(&str, &str)> = Vec::new();
    for field in set.filter_map(|field| std::str::from_utf8(field).ok()) {
        let mut parts = field.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || field.contains(char::is_control) {
            continue;
        }
        cookies.retain(|(known, _)| *known != name);
        if is_sent(parts, url, path, now) {
            cookies.push((name, value));
        }
    }
    cookies
}

/// Whether a cookie with these attributes is sent. The last attribute of a name applies, and an age
/// takes precedence over a date (RFC 6265, section 5.3).
fn is_sent<'a>(attributes: impl Iterator<Item = &'a str>, url: &CrawlUrl, path: &str, now: Timestamp) -> bool {
    let (mut age_s, mut expires, mut is_of_host, mut is_of_path, mut may_be_sent) = (None, None, true, true, true);
    for attribute in attributes {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "max-age" => age_s = value.parse::<i64>().ok().or(age_s),
            "expires" => expires = date(value).or(expires),
            "domain" => is_of_host = is_within(url.host(), value.strip_prefix('.').unwrap_or(value)),
            "path" => is_of_path = !value.starts_with('/') || is_below(path, value),
            "secure" => may_be_sent = url.scheme() == Scheme::Https,
            _ => {}
        }
    }
    let is_alive = match age_s {
        Some(age_s) => age_s > 0,
        None => expires.is_none_or(|expires| expires > now),
    };
    is_alive && is_of_host && is_of_path && may_be_sent
}

/// Reads a date in one of HTTP's forms, or in Netscape's form with dashes; `None` for others, which
/// are ignored.
fn date(value: &str) -> Option<Timestamp> {
    let read = |text: &str| Timestamp::try_from(httpdate::parse_http_date(text).ok()?).ok();
    read(value).or_else(|| read(&value.replace('-', " ")))
}

/// Whether a host is this domain or below it; every host is within an empty one.
fn is_within(host: &str, domain: &str) -> bool {
    let Some(at) = host.len().checked_sub(domain.len()) else { return false };
    let is_end = host.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(domain));
    domain.is_empty() || is_end && (at == 0 || host[..at].ends_with('.') && !is_address(host))
}

/// Whether a host is an IP address, which has no hosts below it.
fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a path is this one or below it (RFC 6265, section 5.1.4).
fn is_below(path: &str, above: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path);
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || above.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::UrlRules;

    use super::*;

    #[test]
    fn cookies_are_sent_back_with_matching_requests() {
        let now: Timestamp = "2026-11-22T08:00:00Z".parse().unwrap();
        // The cookies set, the cookies sent back, and why.
        type Case = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static str);
        let cases: &[Case] = &[
            (&["sid=1"], &[("sid", "1")], "a name and a value"),
            (&["sid = a b ; HttpOnly"], &[("sid", "a b")], "blanks around them, and an attribute"),
            (&["sid=a=b"], &[("sid", "a=b")], "a sign in the value"),
            (&["sid="], &[("sid", "")], "an empty value"),
            (&["a=1", "b=2"], &[("a", "1"), ("b", "2")], "two, in their order"),
            (&["a=1", "b=2", "a=3"], &[("b", "2"), ("a", "3")], "one that is set again"),
            (&["a=1", "a=; Max-Age=0"], &[], "one that is taken back"),
            (&["a=1; expires=Thu, 01-Jan-1970 00:00:01 GMT"], &[], "expired, with dashes"),
            (&["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], &[], "expired"),
            (&["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], &[("a", "1")], "its age counts"),
            (&["a=1; Expires=Sat, 21 Nov 2026 08:00:00 GMT"], &[], "expired yesterday"),
            (&["a=1; Expires=Mon, 23 Nov 2026 08:00:00 GMT"], &[("a", "1")], "it expires tomorrow"),
            (&["a=1; Expires=never"], &[("a", "1")], "no date"),
            (&["a=1; Max-Age=-1"], &[], "a negative age"),
            (&["a=1; Domain=example.org"], &[("a", "1")], "the domain above"),
            (&["a=1; domain=.EXAMPLE.org"], &[("a", "1")], "with a dot, in capitals"),
            (&["a=1; Domain=www.example.org"], &[("a", "1")], "the host"),
            (&["a=1; Domain=ww.example.org"], &[], "another host"),
            (&["a=1; Domain=ample.org"], &[], "the end of a label"),
            (&["a=1; Domain=a.www.example.org"], &[], "a host below"),
            (&["a=1; Path=/"], &[("a", "1")], "the whole host"),
            (&["a=1; Path=/a"], &[("a", "1")], "the directory"),
            (&["a=1; Path=/a/b"], &[("a", "1")], "the page"),
            (&["a=1; Path=/a/"], &[("a", "1")], "the directory with its slash"),
            (&["a=1; Path=/a/b/c"], &[], "a page below"),
            (&["a=1; Path=/a/bb"], &[], "another page"),
            (&["a=1; Path=b"], &[("a", "1")], "no path"),
            (&["a=1; Secure"], &[], "secure, without TLS"),
            (&["=1"], &[], "no name"),
            (&["a"], &[], "no pair"),
            (&[""], &[], "nothing"),
            (&["a=\u{1}"], &[], "a control character"),
            (&["a=\u{e9}"], &[("a", "\u{e9}")], "beyond ASCII, as it came"),
        ];
        let url = CrawlUrl::parse("http://www.example.org/a/b?c", &UrlRules::default()).unwrap();
        for (fields, expected, why) in cases {
            let fields = fields.iter().map(|field| field.as_bytes());
            assert_eq!(cookies_for(fields, &url, "/a/b?c;d=1", now), *expected, "{why}");
        }
        let fields: [&[u8]; 2] = [b"a=\xe9", b"b=2; Secure"];
        let url = CrawlUrl::parse("https://127.0.0.1/", &UrlRules::default()).unwrap();
        assert_eq!(cookies_for(fields.into_iter(), &url, "/", now), [("b", "2")], "no text, and secure with TLS");
        let field: &[u8] = b"a=1; Domain=0.0.1";
        assert_eq!(cookies_for([field].into_iter(), &url, "/", now), [], "a part of an address");
    }
}
