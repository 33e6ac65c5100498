//! Rows in the text format of `COPY`.
//!
//! PostgreSQL's texts cannot contain NUL, nor its JSON an escaped one or half of a surrogate pair:
//! each becomes U+FFFD, the replacement character.

use bytes::{BufMut, Bytes, BytesMut};
use dragline_domain::item::{Cell, Form};

use crate::kind::{SqlKind, instant};

/// The size of a piece that is sent at once, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// What stands for characters that PostgreSQL cannot hold.
const REPLACEMENT: &str = "\u{fffd}";

/// Rows of a table, encoded for `COPY … FROM STDIN`.
#[derive(Debug, Default)]
pub(crate) struct CopyText {
    text: BytesMut,
    rows: u64,
    /// Whether the current row has a value.
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    RowStart,
    AfterValue,
}

impl CopyText {
    /// Returns the number of rows.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a value to the row: a cell for a column of this type, NULL if it is missing.
    pub(crate) fn put(&mut self, cell: Option<&Cell>, kind: SqlKind) {
        self.put_formed(cell.map(|cell| (cell, Form::Single)), kind);
    }

    /// Adds a value in this form.
    pub(crate) fn put_formed(&mut self, value: Option<(&Cell, Form)>, kind: SqlKind) {
        let Some((cell, form)) = value else { return self.put_null() };
        match (cell, kind) {
            (Cell::Text(text), SqlKind::Json) if form == Form::Json => self.put_json(text),
            (cell, SqlKind::Json) => self.put_json(&serde_json::json!(cell).to_string()),
            (Cell::Text(text), SqlKind::Instant) => match instant(text) {
                // With its offset, it may be written in a way that only ISO 8601 knows.
                Some(at) => self.put_text(&at.to_string()),
                None => self.put_text(text),
            },
            (Cell::Text(text), _) => self.put_text(text),
            (Cell::Bool(yes), _) => self.put_text(if *yes { "true" } else { "false" }),
            (Cell::Number(number), _) => self.put_text(&number.to_string()),
        }
    }

    /// Adds an integer to the row.
    pub(crate) fn put_integer(&mut self, number: impl Into<i64>) {
        self.put_text(&number.into().to_string());
    }

    /// Adds a text to the row.
    pub(crate) fn put_text(&mut self, text: &str) {
        self.separate();
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escaped = match byte {
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0 => REPLACEMENT,
                _ => continue,
            };
            self.text.put_slice(&text.as_bytes()[plain..at]);
            self.text.put_slice(escaped.as_bytes());
            plain = at + 1;
        }
        self.text.put_slice(&text.as_bytes()[plain..]);
    }

    /// Adds JSON to the row.
    pub(crate) fn put_json(&mut self, json: &str) {
        self.put_text(&storable_json(json));
    }

    fn put_null(&mut self) {
        self.separate();
        self.text.put_slice(b"\\N");
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) {
        self.text.put_u8(b'\n');
        self.place = Place::RowStart;
        self.rows += 1;
    }

    /// Returns the pieces to send.
    pub(crate) fn into_pieces(self) -> impl Iterator<Item = Bytes> {
        let mut rest = self.text.freeze();
        std::iter::from_fn(move || {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            (!piece.is_empty()).then_some(piece)
        })
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.place, Place::AfterValue) == Place::AfterValue {
            self.text.put_u8(b'\t');
        }
    }
}

/// Returns JSON in which the escapes that `jsonb` refuses are replaced.
fn storable_json(json: &str) -> std::borrow::Cow<'_, str> {
    if !json.contains("\\u") {
        return json.into();
    }
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        let (kept, length) = match code_unit(escape) {
            Some(0 | 0xdc00..=0xdfff) => ("\\ufffd", 6),
            Some(0xd800..=0xdbff) => match code_unit(escape.get(6..).unwrap_or_default()) {
                Some(0xdc00..=0xdfff) => (&escape[..12], 12),
                _ => ("\\ufffd", 6),
            },
            Some(_) => (&escape[..6], 6),
            // A backslash and the character that it escapes, which may be another one.
            None => {
                let length = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                (&escape[..length], length)
            }
        };
        out.push_str(kept);
        rest = &escape[length..];
    }
    out.push_str(rest);
    out.into()
}

/// Returns the code unit that a text begins with, as `\uXXXX`.
fn code_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(put: impl FnOnce(&mut CopyText)) -> String {
        let mut text = CopyText::default();
        put(&mut text);
        text.end_row();
        text.into_pieces().map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
    }

    #[test]
    fn values_are_escaped_and_missing_ones_are_null() {
        let cell = |text: &str| Some(Cell::Text(text.to_owned()));
        for (value, kind, expected, why) in [
            (cell("a\tb\nc\\d\re"), SqlKind::Text, "a\\tb\\nc\\\\d\\re\n", "these separate values and rows"),
            (cell("\\N"), SqlKind::Text, "\\\\N\n", "a text is not NULL"),
            (cell("a\0b"), SqlKind::Text, "a\u{fffd}b\n", "PostgreSQL has no NUL"),
            (cell(""), SqlKind::Text, "\n", "an empty text is a value"),
            (None, SqlKind::Text, "\\N\n", "nothing is NULL"),
            (Some(Cell::Bool(true)), SqlKind::Bool, "true\n", "a boolean"),
            (Some(Cell::Number(7.into())), SqlKind::Text, "7\n", "a number as text"),
            (Some(Cell::Number(7.into())), SqlKind::Json, "7\n", "a number as JSON"),
            (cell("a\"\0"), SqlKind::Json, "\"a\\\\\"\\\\ufffd\"\n", "a text as JSON, whose escapes are escaped"),
            (cell("2021-03-03T11:00:00+01:00"), SqlKind::Instant, "2021-03-03T10:00:00Z\n", "a time"),
            (cell("2021-03-03"), SqlKind::Instant, "2021-03-03\n", "a day begins at midnight"),
        ] {
            assert_eq!(written(|text| text.put(value.as_ref(), kind)), expected, "{why}");
        }
        let two = written(|text| {
            text.put_integer(1_i32);
            text.put_text("x");
        });
        assert_eq!(two, "1\tx\n");
    }

    #[test]
    fn json_has_only_escapes_that_jsonb_holds() {
        for (json, expected, why) in [
            (r#"{"a":"b"}"#, r#"{"a":"b"}"#, "there is none"),
            (r#""\u0000""#, r#""\ufffd""#, "NUL"),
            (r#""\\u0000""#, r#""\\u0000""#, "an escaped backslash"),
            (r#""\\\u0000""#, r#""\\\ufffd""#, "and one after it"),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#, "a pair"),
            (r#""\ud83d""#, r#""\ufffd""#, "half a pair"),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#, "halves in the wrong order"),
            (r#""\ud83d\u0000""#, r#""\ufffd\ufffd""#, "half a pair before NUL"),
            (r#""\u00e9 \n""#, r#""\u00e9 \n""#, "others stay"),
            ("\\u12", "\\u12", "what is not JSON is left to the database to refuse"),
            ("\\", "\\", "the same"),
            ("\\uä123", "\\uä123", "the same"),
        ] {
            assert_eq!(storable_json(json), expected, "{why}");
        }
    }

    #[test]
    fn long_texts_are_sent_in_pieces() {
        let mut text = CopyText::default();
        text.put_text(&"x".repeat(3 * PIECE_BYTES));
        text.end_row();
        assert_eq!(text.rows(), 1);
        assert_eq!(
            text.into_pieces().map(|piece| piece.len()).collect::<Vec<_>>(),
            [PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, 1]
        );
    }
}
