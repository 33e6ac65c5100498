//! Text as a reader sees it: white space collapsed, lines broken where blocks begin and end.

/// Invisible characters that only say where a line may break, which nobody types when searching for a word: soft hyphen, zero width space, word
/// joiner, byte order mark.
///
/// The joiners U+200C and U+200D are not among them: without these, Persian and the scripts of India are misspelt, and emoji fall apart.
const INVISIBLE: [&[u8]; 4] = [b"\xC2\xAD", b"\xE2\x80\x8B", b"\xE2\x81\xA0", b"\xEF\xBB\xBF"];

/// What separates two words, the weakest first: of several, the strongest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing: they are one word.
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
pub(super) struct Words {
    bytes: Vec<u8>,
    gap: Gap,
    bytes_max: usize,
    is_cut: bool,
}

impl Words {
    pub(super) const fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), gap: Gap::None, bytes_max, is_cut: false }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the limit cut its end off.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Separates what follows from what is there.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Appends a piece of UTF-8, which may end within a character; runs of white space become one space.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !self.is_cut
            && let Some(start) = rest.iter().position(|byte| !is_space(*byte))
        {
            if start > 0 {
                self.gap(Gap::Space);
            }
            rest = &rest[start..];
            let end = rest.iter().position(|byte| is_space(*byte)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            self.append(word);
            rest = after;
        }
        if !rest.is_empty() {
            self.gap(Gap::Space);
        }
    }

    /// Appends a piece whose white space matters.
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
        let (mut rest, mut from) = (piece, 0);
        while let Some(at) = rest[from..].iter().position(|byte| begins_invisible(*byte)) {
            from += at;
            match INVISIBLE.iter().find(|invisible| rest[from..].starts_with(invisible)) {
                Some(invisible) => {
                    self.append_visible(&rest[..from]);
                    rest = &rest[from + invisible.len()..];
                    from = 0;
                }
                None => from += 1,
            }
        }
        self.append_visible(rest);
    }

    fn append_visible(&mut self, piece: &[u8]) {
        let Some(first) = piece.first() else { return };
        let gap: &[u8] = match (std::mem::replace(&mut self.gap, Gap::None), self.bytes.last()) {
            (Gap::None, _) | (_, None | Some(b'\n')) => b"",
            (Gap::Space, _) => b" ",
            (Gap::Cell, _) => b"\t",
            (Gap::Line, _) => b"\n",
        };
        self.extend(gap);
        let seam = self.bytes.len();
        self.extend(piece);
        if is_continuation(*first) {
            self.drop_invisible_at(seam);
        }
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = self.bytes_max.saturating_sub(self.bytes.len());
        self.is_cut |= piece.len() > room;
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Removes the character that the tokenizer split here, if it is invisible.
    fn drop_invisible_at(&mut self, seam: usize) {
        let is_begin = |byte: &u8| !is_continuation(*byte);
        let Some(start) = self.bytes[..seam].iter().rposition(is_begin) else { return };
        if let Some(invisible) = INVISIBLE.iter().find(|invisible| self.bytes[start..].starts_with(invisible)) {
            self.bytes.drain(start..start + invisible.len());
        }
    }

    /// Empties it for other text, and returns what there was; `None` if there was nothing.
    pub(super) fn take(&mut self) -> Option<String> {
        self.gap = Gap::None;
        self.is_cut = false;
        let text = if self.bytes.is_empty() { None } else { Some(to_text(&self.bytes)) };
        self.bytes.clear();
        text
    }

    /// The text.
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

/// Whether one of [`INVISIBLE`] begins with this.
const fn begins_invisible(byte: u8) -> bool {
    matches!(byte, 0xC2 | 0xE2 | 0xEF)
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// White space in HTML.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0C' | b'\r')
}
