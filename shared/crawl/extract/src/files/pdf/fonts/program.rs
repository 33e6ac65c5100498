//! The glyph information in the program of an embedded font. It is used only if the file itself
//! does not map codes to characters.

use std::collections::HashMap;

use read_fonts::ps::cff::CffFontRef;
use read_fonts::ps::type1::Type1Font;
use read_fonts::tables::cmap::{CmapIterLimits, CmapSubtable};
use read_fonts::types::{GlyphId, GlyphId16};
use read_fonts::{FontRef, TableProvider};

use super::encodings::{NamedEncoding, text_of_name};

/// The most characters looked up in a font.
const CHARACTERS_MAX: usize = 1 << 16;

/// The character at which a symbol font places code 0 (ISO 32000-1, section 9.6.6.4).
const SYMBOLS: u32 = 0xF000;

/// The texts of an embedded font's glyphs.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// By the codes of a simple font.
    codes: HashMap<u8, String>,
    /// By the glyph's number in the font.
    glyphs: HashMap<u32, String>,
}

/// The form of an embedded font (ISO 32000-1, table 126).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramForm {
    Type1,
    TrueType,
    Compact,
}

impl ProgramForm {
    /// The key of the program in a font's descriptor.
    pub(super) const fn key(self) -> &'static [u8] {
        match self {
            Self::Type1 => b"FontFile",
            Self::TrueType => b"FontFile2",
            Self::Compact => b"FontFile3",
        }
    }
}

impl Program {
    /// Reads a font; `None` if it is damaged, or does not map glyphs to text.
    pub(super) fn read(form: ProgramForm, bytes: &[u8]) -> Option<Self> {
        match form {
            ProgramForm::Type1 => Self::read_type_1(bytes),
            ProgramForm::TrueType => Self::read_true_type(bytes),
            ProgramForm::Compact => Self::read_compact(bytes),
        }
    }

    fn read_type_1(bytes: &[u8]) -> Option<Self> {
        let font = Type1Font::new(bytes).ok()?;
        let encoding = font.encoding()?;
        let text = |code| Some((code, text_of_name(encoding.glyph_name(code)?)?));
        Some(Self { codes: (0..=u8::MAX).filter_map(text).collect(), glyphs: HashMap::new() })
    }

    /// Reads a font in the compact format, or an OpenType font.
    fn read_compact(bytes: &[u8]) -> Option<Self> {
        if let Ok(font) = FontRef::new(bytes) {
            return match font.cff() {
                Ok(cff) => Self::read_compact(cff.offset_data().as_bytes()),
                Err(_) => Self::read_true_type(bytes),
            };
        }
        let font = CffFontRef::new_cff(bytes, 0, None).ok()?;
        if font.is_cid() {
            return None;
        }
        let charset = font.charset()?;
        let name = |glyph: GlyphId| font.string(charset.string_id(glyph)?).and_then(|name| str::from_utf8(name).ok());
        let text = |glyph: GlyphId| text_of_name(name(glyph)?);
        let encoding = font.encoding();
        let glyphs = u32::try_from(CHARACTERS_MAX).map_or(u32::MAX, |max| font.num_glyphs().min(max));
        Some(Self {
            codes: (0..=u8::MAX).filter_map(|code| Some((code, text(encoding.as_ref()?.map(code)?)?))).collect(),
            glyphs: (0..glyphs).filter_map(|glyph| Some((glyph, text(GlyphId::new(glyph))?))).collect(),
        })
    }

    /// Reads a TrueType font.
    fn read_true_type(bytes: &[u8]) -> Option<Self> {
        let font = FontRef::new(bytes).ok()?;
        let mut glyphs = HashMap::new();
        let (mut symbols, mut macintosh) = (None, None);
        let limits = CmapIterLimits::default_for_font(&font);
        if let Ok(cmap) = font.cmap() {
            for record in cmap.encoding_records().iter().take(16) {
                let Ok(table) = record.subtable(cmap.offset_data()) else { continue };
                match (record.platform_id() as u16, record.encoding_id()) {
                    (0, _) | (3, 1 | 10) => {
                        for (character, glyph) in table.iter_with_limits(limits).take(CHARACTERS_MAX) {
                            if let Some(character) = char::from_u32(character).filter(|c| !is_private(*c)) {
                                glyphs.entry(glyph.to_u32()).or_insert_with(|| character.to_string());
                            }
                        }
                    }
                    (3, 0) => symbols = Some(table),
                    (1, 0) => macintosh = Some(table),
                    _ => {}
                }
            }
        }
        if let Ok(post) = font.post() {
            for glyph in 0..post.num_names().min(CHARACTERS_MAX) {
                let Ok(number) = u16::try_from(glyph) else { break };
                if let Some(text) = post.glyph_name(GlyphId16::new(number)).and_then(text_of_name) {
                    glyphs.entry(u32::from(number)).or_insert(text);
                }
            }
        }
        let codes = (0..=u8::MAX).filter_map(|code| {
            let of_symbol = |base: u32| symbols.as_ref().and_then(|table| map(table, base + u32::from(code)));
            let of_macintosh = || macintosh.as_ref().and_then(|table| map(table, u32::from(code)));
            let glyph = of_symbol(SYMBOLS).or_else(|| of_symbol(0)).or_else(of_macintosh)?;
            let named = glyphs.get(&glyph).cloned();
            let text = named.or_else(|| NamedEncoding::MacRoman.text(code).filter(|_| of_macintosh().is_some()));
            Some((code, text?))
        });
        let codes = codes.collect();
        Some(Self { codes, glyphs })
    }

    /// Returns the text of a simple font's code.
    pub(super) fn text_of_code(&self, code: u8) -> Option<&str> {
        self.codes.get(&code).map(String::as_str)
    }

    /// Returns the text of a glyph by its number.
    pub(super) fn text_of_glyph(&self, glyph: u32) -> Option<&str> {
        self.glyphs.get(&glyph).map(String::as_str)
    }
}

fn map(table: &CmapSubtable<'_>, code: u32) -> Option<u32> {
    table.map_codepoint(code).map(GlyphId::to_u32).filter(|glyph| *glyph != 0)
}

const fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}')
}
