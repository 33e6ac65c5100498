//! JSON (RFC 8259).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::flaws::{Flaws, LineColumn, quoted};

/// The most keys of one object that are remembered.
const KEYS_MAX: usize = 100_000;

/// Parsers may refuse deeper nesting (RFC 8259, section 9), as `serde_json` does.
const DEPTH_MAX: usize = 128;

pub(super) fn check(bytes: &[u8], flaws: &mut Flaws) {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let valid = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let place = || LineColumn::locate(valid, valid.len());
            flaws.add("encoding", place, || "JSON must be in UTF-8, and this byte is not".to_owned());
            return;
        }
    };
    let found = RefCell::new(std::mem::take(flaws));
    let mut deserializer = Deserializer::from_str(text);
    let read = (Value { text, flaws: &found }).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    *flaws = found.into_inner();
    let Err(error) = read else { return };
    let said = error.to_string();
    // The grammar allows values that serde_json cannot hold: numbers of any size, and lone
    // surrogates. The rest is then checked by the grammar alone.
    let is_grammatical = said.starts_with("number out of range")
        || said.contains("surrogate")
        || said.contains("unexpected end of hex escape");
    let error = match is_grammatical.then(|| grammar_only(text)) {
        Some(Ok(())) => return,
        Some(Err(error)) => error,
        None => error,
    };
    let place = || LineColumn::new(error.line(), error.column().max(1));
    if said.starts_with("recursion limit exceeded") {
        flaws.add("too-deep", place, || format!("nested {DEPTH_MAX} levels deep or more, which parsers may refuse"));
        return;
    }
    let rule = if error.classify() == Category::Eof { "unexpected-end" } else { "syntax" };
    flaws.add(rule, place, || {
        let said = error.to_string();
        said.split_once(" at line ").map_or(said.clone(), |(said, _)| said.to_owned())
    });
}

fn grammar_only(text: &str) -> serde_json::Result<()> {
    let mut deserializer = Deserializer::from_str(text);
    deserializer.deserialize_ignored_any(IgnoredAny)?;
    deserializer.end()
}

/// Reads a value and checks the keys of its objects.
#[derive(Clone, Copy)]
struct Value<'t, 'f> {
    text: &'t str,
    flaws: &'f RefCell<Flaws>,
}

impl Value<'_, '_> {
    /// Returns the offset of a part of the text.
    fn byte_offset(&self, part: &str) -> usize {
        part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr())
    }
}

impl<'t> DeserializeSeed<'t> for Value<'t, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Value<'t, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen: HashMap<Cow<'t, str>, usize> = HashMap::new();
        while let Some(raw) = members.next_key::<&'t RawValue>()? {
            let raw = raw.get();
            let at = self.byte_offset(raw);
            let key = match raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) {
                Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
                _ => Cow::Owned(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())),
            };
            if let Some(first) = seen.get(&key) {
                let message = || {
                    let LineColumn { line, column } = LineColumn::locate(self.text, *first);
                    format!("duplicate key {}, first at {line}:{column}", quoted(&key))
                };
                self.flaws.borrow_mut().add("duplicate-key", || LineColumn::locate(self.text, at), message);
            } else if seen.len() < KEYS_MAX {
                seen.insert(key, at);
            }
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_flaws;
    use super::*;

    fn check_text(text: &str) -> Flaws {
        let mut flaws = Flaws::default();
        check(text.as_bytes(), &mut flaws);
        flaws
    }

    #[test]
    fn json_is_checked() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        for (text, expected, why) in [
            (r#"{"a":[1,-0.5e3,"x",true,null,{}]}"#, &[][..], "valid"),
            (" 7 ", &[], "any value is a document"),
            ("\u{feff}{}", &[], "parsers may ignore the mark"),
            (r#"{"a":1,"A":2}"#, &[], "other letters are another key"),
            (r#"[{"a":1},{"a":2}]"#, &[], "of two objects"),
            ("[1e999, 1, \"\\ud800\"]", &[], "the grammar has no limits"),
            ("", &["1:1 unexpected-end"], "nothing"),
            ("{\"a\":1", &["1:6 unexpected-end"], "cut"),
            ("{\"a\":1,\n}", &["2:1 syntax"], "a comma too many"),
            ("{'a':1}", &["1:2 syntax"], "these quotes are JavaScript's"),
            ("[01]", &["1:3 syntax"], "no leading zeros"),
            ("[NaN]", &["1:2 syntax"], "not a number"),
            ("[1] 2", &["1:5 syntax"], "two documents"),
            ("[\"a\tb\"]", &["1:4 syntax"], "a control character"),
            ("[1e999, 01]", &["1:10 syntax"], "found behind what serde_json cannot hold"),
            ("{\"a\":1,\n \"b\":{\"a\":1},\"a\":2}", &["2:14 duplicate-key"], "twice in one object"),
            (r#"{"a":1,"\u0061":2}"#, &["1:8 duplicate-key"], "the same key, escaped"),
            (&deep(DEPTH_MAX - 1), &[], "as deep as it may be"),
            (&deep(DEPTH_MAX), &["1:128 too-deep"], "deeper"),
            (&deep(300_000), &["1:128 too-deep"], "much deeper"),
        ] {
            assert_flaws(check_text(text), expected, &format!("{text:.40}: {why}"));
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_a_flaw() {
        let mut flaws = Flaws::default();
        check(b"{\"a\":\n\"\xff\"}", &mut flaws);
        assert_flaws(flaws, &["2:2 encoding"], "Latin letters");
    }
}
