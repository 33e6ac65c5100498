//! PDF: the text of its pages, in the order in which they draw it, and what it says about itself.
//!
//! lopdf reads all objects before anything else. What it inflates of one stream it bounds itself; how much it inflates in all is bounded here, by
//! looking at each object before it does, and by refusing files whose cross-reference streams could be too many, or that are encrypted.

use std::cell::Cell;
use std::collections::HashMap;
use std::thread;

use lopdf::content::Content;
use lopdf::{Dictionary, Document, Encoding, LoadOptions, Object, ObjectId, decode_text_string};

use super::{FileText, Text};

/// How many pages are read.
const PAGES_MAX: usize = 2_000;

/// How many objects are kept, those within streams too.
const OBJECTS_MAX: usize = 500_000;

/// The most bytes that are inflated of one stream of objects, and of all.
const OBJECT_STREAM_BYTES_MAX: usize = 8 << 20;
const OBJECT_STREAMS_BYTES_MAX: usize = 64 << 20;

/// The most cross-reference streams. Each may be as long as a stream of objects.
const CROSS_REFERENCES_MAX: usize = 64;

/// The most bytes that are inflated of one page, and of all.
const PAGE_BYTES_MAX: usize = 4 << 20;
const PAGES_BYTES_MAX: usize = 64 << 20;

/// The most fonts that are read, and bytes of the table of one.
const FONTS_MAX: usize = 256;
const FONT_BYTES_MAX: usize = 512 << 10;

/// What a look at one more entry of a dictionary counts as, in bytes of a page.
const ENTRY_BYTES: usize = 64;

/// How many bytes of a string are decoded at once. Each may stand for a long text.
const STRING_BYTES: usize = 64;

/// A gap between letters, in thousandths of their size, that stands for a space.
const SPACE_MIN: f32 = 180.0;

/// More than lopdf needs at its greatest depth. A stack that overflows ends the process.
const STACK_BYTES: usize = 16 << 20;

thread_local! {
    /// How many objects and how many bytes of streams of objects may still be read. lopdf asks a function without a state of its own.
    static LEFT: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Reads a file; `None` if it is damaged or encrypted. It has a thread of its own, for its stack.
pub(super) fn read(bytes: &[u8]) -> Option<FileText> {
    thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || read_here(bytes)).ok()?;
        reader.join().ok().flatten()
    })
}

fn read_here(bytes: &[u8]) -> Option<FileText> {
    let [encrypted, cross_references] = count_names(bytes, [b"Encrypt", b"W"]);
    if encrypted > 0 {
        return None;
    }
    // Fonts have widths of the same name, but not this long.
    let share = OBJECT_STREAMS_BYTES_MAX * 8 / cross_references.max(CROSS_REFERENCES_MAX);
    let options = LoadOptions {
        filter: Some(keep),
        max_decompressed_size: Some(share.min(OBJECT_STREAM_BYTES_MAX)),
        ..LoadOptions::default()
    };
    LEFT.set((OBJECTS_MAX, OBJECT_STREAMS_BYTES_MAX));
    let document = Document::load_mem_with_options(bytes, options).ok()?;
    let (objects, stream_bytes) = LEFT.get();
    let pages: Vec<_> = document.page_iter().collect();
    let mut reader = Reader::of(&document);
    reader.text.is_cut |= objects == 0 || stream_bytes == 0 || pages.len() > PAGES_MAX;
    for page in pages.iter().take(PAGES_MAX) {
        if reader.text.is_full() {
            break;
        }
        reader.read_page(*page);
        reader.text.separate("\n\n");
    }
    let said = document.trailer.get_deref(b"Info", &document).and_then(Object::as_dict).ok();
    let word = |key: &[u8]| decode_text_string(said?.get_deref(key, &document).ok()?).ok();
    let date = |key: &[u8]| word(key).map(|written| iso(&written).unwrap_or(written));
    Some(FileText {
        title: word(b"Title"),
        author: word(b"Author"),
        published: date(b"CreationDate"),
        modified: date(b"ModDate"),
        pages: Some(pages.len()),
        ..reader.text.into_file()
    })
}

/// Counts names, with characters written by their numbers or not.
fn count_names<const N: usize>(bytes: &[u8], names: [&[u8]; N]) -> [usize; N] {
    let mut counts = [0; N];
    for slash in memchr::memchr_iter(b'/', bytes) {
        let mut written = bytes[slash + 1..].iter().copied().take(3 * 8);
        let mut name = Vec::with_capacity(8);
        while let Some(byte) = written.next() {
            match byte {
                b'#' => {
                    let digits = [written.next().unwrap_or(0), written.next().unwrap_or(0)];
                    let number = str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    name.push(number.unwrap_or(0));
                }
                byte if byte.is_ascii_alphanumeric() => name.push(byte),
                _ => break,
            }
        }
        for (count, wanted) in counts.iter_mut().zip(names) {
            *count += usize::from(name == wanted);
        }
    }
    counts
}

/// Says whether an object is kept, before lopdf inflates those within it.
fn keep(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let (objects, bytes) = LEFT.get();
    let objects = objects.checked_sub(1)?;
    LEFT.set((objects, bytes));
    if let Ok(stream) = object.as_stream()
        && stream.dict.has_type(b"ObjStm")
    {
        let inflated =
            stream.decompressed_content_with_limit(bytes.min(OBJECT_STREAM_BYTES_MAX)).map(|bytes| bytes.len());
        let left = inflated.ok().and_then(|inflated| bytes.checked_sub(inflated.max(ENTRY_BYTES)));
        LEFT.set((objects, left.unwrap_or(0)));
        left?;
    }
    // What is returned tells lopdf no more than that the object stays.
    Some((id, Object::Null))
}

/// Reads pages one after the other, each font once.
struct Reader<'d> {
    document: &'d Document,
    text: Text,
    left_bytes: usize,
    /// The fonts, by where their dictionaries are.
    fonts: HashMap<*const Dictionary, Option<Encoding<'d>>>,
}

impl<'d> Reader<'d> {
    fn of(document: &'d Document) -> Self {
        Self { document, text: Text::default(), left_bytes: PAGES_BYTES_MAX, fonts: HashMap::new() }
    }

    fn read_page(&mut self, page: ObjectId) {
        let document = self.document;
        let streams = document.get_page_contents(page).len();
        let fonts = document.get_page_fonts(page).unwrap_or_default();
        if !self.spend((streams + fonts.len() + 1) * ENTRY_BYTES) {
            return;
        }
        let bytes_max = PAGE_BYTES_MAX.min(self.left_bytes);
        let Ok(content) = document.get_page_content_with_limit(page, bytes_max) else {
            // It is damaged or too long; that much was inflated of it in the worst case.
            self.spend(bytes_max);
            self.text.is_cut = true;
            return;
        };
        self.spend(content.len());
        self.read_content(&content, &fonts);
    }

    /// Counts bytes; `false`, and the end of the text, if there is no room for them.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.left_bytes.checked_sub(bytes);
        self.left_bytes = left.unwrap_or(0);
        self.text.is_cut |= left.is_none();
        left.is_some()
    }

    fn read_content(&mut self, content: &[u8], fonts: &std::collections::BTreeMap<Vec<u8>, &'d Dictionary>) {
        let mut font: Option<*const Dictionary> = None;
        let mut height = 0.0;
        for operation in Content::decode_iter(content) {
            let Ok(operation) = operation else { return };
            let operands = operation.operands.as_slice();
            let number = |at: usize| operands.get(at).and_then(|operand| operand.as_float().ok()).unwrap_or(0.0);
            match operation.operator.as_str() {
                "Tf" => {
                    let named = operands.first().and_then(|name| name.as_name().ok()).and_then(|name| fonts.get(name));
                    font = named.and_then(|dictionary| self.font(dictionary));
                }
                "Td" | "TD" => self.text.separate(if is_same(number(1), 0.0) { " " } else { "\n" }),
                "Tm" => {
                    self.text.separate(if is_same(number(5), height) { " " } else { "\n" });
                    height = number(5);
                }
                "T*" | "ET" => self.text.separate("\n"),
                "Tj" => self.show(font, operands),
                "TJ" => {
                    if let Some(Ok(shown)) = operands.first().map(Object::as_array) {
                        self.show(font, shown);
                    }
                }
                "'" | "\"" => {
                    self.text.separate("\n");
                    self.show(font, operands.last().map(std::slice::from_ref).unwrap_or_default());
                }
                _ => {}
            }
            if self.text.is_full() {
                return;
            }
        }
    }

    /// Reads a font unless it was read; `None` if there are too many.
    fn font(&mut self, dictionary: &'d Dictionary) -> Option<*const Dictionary> {
        let key = std::ptr::from_ref(dictionary);
        if !self.fonts.contains_key(&key) {
            if self.fonts.len() >= FONTS_MAX {
                return None;
            }
            let read = dictionary.get_font_encoding_with_limit(self.document, FONT_BYTES_MAX).ok();
            self.fonts.insert(key, read);
        }
        Some(key)
    }

    fn show(&mut self, font: Option<*const Dictionary>, shown: &[Object]) {
        let Some(Some(encoding)) = font.and_then(|font| self.fonts.get(&font)) else { return };
        let mut decoded = String::new();
        for part in shown {
            if let Object::String(bytes, _) = part {
                for bytes in bytes.chunks(STRING_BYTES) {
                    decoded.clear();
                    if encoding.write_to_string(bytes, &mut decoded).is_ok() {
                        decoded.retain(|c| c != '\0');
                        self.text.push(&decoded);
                    }
                    if self.text.is_full() {
                        return;
                    }
                }
            } else if part.as_float().is_ok_and(|gap| gap < -SPACE_MIN) {
                self.text.separate(" ");
            }
        }
    }
}

/// Whether two heights on a page are those of one line.
fn is_same(one: f32, other: f32) -> bool {
    (one - other).abs() < 0.01
}

/// Reads a date of PDF, `D:20240131120000+01'00'`; `None` if it is none.
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
