//! Fragments, and the places in a page that they can name.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::url::octet_after;

/// The limit on the places of a page. Of a page with more, none are kept, as one that is not among
/// them might be there all the same.
pub const ANCHORS_MAX: usize = 32_768;

/// The longest fragment that is checked, in bytes.
const FRAGMENT_BYTES_MAX: usize = 256;

/// Returns the hash under which a place is kept: 32 bits of FNV-1a, which is stored, so it never
/// changes. If two names share one, a missing place is not noticed; a present one always is.
#[must_use]
pub fn anchor_hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The places in a page that fragments can name: the `id` of each element, and the `name` of each
/// `<a>`, as hashes. Stored as text: eight hexadecimal digits each, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AnchorSet(Vec<u32>);

impl AnchorSet {
    /// Creates the set of these hashes; `None` if there are too many.
    #[must_use]
    pub fn from_hashes(mut hashes: Vec<u32>) -> Option<Self> {
        hashes.sort_unstable();
        hashes.dedup();
        (hashes.len() <= ANCHORS_MAX).then_some(Self(hashes))
    }

    /// Whether a fragment names a place (WHATWG HTML, "select the indicated part"): as it is
    /// written, or percent-decoded.
    #[must_use]
    pub fn has(&self, fragment: &str) -> bool {
        let has = |name: &[u8]| self.0.binary_search(&anchor_hash(name)).is_ok();
        has(fragment.as_bytes()) || matches!(percent_decoded(fragment), Cow::Owned(decoded) if has(&decoded))
    }

    /// Returns the number of places.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no place.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<AnchorSet> for String {
    fn from(AnchorSet(hashes): AnchorSet) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = hashes.iter().flat_map(|hash| (0..8).rev().map(move |place| hash >> (4 * place) & 0xF));
        digits.map(|digit| char::from(DIGITS[digit as usize & 0xF])).collect()
    }
}

/// A text that is not a set of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a set of places: eight hexadecimal digits each")]
pub struct AnchorSetError;

impl TryFrom<String> for AnchorSet {
    type Error = AnchorSetError;

    fn try_from(text: String) -> Result<Self, AnchorSetError> {
        let read = |eight: &[u8]| {
            let is_whole = eight.len() == 8 && eight.iter().all(u8::is_ascii_hexdigit);
            u32::from_str_radix(str::from_utf8(eight).ok().filter(|_| is_whole)?, 16).ok()
        };
        let hashes: Option<Vec<u32>> = text.as_bytes().chunks(8).map(read).collect();
        hashes.and_then(Self::from_hashes).ok_or(AnchorSetError)
    }
}

/// Returns the part of a fragment that names an element; `None` if none need be there:
///
/// - It is empty or `top`, which is the top of every page.
/// - It is a text directive (`:~:text=`), which browsers take away before they look for an element
///   (URL Fragment Text Directives, 3.1).
/// - It begins with `/` or `!`: the route of an application that runs in the page.
/// - It is longer than any name.
#[must_use]
pub fn checkable_fragment(fragment: &str) -> Option<&str> {
    let named = fragment.split(":~:").next().unwrap_or(fragment);
    let decoded = percent_decoded(named);
    let names_none = named.is_empty() || decoded.eq_ignore_ascii_case(b"top") || decoded.starts_with(b"/");
    (!names_none && !decoded.starts_with(b"!") && named.len() <= FRAGMENT_BYTES_MAX).then_some(named)
}

/// Decodes a fragment; borrowed if it is not encoded.
fn percent_decoded(text: &str) -> Cow<'_, [u8]> {
    let mut rest = text.as_bytes();
    if !rest.contains(&b'%') {
        return Cow::Borrowed(rest);
    }
    let mut decoded = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let octet = if *first == b'%' { octet_after(after) } else { None };
        decoded.push(octet.unwrap_or(*first));
        rest = if octet.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(decoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(names: &[&str]) -> AnchorSet {
        AnchorSet::from_hashes(names.iter().map(|name| anchor_hash(name.as_bytes())).collect()).unwrap()
    }

    #[test]
    fn fragments_name_places() {
        let places = set(&["intro", "f\u{fc}r", "100%25", "a b", "Top-3"]);
        for (fragment, expected, why) in [
            ("intro", true, "as written"),
            ("Intro", false, "in the same case only"),
            ("%69ntro", true, "percent-decoded"),
            ("f\u{fc}r", true, "any character"),
            ("f%C3%BCr", true, "as browsers send it"),
            ("f%fcr", false, "not in another encoding"),
            ("100%25", true, "as written goes first"),
            ("a%20b", true, "a space"),
            ("a%2", false, "half an escape is no escape"),
            ("intr", false, "not by its beginning"),
        ] {
            assert_eq!(places.has(fragment), expected, "{fragment}: {why}");
        }
    }

    #[test]
    fn some_fragments_name_no_element() {
        for (fragment, expected, why) in [
            ("intro", Some("intro"), "an element"),
            ("", None, "the top"),
            ("top", None, "the top"),
            ("TOP", None, "in any case"),
            ("%74op", None, "however it is written"),
            ("topic", Some("topic"), "more than that"),
            (":~:text=words", None, "words instead of an element"),
            ("intro:~:text=words", Some("intro"), "words in an element"),
            ("/users/7", None, "the route of an application"),
            ("!users", None, "an older route"),
            ("page=3", Some("page=3"), "it may be the name of an element of a page"),
        ] {
            assert_eq!(checkable_fragment(fragment), expected, "{fragment}: {why}");
        }
        assert_eq!(checkable_fragment(&"x".repeat(FRAGMENT_BYTES_MAX + 1)), None, "longer than any name");
    }

    #[test]
    fn too_many_places_are_none() {
        let many = |places: u32| AnchorSet::from_hashes((0..places).chain(0..places).collect());
        assert_eq!(many(32_768).map(|places| places.len()), Some(ANCHORS_MAX), "each counts once");
        assert_eq!(many(32_769), None);
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for text in ["x", "0000000", "0000000g", "000000000", "+0000000", "\u{fc}\u{fc}\u{fc}\u{fc}"] {
            assert!(AnchorSet::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_set_is_read_back(hashes in proptest::collection::vec(any::<u32>(), 0..50)) {
            let places = AnchorSet::from_hashes(hashes.clone()).unwrap();
            prop_assert_eq!(AnchorSet::try_from(String::from(places.clone())), Ok(places));
        }

        #[test]
        fn a_name_is_found_however_it_is_encoded(name in "\\PC{1,12}", encoded in any::<u16>()) {
            let written: String = name.bytes().enumerate().map(|(n, byte)| {
                let is_encoded = !byte.is_ascii() || byte == b'%' || encoded >> (n % 16) & 1 == 1;
                if is_encoded { format!("%{byte:02x}") } else { char::from(byte).to_string() }
            }).collect();
            prop_assert!(set(&[&name]).has(&written));
        }
    }
}
