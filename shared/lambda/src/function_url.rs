//! Requests to a function's URL, and their replies (Lambda's payload format 2.0).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{COOKIE, HOST, SET_COOKIE};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use serde::{Deserialize, Serialize};

use crate::run::ReplyCounts;

/// The most bytes of a reply (a limit of Lambda), less what is around its body.
pub const REPLY_BYTES_MAX: usize = (6 << 20) - (64 << 10);

/// A request in Lambda's format, reduced to what is read of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpRequest {
    raw_path: String,
    #[serde(default)]
    raw_query_string: String,
    /// By their names in lower case. The values of repeated ones are joined by commas.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    cookies: Vec<String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
    request_context: Context,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    /// The host of the function's URL.
    #[serde(default)]
    domain_name: Option<String>,
    http: Http,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Http {
    method: String,
    #[serde(default)]
    source_ip: Option<String>,
}

/// A request that is none of HTTP.
#[derive(Debug, thiserror::Error)]
pub enum HttpRequestError {
    /// Its method, address or header fields are not valid.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// Its body is not what it says.
    #[error("the body is no base64: {0}")]
    Body(#[from] data_encoding::DecodeError),
}

impl HttpRequest {
    /// Returns the address that sent it; `None` if Lambda does not say.
    #[must_use]
    pub fn sender(&self) -> Option<IpAddr> {
        self.request_context.http.source_ip.as_deref()?.parse().ok()
    }

    /// Returns it as a request of HTTP, for the host of the function's URL.
    ///
    /// # Errors
    /// It is none.
    pub fn into_http(self) -> Result<Request<Bytes>, HttpRequestError> {
        let mut target = escaped(&self.raw_path);
        if !self.raw_query_string.is_empty() {
            target.push('?');
            target += &escaped(&self.raw_query_string);
        }
        let method = Method::from_bytes(self.request_context.http.method.as_bytes()).map_err(http::Error::from)?;
        let mut request = Request::builder().method(method).uri(Uri::try_from(target).map_err(http::Error::from)?);
        for (name, value) in &self.headers {
            request = request.header(name, HeaderValue::from_bytes(value.as_bytes()).map_err(http::Error::from)?);
        }
        if !self.cookies.is_empty() {
            request = request.header(COOKIE, self.cookies.join("; "));
        }
        let body = self.body.unwrap_or_default();
        let body = if self.is_base64_encoded { BASE64.decode(body.as_bytes())? } else { body.into_bytes() };
        let mut request = request.body(Bytes::from(body))?;
        // What a sender calls it does not say which function was found.
        if let Some(host) = self.request_context.domain_name {
            request.headers_mut().insert(HOST, HeaderValue::try_from(host).map_err(http::Error::from)?);
        }
        Ok(request)
    }
}

/// Returns a path or a query in which all is escaped that neither may have. It may be decoded in
/// part.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"#<>?\\^`{|}".contains(&byte) || byte == b'?' {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpReply {
    status_code: u16,
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cookies: Vec<String>,
    body: String,
    is_base64_encoded: bool,
}

/// A reply that Lambda would not send, as it is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reply is larger than {REPLY_BYTES_MAX} bytes")]
pub struct HttpReplyTooLarge;

impl HttpReply {
    /// Returns a response as a reply. A body that is no text is sent as base64.
    ///
    /// # Errors
    /// It is too large.
    pub fn from_http(response: Response<Bytes>) -> Result<Self, HttpReplyTooLarge> {
        let (parts, body) = response.into_parts();
        let (mut headers, mut cookies) = (BTreeMap::new(), Vec::new());
        for (name, value) in &parts.headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            if name == SET_COOKIE {
                cookies.push(value.into_owned());
            } else {
                add(&mut headers, name, &value);
            }
        }
        let (body, is_base64_encoded) = match std::str::from_utf8(&body) {
            Ok(text) => (text.to_owned(), false),
            Err(_) => (BASE64.encode(&body), true),
        };
        let reply = Self { status_code: parts.status.as_u16(), headers, cookies, body, is_base64_encoded };
        // As it is sent, with the escapes of JSON.
        match serde_json::to_string(&reply.body) {
            Ok(sent) if sent.len() <= REPLY_BYTES_MAX => Ok(reply),
            _ => Err(HttpReplyTooLarge),
        }
    }

    /// Returns its status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status_code
    }

    /// Returns its body, which is base64 if it is no text.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Returns the value of a header field by its name in lower case; `None` if it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

fn add(headers: &mut BTreeMap<String, String>, name: &HeaderName, value: &str) {
    let values = headers.entry(name.as_str().to_owned()).or_default();
    if !values.is_empty() {
        values.push_str(", ");
    }
    values.push_str(value);
}

/// It has no messages.
impl ReplyCounts for HttpReply {}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use serde_json::{Value, json};

    use super::*;

    fn request(event: Value) -> Result<Request<Bytes>, HttpRequestError> {
        serde_json::from_value::<HttpRequest>(event).unwrap().into_http()
    }

    #[test]
    fn a_request_is_as_it_was_sent() {
        let event = json!({
            "version": "2.0", "rawPath": "/crawls", "rawQueryString": "q=a%20b&q=%C3%A9",
            "headers": {"host": "elsewhere.example", "content-type": "application/json", "x-many": "1,2"},
            "cookies": ["a=1", "b=2"], "body": "eyJuYW1lIjoiZG9jcyJ9", "isBase64Encoded": true,
            "requestContext": {"domainName": "abc.lambda-url.example", "http": {"method": "POST", "sourceIp": "203.0.113.7"}},
        });
        let sender = serde_json::from_value::<HttpRequest>(event.clone()).unwrap().sender();
        assert_eq!(sender, Some(IpAddr::from([203, 0, 113, 7])));
        let request = request(event).unwrap();
        assert_eq!((request.method(), request.uri().to_string().as_str()), (&Method::POST, "/crawls?q=a%20b&q=%C3%A9"));
        assert_eq!(request.body().as_ref(), br#"{"name":"docs"}"#);
        for (name, value, why) in [
            ("host", "abc.lambda-url.example", "of the URL, whatever the sender says"),
            ("content-type", "application/json", "as sent"),
            ("x-many", "1,2", "joined by Lambda"),
            ("cookie", "a=1; b=2", "joined here"),
        ] {
            assert_eq!(request.headers()[name], value, "{name}: {why}");
        }
    }

    #[test]
    fn what_cannot_be_in_a_request_is_escaped_or_refused() {
        let event = |path: &str, method: &str, headers: Value, body: Value| {
            json!({
                "rawPath": path, "headers": headers, "body": body, "isBase64Encoded": body != Value::Null,
                "requestContext": {"http": {"method": method}},
            })
        };
        for (path, expected, why) in [
            ("/a b/\u{e9}", "/a%20b/%C3%A9", "decoded on its way"),
            ("/a%20b", "/a%20b", "as sent"),
            ("/a#b\"<>\\^`{|}", "/a%23b%22%3C%3E%5C%5E%60%7B%7C%7D", "nothing that ends a path"),
        ] {
            let request = request(event(path, "GET", json!({}), Value::Null)).unwrap();
            assert_eq!(request.uri().to_string(), expected, "{why}");
        }
        for (refused, why) in [
            (event("no path", "GET", json!({}), Value::Null), "no path"),
            (event("/", "G T", json!({}), Value::Null), "no method"),
            (event("/", "GET", json!({"a b": ""}), Value::Null), "no name of a field"),
            (event("/", "GET", json!({"a": "b\nc"}), Value::Null), "no value of one"),
            (event("/", "GET", json!({}), json!("!")), "no base64"),
        ] {
            assert!(request(refused.clone()).is_err(), "{why}: {refused}");
        }
    }

    #[test]
    fn a_reply_has_what_the_response_has() {
        let response = |body: &[u8]| {
            let response = Response::builder().status(StatusCode::CREATED).header("content-type", "text/plain");
            let response = response.header("vary", "a").header("vary", "b");
            response.header("set-cookie", "a=1").header("set-cookie", "b=2").body(Bytes::copy_from_slice(body)).unwrap()
        };
        for (body, sent, is_base64_encoded) in [(&b"text\n"[..], "text\n", false), (b"\xff\x00", "/wA=", true)] {
            let reply = HttpReply::from_http(response(body)).unwrap();
            let expected = json!({
                "statusCode": 201, "headers": {"content-type": "text/plain", "vary": "a, b"},
                "cookies": ["a=1", "b=2"], "body": sent, "isBase64Encoded": is_base64_encoded,
            });
            assert_eq!(serde_json::to_value(reply).unwrap(), expected);
        }
    }

    #[test]
    fn a_reply_that_lambda_would_not_send_is_refused() {
        for (body, is_sent, why) in [
            ("a".repeat(REPLY_BYTES_MAX - 2).into_bytes(), true, "as large as it may be"),
            ("a".repeat(REPLY_BYTES_MAX - 1).into_bytes(), false, "a byte more"),
            ("\"".repeat(REPLY_BYTES_MAX / 2).into_bytes(), false, "its escapes are too much"),
            (vec![0xff; REPLY_BYTES_MAX / 4 * 3 + 1], false, "base64 is too much"),
        ] {
            let reply = HttpReply::from_http(Response::new(body.into()));
            assert_eq!(reply.is_ok(), is_sent, "{why}");
        }
    }
}
