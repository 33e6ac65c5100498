//! The glyph widths of the 14 standard fonts (ISO 32000-1, section 9.6.2.2), in thousandths of
//! their size. Other fonts without widths use those of the font that they resemble.

use unicode_normalization::UnicodeNormalization;

/// All glyphs of Courier.
const MONOSPACED: f32 = 600.0;

/// Glyphs missing from all tables, such as Chinese characters.
const UNKNOWN: f32 = 556.0;
const FULL: f32 = 1000.0;

type Ascii = [u16; 95];

/// Characters 32 to 126 of Helvetica and Helvetica-Oblique.
const SANS: Ascii = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// Helvetica-Bold and Helvetica-BoldOblique.
const SANS_BOLD: Ascii = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
    556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
    280, 389, 584,
];

/// Times-Roman.
const SERIF: Ascii = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];

/// Times-Bold.
const SERIF_BOLD: Ascii = [
    250, 333, 555, 500, 500, 1000, 833, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 333, 333, 570, 570, 570, 500, 930, 722, 667, 722, 722, 667, 611, 778, 778, 389, 500, 778, 667, 944,
    722, 778, 611, 778, 722, 556, 667, 722, 722, 1000, 722, 722, 667, 333, 278, 333, 581, 500, 333, 500, 556, 444, 556,
    444, 333, 500, 556, 278, 333, 556, 278, 833, 556, 500, 556, 556, 444, 389, 333, 556, 500, 722, 500, 500, 444, 394,
    220, 394, 520,
];

/// Times-Italic.
const SERIF_ITALIC: Ascii = [
    250, 333, 420, 500, 500, 833, 778, 214, 333, 333, 500, 675, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 333, 333, 675, 675, 675, 500, 920, 611, 611, 667, 722, 611, 611, 722, 722, 333, 444, 667, 556, 833,
    667, 722, 611, 722, 611, 500, 556, 722, 611, 833, 611, 556, 556, 389, 278, 389, 422, 500, 333, 500, 500, 444, 500,
    444, 278, 500, 500, 278, 278, 444, 278, 722, 500, 500, 500, 500, 389, 389, 278, 500, 444, 667, 444, 444, 389, 400,
    275, 400, 541,
];

/// Times-BoldItalic.
const SERIF_BOLD_ITALIC: Ascii = [
    250, 389, 555, 500, 500, 833, 778, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 333, 333, 570, 570, 570, 500, 832, 667, 667, 667, 722, 667, 667, 722, 778, 389, 500, 667, 611, 889,
    722, 722, 611, 722, 667, 556, 611, 722, 667, 889, 667, 611, 611, 333, 278, 333, 570, 500, 333, 500, 500, 444, 500,
    444, 333, 500, 556, 278, 278, 500, 278, 778, 556, 500, 500, 500, 389, 389, 278, 556, 444, 667, 500, 444, 389, 348,
    220, 348, 570,
];

/// The widths of a font that does not give them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Metrics {
    Monospaced,
    Proportional(&'static Ascii),
}

impl Metrics {
    /// Chooses the metrics by the font's name.
    pub(super) fn for_font(font: &[u8]) -> Self {
        let name = String::from_utf8_lossy(font).to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let (is_bold, is_italic) = (has(&["bold", "black", "heavy"]), has(&["italic", "oblique"]));
        if has(&["courier", "mono", "typewriter", "console"]) {
            return Self::Monospaced;
        }
        let is_serif = has(&["times", "serif", "roman", "georgia", "garamond", "palatino", "cmr", "century", "book"]);
        let is_sans = has(&["sans", "helvetica", "arial"]);
        Self::Proportional(match (is_serif && !is_sans, is_bold, is_italic) {
            (false, false, _) => &SANS,
            (false, true, _) => &SANS_BOLD,
            (true, false, false) => &SERIF,
            (true, true, false) => &SERIF_BOLD,
            (true, false, true) => &SERIF_ITALIC,
            (true, true, true) => &SERIF_BOLD_ITALIC,
        })
    }

    /// Returns the width of a glyph by its text. Accents do not change it.
    pub(super) fn width(self, text: &str) -> f32 {
        let Self::Proportional(table) = self else { return MONOSPACED };
        let Some(character) = text.nfkd().next() else { return UNKNOWN };
        let of_ascii = |c: char| {
            let index = u32::from(c).checked_sub(32).and_then(|index| usize::try_from(index).ok());
            index.and_then(|index| table.get(index)).map(|width| f32::from(*width))
        };
        let letters = |letters: &str| letters.chars().filter_map(of_ascii).sum();
        match character {
            '\u{2014}'
            | '\u{2026}'
            | '\u{2122}'
            | 'Æ'
            | 'Œ'
            | '\u{2E80}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7FF}'
            | '\u{20000}'..='\u{3FFFF}' => FULL,
            '\u{2018}' | '\u{2019}' | '\u{201A}' => letters(","),
            '\u{201C}' | '\u{201D}' | '\u{201E}' => letters("\""),
            'æ' | 'œ' => letters("ae") * 0.8,
            'ß' => letters("b"),
            'ø' => letters("o"),
            'Ø' => letters("O"),
            'ı' => letters("I"),
            other => of_ascii(other).unwrap_or(UNKNOWN),
        }
    }
}
