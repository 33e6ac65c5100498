//! The main part of a page: what its readers come for, without navigation, advertisements and the like.
//!
//! `dom_smoothie`, which follows Mozilla's Readability, finds that part and what the page says about itself. Of the part's blocks, some are still about
//! the page and not of its content; `boilerplate` says which. docs/quality.md has what this gives on pages whose main text others wrote down.
//!
//! It takes milliseconds where reading links takes microseconds: so a crawl makes it only if its definition asks for it.

mod blocks;
mod boilerplate;

use dom_query::Document;
use dom_smoothie::{Config, Readability};
use dragline_domain::words::count_words;
use dragline_domain::content::Gap;
use serde::Serialize;

use self::blocks::{Kind, Runs};
use self::boilerplate::{About, Verdict};
use crate::body::{Body, Settings, Source};
use crate::files::{self, FileText};
use crate::tree::{self, PAGE_BYTES_MAX, in_one_line};

/// The main part of a page, and what the page says about itself. A field is `None` if the page does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Article {
    /// The headline, or else the page's title without the site's name.
    pub title: Option<String>,
    /// Who wrote it.
    pub byline: Option<String>,
    /// What it is about, in a sentence or two: the page's own description, or else its first paragraph.
    pub excerpt: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// When it was published, as the page writes it.
    pub published: Option<String>,
    /// When it was last changed, as the page writes it.
    pub modified: Option<String>,
    /// The language that the page declares.
    pub language: Option<String>,
    /// The URL of the picture that stands for it.
    pub image: Option<String>,
    /// How many words the text has, between spaces.
    pub words: usize,
    /// The text: a line for each item or row, and an empty one between paragraphs. Captions are not part of it.
    pub text: String,
    /// The same as Markdown, with captions; links and pictures have absolute URLs.
    pub markdown: String,
    /// What is missing from it, if it is the text of a file that is no page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// Why a page has no main part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArticle {
    /// It is in a format or a content coding that is not read.
    #[error("it is neither an HTML page nor a file whose text is read")]
    NotAPage,
    /// It is a file that is no page, whose text cannot be read.
    #[error("its text cannot be read: {}", .0.reason())]
    Unread(Gap),
    /// Its tree would be too deep or too large.
    #[error("its elements are nested too deeply, or there are too many")]
    TooComplex,
    /// It is longer than 8 MB.
    #[error("it is longer than {} MB", PAGE_BYTES_MAX >> 20)]
    TooLong,
    /// It has no part that reads like an article: a list of links, an application.
    #[error("it has no main text")]
    NothingFound,
}

/// Finds the main part of a page, or the text of a file that is no page, as a crawl stores it. The same bytes give the same result.
///
/// # Errors
/// Why there is none.
pub fn article(source: &Source<'_>, settings: &Settings<'_>) -> Result<Article, NoArticle> {
    let body = Body::of(source, settings).map_err(|_| NoArticle::NotAPage)?;
    if body.media.may_be_page() {
        let bytes = body.decoded();
        let html = body.text(&bytes).text;
        if crate::html::syntax(body.media, &html).is_some() {
            return of_html(&html, source.url.as_str());
        }
    }
    of_file(files::of_body(&body).ok_or(NoArticle::NotAPage)?)
}

fn of_file(file: FileText) -> Result<Article, NoArticle> {
    if file.text.is_empty() {
        return Err(file.gaps.first().map_or(NoArticle::NothingFound, |gap| NoArticle::Unread(*gap)));
    }
    Ok(Article {
        title: file.title,
        byline: file.author,
        excerpt: None,
        site_name: None,
        published: file.published,
        modified: file.modified,
        language: None,
        image: None,
        words: file.text.split_whitespace().count(),
        markdown: file.text.clone(),
        text: file.text,
        gaps: file.gaps.into_iter().collect(),
    })
}

fn of_html(html: &str, url: &str) -> Result<Article, NoArticle> {
    if html.len() > PAGE_BYTES_MAX {
        return Err(NoArticle::TooLong);
    }
    of_tree(tree::of(html).ok_or(NoArticle::TooComplex)?, url)
}

/// Finds the main part of a page whose tree is there. Takes the tree apart.
pub(crate) fn of_tree(document: Document, url: &str) -> Result<Article, NoArticle> {
    // Classes tell captions apart.
    let config = Config { keep_classes: true, ..Config::default() };
    let mut readability =
        Readability::with_document(document, Some(url), Some(config)).map_err(|_| NoArticle::NothingFound)?;
    let found = readability.parse().map_err(|_| NoArticle::NothingFound)?;
    let title = said(&found.title);
    let about = About::new(title.as_deref(), found.byline.as_deref());
    let document = Document::from(found.content);
    let (text, markdown) = content(&document, &about);
    if text.is_empty() {
        return Err(NoArticle::NothingFound);
    }
    Ok(Article {
        title,
        byline: found.byline.as_deref().and_then(said),
        excerpt: found.excerpt.as_deref().and_then(said),
        site_name: found.site_name.as_deref().and_then(said),
        published: found.published_time.as_deref().and_then(said),
        modified: found.modified_time.as_deref().and_then(said),
        language: found.lang.as_deref().and_then(said),
        image: found.image.as_deref().and_then(said),
        words: count_words(&text),
        text,
        markdown,
        gaps: Vec::new(),
    })
}

/// Returns the text and the Markdown of what remains of a part. Removes the rest from it.
fn content(document: &Document, about: &About) -> (String, String) {
    let runs = Runs::of(document);
    let verdicts = boilerplate::judge(&runs.blocks, about);
    let mut text = String::new();
    let mut last = None;
    for (block, verdict) in runs.blocks.iter().zip(&verdicts) {
        match verdict {
            Verdict::Kept => {
                if let Some(last) = last {
                    let is_list = last == block.kind && matches!(block.kind, Kind::Item | Kind::Cell);
                    text.push_str(if is_list { "\n" } else { "\n\n" });
                }
                text.push_str(&block.text);
                last = Some(block.kind);
            }
            Verdict::Caption => {}
            Verdict::Boilerplate => runs.remove(block),
        }
    }
    (text, document.md(None).trim().to_owned())
}

/// Returns a value in one line; `None` if nothing is said.
fn said(value: &str) -> Option<String> {
    let value = in_one_line(value);
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests;
