//! The printed parts of a record.

use std::borrow::Cow;

use dragline_formats::charset;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{StoredRecord, Truncation, parse_http_response};

use super::error::StoredError;

/// The maximum size of a decoded body: the highest value of `fetch.decoded_bytes_max` in a
/// definition.
pub const DECODED_BYTES_MAX: u64 = 1 << 30;

/// What is done with a body's content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// It is undone, up to this many bytes of the body.
    Undone(u64),
    /// The body stays as it was received.
    Kept,
}

/// An answer, ready to print.
#[derive(Debug, PartialEq, Eq)]
pub struct Content<'r> {
    /// The status.
    pub status: u16,
    /// The status line, the header fields and the empty line, as stored.
    pub head: &'r [u8],
    /// The header fields.
    pub headers: Headers,
    /// The body.
    pub body: Cow<'r, [u8]>,
    /// Why the body is incomplete; `None` if it is complete.
    pub cut: Option<String>,
}

/// Returns the answer in a record that has a body.
///
/// # Errors
/// See [`content_in`].
pub fn content(record: &StoredRecord, coding: Coding) -> Result<Content<'_>, StoredError> {
    content_in(&record.block, record.truncated(), coding)
}

/// Returns the answer in a block, which may be incomplete.
///
/// # Errors
/// It is no HTTP response, or nothing of the body can be decoded.
pub fn content_in(block: &[u8], truncated: Option<Truncation>, coding: Coding) -> Result<Content<'_>, StoredError> {
    let response = parse_http_response(block).map_err(StoredError::Response)?;
    let head = &block[..block.len() - response.body.len()];
    let stored = truncated.map(|why| format!("the stored body is not whole: {}", why.token()));
    let (body, cut) = match coding {
        Coding::Kept => (Cow::Borrowed(response.body), None),
        Coding::Undone(bytes_max) => {
            let codings = codings(&response.headers)?;
            let decoded = decode_all(&codings, response.body, bytes_max);
            // Some servers name a coding without applying it; then the whole body is there
            // nonetheless.
            let cut = decoded.cut.filter(|_| *decoded.bytes != *response.body);
            (decoded.bytes, cut)
        }
    };
    if let Some(cut) = cut.filter(|_| body.is_empty() && !response.body.is_empty()) {
        return Err(StoredError::Undecodable(cut));
    }
    let cut = stored.or_else(|| cut.map(|cut| format!("the body cannot be decoded to its end: {cut}")));
    Ok(Content { status: response.status, head, headers: response.headers, body, cut })
}

/// Returns the document that scripts made of a page, as if its server had sent it.
#[must_use]
pub fn content_of_dom(dom: &[u8]) -> Content<'_> {
    let headers = [("content-type", "text/html; charset=utf-8")].into_iter().collect();
    Content { status: 200, head: &[], headers, body: Cow::Borrowed(dom), cut: None }
}

/// Returns the content codings that an answer names.
///
/// # Errors
/// One of them is not supported.
pub fn codings(headers: &Headers) -> Result<ContentCodings, StoredError> {
    Ok(ContentCodings::parse(headers.all("content-encoding"))?)
}

impl Content<'_> {
    /// Returns the body in its declared character set.
    ///
    /// # Errors
    /// It is not text.
    pub fn decoded_text(&self) -> Result<String, StoredError> {
        let declared = self.headers.content_type();
        let charset = declared.as_ref().and_then(|declared| declared.charset.as_deref());
        let text = charset::decode(&self.body, charset).text;
        let kind = declared.as_ref().map(|declared| declared.essence.as_str());
        if is_binary(&text, kind) {
            return Err(StoredError::NotText);
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
    use crate::stored::samples::{event, member};

    const UNDONE: Coding = Coding::Undone(DECODED_BYTES_MAX);

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
        use Coding::Kept;
        let packed = gzip(b"text, and more of it");
        let torn = &packed[..packed.len() - 9];
        let coded = &[("Content-Encoding", "gzip")][..];
        let plain = b"text, and more of it".as_slice();
        for (fields, body, coding, expected, why) in [
            (&[][..], plain, UNDONE, Ok(plain), "there is no coding"),
            (coded, &packed, UNDONE, Ok(plain), "gzip"),
            (coded, &packed, Kept, Ok(packed.as_slice()), "as it was received"),
            (coded, plain, UNDONE, Ok(plain), "it names a coding that was not applied"),
            (coded, b"", UNDONE, Ok(b"".as_slice()), "an empty body"),
            (
                &[("Content-Encoding", "compress")],
                plain,
                UNDONE,
                Err("the content coding `compress` is not supported"),
                "nobody uses it any more",
            ),
            (&[("Content-Encoding", "compress")], plain, Kept, Ok(plain), "nothing has to be decoded"),
            (coded, &packed[..10], UNDONE, Err("the body cannot be decoded: "), "only its beginning is there"),
        ] {
            let record = stored(fields, body, None);
            match (content(&record, coding), expected) {
                (Ok(content), Ok(expected)) => {
                    assert_eq!((&*content.body, content.cut), (expected, None), "{why}");
                }
                (Err(error), Err(expected)) => assert!(error.to_string().starts_with(expected), "{why}: {error:?}"),
                (found, _) => panic!("{why}: {found:?}"),
            }
        }
        for (body, truncated, expected) in [
            (torn, None, "the body cannot be decoded to its end: "),
            (torn, Some(Truncation::Length), "the stored body is not whole: length"),
            (packed.as_slice(), Some(Truncation::Time), "the stored body is not whole: time"),
        ] {
            let record = stored(coded, body, truncated);
            let content = content(&record, UNDONE).unwrap();
            assert!(plain.starts_with(&content.body) && !content.body.is_empty(), "as far as it goes: {content:?}");
            assert!(content.cut.as_ref().is_some_and(|cut| cut.starts_with(expected)), "{content:?}");
        }
    }
}
