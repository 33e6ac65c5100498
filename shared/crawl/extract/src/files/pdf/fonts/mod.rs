//! Fonts: how strings are split into codes, the text of each code, and how far the pen advances.

mod cmap;
mod collections;
mod composite;
mod encodings;
mod metrics;
mod program;
mod simple;

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, Stream};

use self::cmap::CMap;
use self::collections::Collections;
use self::composite::Composite;
use self::program::{Program, ProgramForm};
use self::simple::Simple;
use super::limits::{Budget, ENTRY_BYTES, Exhausted, FONTS_MAX};

/// A font, reduced to texts and widths.
#[derive(Debug)]
pub(super) enum Font {
    Simple(Simple),
    Composite(Box<Composite>),
}

/// The writing direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Right,
    Down,
}

/// A glyph that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DrawnGlyph<'f> {
    /// Its text; `None` if unknown.
    pub(super) text: Option<&'f str>,
    /// The advance of the pen for font size 1: to the right, or downwards for vertical fonts.
    pub(super) width: f32,
    /// Whether word spacing applies: to the one-byte code 32 (ISO 32000-1, section 9.3.3).
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn direction(&self) -> Direction {
        match self {
            Self::Simple(_) => Direction::Right,
            Self::Composite(font) => font.direction(),
        }
    }

    /// Returns the height of its letters for font size 1; a font of type 3 defines its own.
    pub(super) fn em(&self) -> f32 {
        match self {
            Self::Simple(font) => font.em(),
            Self::Composite(_) => 1.0,
        }
    }

    /// Splits a string into glyphs, until `each` fails.
    pub(super) fn show<E>(&self, bytes: &[u8], mut each: impl FnMut(DrawnGlyph<'_>) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Simple(font) => bytes.iter().try_for_each(|code| each(font.glyph(*code))),
            Self::Composite(font) => font.show(bytes, each),
        }
    }
}

/// The fonts of a document, each read once.
#[derive(Debug)]
pub(super) struct Fonts<'d> {
    document: &'d Document,
    read: HashMap<*const Dictionary, Option<Rc<Font>>>,
    collections: Collections,
}

impl<'d> Fonts<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self { document, read: HashMap::new(), collections: Collections::default() }
    }

    /// Returns a font, reading it if necessary; `None` if there are too many, or it cannot be read.
    pub(super) fn font(
        &mut self,
        dictionary: &'d Dictionary,
        budget: &mut Budget,
    ) -> Result<Option<Rc<Font>>, Exhausted> {
        let key = std::ptr::from_ref(dictionary);
        if let Some(font) = self.read.get(&key) {
            return Ok(font.clone());
        }
        if self.read.len() >= FONTS_MAX {
            return Ok(None);
        }
        let mut source = FontSource { document: self.document, dictionary, collections: &mut self.collections, budget };
        let font = source.read()?.map(Rc::new);
        self.read.insert(key, font.clone());
        Ok(font)
    }
}

/// A font in a file, and the budget for reading it.
struct FontSource<'d, 'b> {
    document: &'d Document,
    dictionary: &'d Dictionary,
    collections: &'b mut Collections,
    budget: &'b mut Budget,
}

impl<'d> FontSource<'d, '_> {
    fn read(&mut self) -> Result<Option<Font>, Exhausted> {
        self.budget.spend_bytes(ENTRY_BYTES * 256)?;
        let to_unicode = self.cmap(self.dictionary, b"ToUnicode")?;
        Ok(match self.name(self.dictionary, b"Subtype") {
            Some(b"Type0") => self.read_composite(to_unicode)?.map(|font| Font::Composite(Box::new(font))),
            _ => Some(Font::Simple(self.read_simple(to_unicode.as_ref())?)),
        })
    }

    fn get(&self, dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d Object> {
        dictionary.get_deref(key, self.document).ok()
    }

    fn name(&self, dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d [u8]> {
        self.get(dictionary, key)?.as_name().ok()
    }

    fn number(&self, dictionary: &'d Dictionary, key: &[u8]) -> Option<f32> {
        self.get(dictionary, key)?.as_float().ok()
    }

    fn array(&self, dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d [Object]> {
        Some(self.get(dictionary, key)?.as_array().ok()?.as_slice())
    }

    fn dictionary(&self, dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d Dictionary> {
        self.get(dictionary, key)?.as_dict().ok()
    }

    /// Follows an object that is a reference.
    fn resolved(&self, object: &'d Object) -> &'d Object {
        self.document.dereference(object).map_or(object, |(_, object)| object)
    }

    /// Reads a number in an array.
    fn float(&self, object: &'d Object) -> Option<f32> {
        self.resolved(object).as_float().ok()
    }

    fn inflate(&mut self, stream: &Stream) -> Result<Option<Vec<u8>>, Exhausted> {
        inflate(stream, self.budget)
    }

    fn cmap(&mut self, dictionary: &'d Dictionary, key: &[u8]) -> Result<Option<CMap>, Exhausted> {
        let Some(stream) = self.get(dictionary, key).and_then(|object| object.as_stream().ok()) else {
            return Ok(None);
        };
        Ok(self.inflate(stream)?.map(CMap::read))
    }

    /// Reads the font's program, if it is embedded.
    fn program(&mut self, descriptor: Option<&'d Dictionary>) -> Result<Option<Program>, Exhausted> {
        let Some(descriptor) = descriptor else { return Ok(None) };
        for form in [ProgramForm::Type1, ProgramForm::TrueType, ProgramForm::Compact] {
            if let Some(stream) = self.get(descriptor, form.key()).and_then(|object| object.as_stream().ok()) {
                return Ok(self.inflate(stream)?.and_then(|bytes| Program::read(form, &bytes)));
            }
        }
        Ok(None)
    }
}

/// Inflates a stream within the budget; `None` if it is damaged, or too long by itself.
pub(super) fn inflate(stream: &Stream, budget: &mut Budget) -> Result<Option<Vec<u8>>, Exhausted> {
    let bytes_max = budget.stream_bytes_max();
    let inflated = stream.get_plain_content_with_limit(bytes_max).ok();
    // Of a stream that is too long, this much was inflated.
    budget.spend_bytes(inflated.as_ref().map_or(bytes_max, Vec::len) + ENTRY_BYTES)?;
    Ok(inflated)
}
