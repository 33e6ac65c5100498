//! The printed parts of a record.

use std::borrow::Cow;

use dragline_formats::charset;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::{self, Headers};
use dragline_formats::warc::{StoredRecord, Truncation, parse_http_response};

use crate::args::Coding;
use crate::error::Failure;
use crate::terminal::safe_text;

/// The maximum size of a decoded body: the highest value of `fetch.decoded_bytes_max` in a
/// definition.
pub(super) const DECODED_BYTES_MAX: u64 = 1 << 30;

/// The hint for a body whose coding cannot be undone.
const RAW: &str = "to print it as it was received: add `--raw`";

/// An answer, ready to print.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content<'r> {
    pub(super) status: u16,
    /// The status line, the header fields and the empty line, as stored.
    pub(super) head: &'r [u8],
    pub(super) headers: Headers,
    pub(super) body: Cow<'r, [u8]>,
    /// Why the body is incomplete; `None` if it is complete.
    pub(super) cut: Option<String>,
}

/// Returns the answer in a record that has a body.
///
/// # Errors
/// See [`content_in`].
pub(super) fn content(record: &StoredRecord, coding: Coding) -> Result<Content<'_>, Failure> {
    content_in(&record.block, record.truncated(), coding)
}

/// Returns the answer in a block, which may be incomplete.
///
/// # Errors
/// It is no HTTP response, or nothing of the body can be decoded.
pub(super) fn content_in(block: &[u8], truncated: Option<Truncation>, coding: Coding) -> Result<Content<'_>, Failure> {
    let damaged = |error| Failure::new(format!("the stored answer is damaged: {error}"));
    let response = parse_http_response(block).map_err(damaged)?;
    let head = &block[..block.len() - response.body.len()];
    let stored = truncated.map(|why| format!("the stored body is not whole: {}", why.token()));
    let (body, cut) = match coding {
        Coding::Kept => (Cow::Borrowed(response.body), None),
        Coding::Undone => {
            let codings = codings(&response.headers)?;
            let decoded = decode_all(&codings, response.body, DECODED_BYTES_MAX);
            // Some servers name a coding without applying it; then the whole body is there
            // nonetheless.
            let cut = decoded.cut.filter(|_| *decoded.bytes != *response.body);
            (decoded.bytes, cut)
        }
    };
    if let Some(cut) = cut.filter(|_| body.is_empty() && !response.body.is_empty()) {
        return Err(Failure::new(format!("the body cannot be decoded: {cut}")).with_hint(RAW));
    }
    let cut = stored.or_else(|| cut.map(|cut| format!("the body cannot be decoded to its end: {cut}")));
    Ok(Content { status: response.status, head, headers: response.headers, body, cut })
}

/// Returns the content codings that an answer names.
///
/// # Errors
/// One of them is not supported.
pub(super) fn codings(headers: &Headers) -> Result<ContentCodings, Failure> {
    ContentCodings::parse(headers.all("content-encoding")).map_err(|error| Failure::from_error(&error).with_hint(RAW))
}

impl Content<'_> {
    /// Returns the status line, the header fields and the empty line, escaped for a terminal.
    pub(super) fn head_for_people(&self) -> String {
        let lines = self.head.split(|byte| *byte == b'\n').map(http_fields::text);
        safe_text(&lines.collect::<Vec<_>>().join("\n")).into_owned()
    }

    /// Returns the body in its declared character set, escaped for a terminal.
    ///
    /// # Errors
    /// It is not text.
    pub(super) fn body_for_people(&self) -> Result<String, Failure> {
        Ok(safe_text(&self.decoded_text()?).into_owned())
    }

    /// Returns the body in its declared character set.
    ///
    /// # Errors
    /// It is not text.
    pub(super) fn decoded_text(&self) -> Result<String, Failure> {
        let declared = self.headers.content_type();
        let charset = declared.as_ref().and_then(|declared| declared.charset.as_deref());
        let text = charset::decode(&self.body, charset).text;
        let kind = declared.as_ref().map(|declared| declared.essence.as_str());
        if is_binary(&text, kind) {
            return Err(Failure::new("the body is not text, which a terminal could not show")
                .with_hint("write it to a file: add `> FILE`"));
        }
        Ok(text.into_owned())
    }
}

/// Returns whether a body that was decoded as text is binary. A text type may have some odd
/// characters, but no NUL; other types must not have any of the binary data bytes of the WHATWG
/// (MIME Sniffing, section 3).
fn is_binary(text: &str, kind: Option<&str>) -> bool {
    if kind.is_some_and(is_text_type) {
        return text.contains('\0');
    }
    text.contains(|c| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}'))
}

/// Returns whether a media type is textual: `text/…`, JSON, XML or JavaScript.
fn is_text_type(essence: &str) -> bool {
    let is_structured = essence.ends_with("+xml") || essence.ends_with("+json");
    is_structured
        || essence.starts_with("text/")
        || matches!(essence, "application/json" | "application/xml" | "application/javascript")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use dragline_formats::warc::{
        ReadLimits, Record, RecordId, Sha1Digest, Truncation, http_response_head, read_record,
    };
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::get::samples::{event, member};

    fn stored(fields: &[(&str, &str)], body: &[u8], truncated: Option<Truncation>) -> StoredRecord {
        let headers: Headers = fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let head = http_response_head(200, "OK", &headers, body.len() as u64);
        let (body, digest) = (body.to_vec().into(), Sha1Digest::compute(body));
        let record = Record::response(RecordId::from_bits(1), &event("https://example.org/"), head, body, digest);
        let record = truncated.into_iter().fold(record, Record::truncated);
        read_record(&member(&record), ReadLimits::default()).unwrap()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_body_is_decoded_unless_raw_is_requested() {
        use Coding::{Kept, Undone};
        let packed = gzip(b"text, and more of it");
        let torn = &packed[..packed.len() - 9];
        let coded = &[("Content-Encoding", "gzip")][..];
        let plain = b"text, and more of it".as_slice();
        for (fields, body, coding, expected, why) in [
            (&[][..], plain, Undone, Ok(plain), "there is no coding"),
            (coded, &packed, Undone, Ok(plain), "gzip"),
            (coded, &packed, Kept, Ok(packed.as_slice()), "as it was received"),
            (coded, plain, Undone, Ok(plain), "it names a coding that was not applied"),
            (coded, b"", Undone, Ok(b"".as_slice()), "an empty body"),
            (
                &[("Content-Encoding", "compress")],
                plain,
                Undone,
                Err("the content coding `compress` is not supported"),
                "nobody uses it any more",
            ),
            (&[("Content-Encoding", "compress")], plain, Kept, Ok(plain), "nothing has to be decoded"),
            (coded, &packed[..10], Undone, Err("the body cannot be decoded: "), "only its beginning is there"),
        ] {
            let record = stored(fields, body, None);
            match (content(&record, coding), expected) {
                (Ok(content), Ok(expected)) => {
                    assert_eq!((&*content.body, content.cut), (expected, None), "{why}");
                }
                (Err(error), Err(expected)) => assert!(error.message.starts_with(expected), "{why}: {error:?}"),
                (found, _) => panic!("{why}: {found:?}"),
            }
        }
        for (body, truncated, expected) in [
            (torn, None, "the body cannot be decoded to its end: "),
            (torn, Some(Truncation::Length), "the stored body is not whole: length"),
            (packed.as_slice(), Some(Truncation::Time), "the stored body is not whole: time"),
        ] {
            let record = stored(coded, body, truncated);
            let content = content(&record, Undone).unwrap();
            assert!(plain.starts_with(&content.body) && !content.body.is_empty(), "as far as it goes: {content:?}");
            assert!(content.cut.as_ref().is_some_and(|cut| cut.starts_with(expected)), "{content:?}");
        }
    }

    #[test]
    fn control_characters_are_escaped_for_people() {
        let html = ("Content-Type", "text/html; charset=iso-8859-1");
        let image = ("Content-Type", "image/png");
        for (field, body, expected, why) in [
            (
                html,
                b"caf\xe9\r\n\ta\x1b[2J".as_slice(),
                Some("caf\u{e9}\n\ta\\u{1b}[2J"),
                "in the declared character set",
            ),
            (html, b"ding\x07", Some("ding\\u{7}"), "an odd character in a text"),
            (html, b"\0\0", None, "no text"),
            (("Content-Type", "application/ld+json"), b"{}", Some("{}"), "JSON"),
            (image, b"\x89PNG\r\n\x1a\n\0", None, "an image"),
            (image, b"<svg/>", Some("<svg/>"), "of the wrong type"),
            (("X", "no type"), b"plain \xc3\xa4", Some("plain \u{e4}"), "UTF-8"),
            (("X", "no type"), b"\x02", None, "no character of a text"),
            (("X", "no type"), b"", Some(""), "nothing"),
        ] {
            let record = stored(&[field], body, None);
            let content = content(&record, Coding::Undone).unwrap();
            let refused =
                "error: the body is not text, which a terminal could not show\nhint: write it to a file: add `> FILE`";
            let text = content.body_for_people().map_err(|failure| failure.shown());
            assert_eq!(text.as_deref(), expected.ok_or(&refused.to_owned()), "{why}");
        }
        let record = stored(&[("X-Odd", "a\u{9b}2J"), ("Server", "caf\u{e9}")], b"text", None);
        let content = content(&record, Coding::Undone).unwrap();
        assert_eq!(
            content.head_for_people(),
            "HTTP/1.1 200 OK\nX-Odd: a\\u{9b}2J\nServer: caf\u{e9}\n\n",
            "each field on its line"
        );
        assert!(content.head.ends_with(b"Server: caf\xc3\xa9\r\n\r\n"), "programs get it as it is stored");
    }
}
