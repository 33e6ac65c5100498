//! The encoding that a document declares, found before decoding.
//!
//! WHATWG HTML, "prescan a byte stream to determine its encoding" and "get an XML encoding".

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::labels::find_encoding;

/// How much of a document is searched, by the standard.
const PRESCAN_BYTES_MAX: usize = 1024;

/// How much is searched for a later declaration.
const LATE_BYTES_MAX: usize = 1 << 20;

/// Elements with raw text, in which nothing is markup.
const RAW_TEXT: [&[u8]; 8] = [b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes"];

/// Returns the encoding declared in the first bytes of a document, if it can be decoded.
pub(super) fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES_MAX)];
    // An XML declaration in UTF-16 without a byte order mark.
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    Scanner { bytes: head, at: 0, raw_text: RawText::IsMarkup }.find_meta().or_else(|| xml_declaration(head))
}

/// Returns the encoding declared after a document's first bytes. Browsers find it while parsing,
/// and start over (WHATWG, "changing the encoding while parsing").
pub(super) fn declared_late(body: &[u8]) -> Option<&'static Encoding> {
    let bytes = &body[..body.len().min(LATE_BYTES_MAX)];
    Scanner { bytes, at: 0, raw_text: RawText::IsSkipped }.find_meta()
}

/// Returns the encoding for a label found inside the document, which must be a superset of ASCII,
/// whatever the label says.
fn internal_label(label: &[u8]) -> Option<&'static Encoding> {
    if label.trim_ascii().eq_ignore_ascii_case(b"x-user-defined") {
        return Some(WINDOWS_1252);
    }
    match find_encoding(label)? {
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => Some(UTF_8),
        encoding => Some(encoding),
    }
}

fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..position(declaration, |byte| byte == b'>')?];
    let after_name = find(declaration, b"encoding")? + b"encoding".len();
    let value = skip_controls(&declaration[after_name..]).strip_prefix(b"=")?;
    let (&quote, value) = skip_controls(value).split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let label = &value[..position(value, |byte| byte == quote)?];
    if label.iter().any(|byte| *byte <= b' ') { None } else { internal_label(label) }
}

/// Returns the label within a `content` such as `text/html; charset=koi8-r` (WHATWG, "extracting a
/// character encoding from a `meta` element").
fn label_in_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        rest = &rest[find(rest, b"charset")? + b"charset".len()..];
        if let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            return match value.split_first()? {
                (&quote @ (b'"' | b'\''), quoted) => Some(&quoted[..position(quoted, |byte| byte == quote)?]),
                _ => {
                    let end = position(value, |byte| byte.is_ascii_whitespace() || byte == b';');
                    Some(&value[..end.unwrap_or(value.len())])
                }
            };
        }
    }
}

/// A walk over the markup, as far as needed to find `<meta>`.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    raw_text: RawText,
}

/// How to treat text that is not markup, such as a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RawText {
    /// As markup, like the prescan of the standard.
    IsMarkup,
    IsSkipped,
}

impl<'a> Scanner<'a> {
    fn find_meta(mut self) -> Option<&'static Encoding> {
        while let Some(offset) = position(self.rest(), |byte| byte == b'<') {
            self.at += offset;
            if self.rest().starts_with(b"<!--") {
                // The dashes that open a comment may also close it.
                self.at += 2;
                self.at += find(self.rest(), b"-->")? + 3;
            } else if self.is_meta() {
                self.at += b"<meta".len();
                if let Some(encoding) = self.meta() {
                    return Some(encoding);
                }
            } else if self.is_tag() {
                let tag = &self.rest()[1..];
                let name_bytes = position(self.rest(), |byte| byte.is_ascii_whitespace() || byte == b'>')?;
                let name = &tag[..name_bytes - 1];
                self.at += name_bytes;
                while self.attribute().is_some() {}
                let raw = RAW_TEXT.into_iter().find(|raw| name.eq_ignore_ascii_case(raw));
                if let Some(raw) = raw.filter(|_| self.raw_text == RawText::IsSkipped) {
                    self.at += find(self.rest(), &[b"</", raw].concat())?;
                }
            } else if matches!(self.peek(1), Some(b'!' | b'/' | b'?')) {
                self.at += position(self.rest(), |byte| byte == b'>')?;
            } else {
                self.at += 1;
            }
        }
        None
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn is_meta(&self) -> bool {
        let name = self.rest().get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
        name && self.peek(5).is_some_and(|byte| byte.is_ascii_whitespace() || byte == b'/')
    }

    fn is_tag(&self) -> bool {
        let name_at = if self.peek(1) == Some(b'/') { 2 } else { 1 };
        self.peek(name_at).is_some_and(|byte| byte.is_ascii_alphabetic())
    }

    /// Returns the encoding that one `<meta>` declares: by `charset`, or by `content` with the
    /// right `http-equiv`.
    fn meta(&mut self) -> Option<&'static Encoding> {
        let (mut charset, mut content, mut is_pragma) = (None, None, false);
        while let Some((name, value)) = self.attribute() {
            match name.to_ascii_lowercase().as_slice() {
                b"charset" if charset.is_none() => charset = Some(value),
                b"content" if content.is_none() => content = label_in_content(value),
                b"http-equiv" => is_pragma |= value.eq_ignore_ascii_case(b"content-type"),
                _ => {}
            }
        }
        internal_label(charset.or(content.filter(|_| is_pragma))?)
    }

    /// Returns the next attribute of the current tag; `None` at its end, or at the end of the
    /// bytes.
    fn attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if matches!(self.peek(0)?, b'>') {
            return None;
        }
        let name_start = self.at;
        // A name may start with `=`.
        self.at += 1;
        self.skip(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'/' | b'>'));
        let name = &self.bytes[name_start..self.at];
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.peek(0)? != b'=' {
            return Some((name, &[]));
        }
        self.at += 1;
        self.skip(|byte| byte.is_ascii_whitespace());
        let quote = self.peek(0).filter(|byte| matches!(byte, b'"' | b'\''));
        self.at += usize::from(quote.is_some());
        let value_start = self.at;
        match quote {
            Some(quote) => self.skip(|byte| byte != quote),
            None => self.skip(|byte| !byte.is_ascii_whitespace() && byte != b'>'),
        }
        let value = &self.bytes[value_start..self.at];
        // A value cut by the end of the bytes may be half a label.
        self.peek(0)?;
        self.at += usize::from(quote.is_some());
        Some((name, value))
    }

    fn skip(&mut self, belongs: impl Fn(u8) -> bool) {
        self.at += position(self.rest(), |byte| !belongs(byte)).unwrap_or(self.rest().len());
    }
}

fn position(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.iter().position(|byte| is_wanted(*byte))
}

fn find(bytes: &[u8], lower_case: &[u8]) -> Option<usize> {
    bytes.windows(lower_case.len()).position(|window| window.eq_ignore_ascii_case(lower_case))
}

fn skip_controls(bytes: &[u8]) -> &[u8] {
    &bytes[position(bytes, |byte| byte > b' ').unwrap_or(bytes.len())..]
}
