//! Simple fonts: each byte is a code (ISO 32000-1, section 9.6).

use lopdf::{Dictionary, Object};

use super::cmap::CMap;
use super::encodings::{NamedEncoding, is_dingbat, text_of_name};
use super::metrics::Metrics;
use super::{DrawnGlyph, FontSource};
use crate::files::pdf::limits::Exhausted;
use crate::files::pdf::matrix::Matrix;

/// The unit of widths, except in fonts of type 3.
const WIDTH_UNIT: f32 = 0.001;

/// A font with one-byte codes.
#[derive(Debug)]
pub(in crate::files::pdf) struct Simple {
    glyphs: Vec<Glyph>,
    em: f32,
}

#[derive(Debug, Default)]
struct Glyph {
    text: Option<String>,
    width: f32,
}

impl Simple {
    pub(super) const fn em(&self) -> f32 {
        self.em
    }

    pub(super) fn glyph(&self, code: u8) -> DrawnGlyph<'_> {
        let glyph = self.glyphs.get(usize::from(code));
        DrawnGlyph {
            text: glyph.and_then(|glyph| glyph.text.as_deref()),
            width: glyph.map_or(0.0, |glyph| glyph.width),
            is_space: code == b' ',
        }
    }
}

/// A font's encoding.
struct Encoding<'d> {
    base: Option<NamedEncoding>,
    /// Glyph names, by code.
    names: Vec<Option<&'d [u8]>>,
}

impl<'d> FontSource<'d, '_> {
    pub(super) fn read_simple(&mut self, to_unicode: Option<&CMap>) -> Result<Simple, Exhausted> {
        let descriptor = self.dictionary(self.dictionary, b"FontDescriptor");
        let font = self.name(self.dictionary, b"BaseFont").unwrap_or_default();
        let encoding = self.encoding();
        let program = if encoding.base.is_none() { self.program(descriptor)? } else { None };
        // Type 3 has no built-in encoding; for the others this one is the last resort.
        let fallback = NamedEncoding::built_in(font).unwrap_or(NamedEncoding::Standard);
        let text = |code: u8| {
            let named = || {
                let name = encoding.names.get(usize::from(code)).copied().flatten()?;
                let is_dingbats = fallback == NamedEncoding::Dingbats;
                Some(str::from_utf8(name).ok().filter(|name| is_dingbats || !is_dingbat(name)).and_then(text_of_name))
            };
            let unnamed = || match (encoding.base, &program) {
                (Some(base), _) => base.text(code),
                (None, Some(program)) => program.text_of_code(code).map(str::to_owned),
                (None, None) => fallback.text(code),
            };
            to_unicode.and_then(|cmap| cmap.text(u32::from(code))).or_else(|| named().unwrap_or_else(unnamed))
        };
        let is_type_3 = self.name(self.dictionary, b"Subtype") == Some(b"Type3");
        let widths = self.widths(descriptor);
        let metrics = Metrics::for_font(font);
        let glyphs: Vec<_> = (0..=u8::MAX)
            .map(|code| {
                let text = text(code);
                let in_metrics = || metrics.width(text.as_deref().unwrap_or_default()) * WIDTH_UNIT;
                let width = widths.as_ref().map_or_else(in_metrics, |widths| widths.width(code));
                Glyph { text, width }
            })
            .collect();
        let em = if is_type_3 { em_of_widths(&glyphs) } else { 1.0 };
        Ok(Simple { glyphs, em })
    }

    fn encoding(&self) -> Encoding<'d> {
        let mut encoding = Encoding { base: None, names: Vec::new() };
        match self.get(self.dictionary, b"Encoding") {
            Some(Object::Name(name)) => encoding.base = NamedEncoding::from_name(name),
            Some(Object::Dictionary(dictionary)) => {
                encoding.base = self.name(dictionary, b"BaseEncoding").and_then(NamedEncoding::from_name);
                encoding.names = vec![None; 256];
                let mut code = 0_usize;
                for object in self.array(dictionary, b"Differences").unwrap_or_default().iter().take(1 << 12) {
                    match self.resolved(object) {
                        Object::Name(name) => {
                            if let Some(slot) = encoding.names.get_mut(code) {
                                *slot = Some(name);
                            }
                            code += 1;
                        }
                        number => {
                            code = number.as_i64().ok().and_then(|code| usize::try_from(code).ok()).unwrap_or(256);
                        }
                    }
                }
            }
            _ => {}
        }
        encoding
    }

    /// Reads the widths of glyphs; `None` if the font has none, as is allowed for standard fonts.
    fn widths(&self, descriptor: Option<&'d Dictionary>) -> Option<Widths> {
        let widths = self.array(self.dictionary, b"Widths")?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        let first = self.number(self.dictionary, b"FirstChar").unwrap_or(0.0) as usize;
        let matrix = self.get(self.dictionary, b"FontMatrix").and_then(Matrix::read);
        let is_type_3 = self.name(self.dictionary, b"Subtype") == Some(b"Type3");
        Some(Widths {
            first,
            unit: matrix.filter(|_| is_type_3).map_or(WIDTH_UNIT, |matrix| matrix.way(1.0, 0.0).x),
            missing: descriptor.and_then(|descriptor| self.number(descriptor, b"MissingWidth")).unwrap_or(0.0),
            widths: widths.iter().take(256).map(|width| self.float(width).unwrap_or(0.0)).collect(),
        })
    }
}

/// Returns the height of the letters of a font with its own unit: about twice their width.
fn em_of_widths(glyphs: &[Glyph]) -> f32 {
    let widths = glyphs.iter().map(|glyph| glyph.width).filter(|width| *width > 0.0);
    let (sum, count) = widths.fold((0.0, 0.0), |(sum, count), width| (sum + width, count + 1.0));
    if count > 0.0 { 2.0 * sum / count } else { 1.0 }
}

/// The widths in a font.
struct Widths {
    first: usize,
    unit: f32,
    missing: f32,
    widths: Vec<f32>,
}

impl Widths {
    fn width(&self, code: u8) -> f32 {
        let index = usize::from(code).checked_sub(self.first);
        index.and_then(|index| self.widths.get(index)).unwrap_or(&self.missing) * self.unit
    }
}
