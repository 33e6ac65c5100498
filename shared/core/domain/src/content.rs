//! What a page says beyond its text and its links: its items, what it says about itself, its main part.

use serde::{Deserialize, Serialize};

use crate::definition::ScalarKind;
use crate::feed::Feed;
use crate::item::{Item, Misfit};
use crate::validity::Validity;

/// How much to extract from each page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentLevel {
    /// Title, description, text and links.
    Text,
    /// Also its items; of a feed, its entries.
    #[default]
    Items,
    /// Also what it says about itself, its main part as text and as Markdown, and whether it is valid.
    Full,
}

impl ContentLevel {
    /// The name as it is written in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Items => "items",
            Self::Full => "full",
        }
    }
}

impl std::fmt::Display for ContentLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a document says beyond text and links. What was not asked for is empty or absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// The things that it describes, in the order of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The feed that it is; `None` if it is not one, and in documents older than this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed: Option<Box<Feed>>,
    /// What does not fit the types of the definition. Not empty if the document is STUCK for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misfits: Vec<Misfit>,
    /// What it says about itself; `None` below [`ContentLevel::Full`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Its main part; `None` below [`ContentLevel::Full`], and if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<MainPart>,
    /// What it repeats: lists, tables and the like, in the order of the page. Empty below [`ContentLevel::Full`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Repeated>,
    /// Whether it is valid in its format; `None` below [`ContentLevel::Full`], and if its format is not validated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// What is missing because of a limit, or as it cannot be read, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

impl Content {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What is missing from a document's content because of a limit, or as it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// All that takes the page's tree: it is nested too deeply, has too many elements, or is too long.
    Tree,
    /// Items, or parts of them.
    Items,
    /// Headings, pictures, meta elements and the like; what the page repeats.
    About,
    /// What would have found an article, and what the page repeats: its elements are nested so deeply that it takes too long.
    Main,
    /// Text of a file that is no page: it is too long, made to take too much, or damaged in places.
    File,
    /// All text of a file: it is encrypted.
    FileEncrypted,
    /// All text of a file: it is too damaged.
    FileDamaged,
    /// Pages of a file that are pictures, such as those that were scanned.
    FilePictures,
    /// Text in fonts of a file that do not say which characters they show.
    FileCharacters,
}

impl Gap {
    /// Says in half a sentence what is missing and why.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Tree => "the page is nested too deeply, has too many elements or is too long",
            Self::Items => "there are too many items",
            Self::About => "the page says too much about itself",
            Self::Main => "the page is nested so deeply that nobody looked for an article in it",
            Self::File => "the file is too long, takes too much work or is damaged in places",
            Self::FileEncrypted => "the file is encrypted",
            Self::FileDamaged => "the file is too damaged",
            Self::FilePictures => "pages of the file are pictures",
            Self::FileCharacters => "fonts of the file do not say which characters they show",
        }
    }
}

/// What a page says about itself. Texts are in one line; URLs are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The headline: the title without the name of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is about, in a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The name of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_name: Option<String>,
    /// When it was published: ISO 8601 if it could be read, or else as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was last changed; the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The URL of the picture that stands for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The language that it is written in by its words, as ISO 639-3; `None` if that is not certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_detected: Option<String>,
    /// Its headings, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<Heading>,
    /// Its pictures, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The same page in other languages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hreflang: Vec<Alternate>,
    /// Its feeds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<FeedLink>,
    /// Its meta elements with a name or a property, in order: those of OpenGraph, Twitter and Dublin Core are among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meta: Vec<Meta>,
    /// How many words its visible text has.
    pub words: u32,
    /// SHA-1 of its visible text in UTF-8, in hexadecimal.
    pub text_sha1: String,
    /// A fingerprint of its visible text, of which similar texts differ in few bits: 64 bits in hexadecimal.
    pub simhash: String,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// What it says.
    pub text: String,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Where it is.
    pub url: String,
    /// What it shows, in words; `None` if the page does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// The same page in another language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// The language, as written (`de-AT`, `x-default`).
    pub language: String,
    /// Where it is.
    pub url: String,
}

/// A feed that the page names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedLink {
    /// Where it is.
    pub url: String,
    /// Its title; `None` if the page does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A meta element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Its name or property, as written.
    pub name: String,
    /// What it says.
    pub content: String,
}

/// The main part of a page: what its readers come for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MainPart {
    /// Which part of the page it is.
    pub taken: Taken,
    /// How much of the page's visible text without navigation and the like it has, in percent.
    pub kept_percent: u8,
    /// SHA-1 of the text without what the definition ignores, in hexadecimal: the same as long as the page says the same. Empty if nobody knows.
    pub compared_sha1: String,
    /// How many words the text has.
    pub words: u32,
    /// The text: a line for each item or row, and an empty one between paragraphs.
    pub text: String,
    /// The same as Markdown, with pictures; URLs are absolute.
    pub markdown: String,
}

/// Which part of a page is taken for its main part, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taken {
    /// What the finder of articles takes, with what belongs to that.
    #[default]
    Found,
    /// All of the element where that is, as the finder leaves out much of it.
    Share,
    /// All of an element around it, as the finder leaves out code, tables, terms or its heading.
    Structure,
    /// All of an element around it, as that has more parts like the one which the finder takes.
    Alike,
    /// All of an element around it, as it is only a small part of the page.
    Width,
    /// All of the page but navigation and the like, as the finder finds nothing.
    Page,
    /// What the definition selects.
    Selected,
    /// All of it: of a file, or as somebody asked for it.
    Whole,
}

impl Taken {
    /// Says it in a sentence's part, after "the main part is".
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Found => "what the finder of articles takes",
            Self::Share => "all of the element with the article, as the finder leaves out much of it",
            Self::Structure => {
                "an element around the article, as the finder leaves out code, tables, terms or its heading"
            }
            Self::Alike => "an element around the article, as that has more parts like it",
            Self::Width => "an element around the article, as that is only a small part of the page",
            Self::Page => "the page without navigation and the like, as there is no article",
            Self::Selected => "what the definition selects",
            Self::Whole => "all of it",
        }
    }
}

/// What a page repeats: entries that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// What it is made of.
    pub form: RepeatedForm,
    /// The CSS selector of the entries, which selects nothing else in the page.
    pub each: String,
    /// How many entries there are, of the first thousand.
    pub entries: u32,
    /// What entries have, in the order of the page.
    pub fields: Vec<RepeatedField>,
}

/// What a page's entries are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedForm {
    /// Elements beside each other that are alike: each is an entry.
    List,
    /// A table with a row of headings: each other row is an entry.
    Table,
    /// Labels with values, as a definition list has: all of them are one entry.
    Pairs,
}

impl RepeatedForm {
    /// The name that people read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Table => "table",
            Self::Pairs => "pairs",
        }
    }
}

/// What entries have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedField {
    /// A name for it, in lower case with `_`; no two fields of an entry have the same.
    pub name: String,
    /// The CSS selector, below an entry, of the element that has the value: the first that has any. `None` if it is the entry itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub css: Option<String>,
    /// The attribute that is the value; `None` if it is the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The same place as a path, found by the label beside it, wherever that stands; `None` without a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What all values of the page can be read as.
    pub kind: ScalarKind,
    /// How many entries have it.
    pub entries: u32,
    /// The first value, on one line of at most 80 characters; URLs are absolute.
    pub example: String,
}
