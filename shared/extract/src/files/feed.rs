//! Feeds, RSS and Atom: their title, and the titles and summaries of their entries.

use quick_xml::events::BytesStart;

use super::xml::{Visitor, walk};
use super::{FileText, Text};
use crate::tree;

/// The longest field that is read as HTML.
const FIELD_BYTES_MAX: usize = 256 << 10;

/// Reads a feed; `None` if the document is none.
pub(super) fn read(document: &str) -> Option<FileText> {
    let mut feed = Feed::default();
    walk(document, &mut feed);
    feed.flush();
    let Feed { title, author, published, modified, mut text, is_cut, root, .. } = feed;
    text.is_cut |= is_cut;
    (root == Root::Feed).then(|| FileText { title, author, published, modified, ..text.into_file() })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Root {
    #[default]
    Unseen,
    Feed,
    Other,
}

/// A field that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Summary,
    Whole,
    Author,
    Published,
    Modified,
}

impl Field {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "title" => Self::Title,
            "description" | "summary" | "subtitle" => Self::Summary,
            "content" | "content:encoded" => Self::Whole,
            "author" | "managingEditor" | "dc:creator" => Self::Author,
            "pubDate" | "published" | "dc:date" => Self::Published,
            "lastBuildDate" | "updated" => Self::Modified,
            _ => return None,
        })
    }
}

#[derive(Debug, Default)]
struct Feed {
    root: Root,
    title: Option<String>,
    author: Option<String>,
    published: Option<String>,
    modified: Option<String>,
    text: Text,
    is_cut: bool,
    /// The field that is open, how many elements are open in it, and what it says.
    field: Option<(Field, usize)>,
    said: String,
    is_in_entry: bool,
    /// How many elements are open in a picture, which has a title of its own.
    picture_depth: usize,
    /// The title and the summary of the open entry, or its content if it has no summary.
    entry: [Option<String>; 3],
}

impl Feed {
    /// Takes what a field says.
    fn take(&mut self, field: Field) {
        let said = std::mem::take(&mut self.said);
        let said = match field {
            Field::Title | Field::Summary | Field::Whole => reduced(&said),
            _ => said.trim().to_owned(),
        };
        let place = match (field, self.is_in_entry) {
            (Field::Title, true) => &mut self.entry[0],
            (Field::Summary, true) => &mut self.entry[1],
            (Field::Whole, true) => &mut self.entry[2],
            (Field::Title, false) => &mut self.title,
            (Field::Author, false) => &mut self.author,
            (Field::Published, false) => &mut self.published,
            (Field::Modified, false) => &mut self.modified,
            (Field::Summary, false) => {
                self.text.push(&said);
                self.text.separate("\n\n");
                return;
            }
            _ => return,
        };
        if !said.is_empty() {
            place.get_or_insert(said);
        }
    }

    fn flush(&mut self) {
        let [title, summary, whole] = std::mem::take(&mut self.entry);
        for (said, separator) in [(title, "\n"), (summary.or(whole), "\n\n")] {
            self.text.push(&said.unwrap_or_default());
            self.text.separate(separator);
        }
        if self.text.text.ends_with('\n') && !self.text.text.ends_with("\n\n") {
            self.text.push("\n");
        }
    }
}

impl Visitor for Feed {
    fn start(&mut self, name: &str, element: &BytesStart<'_>) {
        if self.root == Root::Unseen {
            self.root = if matches!(name, "rss" | "feed" | "RDF") { Root::Feed } else { Root::Other };
        }
        if let Some((_, depth)) = &mut self.field {
            *depth += 1;
            self.said.push(' ');
        } else if self.picture_depth > 0 || name == "image" {
            self.picture_depth += 1;
        } else if matches!(name, "item" | "entry") {
            self.is_in_entry = true;
        } else if let Some(field) = Field::of(element.name().as_ref()) {
            self.field = Some((field, 0));
            self.said.clear();
        }
    }

    fn end(&mut self, name: &str) {
        match &mut self.field {
            Some((field, 0)) => {
                let field = *field;
                self.field = None;
                self.take(field);
            }
            Some((_, depth)) => {
                *depth -= 1;
                self.said.push(' ');
            }
            None if self.picture_depth > 0 => self.picture_depth -= 1,
            None if matches!(name, "item" | "entry") => {
                self.flush();
                self.is_in_entry = false;
            }
            None => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.field.is_none() {
            return;
        }
        let room = FIELD_BYTES_MAX.saturating_sub(self.said.len());
        let end = if text.len() > room { text.floor_char_boundary(room) } else { text.len() };
        self.said.push_str(&text[..end]);
        self.is_cut |= end < text.len();
    }

    fn is_done(&self) -> bool {
        self.root == Root::Other || self.text.is_full()
    }
}

/// Reduces HTML to its text, in one line.
fn reduced(html: &str) -> String {
    if !html.contains(['<', '&']) {
        return tree::in_one_line(html);
    }
    tree::of(html).map(|document| tree::text_of(&document.root())).unwrap_or_default()
}
