//! The fields of the index.

use tantivy::Score;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use crate::words::{AS_WRITTEN, InLanguages};

/// The version of the fields and their contents. An index in another version is rebuilt.
pub(crate) const FORMAT: u32 = 5;

/// A searchable part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Its title.
    Title,
    /// Its headings.
    Heading,
    /// Its text: the main part, if known.
    Text,
    /// The text around the main part: navigation and the like. Empty if the main part is not known.
    Around,
    /// The anchor texts of links to it.
    Anchor,
    /// Its URL.
    Url,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] = [Self::Title, Self::Heading, Self::Text, Self::Around, Self::Anchor, Self::Url];

    /// Returns the name in queries.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Heading => "heading",
            Self::Text => "text",
            Self::Around => "around",
            Self::Anchor => "anchor",
            Self::Url => "url",
        }
    }

    /// Returns the weight of a word in this part, relative to one in the text
    /// (docs/reference/search.md).
    pub(crate) const fn boost(self) -> Score {
        match self {
            Self::Title => 4.0,
            Self::Heading => 2.0,
            Self::Text => 1.0,
            Self::Around => 0.25,
            Self::Anchor => 2.5,
            Self::Url => 1.5,
        }
    }
}

/// The fields by name.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The URL.
    pub(crate) url: Field,
    /// A hash of the input of a page's entry.
    pub(crate) digest: Field,
    /// A hash of the URL, which orders pages with equal scores.
    pub(crate) tie: Field,
    /// The host, and the port unless it is the default.
    pub(crate) site: Field,
    /// The same and all parent domains, with and without the port.
    pub(crate) domain: Field,
    /// The primary language.
    pub(crate) language: Field,
    /// The types of its items.
    pub(crate) kind: Field,
    /// The purposes that its site reserves.
    pub(crate) reserved: Field,
    /// The date of the page.
    pub(crate) day: Field,
    /// Its rank among the pages of the site.
    pub(crate) rank: Field,
    /// All words as written, for corrections.
    pub(crate) written: Field,
    /// The stored entry, for results.
    pub(crate) shown: Field,
    parts: [Field; Part::ALL.len()],
}

impl Fields {
    /// Returns the field of a part.
    pub(crate) const fn get(&self, part: Part) -> Field {
        self.parts[part as usize]
    }
}

/// Returns the schema, and its fields.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = |tokenizer, record| {
        let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record);
        TextOptions::default().set_indexing_options(indexing)
    };
    let of_part = || words(InLanguages::NAME, IndexRecordOption::WithFreqsAndPositions);
    let parts = Part::ALL.map(|part| schema.add_text_field(part.name(), of_part()));
    let fields = Fields {
        parts,
        url: schema.add_text_field("address", STRING),
        digest: schema.add_u64_field("digest", FAST),
        tie: schema.add_u64_field("tie", FAST),
        site: schema.add_text_field("site", STRING | FAST),
        domain: schema.add_text_field("domain", STRING),
        language: schema.add_text_field("language", STRING | FAST),
        kind: schema.add_text_field("type", STRING | FAST),
        reserved: schema.add_text_field("reserved", STRING),
        day: schema.add_i64_field("day", FAST | INDEXED),
        rank: schema.add_f64_field("rank", FAST),
        written: schema.add_text_field("written", words(AS_WRITTEN, IndexRecordOption::Basic)),
        shown: schema.add_text_field("shown", TextOptions::default() | STORED),
    };
    (schema.build(), fields)
}
