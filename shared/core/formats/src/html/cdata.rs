//! CDATA sections within scripts and style sheets.

const CDATA_BEGIN: &[u8] = b"<![CDATA[";
const CDATA_END: &[u8] = b"]]>";

/// Searches raw text, in pieces of any length, for the beginning and end of CDATA sections. In XML,
/// an end tag within a section is text: a script may contain `</script>` in one.
#[derive(Debug, Default)]
pub(super) struct Cdata {
    is_open: bool,
    /// How much of the awaited delimiter has matched.
    matched: usize,
}

impl Cdata {
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Takes the next piece.
    pub(super) fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            let awaited = if self.is_open { CDATA_END } else { CDATA_BEGIN };
            if *byte == awaited[self.matched] {
                self.matched += 1;
            } else if !(self.is_open && *byte == b']') {
                // In `]]]`, the last two may be the relevant ones; a `<` only occurs where a
                // section begins.
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
            ("<![CDATA[a]>]]b>", true, "ends that are not ends"),
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
