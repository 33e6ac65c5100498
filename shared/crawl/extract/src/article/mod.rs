//! The main part of a page: its content, without navigation, advertisements and the like.
//!
//! `dom_smoothie`, a port of Mozilla's Readability, finds an article and the page's metadata
//! (`readable`). `scope` takes that, or more of the page if it leaves out content; `edges` trims
//! it; text and Markdown are written from the same `blocks`. docs/measurements/quality.md compares
//! the results with reference texts.
//!
//! It takes milliseconds where reading links takes microseconds, so a crawl does it only if its
//! definition asks for it.

mod blocks;
mod build;
mod code;
mod edges;
mod layout;
mod markdown;
mod readable;
mod rules;
mod said;
mod scope;

use dom_query::Document;
use dom_smoothie::Metadata;
use dragline_domain::content::{Gap, MainPartSource};
use dragline_domain::url::CrawlUrl;
use dragline_domain::words::count_words;
use dragline_formats::warc::Sha1Digest;
use serde::Serialize;
use url::Url;

use self::blocks::Block;
use self::layout::{Chars, Layout};
use self::readable::Readable;
pub use self::rules::MainRules;
use self::said::{Kind, PageMetadata};
use crate::body::{Body, Settings, Source};
use crate::files::{self, FileText};
use crate::items;
use crate::tree::{self, PAGE_BYTES_MAX, in_one_line};

/// The fewest words of a first paragraph that can serve as the excerpt.
const EXCERPT_WORDS_MIN: usize = 8;

/// The main part of a page, and its metadata. A field is `None` if the page does not give it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Article {
    /// The headline, or else the page's title without the site's name.
    pub title: Option<String>,
    /// The author.
    pub byline: Option<String>,
    /// A summary in a sentence or two: the page's own description, or else its first paragraph.
    pub excerpt: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// The publication date, as the page writes it.
    pub published: Option<String>,
    /// The date of the last change, as the page writes it.
    pub modified: Option<String>,
    /// The language that the page declares.
    pub language: Option<String>,
    /// The URL of the representative picture.
    pub image: Option<String>,
    /// Which part of the page it is.
    pub taken: MainPartSource,
    /// The share of the page's visible text outside navigation and the like that it contains, in
    /// percent.
    pub kept_percent: u8,
    /// The number of words in the text, separated by spaces.
    pub words: usize,
    /// SHA-1 of the text without parts that the definition ignores, in hexadecimal: equal as long
    /// as the content is.
    pub compared_sha1: String,
    /// The text: a line for each item or row, and an empty one between paragraphs.
    pub text: String,
    /// The same as Markdown; links and pictures have absolute URLs.
    pub markdown: String,
    /// Reasons why it is incomplete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// Why a page has no main part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArticle {
    /// Its format or content coding is not supported.
    #[error("it is neither an HTML page nor a file whose text is read")]
    NotAPage,
    /// It is a file other than a page, and its text cannot be read.
    #[error("its text cannot be read: {}", .0.reason())]
    Unread(Gap),
    /// Its tree would be too deep or too large.
    #[error("its elements are nested too deeply, or there are too many")]
    TooComplex,
    /// It is longer than 8 MB.
    #[error("it is longer than {} MB", PAGE_BYTES_MAX >> 20)]
    TooLong,
    /// No part of it reads like an article: it is a list of links, or an application.
    #[error("it has no main text")]
    NothingFound,
}

/// How much of a page to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Its main part.
    Main,
    /// All visible text.
    Whole,
}

/// Finds the main part of a page, or takes all of it; for other files, returns the text as a crawl
/// stores it. The same bytes give the same result.
///
/// # Errors
/// Returns why there is no main part.
pub fn article(source: &Source<'_>, settings: &Settings<'_>, extent: Extent) -> Result<Article, NoArticle> {
    let body = Body::read(source, settings).map_err(|_| NoArticle::NotAPage)?;
    if body.media.may_be_page() {
        let bytes = body.decoded();
        let html = body.text(&bytes).text;
        if crate::html::syntax(body.media, &html).is_some() {
            return from_html(&html, source.url, settings.main, extent);
        }
    }
    from_file(files::read_body(&body).ok_or(NoArticle::NotAPage)?)
}

fn from_file(file: FileText) -> Result<Article, NoArticle> {
    if file.text.is_empty() {
        return Err(file.gaps.first().map_or(NoArticle::NothingFound, |gap| NoArticle::Unread(*gap)));
    }
    let compared_sha1 = Sha1Digest::compute(file.text.as_bytes()).to_hex();
    Ok(Article {
        title: file.title,
        byline: file.author,
        excerpt: None,
        site_name: None,
        published: file.published,
        modified: file.modified,
        language: None,
        image: None,
        taken: MainPartSource::Whole,
        kept_percent: 100,
        words: count_words(&file.text),
        compared_sha1,
        markdown: file.text.clone(),
        text: file.text,
        gaps: file.gaps.into_iter().collect(),
    })
}

fn from_html(html: &str, url: &CrawlUrl, rules: &MainRules, extent: Extent) -> Result<Article, NoArticle> {
    if html.len() > PAGE_BYTES_MAX {
        return Err(NoArticle::TooLong);
    }
    let document = tree::parse(html).ok_or(NoArticle::TooComplex)?;
    from_tree(&document, url, rules, extent, Finder::for_page(&document, html))
}

/// Whether the article finder runs on a page. It is slow on deeply nested elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finder {
    Asked,
    Spared,
}

impl Finder {
    /// Decides by the page's tree and its text.
    pub(crate) fn for_page(document: &Document, html: &str) -> Self {
        if tree::is_costly(document, html.len()) { Self::Spared } else { Self::Asked }
    }
}

/// Finds the main part of a page from its tree.
pub(crate) fn from_tree(
    document: &Document,
    url: &CrawlUrl,
    rules: &MainRules,
    extent: Extent,
    finder: Finder,
) -> Result<Article, NoArticle> {
    let base = Url::parse(url.as_str()).map_err(|_| NoArticle::NotAPage)?;
    let base = tree::base_url(document, &base);
    let Readable { metadata, content } = match finder {
        Finder::Asked => readable::read(document, url.as_str()),
        Finder::Spared => readable::metadata(document, url.as_str()),
    };
    let selected = rules.select(document, url);
    let layout = Layout::new(document, &selected.excluded);
    let scope = if extent == Extent::Whole {
        scope::whole(&layout)
    } else if selected.included.is_empty() {
        let chosen = content.map(|content| readable::chosen(&layout, &content)).unwrap_or_default();
        scope::choose(&layout, &chosen, &PageMetadata::new(&metadata, kind(document, &base)))
    } else {
        scope::selected(&layout, &selected.included)
    };
    let blocks = build::blocks(&layout, scope.element, &scope.kept, &base);
    let text = blocks::to_text(&blocks);
    if text.is_empty() {
        return Err(NoArticle::NothingFound);
    }
    let compared = match selected.ignored.as_slice() {
        [] => None,
        ignored => {
            let kept =
                Chars::new(&layout.texts, |number, text| scope.kept.has(number) && !layout.is_within(text, ignored));
            Some(blocks::to_text(&build::blocks(&layout, scope.element, &kept, &base)))
        }
    };
    let compared_sha1 = Sha1Digest::compute(compared.as_ref().unwrap_or(&text).as_bytes()).to_hex();
    Ok(Article {
        title: one_line(&metadata.title),
        byline: metadata.byline.as_deref().and_then(one_line),
        excerpt: excerpt(&metadata, document, &blocks),
        site_name: metadata.site_name.as_deref().and_then(one_line),
        published: metadata.published_time.as_deref().and_then(one_line),
        modified: metadata.modified_time.as_deref().and_then(one_line),
        language: metadata.lang.as_deref().and_then(one_line),
        image: metadata.image.as_deref().and_then(one_line),
        taken: scope.taken,
        kept_percent: scope.kept_percent,
        words: count_words(&text),
        compared_sha1,
        markdown: markdown::to_markdown(&blocks),
        text,
        gaps: match finder {
            Finder::Asked => Vec::new(),
            Finder::Spared => vec![Gap::Main],
        },
    })
}

/// Returns the page's own description, or else its first paragraph with enough words: a shorter one
/// may be a name or a date.
fn excerpt(metadata: &Metadata, document: &Document, blocks: &[Block]) -> Option<String> {
    let described = "meta[name$='description' i], meta[property$='description' i], meta[itemprop='description' i]";
    let in_json_ld = || {
        let scripts = document.select("script[type='application/ld+json']");
        scripts.nodes().iter().any(|script| script.text().contains("\"description\""))
    };
    let own = || metadata.excerpt.as_deref().and_then(one_line);
    if document.select_single(described).exists() || in_json_ld() {
        return own();
    }
    let paragraph = |block: &Block| match block {
        Block::Paragraph(pieces) => {
            one_line(&blocks::line_text(pieces)).filter(|text| count_words(text) >= EXCERPT_WORDS_MIN)
        }
        _ => None,
    };
    blocks.iter().find_map(paragraph).or_else(own)
}

/// Returns the kind of page, by the metadata it has for other sites.
fn kind(document: &Document, url: &Url) -> Kind {
    let og_type = document.select_single("meta[property='og:type']").attr("content");
    Kind::new(&items::types_of_tree(document, url), og_type.as_deref())
}

/// Returns a value on one line; `None` if it is empty.
fn one_line(value: &str) -> Option<String> {
    let value = in_one_line(value);
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests;
