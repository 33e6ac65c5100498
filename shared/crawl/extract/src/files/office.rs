//! Office files of Microsoft Office since 2007 and of OpenDocument: archives of XML documents.

use std::io::{Cursor, Read as _};

use dragline_domain::content::Gap;
use quick_xml::events::BytesStart;
use zip::ZipArchive;

use super::xml::{Visitor, attribute, walk};
use super::{FileText, Text};

/// The most entries of an archive, more than office files have.
const ENTRIES_MAX: usize = 10_000;

/// The most slides or sheets read.
const PARTS_MAX: usize = 1_000;

/// The most bytes inflated of one entry, and of all.
const ENTRY_BYTES_MAX: u64 = 16 << 20;
const INFLATED_BYTES_MAX: u64 = 48 << 20;

/// Reads an archive; `None` if it is damaged, or not an office file.
pub(super) fn read(bytes: &[u8]) -> Option<FileText> {
    let archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    if archive.len() > ENTRIES_MAX {
        return None;
    }
    let mut parts = Parts { archive, left_bytes: INFLATED_BYTES_MAX, is_cut: false };
    let vocabulary = Vocabulary::detect(&parts)?;
    let mut words = OfficeText { vocabulary, ..OfficeText::default() };
    for name in vocabulary.parts(&mut parts) {
        let Some(document) = parts.document(&name) else { continue };
        words.begin(name.ends_with("sharedStrings.xml"));
        walk(&document, &mut words);
        words.text.separate("\n");
        if words.is_done() {
            break;
        }
    }
    let metadata = if vocabulary == Vocabulary::OpenDocument { "meta.xml" } else { "docProps/core.xml" };
    let mut said = Metadata::default();
    if let Some(document) = parts.document(metadata) {
        walk(&document, &mut said);
    }
    let file = words.text.into_file();
    Some(FileText {
        title: said.title,
        author: said.first_author.or(said.author),
        published: said.created,
        modified: said.modified,
        gaps: file.gaps.into_iter().chain(parts.is_cut.then_some(Gap::File)).collect(),
        ..file
    })
}

/// The documents of an archive.
struct Parts<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    left_bytes: u64,
    is_cut: bool,
}

impl Parts<'_> {
    fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// Inflates a document as far as limits and damage allow.
    fn document(&mut self, name: &str) -> Option<String> {
        let entry = self.archive.by_name(name).ok()?;
        let bytes_max = ENTRY_BYTES_MAX.min(self.left_bytes);
        let mut bytes = Vec::new();
        // Data inflated before the damage is kept.
        let _ = entry.take(bytes_max + 1).read_to_end(&mut bytes);
        if bytes.len() as u64 > bytes_max {
            self.is_cut = true;
            bytes.truncate(usize::try_from(bytes_max).unwrap_or(usize::MAX));
        }
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len() as u64);
        Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Lists the documents of a series, such as `ppt/slides/slide12.xml`, by number.
    fn series(&mut self, before: &str) -> Vec<String> {
        let numbered = self.archive.file_names().filter_map(|name| {
            let name = name.ok()?;
            let number: u32 = name.strip_prefix(before)?.strip_suffix(".xml")?.parse().ok()?;
            Some((number, name.into_owned()))
        });
        let mut numbered: Vec<_> = numbered.collect();
        numbered.sort();
        self.is_cut |= numbered.len() > PARTS_MAX;
        numbered.truncate(PARTS_MAX);
        numbered.into_iter().map(|(_, name)| name).collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Vocabulary {
    #[default]
    Text,
    Slides,
    Sheets,
    OpenDocument,
}

impl Vocabulary {
    fn detect(parts: &Parts<'_>) -> Option<Self> {
        let vocabularies = [
            ("word/document.xml", Self::Text),
            ("ppt/presentation.xml", Self::Slides),
            ("xl/workbook.xml", Self::Sheets),
            ("content.xml", Self::OpenDocument),
        ];
        vocabularies.into_iter().find(|(name, _)| parts.has(name)).map(|(_, vocabulary)| vocabulary)
    }

    /// Lists the documents with text, in reading order.
    fn parts(self, parts: &mut Parts<'_>) -> Vec<String> {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        match self {
            Self::Text => named(&["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"]),
            Self::Slides => parts.series("ppt/slides/slide"),
            Self::Sheets => {
                let mut names = named(&["xl/sharedStrings.xml"]);
                names.append(&mut parts.series("xl/worksheets/sheet"));
                names
            }
            Self::OpenDocument => named(&["content.xml"]),
        }
    }
}

/// The kind of value in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cell {
    /// The value itself.
    #[default]
    Value,
    /// The index of a shared string.
    Shared,
}

/// The text of a document.
#[derive(Debug, Default)]
struct OfficeText {
    vocabulary: Vocabulary,
    text: Text,
    /// The numbers of open elements with text, of ignored ones, and of cells.
    text_depth: usize,
    skip_depth: usize,
    cell_depth: usize,
    /// The shared strings of sheets.
    shared: Vec<String>,
    is_shared: bool,
    cell: Cell,
    value: String,
}

impl OfficeText {
    fn begin(&mut self, is_shared: bool) {
        (self.text_depth, self.skip_depth, self.cell_depth) = (0, 0, 0);
        (self.is_shared, self.cell) = (is_shared, Cell::Value);
        self.value.clear();
    }

    fn is_skipped(&self, name: &str) -> bool {
        match self.vocabulary {
            Vocabulary::Sheets => name == "rPh",
            Vocabulary::OpenDocument => matches!(name, "tracked-changes" | "annotation"),
            _ => false,
        }
    }

    fn has_text(&self, name: &str) -> bool {
        match self.vocabulary {
            Vocabulary::OpenDocument => matches!(name, "p" | "h"),
            Vocabulary::Sheets => matches!(name, "t" | "v"),
            _ => name == "t",
        }
    }

    fn start_open_document(&mut self, name: &str) {
        match name {
            "table-cell" => self.cell_depth += 1,
            "s" if self.text_depth > 0 => self.text.push(" "),
            "tab" if self.text_depth > 0 => self.text.push("\t"),
            "line-break" => self.text.separate("\n"),
            _ => {}
        }
    }

    fn end_open_document(&mut self, name: &str) {
        match name {
            "p" | "h" => self.text.separate(if self.cell_depth > 0 { " " } else { "\n" }),
            "table-cell" => {
                self.cell_depth = self.cell_depth.saturating_sub(1);
                self.text.separate("\t");
            }
            "table-row" | "page" => self.text.separate("\n"),
            _ => {}
        }
    }

    fn end_sheet(&mut self, name: &str) {
        match name {
            "si" => self.shared.push(std::mem::take(&mut self.value)),
            "c" => {
                let value = std::mem::take(&mut self.value);
                match self.cell {
                    Cell::Value => self.text.push(&value),
                    Cell::Shared => {
                        let number = value.trim().parse::<usize>().ok();
                        self.text.push(number.and_then(|number| self.shared.get(number)).map_or("", String::as_str));
                    }
                }
                self.text.separate("\t");
            }
            "row" => {
                if self.text.text.ends_with('\t') {
                    self.text.text.pop();
                }
                self.text.separate("\n");
            }
            _ => {}
        }
    }
}

impl Visitor for OfficeText {
    fn start(&mut self, name: &str, element: &BytesStart<'_>) {
        if self.skip_depth > 0 || self.is_skipped(name) {
            self.skip_depth += 1;
            return;
        }
        self.text_depth += usize::from(self.has_text(name));
        match self.vocabulary {
            Vocabulary::OpenDocument => self.start_open_document(name),
            Vocabulary::Sheets if name == "c" => {
                self.value.clear();
                let is_shared = attribute(element, "t").as_deref() == Some("s");
                self.cell = if is_shared { Cell::Shared } else { Cell::Value };
            }
            Vocabulary::Sheets => {}
            Vocabulary::Text | Vocabulary::Slides => match name {
                "tab" => self.text.separate("\t"),
                "br" | "cr" => self.text.separate("\n"),
                _ => {}
            },
        }
    }

    fn end(&mut self, name: &str) {
        if self.skip_depth > 0 {
            self.skip_depth -= 1;
            return;
        }
        self.text_depth = self.text_depth.saturating_sub(usize::from(self.has_text(name)));
        match self.vocabulary {
            Vocabulary::OpenDocument => self.end_open_document(name),
            Vocabulary::Sheets => self.end_sheet(name),
            Vocabulary::Text | Vocabulary::Slides if name == "p" => self.text.separate("\n"),
            Vocabulary::Text | Vocabulary::Slides => {}
        }
    }

    fn text(&mut self, text: &str) {
        let is_shown = self.text_depth > 0 && self.skip_depth == 0;
        match self.vocabulary {
            _ if !is_shown => {}
            Vocabulary::Sheets => self.value.push_str(text),
            Vocabulary::Text | Vocabulary::Slides | Vocabulary::OpenDocument => self.text.push(text),
        }
    }

    fn is_done(&self) -> bool {
        self.text.is_full()
    }
}

/// The metadata document.
#[derive(Debug, Default)]
struct Metadata {
    title: Option<String>,
    first_author: Option<String>,
    author: Option<String>,
    created: Option<String>,
    modified: Option<String>,
    name: String,
}

impl Visitor for Metadata {
    fn start(&mut self, name: &str, _: &BytesStart<'_>) {
        name.clone_into(&mut self.name);
    }

    fn end(&mut self, _: &str) {
        self.name.clear();
    }

    fn text(&mut self, text: &str) {
        let place = match self.name.as_str() {
            "title" => &mut self.title,
            "initial-creator" => &mut self.first_author,
            "creator" => &mut self.author,
            "created" | "creation-date" => &mut self.created,
            "modified" | "date" => &mut self.modified,
            _ => return,
        };
        place.get_or_insert_default().push_str(text);
    }

    fn is_done(&self) -> bool {
        false
    }
}
