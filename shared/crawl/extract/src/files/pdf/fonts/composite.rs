//! Composite fonts: multi-byte codes for the glyphs of a CID font (ISO 32000-1, section 9.7).

use std::borrow::Cow;

use lopdf::{Dictionary, Object};

use super::cmap::{self, CMap};
use super::collections::{Characters, Codes};
use super::program::Program;
use super::{Direction, DrawnGlyph, FontSource};
use crate::files::pdf::limits::{ENTRY_BYTES, Exhausted};

/// The default width of a glyph, and the default vertical advance, in thousandths.
const WIDTH_DEFAULT: f32 = 1000.0;
const WIDTH_UNIT: f32 = 0.001;

/// A font with multi-byte codes.
#[derive(Debug)]
pub(in crate::files::pdf) struct Composite {
    coding: Coding,
    direction: Direction,
    to_unicode: Option<CMap>,
    /// The characters of its glyphs, if they belong to a collection.
    characters: Option<Characters>,
    program: Option<Program>,
    /// The map from CIDs to the program's glyphs; `None` if their numbers are the same.
    glyphs: Option<Vec<u8>>,
    widths: Widths,
}

/// How strings are split into codes.
#[derive(Debug)]
enum Coding {
    /// Two-byte CIDs.
    Identity,
    /// By a CMap in the file.
    Embedded(CMap),
    /// By a predefined CMap.
    Predefined(Codes),
}

impl Composite {
    pub(super) const fn direction(&self) -> Direction {
        self.direction
    }

    pub(super) fn show<E>(
        &self,
        mut bytes: &[u8],
        mut each: impl FnMut(DrawnGlyph<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            let (length, cid) = match &self.coding {
                Coding::Predefined(codes) => codes.first(bytes),
                Coding::Embedded(cmap) if cmap.has_codespaces() => (cmap.code_bytes(bytes), None),
                Coding::Identity | Coding::Embedded(_) => (2, None),
            };
            let (code, rest) = bytes.split_at(length.clamp(1, bytes.len()));
            bytes = rest;
            let number = cmap::number(code);
            let cid = match &self.coding {
                Coding::Predefined(_) => cid,
                Coding::Embedded(cmap) if cmap.has_cids() => cmap.cid(number),
                Coding::Identity | Coding::Embedded(_) => Some(number),
            };
            let text = self.text(number, cid);
            let width = match cid {
                _ if self.direction == Direction::Down => self.widths.down,
                Some(cid) => self.widths.width(cid),
                None => self.widths.default,
            };
            each(DrawnGlyph { text: text.as_deref(), width: width * WIDTH_UNIT, is_space: code == b" " })?;
        }
        Ok(())
    }

    fn text(&self, code: u32, cid: Option<u32>) -> Option<Cow<'_, str>> {
        let mapped = self.to_unicode.as_ref().and_then(|cmap| cmap.text(code));
        let of_collection = || self.characters.as_ref()?.text(cid?);
        let of_program = || self.program.as_ref()?.text_of_glyph(self.glyph(cid?)?).map(Cow::Borrowed);
        mapped.or_else(of_collection).map(Cow::Owned).or_else(of_program)
    }

    fn glyph(&self, cid: u32) -> Option<u32> {
        let Some(glyphs) = &self.glyphs else { return Some(cid) };
        let at = usize::try_from(cid).ok()?.checked_mul(2)?;
        let pair = glyphs.get(at..at.checked_add(2)?)?;
        Some(cmap::number(pair))
    }
}

impl<'d> FontSource<'d, '_> {
    /// Reads a composite font; `None` if it has no descendant font.
    pub(super) fn read_composite(&mut self, to_unicode: Option<CMap>) -> Result<Option<Composite>, Exhausted> {
        let descendants = self.array(self.dictionary, b"DescendantFonts").unwrap_or_default();
        let Some(font) = descendants.first().and_then(|font| self.resolved(font).as_dict().ok()) else {
            return Ok(None);
        };
        let name = self.name(self.dictionary, b"Encoding").unwrap_or_default();
        let coding = match (self.cmap(self.dictionary, b"Encoding")?, self.collections.codes(name)) {
            (Some(cmap), _) => Coding::Embedded(cmap),
            (None, Some(codes)) => Coding::Predefined(codes),
            (None, None) => Coding::Identity,
        };
        let characters = match &coding {
            Coding::Predefined(codes) => self.collections.characters_for(codes),
            Coding::Identity | Coding::Embedded(_) => self.characters(font),
        };
        let is_vertical = match &coding {
            Coding::Embedded(cmap) => cmap.is_vertical,
            _ => name == b"V" || name.ends_with(b"-V"),
        };
        let direction = if is_vertical { Direction::Down } else { Direction::Right };
        let (mut program, mut glyphs) = (None, None);
        if to_unicode.is_none() {
            let descriptor = self.dictionary(font, b"FontDescriptor");
            program = self.program(descriptor)?;
            if let Some(Object::Stream(stream)) = self.get(font, b"CIDToGIDMap") {
                glyphs = self.inflate(stream)?;
            }
        }
        let widths = self.cid_widths(font)?;
        Ok(Some(Composite { coding, direction, to_unicode, characters, program, glyphs, widths }))
    }

    /// Returns the collection of a font's glyphs.
    fn characters(&mut self, font: &'d Dictionary) -> Option<Characters> {
        let system = self.dictionary(font, b"CIDSystemInfo")?;
        let [registry, ordering] =
            [&b"Registry"[..], b"Ordering"].map(|key| self.get(system, key).and_then(|name| name.as_str().ok()));
        self.collections.characters(registry?, ordering?)
    }

    fn cid_widths(&mut self, font: &'d Dictionary) -> Result<Widths, Exhausted> {
        let down = self.array(font, b"DW2").and_then(|pair| self.float(pair.get(1)?));
        let mut widths = Widths {
            default: self.number(font, b"DW").unwrap_or(WIDTH_DEFAULT),
            down: down.map_or(WIDTH_DEFAULT, f32::abs),
            ranges: Vec::new(),
        };
        let mut entries = self.array(font, b"W").unwrap_or_default().iter();
        while let (Some(first), Some(second)) = (entries.next(), entries.next()) {
            self.budget.spend_bytes(ENTRY_BYTES)?;
            let Some(low) = self.cid(first) else { continue };
            if let Object::Array(each) = self.resolved(second) {
                self.budget.spend_bytes(ENTRY_BYTES * each.len())?;
                for (cid, width) in (low..=u32::MAX).zip(each) {
                    widths.ranges.push((cid, cid, self.float(width).unwrap_or(widths.default)));
                }
            } else if let (Some(high), Some(width)) = (self.cid(second), entries.next()) {
                widths.ranges.push((low, high, self.float(width).unwrap_or(widths.default)));
            }
        }
        widths.ranges.sort_by_key(|(low, ..)| *low);
        Ok(widths)
    }

    fn cid(&self, object: &'d Object) -> Option<u32> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        let cid = self.float(object)? as u32;
        Some(cid)
    }
}

/// The widths of a CID font's glyphs, in thousandths (section 9.7.4.3).
#[derive(Debug)]
struct Widths {
    default: f32,
    /// The vertical advance of a vertical font.
    down: f32,
    /// Ranges of CIDs with their width, sorted.
    ranges: Vec<(u32, u32, f32)>,
}

impl Widths {
    fn width(&self, cid: u32) -> f32 {
        let end = self.ranges.partition_point(|(low, ..)| *low <= cid);
        let range = self.ranges.get(..end).and_then(<[_]>::last).filter(|(_, high, _)| cid <= *high);
        range.map_or(self.default, |(_, _, width)| *width)
    }
}
