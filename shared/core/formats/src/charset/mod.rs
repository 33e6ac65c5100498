//! Finding a body's encoding, and decoding it to text.
//!
//! Follows the encoding sniffing of the WHATWG HTML standard, with one difference: without a
//! declaration, a browser guesses a legacy encoding, whereas here undeclared text that is valid
//! UTF-8 is read as UTF-8.

mod labels;
mod prescan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// The limit on bytes for the detector: enough to be sure, and a bound on its cost.
const DETECT_BYTES_MAX: usize = 64 * 1024;

/// The least ratio of valid to invalid sequences in damaged UTF-8; text in another encoding has
/// hardly any valid ones.
const UTF8_RIGHT_PER_WRONG_MIN: usize = 4;

const ESCAPE: u8 = 0x1B;

/// The text of a body, and how it was decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without a byte order mark; U+FFFD replaces malformed bytes. Borrowed if the body
    /// was valid UTF-8.
    pub text: Cow<'a, str>,
    /// The encoding's name in the WHATWG Encoding standard, such as `UTF-8` or `windows-1252`.
    pub encoding: &'static str,
    /// The basis of the choice.
    pub source: CharsetSource,
}

/// The basis for choosing an encoding, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The `charset` of the `Content-Type` field.
    Header,
    /// `<meta charset>` or `<meta http-equiv=content-type>`, or an XML declaration in the first
    /// 1,024 bytes.
    Meta,
    /// Nothing was declared, and the bytes are valid UTF-8.
    Utf8Valid,
    /// Nothing was declared: it was guessed from the bytes.
    Detected,
}

/// Decodes a body. `header_charset` is the `charset` parameter of its `Content-Type`, `None` if it
/// has none.
///
/// A declaration that browsers do not know is ignored, and so is one of an encoding that browsers
/// refuse to decode (`hz-gb-2312`, `iso-2022-kr`). As in browsers, a known one applies even if the
/// bytes contradict it.
///
/// ```
/// use dragline_formats::charset::{CharsetSource, decode};
/// let decoded = decode(b"caf\xE9", Some("iso-8859-1"));
/// assert_eq!(decoded.text, "caf\u{e9}");
/// assert_eq!((decoded.encoding, decoded.source), ("windows-1252", CharsetSource::Header));
/// ```
#[must_use]
pub fn decode<'a>(body: &'a [u8], header_charset: Option<&str>) -> Decoded<'a> {
    let (encoding, source, body) = choose(body, header_charset);
    let (text, _) = encoding.decode_without_bom_handling(body);
    Decoded { text, encoding: encoding.name(), source }
}

fn choose<'a>(body: &'a [u8], header_charset: Option<&str>) -> (&'static Encoding, CharsetSource, &'a [u8]) {
    if let Some((encoding, bom_bytes)) = Encoding::for_bom(body) {
        return (encoding, CharsetSource::Bom, &body[bom_bytes..]);
    }
    let header = header_charset.map(|label| label.trim_matches(['"', '\'']));
    if let Some(encoding) = header.and_then(|label| labels::find_encoding(label.as_bytes())) {
        return (encoding, CharsetSource::Header, body);
    }
    if let Some(encoding) = prescan::declared(body).or_else(|| prescan::declared_late(body)) {
        return (encoding, CharsetSource::Meta, body);
    }
    let (encoding, source) = undeclared(body);
    (encoding, source, body)
}

fn undeclared(body: &[u8]) -> (&'static Encoding, CharsetSource) {
    if let Some(encoding) = utf_16_without_mark(body) {
        return (encoding, CharsetSource::Detected);
    }
    match str::from_utf8(body) {
        // ISO-2022-JP consists of ASCII and escape sequences, so it is always valid UTF-8 as well.
        Ok(text) if text.is_ascii() && body.contains(&ESCAPE) => match detect(body) {
            encoding if encoding == ISO_2022_JP => (encoding, CharsetSource::Detected),
            _ => (UTF_8, CharsetSource::Utf8Valid),
        },
        Ok(_) => (UTF_8, CharsetSource::Utf8Valid),
        Err(_) if is_damaged_utf8(window(body)) => (UTF_8, CharsetSource::Detected),
        Err(_) => (detect(body), CharsetSource::Detected),
    }
}

/// Returns UTF-16 if every other byte of the markup is a NUL, which happens in no other encoding.
/// If most of the text is in another script, the beginning decides.
fn utf_16_without_mark(body: &[u8]) -> Option<&'static Encoding> {
    const LOOKED_AT_BYTES: usize = 1024;
    let (pairs, _) = body[..body.len().min(LOOKED_AT_BYTES)].as_chunks::<2>();
    let begins = |ascii: usize, nul: usize| {
        let mut pairs = pairs.iter().skip_while(|pair| pair[nul] == 0 && pair[ascii].is_ascii_whitespace());
        let mut next = |is: fn(u8) -> bool| pairs.next().is_some_and(|pair| pair[nul] == 0 && is(pair[ascii]));
        next(|byte| byte == b'<')
            && next(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'!' | b'?'))
            && next(|byte| byte.is_ascii_graphic() || byte == b' ')
    };
    match (begins(0, 1), begins(1, 0)) {
        (true, false) => return Some(UTF_16LE),
        (false, true) => return Some(UTF_16BE),
        _ => {}
    }
    let nuls = |side: usize| pairs.iter().filter(|pair| pair[side] == 0).count();
    let (first, second) = (nuls(0), nuls(1));
    match pairs.len() {
        0..2 => None,
        pairs if first == 0 && second * 2 > pairs => Some(UTF_16LE),
        pairs if second == 0 && first * 2 > pairs => Some(UTF_16BE),
        _ => None,
    }
}

/// Whether this is UTF-8 except in a few places, such as a character cut in half by a careless
/// script or by our own size limit.
fn is_damaged_utf8(body: &[u8]) -> bool {
    let (mut right, mut wrong) = (0, 0);
    for chunk in body.utf8_chunks() {
        right += chunk.valid().bytes().filter(|byte| *byte >= 0xC0).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right > 0 && right >= wrong * UTF8_RIGHT_PER_WRONG_MIN
}

fn detect(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let window = window(body);
    detector.feed(window, window.len() == body.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// Returns the part of a body that distinguishes encodings: from shortly before the first byte that
/// is not plain ASCII.
fn window(body: &[u8]) -> &[u8] {
    let ascii_bytes = Encoding::ascii_valid_up_to(body);
    let telling = body[..ascii_bytes].iter().position(|byte| *byte == ESCAPE).unwrap_or(ascii_bytes);
    let rest = &body[telling.saturating_sub(2)..];
    &rest[..rest.len().min(DETECT_BYTES_MAX)]
}
