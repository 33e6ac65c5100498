//! Text as a reader sees it: white space collapsed, lines broken where blocks begin and end.

use std::borrow::Cow;

use memchr::memchr3;

/// Invisible characters that only mark possible line breaks, and that nobody types when searching
/// for a word: soft hyphen, zero width space, word joiner, byte order mark.
///
/// The joiners U+200C and U+200D are excluded: without them, Persian and the scripts of India are
/// misspelt, and emoji fall apart.
const INVISIBLE: [&[u8]; 4] = [b"\xC2\xAD", b"\xE2\x80\x8B", b"\xE2\x81\xA0", b"\xEF\xBB\xBF"];

/// Their first bytes.
const INVISIBLE_BEGINNINGS: [u8; 3] = [0xC2, 0xE2, 0xEF];

/// Returns a text without invisible characters that only mark possible line breaks.
#[must_use]
pub fn without_invisible(text: &str) -> Cow<'_, str> {
    const CHARS: [char; 4] = ['\u{AD}', '\u{200B}', '\u{2060}', '\u{FEFF}'];
    if text.is_ascii() || !text.contains(CHARS) { Cow::Borrowed(text) } else { Cow::Owned(text.replace(CHARS, "")) }
}

/// The separator of two words, the weakest first: the strongest of several applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// None: they are one word.
    None,
    /// A space.
    Space,
    /// A tab, between table cells.
    Cell,
    /// A new line.
    Line,
}

/// Text that grows piece by piece, up to a limit.
#[derive(Debug)]
pub(super) struct TextBuffer {
    bytes: Vec<u8>,
    gap: Gap,
    bytes_max: usize,
    is_cut: bool,
}

impl TextBuffer {
    pub(super) const fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), gap: Gap::None, bytes_max, is_cut: false }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the limit cut off its end.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Separates the next piece from the existing text.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Appends a piece of UTF-8 of whole characters; runs of white space become one space.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !self.is_cut
            && let Some(start) = rest.iter().position(|byte| !is_space(*byte))
        {
            if start > 0 {
                self.gap(Gap::Space);
            }
            let text = &rest[start..];
            let (as_is, after) = text.split_at(as_is_bytes(text));
            self.append_visible(as_is);
            rest = &after[invisible_bytes(after)..];
        }
        if !rest.is_empty() {
            self.gap(Gap::Space);
        }
    }

    /// Appends a piece with significant white space.
    pub(super) fn push_preformatted(&mut self, piece: &[u8]) {
        let piece = match (self.bytes.last(), self.gap) {
            // White space before the first word is never shown.
            (None, _) => piece.trim_ascii_start(),
            // Nor is a line break right after `<pre>`.
            (Some(_), Gap::Line) => piece.strip_prefix(b"\n").unwrap_or(piece),
            _ => piece,
        };
        if !piece.is_empty() && !self.is_cut {
            self.append(piece);
        }
    }

    /// Appends the visible part of a piece.
    fn append(&mut self, piece: &[u8]) {
        let [c2, e2, ef] = INVISIBLE_BEGINNINGS;
        let (mut rest, mut from) = (piece, 0);
        while let Some(at) = memchr3(c2, e2, ef, &rest[from..]) {
            from += at;
            match invisible_bytes(&rest[from..]) {
                0 => from += 1,
                invisible => {
                    self.append_visible(&rest[..from]);
                    rest = &rest[from + invisible..];
                    from = 0;
                }
            }
        }
        self.append_visible(rest);
    }

    fn append_visible(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        let gap: &[u8] = match (std::mem::replace(&mut self.gap, Gap::None), self.bytes.last()) {
            (Gap::None, _) | (_, None | Some(b'\n')) => b"",
            (Gap::Space, _) => b" ",
            (Gap::Cell, _) => b"\t",
            (Gap::Line, _) => b"\n",
        };
        self.extend(gap);
        self.extend(piece);
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = self.bytes_max.saturating_sub(self.bytes.len());
        self.is_cut |= piece.len() > room;
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Empties it for other text, and returns the old text; `None` if it was empty.
    pub(super) fn take(&mut self) -> Option<String> {
        self.gap = Gap::None;
        self.is_cut = false;
        let text = if self.bytes.is_empty() { None } else { Some(to_text(&self.bytes)) };
        self.bytes.clear();
        text
    }

    /// Returns the text.
    pub(super) fn finish(self) -> String {
        match String::from_utf8(self.bytes) {
            Ok(mut text) => {
                text.truncate(text.trim_ascii_end().len());
                text
            }
            Err(error) => to_text(error.as_bytes()),
        }
    }
}

/// Drops half a character that a limit may have left.
fn to_text(bytes: &[u8]) -> String {
    bytes.trim_ascii_end().utf8_chunks().map(|chunk| chunk.valid()).collect()
}

/// Returns how many bytes of a text that begins with a word are kept as they are: words with one
/// space between any two, which most texts consist of.
fn as_is_bytes(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += plain_bytes(&text[at..]);
        let space = usize::from(text.get(at) == Some(&b' '));
        let after = &text[at + space..];
        // A letter that begins like an invisible character.
        if after.first().is_some_and(|byte| INVISIBLE_BEGINNINGS.contains(byte)) && invisible_bytes(after) == 0 {
            at += space + 1;
        } else {
            // The space before it may be one of several.
            return at - usize::from(at > 0 && text[at - 1] == b' ');
        }
    }
}

/// Returns the position of the first byte that may have to change: white space that is not a single
/// space between plain bytes, or the first byte of an invisible character.
fn plain_bytes(text: &[u8]) -> usize {
    const CHUNK: usize = 16;
    let mut at = 0;
    while let Some(chunk) = text[at..].first_chunk::<CHUNK>()
        && let Some(next) = text[at + 1..].first_chunk::<CHUNK>()
        && !has_special(chunk, next)
    {
        at += CHUNK;
    }
    let is_plain = |byte: &u8| IS_PLAIN[usize::from(*byte)];
    loop {
        at += text[at..].iter().position(|byte| !is_plain(byte)).unwrap_or(text.len() - at);
        match text[at..] {
            [b' ', after, ..] if is_plain(&after) => at += 2,
            _ => return at,
        }
    }
}

/// Whether one of these bytes is special before the one that follows it. Compares all of them, so
/// that the compiler can do so at once.
fn has_special<const N: usize>(bytes: &[u8; N], next: &[u8; N]) -> bool {
    let is_pair = |byte: u8, next: u8| (byte == b' ') & (next == b' ');
    bytes.iter().zip(next).fold(false, |special, (byte, next)| special | is_special(*byte) | is_pair(*byte, *next))
}

/// Whether a byte is white space other than a space, or may begin an invisible character.
const fn is_special(byte: u8) -> bool {
    let [c2, e2, ef] = INVISIBLE_BEGINNINGS;
    let is_white = (byte == b'\t') | (byte == b'\n') | (byte == b'\x0C') | (byte == b'\r');
    is_white | (byte == c2) | (byte == e2) | (byte == ef)
}

/// Whether each byte is neither a space nor special.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [true; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is less than 256")]
        let value = byte as u8;
        is_plain[byte] = value != b' ' && !is_special(value);
        byte += 1;
    }
    is_plain
};

/// Returns the length of the invisible character at the start of a text; 0 if there is none.
fn invisible_bytes(text: &[u8]) -> usize {
    INVISIBLE.iter().find(|invisible| text.starts_with(invisible)).map_or(0, |invisible| invisible.len())
}

/// White space in HTML.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0C' | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes the same in the plainest way.
    fn plain_text(text: &str, bytes_max: usize) -> String {
        let is_invisible = |c: char| matches!(c, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}');
        let seen: String = text.chars().filter(|c| !is_invisible(*c)).collect();
        let words: Vec<_> = seen.split([' ', '\t', '\n', '\x0C', '\r']).filter(|word| !word.is_empty()).collect();
        let words = words.join(" ");
        words[..words.floor_char_boundary(bytes_max)].trim_end_matches(' ').to_owned()
    }

    proptest! {
        #[test]
        fn words_in_any_pieces_are_separated_by_one_space(
            pieces in proptest::collection::vec(
                prop_oneof![
                    "[a-z]{1,20}( [a-z]{1,9}){0,4}",
                    "[ \t\n\r\x0C\x0B]{1,3}",
                    "[\u{AD}\u{200B}\u{2060}\u{FEFF}]{1,2}",
                    "[éÂ—\u{200C}€\u{FFFD}😀]{1,3}",
                    "( \u{AD} | —|— )",
                ],
                0..12,
            ),
            bytes_max in 0..90_usize,
        ) {
            let text = pieces.concat();
            let mut whole = TextBuffer::new(bytes_max);
            whole.push(text.as_bytes());
            // After a space, half a character may have been dropped.
            prop_assert_eq!(whole.finish().trim_end_matches(' ').to_owned(), plain_text(&text, bytes_max));
            let mut by_pieces = TextBuffer::new(bytes_max);
            pieces.iter().for_each(|piece| by_pieces.push(piece.as_bytes()));
            prop_assert_eq!(by_pieces.finish().trim_end_matches(' ').to_owned(), plain_text(&text, bytes_max));
        }
    }
}
