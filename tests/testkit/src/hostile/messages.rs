//! Well-formed messages, which tests may break by hand.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

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

/// A body in `gzip`.
///
/// # Panics
/// Never: there is room for it.
#[must_use]
pub fn gzip(body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// A body in `br`.
///
/// # Panics
/// Never: there is room for it.
#[must_use]
pub fn brotli(body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    encoder.write_all(body.as_ref()).unwrap();
    encoder.into_inner()
}

/// The HTML of links to these targets.
pub fn links<T: AsRef<str>>(targets: impl IntoIterator<Item = T>) -> String {
    targets.into_iter().map(|target| format!("<p><a href=\"{0}\">{0}</a>\n", target.as_ref())).collect()
}
