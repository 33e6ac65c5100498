//! Which codings a body is in, as `Content-Encoding` tells.

use std::fmt;

/// What a request says it can take, in `Accept-Encoding`.
pub const ACCEPT_ENCODING: &str = "gzip, deflate, br, zstd";

/// The most codings that one body may be in. Honest servers use one; each further one multiplies what a bomb costs.
pub const CODINGS_MAX: usize = 3;

/// The most bytes of an unknown coding's name that an error repeats.
const NAME_SHOWN_BYTES_MAX: usize = 40;

/// One content coding of the IANA registry that Dragline can undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentCoding {
    /// `gzip`, and its old name `x-gzip`: RFC 1952, with any number of members.
    Gzip,
    /// `deflate`: zlib (RFC 1950) by the standard, but bare deflate (RFC 1951) from many servers. Both are read.
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

/// The codings of one body, in the order in which the server applied them. Empty means that the body is as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentCodings(Vec<ContentCoding>);

/// Why a body cannot be decoded: its codings are not ours. The body may still be stored as it came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentCodingsError {
    /// A name that is not one of [`ACCEPT_ENCODING`]'s; shortened, and safe to print.
    #[error("unknown content coding `{0}`")]
    Unknown(String),
    /// More than [`CODINGS_MAX`] codings.
    #[error("more than {CODINGS_MAX} content codings")]
    TooMany,
}

impl ContentCodings {
    /// No coding at all.
    pub const IDENTITY: Self = Self(Vec::new());

    /// Reads the values of all `Content-Encoding` fields of a response, in their order.
    ///
    /// Names may be in any case; `identity` and empty list elements count as nothing (RFC 9110 §5.6.1, §12.5.3).
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
    /// When a name is unknown, or there are more than [`CODINGS_MAX`].
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, ContentCodingsError> {
        let mut codings = Vec::new();
        for name in values.into_iter().flat_map(|value| value.split(|&byte| byte == b',')) {
            let Some(coding) = parse_name(name.trim_ascii())? else { continue };
            if codings.len() == CODINGS_MAX {
                return Err(ContentCodingsError::TooMany);
            }
            codings.push(coding);
        }
        Ok(Self(codings))
    }

    /// The codings in the order in which they were applied; they are undone from the last to the first.
    #[must_use]
    pub fn as_slice(&self) -> &[ContentCoding] {
        &self.0
    }

    /// Whether the body is as it is.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<ContentCoding> for ContentCodings {
    /// Takes the first [`CODINGS_MAX`] codings: for callers that know what they are.
    fn from_iter<I: IntoIterator<Item = ContentCoding>>(codings: I) -> Self {
        Self(codings.into_iter().take(CODINGS_MAX).collect())
    }
}

/// The coding of one list element; `None` for one that changes nothing.
fn parse_name(name: &[u8]) -> Result<Option<ContentCoding>, ContentCodingsError> {
    const NAMES: [(&[u8], ContentCoding); 5] = [
        (b"gzip", ContentCoding::Gzip),
        (b"x-gzip", ContentCoding::Gzip),
        (b"deflate", ContentCoding::Deflate),
        (b"br", ContentCoding::Brotli),
        (b"zstd", ContentCoding::Zstd),
    ];
    if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
        return Ok(None);
    }
    match NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)) {
        Some((_, coding)) => Ok(Some(*coding)),
        None => {
            let shown = &name[..name.len().min(NAME_SHOWN_BYTES_MAX)];
            Err(ContentCodingsError::Unknown(shown.escape_ascii().to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ContentCoding::{Brotli, Deflate, Gzip, Zstd};
    use super::*;

    #[test]
    fn values_are_read() {
        type Row = (&'static [&'static str], Result<&'static [ContentCoding], ContentCodingsError>, &'static str);
        let unknown = |name: &str| Err(ContentCodingsError::Unknown(name.to_owned()));
        let table: [Row; 13] = [
            (&[], Ok(&[]), "no field at all"),
            (&[""], Ok(&[]), "an empty field"),
            (&["gzip"], Ok(&[Gzip]), "the usual one"),
            (&["X-GZip"], Ok(&[Gzip]), "RFC 9110 §8.4.1.3, in any case"),
            (&["gzip, br"], Ok(&[Gzip, Brotli]), "in the order applied"),
            (&["gzip,br\t,  zstd"], Ok(&[Gzip, Brotli, Zstd]), "optional white space"),
            (&["deflate", "gzip"], Ok(&[Deflate, Gzip]), "two fields are one list"),
            (&["identity"], Ok(&[]), "the name of nothing"),
            (&["identity, ,gzip,"], Ok(&[Gzip]), "empty elements are ignored"),
            (&["utf-8"], unknown("utf-8"), "a charset in the wrong field"),
            (&["gzip;q=1"], unknown("gzip;q=1"), "codings have no parameters"),
            (&["\x1b[2J"], unknown("\\x1b[2J"), "nothing that drives a terminal"),
            (&["gzip, gzip, gzip, gzip"], Err(ContentCodingsError::TooMany), "a bomb in four wrappings"),
        ];
        for (values, expected, why) in table {
            let codings = ContentCodings::parse(values.iter().map(|value| value.as_bytes()));
            assert_eq!(codings, expected.map(|list| list.iter().copied().collect()), "{values:?}: {why}");
        }
    }

    #[test]
    fn a_long_name_is_shortened() {
        let name = [b'z'; 10_000];
        let error = ContentCodings::parse([name.as_slice()]).unwrap_err();
        assert_eq!(error, ContentCodingsError::Unknown("z".repeat(NAME_SHOWN_BYTES_MAX)));
    }

    #[test]
    fn what_we_accept_is_what_we_read() {
        let codings = ACCEPT_ENCODING.split(", ").map(|name| ContentCodings::parse([name.as_bytes()]).unwrap());
        let names: Vec<_> = codings.map(|codings| codings.as_slice()[0].name()).collect();
        assert_eq!(names.join(", "), ACCEPT_ENCODING);
    }
}
