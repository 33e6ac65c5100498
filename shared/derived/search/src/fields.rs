//! The fields of the index.

use tantivy::Score;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use crate::words::{AS_WRITTEN, InLanguages};

/// Changes with the fields, and with what is written to them. An index in another format is made again.
pub(crate) const FORMAT: u32 = 4;

/// A part of a page whose words are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Its title.
    Title,
    /// Its headings.
    Heading,
    /// Its text: the main part, where that is known.
    Text,
    /// The text around the main part: navigation and the like. Nothing, where that is not known.
    Around,
    /// What links to it say.
    Anchor,
    /// Its URL.
    Url,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] = [Self::Title, Self::Heading, Self::Text, Self::Around, Self::Anchor, Self::Url];

    /// The name, as queries have it.
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

    /// How much a word in this part says of the page, beside one in its text (docs/search.md).
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
    /// What a page's entry was made from, as a number.
    pub(crate) digest: Field,
    /// A number for the URL, which tells pages apart that are equally good.
    pub(crate) tie: Field,
    /// Host, and port if it is not the usual one.
    pub(crate) site: Field,
    /// The same, and every domain that the host is in, with the port and without.
    pub(crate) domain: Field,
    /// The primary language.
    pub(crate) language: Field,
    /// The types of its items.
    pub(crate) kind: Field,
    /// The day that it is of.
    pub(crate) day: Field,
    /// Its rank among the pages of the site.
    pub(crate) rank: Field,
    /// All words as written, to correct others by.
    pub(crate) written: Field,
    /// What is shown of it.
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
        day: schema.add_i64_field("day", FAST | INDEXED),
        rank: schema.add_f64_field("rank", FAST),
        written: schema.add_text_field("written", words(AS_WRITTEN, IndexRecordOption::Basic)),
        shown: schema.add_text_field("shown", TextOptions::default() | STORED),
    };
    (schema.build(), fields)
}
