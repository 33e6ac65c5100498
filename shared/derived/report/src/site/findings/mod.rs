//! Findings: problems that an owner may want to fix. Each kind is an entry of its group's table,
//! with its query to the link graph.

mod content;
mod indexing;
mod links;

use super::shape::{Column, Shade, Unit};

/// The length above which search engines cut titles, in characters.
const TITLE_CHARS_MAX: u32 = 70;

/// The length above which search engines cut descriptions, in characters.
const DESCRIPTION_CHARS_MAX: u32 = 160;

/// The minimum number of words of a page with real content.
const WORDS_MIN: u32 = 50;

/// The size above which a picture takes more than a second of a slow phone's connection, of
/// 1.6 Mbit/s as Lighthouse simulates it.
const PICTURE_BYTES_MAX: u32 = 200_000;

/// A kind of finding.
#[derive(Debug)]
pub struct Kind {
    /// Its name for programs.
    pub id: &'static str,
    pub(crate) group: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) severity: Shade,
    /// The plural of the counted things.
    pub(crate) of: &'static str,
    pub(crate) columns: &'static [Column],
    /// One expression for each column; `urls` are JSON arrays.
    pub(crate) select: &'static str,
    /// Where the rows are.
    pub(crate) from: &'static str,
    /// Which of them are findings, each counted once. `?1` to `?4` are the limits of titles,
    /// descriptions, words and pictures.
    pub(crate) condition: &'static str,
    pub(crate) order: &'static str,
}

impl Kind {
    /// Returns all kinds, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [links::KINDS, content::KINDS, indexing::KINDS].into_iter().flatten()
    }

    /// Returns the expression of its first column, by which a row is known again.
    pub(crate) fn key(&self) -> &'static str {
        self.select.split(',').next().unwrap_or(self.select)
    }
}

/// The values of `?1` to `?4` in [`Kind::condition`].
pub(crate) const LIMITS: [u32; 4] = [TITLE_CHARS_MAX, DESCRIPTION_CHARS_MAX, WORDS_MIN, PICTURE_BYTES_MAX];

const fn column(id: &'static str, title: &'static str, unit: Unit) -> Column {
    Column { id, title, unit }
}

const URL: Column = column("url", "URL", Unit::Url);
const TITLE: Column = column("title", "Title", Unit::Text);
const LINKED_FROM: Column = column("linked_from", "Pages that link to it", Unit::Count);
const STATUS: Column = column("status", "Status", Unit::Number);
const OUTCOME: Column = column("outcome_name", "Outcome", Unit::Text);
const DETAIL: Column = column("detail", "Detail", Unit::Text);
const CANONICAL: Column = column("canonical", "Canonical", Unit::Url);
const PAGES: Column = column("pages", "Pages", Unit::Count);
const EXAMPLES: Column = column("urls", "The first of them", Unit::Urls);

const WRITTEN: Column = column("written", "Reference", Unit::Text);
const TEXT: Column = column("text", "Text", Unit::Text);
const KIND: Column = column("kind", "Kind", Unit::Text);
const HOLDER: Column = column("from_url", "Page", Unit::Url);
const CODE: Column = column("code", "Language", Unit::Text);
const ALTERNATE: Column = column("to_url", "Page in that language", Unit::Url);
