//! Header fields, by name and as text.

use std::borrow::Cow;
use std::ops::Deref;

/// Header fields in order, including repeated ones; names are compared without regard to case.
/// Values are bytes, or text in formats that define them as text.
///
/// `http::HeaderMap` does not preserve enough for an archive: it converts names to lower case, and
/// groups fields by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers<V = Vec<u8>>(Vec<(String, V)>);

impl<V: Deref> Headers<V> {
    /// Appends a field.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<V>) {
        self.0.push((name.into(), value.into()));
    }

    /// Returns the value that was added last, for values that continue on the next line.
    pub(crate) fn last_mut(&mut self) -> Option<&mut V> {
        self.0.last_mut().map(|(_, value)| value)
    }

    /// Returns the value of the first field with this name; `None` if there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V::Target> {
        self.all(name).next()
    }

    /// Returns the values of all fields with this name.
    pub fn all<'h, 'n>(&'h self, name: &'n str) -> impl Iterator<Item = &'h V::Target> + use<'h, 'n, V> {
        self.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns all fields, name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V::Target)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// Returns the number of fields.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no field at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Headers {
    /// Returns the value of the first field with this name, as [`text`]; `None` if there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name).map(text)
    }

    /// Returns the values of all fields with this name, as [`text`].
    pub fn texts<'h, 'n>(&'h self, name: &'n str) -> impl Iterator<Item = Cow<'h, str>> + use<'h, 'n> {
        self.all(name).map(text)
    }
}

impl<V, N: Into<String>, W: Into<V>> FromIterator<(N, W)> for Headers<V> {
    fn from_iter<I: IntoIterator<Item = (N, W)>>(fields: I) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Returns a field's value as text, without surrounding white space: as UTF-8, which most servers
/// write, or else as Latin-1, the original meaning of such bytes (RFC 9110 section 5.5). So one odd
/// byte does not spoil a value.
#[must_use]
pub fn text(value: &[u8]) -> Cow<'_, str> {
    let value = value.trim_ascii();
    match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(value.iter().map(|byte| char::from(*byte)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_utf_8_or_latin_1() {
        for (value, expected, why) in [
            (b" noindex ".as_slice(), "noindex", "without the white space around it"),
            ("caf\u{e9}".as_bytes(), "caf\u{e9}", "UTF-8"),
            (b"caf\xe9, noindex", "caf\u{e9}, noindex", "Latin-1: the rest counts all the same"),
            (b"", "", "nothing"),
        ] {
            assert_eq!(text(value), expected, "{why}");
        }
    }

    #[test]
    fn fields_are_found_by_name_and_keep_their_order() {
        let fields = [("Link", "a"), ("Date", "b"), ("link", "c"), ("LINK", ""), ("x", "caf\u{e9}")];
        let mut headers = Headers::<Vec<u8>>::from_iter(fields);
        headers.push("X", b" caf\xe9 ");
        for (name, first, all, why) in [
            ("link", Some("a"), ["a", "c", ""].as_slice(), "in any case, in order, empty ones too"),
            ("DATE", Some("b"), &["b"], "one"),
            ("X", Some("caf\u{e9}"), &["caf\u{e9}", "caf\u{e9}"], "UTF-8 and Latin-1"),
            ("lin", None, &[], "part of a name is not the name"),
        ] {
            assert_eq!(headers.text(name).as_deref(), first, "{name}: {why}");
            assert_eq!(headers.texts(name).collect::<Vec<_>>(), all, "{name}: {why}");
        }
        let as_given =
            fields.map(|(name, value)| (name, value.as_bytes())).into_iter().chain([("X", &b" caf\xe9 "[..])]);
        assert!(headers.iter().eq(as_given), "names in their letters, values byte for byte");
        assert_eq!((headers.len(), headers.get("x").map(<[u8]>::len)), (6, Some(5)));
        assert!(Headers::<String>::default().is_empty());
    }
}
