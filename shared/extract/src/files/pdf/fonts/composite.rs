//! Composite fonts: codes of several bytes stand for the glyphs of a CID font (ISO 32000-1, section 9.7).

use std::borrow::Cow;

use encoding_rs::Encoding;
use lopdf::{Dictionary, Object};

use super::cmap::{self, CMap};
use super::program::Program;
use super::{Direction, FontSource, Shown};
use crate::files::pdf::limits::{ENTRY_BYTES, Exhausted};

/// The width of a glyph of which nothing is said, and how far a vertical font moves down, in thousandths.
const WIDTH_DEFAULT: f32 = 1000.0;
const WIDTH_UNIT: f32 = 0.001;

/// A font whose codes may have several bytes.
#[derive(Debug)]
pub(in crate::files::pdf) struct Composite {
    coding: Coding,
    direction: Direction,
    to_unicode: Option<CMap>,
    program: Option<Program>,
    /// Which glyph of the program a CID is; `None` if they have the same numbers.
    glyphs: Option<Vec<u8>>,
    widths: Widths,
}

/// What the codes of a string are.
#[derive(Debug)]
enum Coding {
    /// The numbers of glyphs, in two bytes.
    Identity,
    /// Those of a CMap in the file.
    Embedded(CMap),
    /// UTF-16.
    Utf16,
    /// Those of a character set.
    Charset(&'static Encoding),
}

impl Composite {
    pub(super) const fn direction(&self) -> Direction {
        self.direction
    }

    pub(super) fn show<E>(&self, mut bytes: &[u8], mut each: impl FnMut(Shown<'_>) -> Result<(), E>) -> Result<(), E> {
        while !bytes.is_empty() {
            let (code, rest) = bytes.split_at(self.code_bytes(bytes).clamp(1, bytes.len()));
            bytes = rest;
            let number = cmap::number(code);
            let cid = match &self.coding {
                Coding::Identity => Some(number),
                Coding::Embedded(cmap) => cmap.cid(number).or_else(|| (!cmap.has_cids()).then_some(number)),
                Coding::Utf16 | Coding::Charset(_) => None,
            };
            let text = self.text(code, number, cid);
            let width = match cid {
                _ if self.direction == Direction::Down => self.widths.down,
                Some(cid) => self.widths.width(cid),
                // Half of those sets' characters are half as wide, as their codes are.
                None if code.len() == 1 => self.widths.default / 2.0,
                None => self.widths.default,
            };
            each(Shown { text: text.as_deref(), width: width * WIDTH_UNIT, is_space: code == b" " })?;
        }
        Ok(())
    }

    fn code_bytes(&self, bytes: &[u8]) -> usize {
        match &self.coding {
            Coding::Embedded(cmap) if cmap.has_codespaces() => cmap.code_bytes(bytes),
            Coding::Utf16 if matches!(bytes, [0xD8..=0xDB, ..]) => 4,
            Coding::Identity | Coding::Embedded(_) | Coding::Utf16 => 2,
            Coding::Charset(encoding) => {
                let is_single =
                    |byte: u8| byte < 0x80 || (*encoding == encoding_rs::SHIFT_JIS && (0xA0..0xE0).contains(&byte));
                if bytes.first().is_some_and(|byte| is_single(*byte)) { 1 } else { 2 }
            }
        }
    }

    fn text<'s>(&'s self, code: &[u8], number: u32, cid: Option<u32>) -> Option<Cow<'s, str>> {
        if let Some(text) = self.to_unicode.as_ref().and_then(|cmap| cmap.text(number)) {
            return Some(Cow::Owned(text));
        }
        let decoded = match &self.coding {
            Coding::Utf16 => encoding_rs::UTF_16BE.decode_without_bom_handling(code).0,
            Coding::Charset(encoding) => encoding.decode_without_bom_handling(code).0,
            Coding::Identity | Coding::Embedded(_) => {
                let glyph = self.glyph(cid?)?;
                return self.program.as_ref()?.text_of_glyph(glyph).map(Cow::Borrowed);
            }
        };
        (!decoded.contains(char::REPLACEMENT_CHARACTER)).then(|| Cow::Owned(decoded.into_owned()))
    }

    fn glyph(&self, cid: u32) -> Option<u32> {
        let Some(glyphs) = &self.glyphs else { return Some(cid) };
        let at = usize::try_from(cid).ok()?.checked_mul(2)?;
        let pair = glyphs.get(at..at.checked_add(2)?)?;
        Some(cmap::number(pair))
    }
}

impl<'d> FontSource<'d, '_> {
    /// Reads a composite font; `None` if there is no font in it.
    pub(super) fn read_composite(&mut self, to_unicode: Option<CMap>) -> Result<Option<Composite>, Exhausted> {
        let descendants = self.array(self.dictionary, b"DescendantFonts").unwrap_or_default();
        let Some(font) = descendants.first().and_then(|font| self.resolved(font).as_dict().ok()) else {
            return Ok(None);
        };
        let name = self.name(self.dictionary, b"Encoding").unwrap_or_default();
        let coding = match self.cmap(self.dictionary, b"Encoding")? {
            Some(cmap) => Coding::Embedded(cmap),
            None => Coding::named(name),
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
        Ok(Some(Composite { coding, direction, to_unicode, program, glyphs, widths }))
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

impl Coding {
    /// Returns the coding of a predefined CMap (table 118).
    fn named(name: &[u8]) -> Self {
        let contains = |part: &[u8]| memchr::memmem::find(name, part).is_some();
        if contains(b"UCS2") || contains(b"UTF16") {
            return Self::Utf16;
        }
        Self::Charset(match name {
            b"EUC-H" | b"EUC-V" => encoding_rs::EUC_JP,
            _ if contains(b"RKSJ") => encoding_rs::SHIFT_JIS,
            _ if contains(b"GBK2K") => encoding_rs::GB18030,
            _ if name.starts_with(b"GB") => encoding_rs::GBK,
            _ if contains(b"B5") => encoding_rs::BIG5,
            _ if name.starts_with(b"KSC") => encoding_rs::EUC_KR,
            _ => return Self::Identity,
        })
    }
}

/// How wide the glyphs of a CID font are, in thousandths (section 9.7.4.3).
#[derive(Debug)]
struct Widths {
    default: f32,
    /// How far a glyph of a vertical font moves down.
    down: f32,
    /// From one CID to another, sorted.
    ranges: Vec<(u32, u32, f32)>,
}

impl Widths {
    fn width(&self, cid: u32) -> f32 {
        let end = self.ranges.partition_point(|(low, ..)| *low <= cid);
        let range = self.ranges.get(..end).and_then(<[_]>::last).filter(|(_, high, _)| cid <= *high);
        range.map_or(self.default, |(_, _, width)| *width)
    }
}
