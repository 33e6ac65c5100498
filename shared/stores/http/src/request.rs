//! Outgoing requests.

use dragline_domain::frontier::Cookie;
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding;
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::REDACTED;
use dragline_ports::fetcher::{AnswerPart, FetchRequest, PageFields};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, ORIGIN, REFERER, USER_AGENT,
};
use http::{HeaderName, Method};
use url::{Position, Url};

use crate::access::add_cookies;
use crate::stand_in;

/// Pages preferred, anything else accepted.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

const ACCEPTED_CODINGS: HeaderValue = HeaderValue::from_static(content_coding::ACCEPT_ENCODING);

/// Builds the client's request for a fetch.
///
/// # Errors
/// Fails if the URL does not parse, which a `CrawlUrl` always does.
pub(crate) fn outgoing(request: &FetchRequest, user_agent: &HeaderValue) -> Result<reqwest::Request, url::ParseError> {
    let mut url = match &request.target {
        // The parser does not change its own output.
        Some(target) => Url::parse(&[request.url.origin_str(), target].concat())?,
        None => Url::parse(request.url.as_str())?,
    };
    let host = stand_in::put(&mut url);
    let method = match request.wanted {
        AnswerPart::All => Method::GET,
        AnswerPart::Header => Method::HEAD,
    };
    let mut outgoing = reqwest::Request::new(method, url);
    let headers = outgoing.headers_mut();
    if let Some(host) = host {
        headers.insert(HOST, host);
    }
    headers.insert(ACCEPT, ACCEPTED);
    headers.insert(ACCEPT_ENCODING, ACCEPTED_CODINGS);
    headers.insert(USER_AGENT, user_agent.clone());
    insert_validator(headers, IF_NONE_MATCH, request.if_none_match.as_deref());
    insert_validator(headers, IF_MODIFIED_SINCE, request.if_modified_since.as_deref());
    if let Some(mut cookie) = request.cookie.as_ref().and_then(cookie_value) {
        // Keeps it out of the HTTP/2 header tables, and of debug output.
        cookie.set_sensitive(true);
        headers.insert(COOKIE, cookie);
    }
    if let Some(page) = &request.page {
        send_for_page(&mut outgoing, page);
    }
    let headers = outgoing.headers_mut();
    if let Some(session) = &request.session {
        add_cookies(headers, &session.cookies_for(&request.url));
    }
    Ok(outgoing)
}

/// Makes a request say what the page says that makes it.
fn send_for_page(outgoing: &mut reqwest::Request, page: &PageFields) {
    let headers = outgoing.headers_mut();
    for (name, value) in page.headers.iter() {
        let name = HeaderName::from_bytes(name.as_bytes());
        let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_bytes(value)) else { continue };
        // A script may have got it by a log-in.
        value.set_sensitive(name == AUTHORIZATION);
        headers.insert(name, value);
    }
    if let Some(body) = &page.body {
        *outgoing.method_mut() = Method::POST;
        *outgoing.body_mut() = Some(body.clone().into());
    }
}

/// Makes a request send a form, as a browser would from its page.
pub(crate) fn send_form(outgoing: &mut reqwest::Request, page: &CrawlUrl, encoded: Vec<u8>) {
    *outgoing.method_mut() = Method::POST;
    let headers = outgoing.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    // Servers check them against forgery.
    for (name, value) in [(ORIGIN, page.origin_str()), (REFERER, page.as_str())] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    *outgoing.body_mut() = Some(encoded.into());
}

/// Whether the host in the request's URL is a stand-in for the real one.
pub(crate) fn has_stand_in(outgoing: &reqwest::Request) -> bool {
    outgoing.headers().contains_key(HOST)
}

/// Inserts a validator, unless it is not a valid field value: the answer is then a complete page,
/// which is never wrong.
fn insert_validator(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) {
    if let Some(value) = value.and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok()) {
        headers.insert(name, value);
    }
}

fn cookie_value(cookie: &Cookie) -> Option<HeaderValue> {
    HeaderValue::from_bytes(cookie.as_sent().as_bytes()).ok()
}

/// Returns the fields as sent over HTTP/1.1, except for cookies, for the archive: the ones above
/// and `host`, which the client adds last. Over HTTP/2 the host is sent as `:authority` instead;
/// the archive writes every exchange as HTTP/1.1.
pub(crate) fn recorded_headers(outgoing: &reqwest::Request) -> Headers {
    let archived =
        |value: &'_ HeaderValue| if value.is_sensitive() { REDACTED.to_vec() } else { value.as_bytes().to_vec() };
    let fields = outgoing.headers().iter().map(|(name, value)| (name.as_str(), archived(value)));
    let host = &outgoing.url()[Position::BeforeHost..Position::AfterPort];
    let host = (!has_stand_in(outgoing)).then(|| ("host", host.as_bytes().to_vec()));
    fields.chain(host).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::url::{CrawlUrl, UrlRules};
    use dragline_ports::fetcher::FetchLimits;

    use super::*;

    fn request(url: &str) -> FetchRequest {
        let limits = FetchLimits {
            connect_timeout: Duration::from_secs(1),
            first_byte_timeout: Duration::from_secs(1),
            total_timeout: Duration::from_secs(1),
            header_bytes_max: 1,
            body_bytes_max: 1,
            file_bytes_max: None,
            decoded_bytes_max: 1,
        };
        FetchRequest::new(CrawlUrl::parse(url, &UrlRules::default()).unwrap(), limits)
    }

    fn field(outgoing: &reqwest::Request, name: &str) -> Option<String> {
        recorded_headers(outgoing).get(name).map(|value| String::from_utf8(value.to_vec()).unwrap())
    }

    #[test]
    fn hosts() {
        let cases = [
            ("http://example.org/a?b", "example.org", "the default port is left out"),
            ("https://example.org:443/", "example.org", "of https too"),
            ("https://example.org:80/", "example.org:80", "a port of another scheme stays"),
            ("http://[::1]:8080/", "[::1]:8080", "an IPv6 literal keeps its brackets"),
            ("https://-a.example:8443/", "-a.example:8443", "not the name that stands in for it"),
        ];
        for (url, expected, why) in cases {
            let outgoing = outgoing(&request(url), &HeaderValue::from_static("bot")).unwrap();
            assert_eq!(field(&outgoing, "host").as_deref(), Some(expected), "{why}");
        }
    }

    #[test]
    fn validators() {
        let cases = [
            (Some("\"v1\""), Some("\"v1\""), "a strong tag as it came"),
            (Some("W/\"é\""), Some("W/\"é\""), "octets beyond ASCII are allowed in a tag, RFC 9110 section 8.8.3"),
            (Some("\"a\r\nx: y\""), None, "a line break would begin another field"),
            (None, None, "none is known"),
        ];
        for (tag, expected, why) in cases {
            let mut request = request("http://example.org/");
            request.if_none_match = tag.map(str::to_owned);
            let outgoing = outgoing(&request, &HeaderValue::from_static("bot")).unwrap();
            assert_eq!(field(&outgoing, "if-none-match").as_deref(), expected, "{why}");
        }
    }
    #[test]
    fn a_target_keeps_its_spelling_and_cookies_are_not_recorded() {
        for (target, why) in [
            ("/caf%c3%a9", "lower case"),
            ("/%7Ea%2Db%41", "what needs no encoding"),
            ("/a?", "an empty query"),
            ("/a;jsessionid=1/b?PHPSESSID=2&c", "parameters"),
            ("//a//b", "empty segments"),
        ] {
            let mut request = request("http://example.org/a");
            request.target = Some(target.to_owned());
            request.cookie = Cookie::from_pairs([("sid", "secret")]);
            let outgoing = outgoing(&request, &HeaderValue::from_static("bot")).unwrap();
            assert_eq!(&outgoing.url()[Position::BeforePath..], target, "{why}");
            assert_eq!(outgoing.headers().get(COOKIE).unwrap(), "sid=secret", "{why}");
            assert_eq!(field(&outgoing, "cookie").as_deref(), Some("[redacted]"), "{why}");
            assert!(!format!("{request:?} {outgoing:?}").contains("secret"), "{why}: it is not shown");
        }
    }
}
