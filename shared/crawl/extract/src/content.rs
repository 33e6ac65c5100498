//! A page's content beyond its text and links, as far as the definition asks for it.
//!
//! The tree is built only if something needs it: most pages have neither structured data nor a type
//! in the definition.

use dom_query::Document;
use dragline_domain::content::{About, Content, ContentLevel, Gap, MainPart};
use dragline_domain::url::CrawlUrl;
use url::Url;

use crate::article::{self, Article, Extent, Finder, MainRules};
use crate::body::Settings;
use crate::items::{self, date};
use crate::tree::PAGE_BYTES_MAX;
use crate::typed::{FieldTrace, PageParts, Tracing, Types};
use crate::{about, repeated, tree};

/// A page after its first reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadPage<'p> {
    /// Its decoded bytes.
    pub(crate) html: &'p str,
    /// Its visible text.
    pub(crate) text: &'p str,
    /// Its URL.
    pub(crate) url: &'p Url,
    /// The same, for matching types.
    pub(crate) crawl_url: &'p CrawlUrl,
}

/// Extracts the content of a page; `None` if there is none.
pub(crate) fn extract_content(page: &ReadPage<'_>, settings: &Settings<'_>) -> Option<Box<Content>> {
    let (content, _) = traced(page, settings, Tracing::Off);
    (!content.is_empty()).then(|| Box::new(content))
}

/// Extracts the content of a page and, if `tracing` is on, the origin of the fields of the
/// definition's types.
pub(crate) fn traced(page: &ReadPage<'_>, settings: &Settings<'_>, tracing: Tracing) -> (Content, Vec<FieldTrace>) {
    let Settings { content: level, types, .. } = *settings;
    let (mut content, mut traces) = (Content::default(), Vec::new());
    let has_types = types.matching(page.crawl_url);
    let has_items = has_types || level >= ContentLevel::Items && items::has_markup(page.html);
    if !has_items && level < ContentLevel::Full {
        return (content, traces);
    }
    let document = Some(page.html).filter(|html| html.len() <= PAGE_BYTES_MAX).and_then(tree::parse);
    if let Some(document) = document {
        let base = tree::base_url(&document, page.url);
        if has_items {
            let asked = (level, types, tracing);
            traces = put_items(page, (&document, &base), asked, &mut content);
        }
        if level == ContentLevel::Full {
            put_reading(page, (&document, &base), settings.main, &mut content);
        }
    } else {
        content.gaps.push(Gap::Tree);
        if level == ContentLevel::Full {
            content.about = Some(about::from_text(page.text));
        }
    }
    (content, traces)
}

/// Adds the items of structured data, then those of the definition's types, which may refer to
/// them.
fn put_items(
    page: &ReadPage<'_>,
    (document, base): (&Document, &Url),
    (level, types, tracing): (ContentLevel, &Types, Tracing),
    content: &mut Content,
) -> Vec<FieldTrace> {
    let found = items::from_tree(document, page.url);
    let parts = PageParts { document, url: page.crawl_url, base, json_ld: &found.json_ld, items: &found.items };
    let typed = types.apply(&parts, tracing);
    if found.is_cut || typed.was_cut {
        content.gaps.push(Gap::Items);
    }
    if level >= ContentLevel::Items {
        content.items = found.items;
    }
    content.items.extend(typed.items);
    content.misfits = typed.misfits;
    typed.traces
}

/// Adds the page's information about itself, its repeated structures, and its main part.
fn put_reading(page: &ReadPage<'_>, (document, base): (&Document, &Url), rules: &MainRules, content: &mut Content) {
    let found = about::from_tree(document, base, page.text);
    let finder = Finder::for_page(document, page.html);
    let mut is_cut = found.is_cut;
    match finder {
        Finder::Spared => content.gaps.push(Gap::Main),
        Finder::Asked => {
            let repeated = repeated::find_repetitions(document, base);
            is_cut |= repeated.is_cut;
            content.repeated = repeated.repeated;
        }
    }
    if is_cut {
        content.gaps.push(Gap::About);
    }
    let article = article::from_tree(document, page.crawl_url, rules, Extent::Main, finder).ok();
    let (about, main) = merge_metadata(found.about, article);
    (content.about, content.main) = (Some(about), main);
}

/// Completes a page's information about itself with the metadata found with its main part.
fn merge_metadata(about: About, article: Option<Article>) -> (About, Option<MainPart>) {
    let Some(article) = article else { return (about, None) };
    let Article { title, byline, excerpt, site_name, published, modified, image, .. } = article;
    let Article { taken, kept_percent, words, compared_sha1, text, markdown, .. } = article;
    let in_one_form = |written: Option<String>| written.map(|written| date(&written).unwrap_or(written));
    let (published, modified) = (in_one_form(published), in_one_form(modified));
    let about = About { title, excerpt, author: byline, site_name, published, modified, image, ..about };
    (
        about,
        Some(MainPart {
            taken,
            kept_percent,
            compared_sha1,
            words: u32::try_from(words).unwrap_or(u32::MAX),
            text,
            markdown,
        }),
    )
}
