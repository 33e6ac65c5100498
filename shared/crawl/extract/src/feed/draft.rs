//! A feed or an entry that is being read.

use dragline_domain::feed::{Enclosure, Entry, Person};

use super::names::{Field, Rank};
use super::text::Text;
use crate::items::date;

/// The most categories, authors or enclosures kept of one entry, each.
const LIST_MAX: usize = 100;

/// The longest line kept, such as an identifier, in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;

/// The value with the best rank so far.
#[derive(Debug)]
struct Best<T>(Option<(Rank, T)>);

impl<T> Default for Best<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Best<T> {
    /// Takes a value, unless an earlier one has the same or a better rank.
    fn put(&mut self, rank: Rank, value: T) {
        if self.0.as_ref().is_none_or(|(known, _)| rank < *known) {
            self.0 = Some((rank, value));
        }
    }

    fn take(self) -> Option<T> {
        self.0.map(|(_, value)| value)
    }
}

/// A feed or an entry while it is read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    title: Best<Text>,
    link: Best<String>,
    id: Option<String>,
    /// With their ranks.
    authors: Vec<(Rank, Person)>,
    summary: Best<Text>,
    /// A second summary, longer or shorter than the first.
    other_summary: Option<Text>,
    content: Best<Text>,
    published: Best<String>,
    updated: Best<String>,
    categories: Vec<String>,
    enclosures: Vec<Enclosure>,
    pub(super) is_cut: bool,
}

/// All texts of a feed or an entry.
pub(super) struct DraftFields {
    pub(super) title: Option<Text>,
    pub(super) link: Option<String>,
    pub(super) id: Option<String>,
    pub(super) authors: Vec<Person>,
    pub(super) summary: Option<Text>,
    pub(super) content: Option<Text>,
    pub(super) published: Option<String>,
    pub(super) updated: Option<String>,
    pub(super) categories: Vec<String>,
    pub(super) enclosures: Vec<Enclosure>,
}

impl DraftFields {
    pub(super) fn into_entry(self) -> Entry<Text> {
        Entry {
            title: self.title,
            link: self.link,
            id: self.id,
            authors: self.authors,
            summary: self.summary,
            content: self.content,
            published: self.published,
            updated: self.updated,
            categories: self.categories,
            enclosures: self.enclosures,
        }
    }
}

impl Draft {
    /// Adds a text.
    pub(super) fn put_text(&mut self, field: Field, rank: Rank, text: Text) {
        match field {
            Field::Title => self.title.put(rank, text),
            Field::Summary if rank == Rank::Own && matches!(self.summary.0, Some((Rank::Own, _))) => {
                self.other_summary.get_or_insert(text);
            }
            Field::Summary => self.summary.put(rank, text),
            Field::Content => self.content.put(rank, text),
            _ => {}
        }
    }

    /// Adds a line, unless it is empty.
    pub(super) fn put_line(&mut self, field: Field, rank: Rank, line: &str) {
        if line.len() > LINE_BYTES_MAX {
            self.is_cut = true;
            return;
        }
        match field {
            Field::Link => self.link.put(rank, line.to_owned()),
            Field::Id => _ = self.id.get_or_insert_with(|| line.to_owned()),
            Field::Category if self.categories.iter().any(|known| known == line) => {}
            Field::Category if self.has_room(self.categories.len()) => self.categories.push(line.to_owned()),
            Field::Published | Field::Updated | Field::Date => {
                let written = date(line).unwrap_or_else(|| line.to_owned());
                if field != Field::Updated {
                    self.published.put(rank, written.clone());
                }
                if field != Field::Published {
                    self.updated.put(rank, written);
                }
            }
            _ => {}
        }
    }

    pub(super) fn put_author(&mut self, rank: Rank, person: Person) {
        if self.has_room(self.authors.len()) {
            self.authors.push((rank, person));
        }
    }

    pub(super) fn put_enclosure(&mut self, enclosure: Enclosure) {
        if enclosure.url.len() <= LINE_BYTES_MAX && self.has_room(self.enclosures.len()) {
            self.enclosures.push(enclosure);
        }
    }

    fn has_room(&mut self, known: usize) -> bool {
        self.is_cut |= known >= LIST_MAX;
        known < LIST_MAX
    }

    pub(super) fn finish(self) -> DraftFields {
        // Authors with a name come before those with only an address.
        let named = self.authors.iter().filter(|(_, person)| person.name.is_some()).map(|(rank, _)| *rank).min();
        let rank = named.or_else(|| self.authors.iter().map(|(rank, _)| *rank).min());
        let authors = self.authors.into_iter().filter(|(of, _)| Some(*of) == rank).map(|(_, person)| person);
        DraftFields {
            title: self.title.take(),
            link: self.link.take(),
            id: self.id,
            authors: authors.collect(),
            summary: self.summary.take(),
            content: self.content.take().or(self.other_summary),
            published: self.published.take(),
            updated: self.updated.take(),
            categories: self.categories,
            enclosures: self.enclosures,
        }
    }
}
