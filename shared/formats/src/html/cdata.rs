//! CDATA sections within what is read as raw text.
//!
//! In XML an end tag within a section is text: a script may hold `</script>` in one.

const BEGIN: &[u8] = b"<![CDATA[";
const END: &[u8] = b"]]>";

/// Watches text go by, in pieces of any length, for where a section begins and ends.
#[derive(Debug, Default)]
pub(super) struct Cdata {
    is_open: bool,
    /// How much of what is waited for was there.
    matched: usize,
}

impl Cdata {
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Takes the next piece.
    pub(super) fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            let awaited = if self.is_open { END } else { BEGIN };
            if *byte == awaited[self.matched] {
                self.matched += 1;
            } else if !(self.is_open && *byte == b']') {
                // Of `]]]` the last two may be those that count; a `<` stands only where a section begins.
                self.matched = usize::from(*byte == awaited[0]);
            }
            if self.matched == awaited.len() {
                *self = Self { is_open: !self.is_open, matched: 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections() {
        for (text, is_open, why) in [
            ("", false, "nothing"),
            ("a<![CDATA[b", true, "begun"),
            ("a<![CDATA[b]]>c", false, "ended"),
            ("<![CDATA[]]>", false, "empty"),
            ("<<![CDATA[", true, "a bracket before it"),
            ("<![CDATA<![CDATA[", true, "half of one before it"),
            ("<![cdata[", false, "in capitals only"),
            ("<![CDATA[a]]]>", false, "three brackets at its end"),
            ("<![CDATA[a]>]]b>", true, "ends that are none"),
            ("<![CDATA[<![CDATA[]]>", false, "they do not nest"),
            ("]]><![CDATA[", true, "an end without a beginning"),
        ] {
            let mut whole = Cdata::default();
            whole.read(text.as_bytes());
            assert_eq!(whole.is_open(), is_open, "{why}: {text}");
            let mut pieces = Cdata::default();
            text.bytes().for_each(|byte| pieces.read(&[byte]));
            assert_eq!(pieces.is_open(), is_open, "{why}, byte by byte: {text}");
        }
    }
}
