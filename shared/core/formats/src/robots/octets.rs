//! The normal form for comparing paths and patterns (RFC 9309 section 2.2.2).
//!
//! The RFC wants reserved and non-ASCII octets to be percent-encoded before the comparison, and
//! unreserved ones not. Taken literally, that would encode `/` too, so the delimiters `/`, `?`, `&`
//! and `=` stay as written: an encoded slash in a path is not a slash. In a query it is, by the
//! RFC's own example of `baz=https://foo.bar`.

use dragline_domain::url::{is_unreserved, octet_after};
use percent_encoding::percent_encode_byte;

/// A URL's path and query, normalised for comparison. Contains no `*` and no `$`, which have a
/// meaning in patterns.
pub(super) struct Target {
    /// With encoded slashes left encoded.
    pub(super) plain: String,
    /// With the query's encoded slashes decoded; `None` if that changes nothing.
    pub(super) query_slashes_undone: Option<String>,
}

/// Normalises a URL's path and query. A missing leading `/` is added.
pub(super) fn target(path_and_query: &str) -> Target {
    let spell = |slashes| {
        let mut speller = Speller::new(slashes);
        if !path_and_query.starts_with('/') {
            speller.push_literal("/");
        }
        speller.push_literal(path_and_query);
        speller.out
    };
    let plain = spell(QuerySlashes::AsWritten);
    let undone = spell(QuerySlashes::Undone);
    let query_slashes_undone = (undone != plain).then_some(undone);
    Target { plain, query_slashes_undone }
}

/// The treatment of an encoded slash after the first `?`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QuerySlashes {
    /// It stays `%2F`.
    AsWritten,
    /// It becomes `/`.
    Undone,
}

/// A normaliser of text for comparison, piece by piece.
pub(super) struct Speller {
    pub(super) out: String,
    slashes: QuerySlashes,
    in_query: bool,
}

impl Speller {
    pub(super) const fn new(slashes: QuerySlashes) -> Self {
        Self { out: String::new(), slashes, in_query: false }
    }

    /// Appends a piece without wildcards: its `*` and `$` are ordinary characters, and are encoded.
    pub(super) fn push_literal(&mut self, piece: &str) {
        let mut rest = piece.as_bytes();
        while let Some((octet, spelt, after)) = next_octet(rest) {
            rest = after;
            match (octet, spelt) {
                (b'?', OctetSpelling::Raw) => {
                    self.in_query = true;
                    self.out.push('?');
                }
                (b'/', OctetSpelling::Encoded) if self.in_query && self.slashes == QuerySlashes::Undone => {
                    self.out.push('/');
                }
                (b'/' | b'&' | b'=', OctetSpelling::Raw) => self.out.push(char::from(octet)),
                _ if is_unreserved(octet) => self.out.push(char::from(octet)),
                _ => self.out.push_str(percent_encode_byte(octet)),
            }
        }
    }
}

/// The spelling of an octet.
#[derive(Clone, Copy)]
enum OctetSpelling {
    Raw,
    /// As `%XX`.
    Encoded,
}

/// Returns the first octet of a text, its spelling, and the rest. A `%` without two hexadecimal
/// digits stands for itself.
fn next_octet(text: &[u8]) -> Option<(u8, OctetSpelling, &[u8])> {
    let (&octet, rest) = text.split_first()?;
    let encoded = if octet == b'%' { octet_after(rest) } else { None };
    Some(match encoded {
        Some(encoded) => (encoded, OctetSpelling::Encoded, &rest[2..]),
        None => (octet, OctetSpelling::Raw, rest),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn targets_have_one_spelling() {
        for (written, plain, undone, why) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", None, "delimiters stay"),
            ("/a%62c", "/abc", None, "unreserved octets are not encoded"),
            ("/%c3%a9", "/%C3%A9", None, "hexadecimal digits are upper case"),
            ("/é", "/%C3%A9", None, "non-ASCII is encoded UTF-8"),
            ("/a;b:c", "/a%3Bb%3Ac", None, "other reserved octets are encoded"),
            ("/a%3bb", "/a%3Bb", None, "as they are when they came encoded"),
            ("/*$", "/%2A%24", None, "a URL has no wildcards"),
            ("/a%2Fb", "/a%2Fb", None, "an encoded slash in a path is not a slash"),
            ("/?u=%2Fb", "/?u=%2Fb", Some("/?u=/b"), "in a query it may be"),
            ("/%3Fa%2Fb", "/%3Fa%2Fb", None, "an encoded question mark does not start a query"),
            ("/100%", "/100%25", None, "a lone percent sign stands for itself"),
            ("/%zz%4", "/%25zz%254", None, "so does one before other characters"),
            ("/a b", "/a%20b", None, "a space too"),
            ("", "/", None, "the empty path is the root"),
            ("?q", "/?q", None, "a query alone belongs to the root"),
        ] {
            let target = target(written);
            assert_eq!(target.plain, plain, "{written}: {why}");
            assert_eq!(target.query_slashes_undone.as_deref(), undone, "{written}: {why}");
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(written in "/[%0-9a-fA-F?/*$é :]{0,20}") {
            let once = target(&written).plain;
            prop_assert_eq!(&target(&once).plain, &once);
            prop_assert!(!once.contains(['*', '$']) && once.is_ascii());
        }
    }
}
