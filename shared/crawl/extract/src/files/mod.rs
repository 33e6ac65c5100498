//! The text and metadata of files other than pages.
//!
//! Every file is hostile: bytes, entries and pages are limited, nothing here recurses on the depth
//! of the input, and panics of third-party readers are caught. Limits depend on the bytes alone,
//! never on time, so that the same bytes give the same text.

mod feed;
mod json;
mod office;
mod pdf;
#[cfg(test)]
mod tests;
pub(crate) mod xml;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dragline_domain::content::{Content, ContentLevel, Gap, MainPart, MainPartSource, Meta};
use dragline_domain::feed::Feed;

use crate::about;
use crate::body::Body;
use crate::feed::sniff;
use crate::fields::MediaType;
use crate::items::date;
use crate::tree::in_one_line;

/// The longest text kept, in bytes.
const TEXT_BYTES_MAX: usize = 2 << 20;

/// The longest file read, in bytes. Of a longer text the beginning is read; a longer file of
/// another format is not read.
pub const FILE_BYTES_MAX: u64 = 10 << 20;

/// The longest title or other metadata kept, in bytes.
const METADATA_BYTES_MAX: usize = 4 << 10;

/// How far into a file the PDF signature may be, as other readers allow.
const PDF_MARK_BYTES_MAX: usize = 1 << 10;

/// How much of a declared text is searched for NUL bytes.
const BINARY_LOOK_BYTES: usize = 1 << 10;

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileText {
    pub(crate) title: Option<String>,
    /// The author.
    pub(crate) author: Option<String>,
    /// The creation date, as ISO 8601 if it could be parsed.
    pub(crate) published: Option<String>,
    /// The date of the last change, likewise.
    pub(crate) modified: Option<String>,
    /// The number of pages, if its format has pages.
    pub(crate) pages: Option<usize>,
    /// The feed, if it is one.
    pub(crate) feed: Option<Box<Feed>>,
    pub(crate) text: String,
    /// Reasons why the text is incomplete.
    pub(crate) gaps: BTreeSet<Gap>,
}

/// Reads a body that is not a page; `None` if its format is not supported, or it is too damaged.
pub(crate) fn read_body(body: &Body<'_>) -> Option<FileText> {
    let declared = Kind::declared(body.media)?;
    let bytes = body.beginning(FILE_BYTES_MAX + 1);
    let is_too_long = bytes.len() as u64 > FILE_BYTES_MAX || bytes.len() as u64 >= body.settings.decoded_bytes_max;
    let kind = declared.or_by_magic(&bytes)?;
    let read = match kind {
        Kind::Plain | Kind::Json | Kind::Xml => {
            let text = body.text(&bytes).text;
            guarded(|| match kind {
                Kind::Json => Some(read_json_feed(&text, body).unwrap_or_else(|| json::read(&text))),
                Kind::Xml => Some(feed::read(&text, body.source.url.as_str()).unwrap_or_else(|| xml::read(&text))),
                _ => Some(plain(&text)),
            })
        }
        _ if is_too_long => Some(FileText::unread(Gap::File)),
        Kind::Pdf => guarded(|| Some(pdf::read(&bytes))),
        Kind::Zip => guarded(|| office::read(&bytes)),
        Kind::Unknown => None,
    };
    let mut read = read?.tidy();
    if is_too_long {
        read.gaps.insert(Gap::File);
    }
    Some(read)
}

/// Adds a file's contents to its document, as far as the definition asks for them.
pub(crate) fn put(body: &Body<'_>, content: &mut Option<Box<Content>>) {
    match body.settings.content {
        ContentLevel::Text => {}
        ContentLevel::Items => put_feed(body, content),
        ContentLevel::Full => put_all(body, content),
    }
}

/// Reads a feed in JSON; `None` if it does not begin like one, as most JSON does not.
fn read_json_feed(text: &str, body: &Body<'_>) -> Option<FileText> {
    if sniff::begins_json(text) { feed::read(text, body.source.url.as_str()) } else { None }
}

/// Adds a feed; ignores other files.
fn put_feed(body: &Body<'_>, content: &mut Option<Box<Content>>) {
    if !matches!(Kind::declared(body.media), Some(Kind::Xml | Kind::Json | Kind::Unknown)) {
        return;
    }
    let bytes = body.beginning(FILE_BYTES_MAX + 1);
    let kind = Kind::declared(body.media).and_then(|kind| kind.or_by_magic(&bytes));
    if !matches!(kind, Some(Kind::Xml | Kind::Json)) {
        return;
    }
    let text = body.text(&bytes).text;
    let read = || match kind {
        Some(Kind::Json) => read_json_feed(&text, body),
        _ => feed::read(&text, body.source.url.as_str()),
    };
    let Some(file) = guarded(read) else { return };
    let content = content.get_or_insert_default();
    let mut gaps = file.gaps;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        gaps.insert(Gap::File);
    }
    content.gaps.extend(gaps);
    content.feed = file.feed;
}

fn put_all(body: &Body<'_>, content: &mut Option<Box<Content>>) {
    let Some(file) = read_body(body) else { return };
    let content = content.get_or_insert_default();
    content.gaps.extend(file.gaps);
    content.feed = file.feed;
    let mut about = about::from_text(&file.text);
    (about.title, about.author) = (file.title, file.author);
    (about.published, about.modified) = (file.published, file.modified);
    about.meta.extend(file.pages.map(|pages| Meta { name: "pages".to_owned(), content: pages.to_string() }));
    if !file.text.is_empty() {
        content.main = Some(MainPart {
            taken: MainPartSource::Whole,
            kept_percent: 100,
            compared_sha1: about.text_sha1.clone(),
            words: about.words,
            markdown: file.text.clone(),
            text: file.text,
        });
    }
    content.about = Some(about);
}

/// Runs a reader that may panic on damaged input, as third-party ones may. A panic counts as
/// unreadable.
fn guarded(read: impl FnOnce() -> Option<FileText>) -> Option<FileText> {
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}

/// The file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Json,
    Xml,
    Pdf,
    /// An archive: its entries tell whether it is an office file.
    Zip,
    /// Unknown until the file's beginning is examined.
    Unknown,
}

impl Kind {
    /// Returns the format of a media type; `None` if it is not supported here.
    const fn declared(media: MediaType) -> Option<Self> {
        Some(match media {
            MediaType::Html | MediaType::Xhtml | MediaType::Css | MediaType::Other => return None,
            MediaType::Xml => Self::Xml,
            MediaType::Unknown | MediaType::Binary => Self::Unknown,
            MediaType::Plain => Self::Plain,
            MediaType::Json => Self::Json,
            MediaType::Pdf => Self::Pdf,
            MediaType::Office => Self::Zip,
        })
    }

    /// Lets the file's beginning decide if the type does not, or is wrong: servers call any unknown
    /// file text.
    fn or_by_magic(self, bytes: &[u8]) -> Option<Self> {
        let beginning = &bytes[..bytes.len().min(PDF_MARK_BYTES_MAX)];
        let has_mark = beginning.windows(5).any(|window| window == b"%PDF-");
        let looked_at = &bytes[..bytes.len().min(BINARY_LOOK_BYTES)];
        let is_utf_16 = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
        let is_binary = !is_utf_16 && looked_at.contains(&0);
        match self {
            Self::Pdf => has_mark.then_some(Self::Pdf),
            Self::Zip => bytes.starts_with(b"PK").then_some(Self::Zip),
            Self::Unknown | Self::Plain if bytes.starts_with(b"%PDF-") => Some(Self::Pdf),
            Self::Unknown | Self::Plain if bytes.starts_with(b"PK\x03\x04") => Some(Self::Zip),
            Self::Unknown if bytes.starts_with(b"<?xml") => Some(Self::Xml),
            Self::Unknown => None,
            Self::Plain if is_binary => None,
            other => Some(other),
        }
    }
}

impl FileText {
    /// Returns an empty result with this gap.
    fn unread(gap: Gap) -> Self {
        Self { gaps: BTreeSet::from([gap]), ..Self::default() }
    }

    /// Puts each metadata value on one line, and its dates into ISO 8601.
    fn tidy(mut self) -> Self {
        for field in [&mut self.title, &mut self.author, &mut self.published, &mut self.modified] {
            *field = field.take().map(|text| in_one_line(&text)).filter(|text| !text.is_empty());
            if let Some(text) = field {
                text.truncate(text.floor_char_boundary(METADATA_BYTES_MAX));
            }
        }
        for field in [&mut self.published, &mut self.modified] {
            *field = field.take().map(|written| date(&written).unwrap_or(written));
        }
        self
    }
}

fn plain(text: &str) -> FileText {
    let mut out = Text::default();
    out.push(text);
    out.into_file()
}

/// A text that grows up to the limit.
#[derive(Debug, Default)]
struct Text {
    text: String,
    is_cut: bool,
}

impl Text {
    fn push(&mut self, more: &str) {
        let room = TEXT_BYTES_MAX - self.text.len();
        let end = if more.len() > room { more.floor_char_boundary(room) } else { more.len() };
        self.text.push_str(&more[..end]);
        self.is_cut |= end < more.len();
    }

    /// Adds a separator, unless the text is empty or ends with white space.
    fn separate(&mut self, by: &str) {
        if self.text.ends_with(' ') && by == "\n" {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.push(by);
        }
    }

    /// Removes the hyphen and newline from a word divided at the end of a line, before the rest of
    /// it is added.
    fn join_hyphenated(&mut self) {
        let hyphens = ["-\n", "\u{AD}\n", "\u{2010}\n"];
        let divided = hyphens.iter().find_map(|hyphen| self.text.strip_suffix(hyphen));
        if let Some(divided) = divided.filter(|divided| divided.ends_with(char::is_lowercase)) {
            self.text.truncate(divided.len());
        }
    }

    fn is_full(&self) -> bool {
        self.is_cut
    }

    /// Finishes the text, and trims it.
    fn into_file(self) -> FileText {
        let text = match self.text.trim() {
            trimmed if trimmed.len() == self.text.len() => self.text,
            trimmed => trimmed.to_owned(),
        };
        FileText { text, gaps: self.is_cut.then_some(Gap::File).into_iter().collect(), ..FileText::default() }
    }
}
