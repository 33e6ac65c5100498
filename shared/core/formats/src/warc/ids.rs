//! The small values in records.

use std::fmt;

use uuid::fmt::Hyphenated;
use uuid::{Builder, Uuid};

/// The id of a record, written `<urn:uuid:…>`.
///
/// The writer chooses its bits. The same bits yield the same id, so that writing again after a
/// crash writes the same record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(Uuid);

impl RecordId {
    /// Creates an id from these bits. Six of them are overwritten to make it a UUID of version 8,
    /// whose other 122 bits are up to the writer (RFC 9562 §5.8).
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(Builder::from_custom_bytes(bits.to_be_bytes()).into_uuid())
    }

    /// Parses `<urn:uuid:…>`, whatever the UUID's version; `None` for any other form, which other
    /// writers may use.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let uuid = text.strip_prefix('<')?.strip_suffix('>')?.strip_prefix("urn:uuid:")?;
        // A URN has only this form (RFC 9562 §4); `Uuid::parse_str` would accept others.
        uuid.parse::<Hyphenated>().ok().map(|uuid| Self(uuid.into_uuid()))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0.urn())
    }
}

/// The requested URL, as written in `WARC-Target-URI`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetUri(String);

impl TargetUri {
    /// Wraps a URL unchanged, so that it can be found again byte for byte. Only characters that
    /// could end the line or the value are percent-encoded: control characters, spaces, everything
    /// beyond ASCII, and the angle brackets that readers of WARC 1.0 remove. The `url` crate leaves
    /// none of these.
    #[must_use]
    pub fn new(uri: &str) -> Self {
        let mut safe = String::with_capacity(uri.len());
        for byte in uri.bytes() {
            match byte {
                b'!'..=b'~' if !matches!(byte, b'<' | b'>') => safe.push(char::from(byte)),
                _ => safe.push_str(percent_encoding::percent_encode_byte(byte)),
            }
        }
        Self(safe)
    }

    /// Returns the URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The type of a record (WARC 1.1 §6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// About the file: its writer and circumstances.
    WarcInfo,
    /// A request as sent.
    Request,
    /// A response as received.
    Response,
    /// A response whose body is already stored elsewhere.
    Revisit,
    /// Additional data about a capture, or about a fetch without a response.
    Metadata,
    /// A document by itself, as the one that scripts made of a page.
    Resource,
    /// A type that Dragline does not write, by its name in lower case. Readers skip types that they
    /// do not know.
    Other(String),
}

/// What comes before a page's URL in the URI of the document that its scripts made.
const DOM: &str = "urn:dom:";

const VIEW: &str = "urn:view:";

impl TargetUri {
    /// Returns the URI of the document that scripts made of a page.
    #[must_use]
    pub fn for_dom(page: &str) -> Self {
        Self::new(&format!("{DOM}{page}"))
    }

    /// Returns the URL of the page in a result of [`Self::for_dom`]; `None` of any other URI.
    #[must_use]
    pub fn page_of_dom(uri: &str) -> Option<&str> {
        uri.strip_prefix(DOM)
    }

    /// Returns the URI of the picture of a page, by the name that Browsertrix has for it.
    #[must_use]
    pub fn for_view(page: &str) -> Self {
        Self::new(&format!("{VIEW}{page}"))
    }

    /// Returns the URL of the page in a result of [`Self::for_view`]; `None` of any other URI.
    #[must_use]
    pub fn page_of_view(uri: &str) -> Option<&str> {
        uri.strip_prefix(VIEW)
    }
}

impl RecordType {
    /// Returns the name in `WARC-Type`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::WarcInfo => "warcinfo",
            Self::Request => "request",
            Self::Response => "response",
            Self::Revisit => "revisit",
            Self::Metadata => "metadata",
            Self::Resource => "resource",
            Self::Other(name) => name,
        }
    }

    pub(super) fn from_name(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let known = [Self::WarcInfo, Self::Request, Self::Response, Self::Revisit, Self::Metadata, Self::Resource];
        known.into_iter().find(|known| known.name() == name).unwrap_or(Self::Other(name))
    }
}

macro_rules! tokens {
    ($(#[$enum_doc:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $token:literal,)* }) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the word that is written.
            #[must_use]
            pub const fn token(self) -> &'static str {
                match self { $(Self::$variant => $token,)* }
            }

            /// Returns the value for a word, in any letter case; `None` if there is none.
            #[must_use]
            pub fn from_token(token: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.token().eq_ignore_ascii_case(token))
            }
        }
    };
}

tokens! {
    /// The reason why a block is shorter than the server's response (`WARC-Truncated`, WARC 1.1
    /// §5.13).
    Truncation {
        /// A size limit was reached; also, by the standard, a revisit whose body is left out on
        /// purpose.
        Length = "length",
        /// A time limit was reached.
        Time = "time",
        /// The connection broke.
        Disconnect = "disconnect",
        /// Any other reason.
        Unspecified = "unspecified",
    }
}

impl Truncation {
    /// Returns the reason that a record gives. One outside the standard is
    /// [`Unspecified`](Self::Unspecified): the block is incomplete all the same.
    #[must_use]
    pub fn from_reason(word: &str) -> Self {
        Self::from_token(word).unwrap_or(Self::Unspecified)
    }
}

tokens! {
    /// The protocol of a capture (`WARC-Protocol`, an IIPC extension). The block does not show it,
    /// as its status line always has HTTP/1.1.
    HttpProtocol {
        /// HTTP/1.0.
        Http10 = "http/1.0",
        /// HTTP/1.1.
        Http11 = "http/1.1",
        /// HTTP/2 over TLS.
        H2 = "h2",
        /// HTTP/2 without TLS.
        H2c = "h2c",
        /// HTTP/3.
        H3 = "h3",
    }
}

tokens! {
    /// The kind of a `revisit` record (`WARC-Profile`, WARC 1.1 §6.7).
    RevisitProfile {
        /// The payload is the same as that of an earlier record, by its digest.
        IdenticalPayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        /// The server said that the page has not changed: status 304.
        ServerNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_url_ends_its_line_or_is_lost() {
        for (uri, expected, why) in [
            ("https://a.example/b?c=%20", "https://a.example/b?c=%20", "as it is"),
            ("https://a.example/\r\nX: y", "https://a.example/%0D%0AX:%20y", "a line break"),
            ("https://a.example/ü", "https://a.example/%C3%BC", "beyond ASCII"),
            ("<>", "%3C%3E", "brackets, which stand around URLs in WARC 1.0"),
        ] {
            assert_eq!(TargetUri::new(uri).as_str(), expected, "{why}");
        }
    }

    #[test]
    fn any_reason_says_that_a_block_is_incomplete() {
        for (word, expected) in [
            ("length", Truncation::Length),
            ("Time", Truncation::Time),
            ("quota", Truncation::Unspecified),
            ("", Truncation::Unspecified),
        ] {
            assert_eq!(Truncation::from_reason(word), expected, "{word}");
        }
    }

    #[test]
    fn ids_are_uuids_of_version_8() {
        assert_eq!(RecordId::from_bits(0).to_string(), "<urn:uuid:00000000-0000-8000-8000-000000000000>");
        assert_eq!(RecordId::from_bits(u128::MAX).to_string(), "<urn:uuid:ffffffff-ffff-8fff-bfff-ffffffffffff>");
        let id = RecordId::from_bits(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(RecordId::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn ids_are_read() {
        let table = [
            ("<urn:uuid:01234567-89AB-cdef-0123-456789abcdef>", true, "any version, any case"),
            ("urn:uuid:01234567-89ab-cdef-0123-456789abcdef", false, "without brackets"),
            ("<urn:uuid:0123456789abcdef0123456789abcdef>", false, "without dashes"),
            ("<urn:uuid:{01234567-89ab-cdef-0123-456789abcdef}>", false, "in braces"),
            ("<urn:uuid:urn:uuid:01234567-89ab-cdef-0123-456789abcdef>", false, "a URN within a URN"),
            ("<urn:uuid:0123456-789ab-cdef-0123-456789abcdef>", false, "dashes elsewhere"),
            ("<urn:uuid:+1234567-89ab-cdef-0123-456789abcdef>", false, "a sign is not a digit"),
            ("<http://example.org/1>", false, "legal, but not ours"),
            ("", false, "nothing"),
        ];
        for (text, expected, why) in table {
            assert_eq!(RecordId::parse(text).is_some(), expected, "{text}: {why}");
        }
    }

    #[test]
    fn target_uris_stay_on_their_line() {
        let table = [
            ("https://a.example/b|c?d={e}", "https://a.example/b|c?d={e}", "as `url` writes it"),
            ("https://a.example/\r\nWARC-Type: x", "https://a.example/%0D%0AWARC-Type:%20x", "an injected field"),
            ("https://a.example/é", "https://a.example/%C3%A9", "beyond ASCII"),
        ];
        for (uri, expected, why) in table {
            assert_eq!(TargetUri::new(uri).as_str(), expected, "{why}");
        }
    }
}
