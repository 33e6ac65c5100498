//! Structured data of pages: JSON-LD, microdata, RDFa Lite, Open Graph.
//!
//! Each notation is read as the page writes it, into its part of [`Markup`], and then converted
//! into records. `merge` makes one item from several notations' descriptions of a thing, and
//! `normal` gives its properties a common form.

mod budget;
mod json_ld;
mod merge;
mod meta;
mod microdata;
mod normal;
mod open_graph;
mod page;
mod rdfa;
mod reach;
mod text;
mod variants;

use dom_query::Document;
use dragline_domain::item::{Item, Notation};
use memchr::memmem;
use serde::Serialize;
use url::Url;

use self::budget::Budget;
pub use self::meta::DublinCore;
pub use self::microdata::{MicrodataItem, MicrodataValue};
pub(crate) use self::normal::{date, money};
pub use self::open_graph::OpenGraph;
use self::page::Page;
pub use self::rdfa::{RdfaNode, RdfaValue};
use self::variants::ItemWithOffers;
use crate::tree;

/// The things described by a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageItems {
    /// One item for each thing, in the order of the first notation.
    pub items: Vec<Item>,
    /// The JSON-LD of scripts, each as read.
    pub json_ld: Vec<serde_json::Value>,
    /// Whether something was left out because of a limit.
    pub is_cut: bool,
}

/// A page's structured data in each notation, as written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Markup {
    /// The JSON-LD objects of scripts, with lists flattened.
    pub json_ld: Vec<serde_json::Value>,
    /// The microdata items that are not part of other ones.
    pub microdata: Vec<MicrodataItem>,
    /// The things of RDFa.
    pub rdfa: Vec<RdfaNode>,
    /// The Open Graph description, if there is one.
    pub open_graph: Vec<OpenGraph>,
    /// The names and values of Twitter's cards, in page order.
    pub twitter: Vec<(String, String)>,
    /// The Dublin Core description; `None` if there is none.
    pub dublin_core: Option<DublinCore>,
    /// The names and contents of all other `meta` elements, in page order.
    pub meta: Vec<(String, String)>,
}

/// Whether a page may have items; if not, it need not be parsed. Works on the text alone. It may
/// say yes without need, but misses only names in mixed case, such as `ITEMscope`, which nobody
/// writes.
///
/// ```
/// assert!(dragline_extract::items::has_markup("<p itemscope>"));
/// assert!(!dragline_extract::items::has_markup("<p>plain"));
/// ```
#[must_use]
pub fn has_markup(html: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "ld+json",
        "LD+JSON",
        "itemscope",
        "ITEMSCOPE",
        "itemScope",
        "typeof",
        "TYPEOF",
        "og:",
        "product:",
        "article:",
        "ogp.me",
    ];
    SIGNS.iter().any(|sign| memmem::find(html.as_bytes(), sign.as_bytes()).is_some())
}

/// Finds the things described by a page; `None` if it is longer than 8 MB, or its tree would be too
/// deep or too large. The same text gives the same result.
///
/// ```
/// use dragline_domain::item::Value;
///
/// let url = url::Url::parse("https://example.org/chair").unwrap();
/// let html = "<p itemscope itemtype=https://schema.org/Offer><b itemprop=price>19,99 €</b>";
/// let found = dragline_extract::items::items(html, &url).unwrap();
/// assert_eq!(found.items[0].types, ["Offer"]);
/// assert_eq!(found.items[0].normal["currency"], Value::Text("EUR".to_owned()));
/// ```
#[must_use]
pub fn items(html: &str, url: &Url) -> Option<PageItems> {
    Some(from_tree(&read(html)?, url))
}

/// Returns a page's structured data in each notation; `None` as for [`items`].
#[must_use]
pub fn markup(html: &str, url: &Url) -> Option<Markup> {
    Some(markup_of_tree(&read(html)?, url))
}

/// Returns the rendered text of an HTML fragment, a line for each block; empty if its tree would be
/// too deep or too large.
pub(crate) fn visible_text(html: &str) -> String {
    read(html).map(|document| text::element_text(&document.root(), &mut Budget::new())).unwrap_or_default()
}

fn read(html: &str) -> Option<Document> {
    (html.len() <= tree::PAGE_BYTES_MAX).then(|| tree::parse(html)).flatten()
}

/// Finds the things described by a page's tree.
pub(crate) fn from_tree(document: &Document, url: &Url) -> PageItems {
    let page = Page::read(document, url);
    let mut found = PageItems::default();
    let mut things = Vec::new();
    for notation in [Notation::JsonLd, Notation::Microdata, Notation::Rdfa, Notation::OpenGraph] {
        // Reading the page and making records have separate budgets.
        let (mut of_markup, mut of_records) = (Budget::new(), Budget::new());
        let records = match notation {
            Notation::JsonLd => {
                found.json_ld = json_ld::read(&page, &mut of_markup);
                json_ld::records(&found.json_ld, &page, &mut of_records)
            }
            Notation::Microdata => microdata::read(&page, &mut of_markup)
                .into_iter()
                .map(|item| microdata::record(item, &mut of_records))
                .collect(),
            Notation::Rdfa => rdfa::records(&rdfa::read(&page, &mut of_markup), &mut of_records),
            Notation::OpenGraph => open_graph::read(&page, &mut of_markup)
                .and_then(|graph| open_graph::record(&graph, &mut of_records))
                .into_iter()
                .collect(),
            Notation::Definition => Vec::new(),
        };
        let mut of_copies = Budget::new();
        let records = reach::with_reached(records, &mut of_copies);
        found.is_cut |= of_markup.is_cut || of_records.is_cut || of_copies.is_cut;
        things.extend(records.into_iter().map(|record| (notation, record)));
    }
    let mut of_copies = Budget::new();
    let mut spread = variants::spread(merge::merge(things, &page), &mut of_copies);
    found.is_cut |= of_copies.is_cut || spread.len() > budget::ITEMS_MAX;
    spread.truncate(budget::ITEMS_MAX);
    let normalised = spread.into_iter().map(|ItemWithOffers { mut item, offers, .. }| {
        item.normal = normal::normal(&item, &offers, &page);
        item
    });
    found.items = normalised.collect();
    found
}

/// Returns the types of a page's main things, by short name: those of things that are not part of
/// others, and of main entities of pages.
pub(crate) fn types_of_tree(document: &Document, url: &Url) -> Vec<String> {
    let page = Page::read(document, url);
    let objects = json_ld::read(&page, &mut Budget::new());
    let mut types = Vec::new();
    objects.iter().for_each(|object| json_ld::add_types(object, &mut types));
    types.extend(page.items.iter().flat_map(|item| page::words(item, "itemtype")));
    types.iter().map(|name| page::short_name(name).to_owned()).collect()
}

fn markup_of_tree(document: &Document, url: &Url) -> Markup {
    let page = Page::read(document, url);
    let dublin_core = meta::dublin_core(&page, &mut Budget::new());
    let [twitter, meta] = meta::twitter_and_others(&page, &mut Budget::new());
    Markup {
        json_ld: json_ld::read(&page, &mut Budget::new()),
        microdata: microdata::read(&page, &mut Budget::new()),
        rdfa: rdfa::read(&page, &mut Budget::new()),
        open_graph: open_graph::read(&page, &mut Budget::new()).into_iter().collect(),
        twitter,
        dublin_core: Some(dublin_core).filter(|found| !found.elements.is_empty() || !found.terms.is_empty()),
        meta,
    }
}

#[cfg(test)]
mod tests;
