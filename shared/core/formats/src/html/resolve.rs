//! Resolving references to absolute URLs.

use std::borrow::Cow;

use dragline_domain::markup::MalformedReason;
use dragline_domain::url::web_reference;
use encoding_rs::{EncoderResult, Encoding, UTF_8};
use url::Url;

/// The resolver of one page's references.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolver<'a> {
    /// The URL to which they are relative.
    pub(super) base: &'a Url,
    /// The encoding of their queries.
    pub(super) query_encoding: &'static Encoding,
    /// The limit on a URL, in bytes.
    pub(super) url_bytes_max: usize,
}

/// Why a reference has no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// It is not a URL.
    Malformed(MalformedReason),
    /// It is neither http nor https, or too long.
    NotALink,
}

impl Resolver<'_> {
    /// Returns the URL of a reference, without its fragment.
    pub(super) fn resolve(self, reference: &str) -> Result<Url, Unresolved> {
        if !self.fits(reference) {
            return Err(Unresolved::NotALink);
        }
        let malformed = |error| Unresolved::Malformed(MalformedReason::from_parse_error(error));
        let mut url = self.join(reference).map_err(malformed)?;
        if !matches!(url.scheme(), "http" | "https") || !self.fits(url.as_str()) {
            return Err(Unresolved::NotALink);
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// Whether a reference or a URL is within the limit.
    pub(super) const fn fits(self, text: &str) -> bool {
        text.len() <= self.url_bytes_max
    }

    /// WHATWG HTML, "encoding-parse a URL": the path is always in UTF-8, the query in the page's
    /// encoding.
    fn join(self, reference: &str) -> Result<Url, url::ParseError> {
        let reference = web_reference(reference);
        if self.query_encoding == UTF_8 || reference.is_ascii() {
            return self.base.join(&reference);
        }
        // The parser drops line breaks and tabs as well, but would encode the pieces between them
        // separately.
        let dropped = ['\t', '\n', '\r'];
        let reference = if reference.contains(dropped) { reference.replace(dropped, "").into() } else { reference };
        let encode: &dyn Fn(&str) -> Cow<'_, [u8]> = &|query| encoded(self.query_encoding, query).into();
        Url::options().base_url(Some(self.base)).encoding_override(Some(encode)).parse(&reference)
    }
}

/// Returns the encoding of the queries of a page's links, from the name of the page's own: UTF-8
/// instead of UTF-16, which URLs never use (WHATWG Encoding, "get an output encoding").
pub(super) fn query_encoding(name: &str) -> &'static Encoding {
    Encoding::for_label(name.as_bytes()).map_or(UTF_8, Encoding::output_encoding)
}

/// Returns a query's bytes. Characters outside the encoding become percent-encoded character
/// references, as in a submitted form (WHATWG URL, "percent-encode after encoding").
fn encoded(encoding: &'static Encoding, query: &str) -> Vec<u8> {
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::with_capacity(2 * query.len());
    let mut rest = query;
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(usize::MAX / 2);
        bytes.reserve(room);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return bytes,
            // There is room for everything, so this does not happen; if it did, the next round
            // would have more.
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                bytes.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
            }
        }
    }
}

/// Removes the fragment of a reference, like a URL parser: the first `#` begins it. The `#` stays
/// if spaces before it would otherwise be at the end, and be trimmed.
pub(super) fn without_fragment(reference: &str) -> &str {
    let is_blank = |c: char| c <= ' ';
    let reference = reference.trim_matches(is_blank);
    match reference.find('#') {
        Some(at) if reference[..at].ends_with(is_blank) => &reference[..=at],
        Some(at) => &reference[..at],
        None => reference,
    }
}

/// Whether a reference visibly has a scheme other than http and https.
///
/// A hidden scheme (`java<newline>script:`) is recognised when the reference is resolved.
pub(super) fn has_other_scheme(reference: &str) -> bool {
    let end = reference.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')));
    let Some((scheme, rest)) = end.and_then(|end| reference.split_at_checked(end)) else { return false };
    rest.starts_with(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
}
