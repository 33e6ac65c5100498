//! The content of a page beyond its text and links: items, metadata and the main part.

use serde::{Deserialize, Serialize};

use crate::definition::ScalarKind;
use crate::feed::Feed;
use crate::item::{Item, Misfit};
use crate::lastmod::Truth;
use crate::markup::Markup;
use crate::rendering::PageRendering;
use crate::use_preferences::{Purpose, UseStatement};
use crate::validity::Validity;

/// How much to extract from each page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentLevel {
    /// Title, description, text and links.
    Text,
    /// Also its items; for a feed, its entries.
    #[default]
    Items,
    /// Also its metadata, its main part as text and as Markdown, and its validity.
    Full,
}

impl ContentLevel {
    /// Returns its name in a definition.
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

/// The content of a document beyond text and links. Parts that were not requested are empty or
/// absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// The items that it describes, in the order of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The feed, if it is one; `None` otherwise, and in documents older than this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed: Option<Box<Feed>>,
    /// Values that do not fit the definition's types. Not empty if the document is STUCK for that
    /// reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misfits: Vec<Misfit>,
    /// Its metadata; `None` below [`ContentLevel::Full`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Its main part; `None` below [`ContentLevel::Full`], or if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<MainPart>,
    /// Its repeated structures: lists, tables and the like, in the order of the page. Empty below
    /// [`ContentLevel::Full`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Repeated>,
    /// Whether it is valid in its format; `None` below [`ContentLevel::Full`], or if its format is
    /// not validated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// What the markup of a page tells its owner, at every [`ContentLevel`]; `None` if it is not an
    /// HTML page, and in documents older than this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markup: Option<Box<Markup>>,
    /// Of a sitemap: how often it was right about when its pages changed; `None` if nothing proves
    /// that, either way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lastmod: Option<Truth>,
    /// The parts that are missing because of a limit, or because they cannot be read; each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How it was rendered; `None` if it was not to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendering: Option<Box<PageRendering>>,
    /// What robots.txt, the well-known file, the header and the page say of its use: the only part
    /// that stays if its content must not be kept. Empty if they say nothing, and in documents
    /// older than this field.
    #[serde(rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseStatement>,
    /// The purpose of the crawl for which the rest of its content is not kept, as its use is
    /// reserved; `None` if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<Purpose>,
}

impl Content {
    /// Whether there is no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A part of a document's content that is missing because of a limit, or because it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Everything that needs the page's tree: it is nested too deeply, has too many elements, or is
    /// too long.
    Tree,
    /// Items, or parts of them.
    Items,
    /// Headings, pictures, meta elements and the like; repeated structures.
    About,
    /// The parts that need an article search, and repeated structures: the elements are nested so
    /// deeply that it would take too long.
    Main,
    /// Text of a file that is not a page: it is too long, too expensive to extract, or damaged in
    /// places.
    File,
    /// All text of a file: it is encrypted.
    FileEncrypted,
    /// All text of a file: it is too damaged.
    FileDamaged,
    /// Pages of a file that are pictures, such as scanned ones.
    FilePictures,
    /// Text in fonts that do not identify their characters.
    FileCharacters,
    /// What scripts make of the page, or parts of that: it was not rendered, or read before it was
    /// complete.
    Rendering,
}

impl Gap {
    /// Returns half a sentence that names the missing part and the reason.
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
            Self::Rendering => "the page was not rendered, or read before its scripts were done",
        }
    }
}

/// The metadata of a page. Texts are on one line; URLs are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The headline: the title without the name of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A summary in a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// The author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The name of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_name: Option<String>,
    /// When it was published: ISO 8601 if it could be read, or else as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was last changed, in the same form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The URL of its representative picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The language of its words, as ISO 639-3; `None` if it is uncertain.
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
    /// The feeds that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<FeedLink>,
    /// Its meta elements with a name or a property, in order, including OpenGraph, Twitter and
    /// Dublin Core.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meta: Vec<Meta>,
    /// The number of words in its visible text.
    pub words: u32,
    /// SHA-1 of its visible text in UTF-8, in hexadecimal.
    pub text_sha1: String,
    /// A fingerprint of its visible text: 64 bits in hexadecimal, few of which differ between
    /// similar texts.
    pub simhash: String,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text.
    pub text: String,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its URL.
    pub url: String,
    /// Its description in words; `None` if the page gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// The same page in another language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// The language, as written (`de-AT`, `x-default`).
    pub language: String,
    /// Its URL.
    pub url: String,
}

/// A feed that the page names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedLink {
    /// Its URL.
    pub url: String,
    /// Its title; `None` if the page gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A meta element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Its name or property, as written.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// The main part of a page: the part that readers come for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MainPart {
    /// How it was selected.
    pub taken: MainPartSource,
    /// Its share of the page's visible text without navigation and the like, in percent.
    pub kept_percent: u8,
    /// SHA-1 of the text without the elements that the definition ignores, in hexadecimal: the same
    /// as long as the page says the same. Empty if unknown.
    pub compared_sha1: String,
    /// The number of words in the text.
    pub words: u32,
    /// The text, with a line for each item or row, and an empty one between paragraphs.
    pub text: String,
    /// The text as Markdown, with pictures; URLs are absolute.
    pub markdown: String,
}

/// The part of a page that is selected as its main part, and the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MainPartSource {
    /// The article finder's result, with the parts that belong to it.
    #[default]
    Found,
    /// The whole element around the result, which is only a part of it.
    Share,
    /// The whole of an outer element, as the finder leaves out code, tables, terms or its heading.
    Structure,
    /// The whole of an outer element, as it has more parts like the finder's result.
    Alike,
    /// The whole of an outer element, as the result is only a small part of the page.
    Width,
    /// The whole page without navigation and the like, as the finder finds nothing.
    Page,
    /// The elements that the definition selects.
    Selected,
    /// The whole document: it is a file, or this was requested.
    Whole,
}

impl MainPartSource {
    /// Returns a phrase that completes "the main part is".
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Found => "what the finder of articles takes",
            Self::Share => "all of the element with the article, of which the finder of articles took only a part",
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

/// A repeated structure of a page: similar entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The form of the entries.
    pub form: RepeatedForm,
    /// The CSS selector of the entries, which matches nothing else in the page.
    pub each: String,
    /// The number of entries, up to a thousand.
    pub entries: u32,
    /// The fields of an entry, in the order of the page.
    pub fields: Vec<RepeatedField>,
}

/// The form of repeated entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedForm {
    /// Similar elements beside each other: each is an entry.
    List,
    /// A table with a row of headings: each other row is an entry.
    Table,
    /// Labels with values, as in a definition list: together they are one entry.
    Pairs,
}

impl RepeatedForm {
    /// Returns its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Table => "table",
            Self::Pairs => "pairs",
        }
    }
}

/// A field of repeated entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedField {
    /// Its name, in lower case with `_`, unique within an entry.
    pub name: String,
    /// The CSS selector, below an entry, of the element with the value: the first one that has any.
    /// `None` if it is the entry itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub css: Option<String>,
    /// The attribute with the value; `None` if it is the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The same place as a path, found by the label beside it, wherever that is; `None` without a
    /// label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The kind that fits all values of the page.
    pub kind: ScalarKind,
    /// The number of entries with this field.
    pub entries: u32,
    /// The first value, on one line of at most 80 characters; URLs are absolute.
    pub example: String,
}
