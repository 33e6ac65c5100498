//! All that a page says beyond its text and its links, as far as it was asked for.

use dragline_domain::content::{About, Content, ContentLevel, Gap, MainPart};
use url::Url;

use crate::article::{self, Article, PAGE_BYTES_MAX};
use crate::{about, tree};

/// A page as far as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadPage<'p> {
    /// Its decoded bytes.
    pub(crate) html: &'p str,
    /// Its visible text.
    pub(crate) text: &'p str,
    /// Its URL.
    pub(crate) url: &'p Url,
}

/// Makes the content of a page; `None` if there is nothing to say.
pub(crate) fn of_page(page: &ReadPage<'_>, level: ContentLevel) -> Option<Box<Content>> {
    if level == ContentLevel::Text {
        return None;
    }
    let mut content = Content::default();
    let is_wanted = level == ContentLevel::Full;
    if is_wanted {
        let document = Some(page.html).filter(|html| html.len() <= PAGE_BYTES_MAX).and_then(tree::of);
        match document {
            Some(document) => of_tree(page, document, level, &mut content),
            None => content.gaps.push(Gap::Tree),
        }
        if level == ContentLevel::Full && content.about.is_none() {
            content.about = Some(about::of_text(page.text));
        }
    }
    (!content.is_empty()).then(|| Box::new(content))
}

fn of_tree(page: &ReadPage<'_>, document: dom_query::Document, level: ContentLevel, content: &mut Content) {
    let base = tree::base_of(&document, page.url);
    if level == ContentLevel::Full {
        let found = about::of_tree(&document, &base, page.text);
        if found.is_cut {
            content.gaps.push(Gap::About);
        }
        // Takes the tree apart, so it comes last.
        let article = article::of_tree(document, page.url.as_str()).ok();
        let (about, main) = told(found.about, article);
        (content.about, content.main) = (Some(about), main);
    }
}

/// Puts together what a page says about itself, and what was found of it with its main part.
fn told(about: About, article: Option<Article>) -> (About, Option<MainPart>) {
    let Some(article) = article else { return (about, None) };
    let Article { title, byline, excerpt, site_name, published, modified, image, words, text, markdown, .. } = article;
    let about = About { title, excerpt, author: byline, site_name, published, modified, image, ..about };
    (about, Some(MainPart { words: u32::try_from(words).unwrap_or(u32::MAX), text, markdown }))
}
