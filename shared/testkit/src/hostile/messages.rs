//! Well-formed messages, which tests may break by hand.

use super::Step;

/// A status line and these fields, each a whole line such as `etag: "1"`, and `connection: close`.
#[must_use]
pub fn head(status: u16, fields: &[&str]) -> Step {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    Step::send(format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n{fields}\r\n"))
}

/// A whole answer with a `content-length`.
#[must_use]
pub fn reply(status: u16, fields: &[&str], body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref().to_vec();
    let length = format!("content-length: {}", body.len());
    vec![head(status, &[fields, &[&length]].concat()), Step::send(body)]
}

/// A page.
#[must_use]
pub fn html(body: impl AsRef<[u8]>) -> Vec<Step> {
    reply(200, &["content-type: text/html; charset=utf-8"], body)
}

/// The HTML of links to these targets.
pub fn links<T: AsRef<str>>(targets: impl IntoIterator<Item = T>) -> String {
    targets.into_iter().map(|target| format!("<p><a href=\"{0}\">{0}</a>\n", target.as_ref())).collect()
}
