//! Header fields of requests and answers, between pages and the network.

use dragline_formats::http_fields::Headers;
use serde_json::{Value, json};

/// What a client says of itself, of the connection or of the user, which the network knows better.
const OWN: [&str; 13] = [
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "host",
    "pragma",
    "priority",
    "range",
    "upgrade-insecure-requests",
    "user-agent",
];

/// What describes a transfer that is over, or has the browser request something by itself past the
/// interception.
const LEFT_OUT: [&str; 11] = [
    "alt-svc",
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "nel",
    "report-to",
    "reporting-endpoints",
    "speculation-rules",
    "trailer",
    "transfer-encoding",
];

/// Returns the fields of a request that the network should see.
pub(crate) fn asked_fields(headers: &Headers) -> Headers {
    let is_own = |name: &str| {
        let name = name.to_ascii_lowercase();
        OWN.contains(&name.as_str()) || name.starts_with("sec-") || name.starts_with("proxy-")
    };
    headers.iter().filter(|(name, _)| !is_own(name)).collect()
}

/// Reads the fields of a request.
pub(crate) fn read_fields(fields: &Value) -> Headers {
    let fields = fields.as_object().into_iter().flatten();
    fields.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
}

/// Returns the fields of an answer as the page gets them. A page of this origin may read all of it,
/// whatever the server says: it is archived already, and there are no secrets of a user. `None`:
/// the browser did not name an origin, so nothing has to be permitted.
pub(crate) fn answer_fields(headers: &Headers, origin: Option<&str>) -> Vec<Value> {
    let is_kept = |name: &str| {
        let name = name.to_ascii_lowercase();
        let is_permission = origin.is_some() && name.starts_with("access-control-");
        // One name or value that the browser refuses would leave the whole request unanswered.
        is_token(&name) && !LEFT_OUT.contains(&name.as_str()) && !is_permission
    };
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    let mut fields: Vec<_> =
        kept.map(|(name, value)| field(name, &dragline_formats::http_fields::text(value))).collect();
    if let Some(origin) = origin {
        fields.push(field("Access-Control-Allow-Origin", origin));
        fields.push(field("Access-Control-Allow-Credentials", "true"));
        let names: Vec<_> = headers.iter().map(|(name, _)| name).filter(|name| is_kept(name)).collect();
        fields.push(field("Access-Control-Expose-Headers", &names.join(", ")));
    }
    fields
}

/// Returns the fields that answer a preflight (Fetch standard, "CORS-preflight fetch").
pub(crate) fn preflight_fields(headers: &Headers) -> Vec<Value> {
    let said = |name: &str| headers.text(name).unwrap_or_default().into_owned();
    vec![
        field("Access-Control-Allow-Origin", &said("origin")),
        field("Access-Control-Allow-Credentials", "true"),
        field("Access-Control-Allow-Methods", &said("access-control-request-method")),
        field("Access-Control-Allow-Headers", &said("access-control-request-headers")),
        field("Access-Control-Allow-Private-Network", "true"),
        field("Access-Control-Max-Age", "86400"),
    ]
}

fn field(name: &str, value: &str) -> Value {
    let value: String = value.chars().filter(|c| !matches!(c, '\r' | '\n' | '\0')).collect();
    json!({"name": name, "value": value})
}

fn is_token(name: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fields: &[Value]) -> Vec<(&str, &str)> {
        fields.iter().map(|field| (field["name"].as_str().unwrap(), field["value"].as_str().unwrap())).collect()
    }

    #[test]
    fn the_network_sees_what_scripts_set_and_by_what_servers_choose() {
        let asked: Headers = [
            ("Accept", "*/*"),
            ("Authorization", "Bearer x"),
            ("Content-Type", "application/json"),
            ("Cookie", "a=b"),
            ("Origin", "https://a.test"),
            ("Referer", "https://a.test/"),
            ("Sec-Fetch-Mode", "cors"),
            ("User-Agent", "HeadlessChrome"),
            ("X-Requested-With", "XMLHttpRequest"),
        ]
        .into_iter()
        .collect();
        let seen = asked_fields(&asked);
        let seen: Vec<_> = seen.iter().map(|(name, _)| name).collect();
        assert_eq!(seen, ["Accept", "Authorization", "Content-Type", "Origin", "Referer", "X-Requested-With"]);
    }

    #[test]
    fn an_answer_permits_its_page_and_describes_no_transfer() {
        let answer: Headers = [
            ("Content-Type", &b"text/html"[..]),
            ("Content-Encoding", b"br"),
            ("Access-Control-Allow-Origin", b"https://other.test"),
            ("Report-To", b"{}"),
            ("X-Name", b"caf\xe9"),
            ("X-Split", b"a\r\nb"),
            ("Bad Name", b"x"),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            names(&answer_fields(&answer, Some("https://a.test"))),
            [
                ("Content-Type", "text/html"),
                ("X-Name", "caf\u{e9}"),
                ("X-Split", "ab"),
                ("Access-Control-Allow-Origin", "https://a.test"),
                ("Access-Control-Allow-Credentials", "true"),
                ("Access-Control-Expose-Headers", "Content-Type, X-Name, X-Split"),
            ]
        );
        let without = answer_fields(&answer, None);
        assert_eq!(names(&without)[1], ("Access-Control-Allow-Origin", "https://other.test"), "left as it is");
    }

    #[test]
    fn a_preflight_permits_what_it_asks_for() {
        let asked: Headers = [
            ("Origin", "https://a.test"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "content-type,x-a"),
        ]
        .into_iter()
        .collect();
        let fields = preflight_fields(&asked);
        assert_eq!(names(&fields)[2], ("Access-Control-Allow-Methods", "POST"));
        assert_eq!(names(&fields)[3], ("Access-Control-Allow-Headers", "content-type,x-a"));
    }
}
