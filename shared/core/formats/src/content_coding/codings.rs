//! Which codings a body is in, according to `Content-Encoding`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The `Accept-Encoding` of requests.
pub const ACCEPT_ENCODING: &str = "gzip, deflate, br, zstd";

/// The most codings that one body may have. Honest servers use one; each further one multiplies the
/// cost of a bomb.
pub const CODINGS_MAX: usize = 3;

/// The most bytes of an unknown coding's name that an error repeats.
const NAME_SHOWN_BYTES_MAX: usize = 40;

/// One content coding of the IANA registry that Dragline can undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentCoding {
    /// `gzip`, and its old name `x-gzip`: RFC 1952, with any number of members.
    Gzip,
    /// `deflate`: zlib (RFC 1950) by the standard, but raw deflate (RFC 1951) from many servers.
    /// Both are read.
    Deflate,
    /// `br`: RFC 7932.
    Brotli,
    /// `zstd`: RFC 8878, with windows of at most 8 MiB (RFC 9659).
    Zstd,
}

impl ContentCoding {
    /// The name in `Content-Encoding`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for ContentCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The codings of one body, in the order in which the server applied them. Empty if the body is not
/// encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentCodings {
    known: Vec<ContentCoding>,
    word: Option<String>,
}

/// Why a body cannot be decoded. It may still be stored as received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentCodingsError {
    /// A registered coding that is not supported.
    #[error("the content coding `{0}` is not supported")]
    NotUndone(&'static str),
    /// More than [`CODINGS_MAX`] codings.
    #[error("more than {CODINGS_MAX} content codings")]
    TooMany,
}

impl ContentCodings {
    /// No codings.
    pub const IDENTITY: Self = Self { known: Vec::new(), word: None };

    /// Reads the values of all `Content-Encoding` fields of a response, in their order.
    ///
    /// Names may be in any case; `identity` and empty list elements count as nothing (RFC 9110
    /// §5.6.1, §12.5.3). So do words that are not the name of a coding, such as `none`, `utf-8` or
    /// `8bit`: servers send them with bodies that are not encoded, and browsers ignore them.
    ///
    /// ```
    /// use dragline_formats::content_coding::{ContentCoding, ContentCodings};
    /// let codings = ContentCodings::parse([b"gzip, br".as_slice()])?;
    /// assert_eq!(codings.as_slice(), [ContentCoding::Gzip, ContentCoding::Brotli]);
    /// # Ok::<(), dragline_formats::content_coding::ContentCodingsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is a coding of the IANA registry that is not supported, or more than
    /// [`CODINGS_MAX`].
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, ContentCodingsError> {
        let mut codings = Self::IDENTITY;
        for name in values.into_iter().flat_map(|value| value.split(|&byte| byte == b',')) {
            match parse_name(name.trim_ascii())? {
                Element::Nothing => {}
                Element::Word(word) => codings.word = codings.word.or(Some(word)),
                Element::Coding(_) if codings.known.len() == CODINGS_MAX => return Err(ContentCodingsError::TooMany),
                Element::Coding(coding) => codings.known.push(coding),
            }
        }
        Ok(codings)
    }

    /// The codings in the order in which they were applied; they are undone from the last to the
    /// first.
    #[must_use]
    pub fn as_slice(&self) -> &[ContentCoding] {
        &self.known
    }

    /// Returns them without the one that was applied last of this kind.
    pub(super) fn without(&self, coding: ContentCoding) -> Self {
        let mut known = self.known.clone();
        if let Some(at) = known.iter().rposition(|known| *known == coding) {
            known.remove(at);
        }
        Self { known, word: self.word.clone() }
    }

    /// The first word that is not the name of a coding, shortened and safe to print; `None` if
    /// there is none.
    #[must_use]
    pub fn unknown_word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// Whether the body is not encoded.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.known.is_empty()
    }
}

impl FromIterator<ContentCoding> for ContentCodings {
    /// Takes the first [`CODINGS_MAX`] codings, for callers that know them.
    fn from_iter<I: IntoIterator<Item = ContentCoding>>(codings: I) -> Self {
        Self { known: codings.into_iter().take(CODINGS_MAX).collect(), word: None }
    }
}

/// One element of the list.
enum Element {
    /// Changes nothing.
    Nothing,
    Coding(ContentCoding),
    /// Not the name of a coding.
    Word(String),
}

fn parse_name(name: &[u8]) -> Result<Element, ContentCodingsError> {
    const NAMES: [(&[u8], ContentCoding); 5] = [
        (b"gzip", ContentCoding::Gzip),
        (b"x-gzip", ContentCoding::Gzip),
        (b"deflate", ContentCoding::Deflate),
        (b"br", ContentCoding::Brotli),
        (b"zstd", ContentCoding::Zstd),
    ];
    // The rest of the registry.
    const NOT_UNDONE: [&str; 7] = ["aes128gcm", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"];
    if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
        return Ok(Element::Nothing);
    }
    if let Some((_, coding)) = NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)) {
        return Ok(Element::Coding(*coding));
    }
    if let Some(known) = NOT_UNDONE.into_iter().find(|known| name.eq_ignore_ascii_case(known.as_bytes())) {
        return Err(ContentCodingsError::NotUndone(known));
    }
    let shown = &name[..name.len().min(NAME_SHOWN_BYTES_MAX)];
    Ok(Element::Word(shown.escape_ascii().to_string()))
}

#[cfg(test)]
mod tests {
    use super::ContentCoding::{Brotli, Deflate, Gzip, Zstd};
    use super::*;

    #[test]
    fn values_are_read() {
        type Row = (&'static [&'static str], &'static [ContentCoding], Option<&'static str>, &'static str);
        let table: [Row; 15] = [
            (&[], &[], None, "no field at all"),
            (&[""], &[], None, "an empty field"),
            (&["gzip"], &[Gzip], None, "the usual one"),
            (&["X-GZip"], &[Gzip], None, "RFC 9110 §8.4.1.3, in any case"),
            (&["gzip, br"], &[Gzip, Brotli], None, "in the order applied"),
            (&["gzip,br\t,  zstd"], &[Gzip, Brotli, Zstd], None, "optional white space"),
            (&["deflate", "gzip"], &[Deflate, Gzip], None, "two fields are one list"),
            (&["identity"], &[], None, "the name of nothing"),
            (&["identity, ,gzip,"], &[Gzip], None, "empty elements are ignored"),
            (&["utf-8"], &[], Some("utf-8"), "a charset in the wrong field"),
            (&["aws-chunked"], &[], Some("aws-chunked"), "what an upload said of itself"),
            (&["none", "8bit"], &[], Some("none"), "the first of them is reported"),
            (&["gzip, utf-8"], &[Gzip], Some("utf-8"), "next to a known one"),
            (&["gzip;q=1"], &[], Some("gzip;q=1"), "codings have no parameters"),
            (&["\x1b[2J"], &[], Some("\\x1b[2J"), "nothing that drives a terminal"),
        ];
        for (values, expected, word, why) in table {
            let codings = ContentCodings::parse(values.iter().map(|value| value.as_bytes())).unwrap();
            assert_eq!((codings.as_slice(), codings.unknown_word()), (expected, word), "{values:?}: {why}");
        }
        for (value, error, why) in [
            ("gzip, gzip, gzip, gzip", ContentCodingsError::TooMany, "a bomb in four wrappings"),
            ("Compress", ContentCodingsError::NotUndone("compress"), "its body is not text"),
        ] {
            assert_eq!(ContentCodings::parse([value.as_bytes()]), Err(error), "{value}: {why}");
        }
    }

    #[test]
    fn a_long_word_is_shortened() {
        let codings = ContentCodings::parse([[b'z'; 10_000].as_slice()]).unwrap();
        assert_eq!(codings.unknown_word(), Some("z".repeat(NAME_SHOWN_BYTES_MAX).as_str()));
    }

    #[test]
    fn what_we_accept_is_what_we_read() {
        let codings = ACCEPT_ENCODING.split(", ").map(|name| ContentCodings::parse([name.as_bytes()]).unwrap());
        let names: Vec<_> = codings.map(|codings| codings.as_slice()[0].name()).collect();
        assert_eq!(names.join(", "), ACCEPT_ENCODING);
    }
}
