//! PDF: the text of its pages, in drawing order, and its metadata.

mod content;
mod fonts;
mod interpreter;
mod layout;
mod limits;
mod load;
mod matrix;
mod references;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::thread;

use dragline_domain::content::Gap;
use lopdf::{Dictionary, Document, Object, ObjectId, decode_text_string};

use self::fonts::inflate;
use self::interpreter::{Interpreter, Tally};
use self::limits::{ENTRY_BYTES, Exhausted, PAGES_MAX, PARENTS_MAX};
use self::load::{LoadError, LoadedFile, load};
use self::matrix::Matrix;
use super::FileText;

/// More than lopdf needs at its greatest depth. A stack overflow would end the process.
const STACK_BYTES: usize = 16 << 20;

/// A page is not read if one glyph in this many is unknown.
const UNKNOWN_SHARE: usize = 10;

/// The share of a textless page that pictures cover if it was scanned.
const PICTURES_SHARE: f32 = 0.4;

/// The area of a page without a declared size: A4.
const PAGE_AREA: f32 = 595.0 * 842.0;

/// Reads a file, on a thread of its own for its stack. If the reader panics on a damaged file,
/// nothing is read.
pub(super) fn read(bytes: &[u8]) -> FileText {
    let read = thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || read_here(bytes)).ok()?;
        reader.join().ok()
    });
    read.unwrap_or_else(|| FileText::unread(Gap::FileDamaged))
}

fn read_here(bytes: &[u8]) -> FileText {
    let LoadedFile { document, is_cut } = match load(bytes) {
        Ok(loaded) => loaded,
        Err(LoadError::Encrypted) => return FileText::unread(Gap::FileEncrypted),
        Err(LoadError::Damaged) => return FileText::unread(Gap::FileDamaged),
        Err(LoadError::TooMuch) => return FileText::unread(Gap::File),
    };
    let pages: Vec<_> = document.page_iter().collect();
    let mut gaps = BTreeSet::new();
    if pages.is_empty() {
        gaps.insert(Gap::FileDamaged);
    }
    if is_cut || pages.len() > PAGES_MAX {
        gaps.insert(Gap::File);
    }
    let mut interpreter = Interpreter::new(&document);
    for page in pages.iter().take(PAGES_MAX) {
        let page = Page { document: &document, id: *page };
        let read = page.read(&mut interpreter);
        gaps.extend(page.gaps(&interpreter.tally));
        if read == Err(Exhausted) {
            gaps.insert(Gap::File);
            break;
        }
        interpreter.text.separate("\n\n");
    }
    let said = document.trailer.get_deref(b"Info", &document).and_then(Object::as_dict).ok();
    let word = |key: &[u8]| decode_text_string(said?.get_deref(key, &document).ok()?).ok();
    let date = |key: &[u8]| word(key).map(|written| iso(&written).unwrap_or(written));
    let file = interpreter.text.into_file();
    gaps.extend(file.gaps);
    FileText {
        title: word(b"Title"),
        author: word(b"Author"),
        published: date(b"CreationDate"),
        modified: date(b"ModDate"),
        pages: Some(pages.len()),
        feed: None,
        text: file.text,
        gaps,
    }
}

#[derive(Clone, Copy, Debug)]
struct Page<'d> {
    document: &'d Document,
    id: ObjectId,
}

impl<'d> Page<'d> {
    fn read(self, interpreter: &mut Interpreter<'d>) -> Result<(), Exhausted> {
        let resources = self.inherited(b"Resources").and_then(|resources| resources.as_dict().ok());
        let mut content = Vec::new();
        let mut is_damaged = false;
        for stream in self.streams() {
            let budget = &mut interpreter.budget;
            budget.spend_bytes(ENTRY_BYTES)?;
            let Ok((_, Object::Stream(stream))) = self.document.dereference(stream) else { continue };
            match inflate(stream, budget)? {
                Some(bytes) => content.extend_from_slice(&bytes),
                None => is_damaged = true,
            }
            // A stream may end in the middle of a line, but not of a word (section 7.8.2).
            content.push(b'\n');
        }
        let read = interpreter.read(content, resources);
        interpreter.tally.is_damaged |= is_damaged;
        read
    }

    /// Returns the reasons why a page's text is incomplete.
    fn gaps(self, tally: &Tally) -> impl Iterator<Item = Gap> {
        let known = tally.glyphs - tally.unknown;
        let is_scanned = tally.glyphs == 0 && tally.pictures_area > self.area() * PICTURES_SHARE;
        [
            tally.is_damaged.then_some(Gap::File),
            (tally.unknown * UNKNOWN_SHARE > known).then_some(Gap::FileCharacters),
            is_scanned.then_some(Gap::FilePictures),
        ]
        .into_iter()
        .flatten()
    }

    fn streams(self) -> Vec<&'d Object> {
        let contents = self.dictionary().and_then(|page| page.get(b"Contents").ok());
        match contents.and_then(|contents| self.document.dereference(contents).ok()) {
            Some((_, Object::Array(streams))) => streams.iter().collect(),
            _ => contents.into_iter().collect(),
        }
    }

    fn dictionary(self) -> Option<&'d Dictionary> {
        self.document.get_dictionary(self.id).ok()
    }

    /// Returns an entry of the page, or of its nearest ancestor in the page tree that has it.
    fn inherited(self, key: &[u8]) -> Option<&'d Object> {
        let parent = |node: &&'d Dictionary| node.get_deref(b"Parent", self.document).and_then(Object::as_dict).ok();
        let mut nodes = std::iter::successors(self.dictionary(), parent).take(PARENTS_MAX);
        nodes.find_map(|node| node.get_deref(key, self.document).ok())
    }

    fn area(self) -> f32 {
        let corners = self.inherited(b"MediaBox").and_then(|corners| corners.as_array().ok());
        let number = |at: usize| corners?.get(at)?.as_float().ok();
        let side = |from: usize, to: usize| Some(number(to)? - number(from)?);
        let area = side(0, 2).zip(side(1, 3)).map(|(wide, tall)| Matrix([wide, 0.0, 0.0, tall, 0.0, 0.0]).area());
        area.filter(|area| *area > 0.0).unwrap_or(PAGE_AREA)
    }
}

/// Reads a PDF date, `D:20240131120000+01'00'`; `None` if it is not one.
fn iso(written: &str) -> Option<String> {
    let written = written.trim().strip_prefix("D:").unwrap_or(written.trim());
    let digits = written.bytes().take(14).take_while(u8::is_ascii_digit).count();
    let (digits, offset) = written.split_at(digits);
    let day = |month: &str, day: &str| format!("{}-{month}-{day}", &digits[..4]);
    let date = match digits.len() {
        8..10 => return Some(day(&digits[4..6], &digits[6..8])),
        12 | 14 => day(&digits[4..6], &digits[6..8]),
        _ => return None,
    };
    let second = digits.get(12..14).unwrap_or("00");
    let offset = match offset.replace('\'', "") {
        offset if offset.starts_with('Z') => "Z".to_owned(),
        offset if offset.len() == 5 && offset.is_ascii() => format!("{}:{}", &offset[..3], &offset[3..]),
        _ => String::new(),
    };
    Some(format!("{date}T{}:{}:{second}{offset}", &digits[8..10], &digits[10..12]))
}
