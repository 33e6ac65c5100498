//! `meta` and `link` elements: Twitter's cards, Dublin Core, and others.

use std::collections::BTreeMap;

use dom_query::NodeRef;
use serde::Serialize;

use super::budget::Budget;
use super::page::Page;

const ELEMENTS: &str = "http://purl.org/dc/elements/1.1/";
const TERMS: &str = "http://purl.org/dc/terms/";

/// The names of the fifteen elements of Dublin Core.
const ELEMENT_NAMES: [&str; 15] = [
    "contributor",
    "coverage",
    "creator",
    "date",
    "description",
    "format",
    "identifier",
    "language",
    "publisher",
    "relation",
    "rights",
    "source",
    "subject",
    "title",
    "type",
];

/// A page's description in Dublin Core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DublinCore {
    /// The declared vocabularies: URLs by prefix.
    pub namespaces: BTreeMap<String, String>,
    /// The values of the fifteen elements, each as the attributes of its HTML element and the
    /// property's `URI`.
    pub elements: Vec<BTreeMap<String, String>>,
    /// The values of other terms, in the same form.
    pub terms: Vec<BTreeMap<String, String>>,
}

/// Reads a page's description in Dublin Core.
pub(super) fn dublin_core(page: &Page<'_>, budget: &mut Budget) -> DublinCore {
    let mut found = DublinCore::default();
    for link in &page.links {
        let (rel, href) = (link.attr("rel").unwrap_or_default(), link.attr("href").unwrap_or_default());
        let prefix = rel.get(..7).filter(|begin| begin.eq_ignore_ascii_case("schema.")).and(rel.get(7..));
        if let Some(prefix) = prefix
            && budget.value()
        {
            found.namespaces.insert(prefix.to_owned(), href.trim().to_owned());
        }
    }
    for (elements, attribute) in [(&page.metas, "name"), (&page.links, "rel")] {
        for element in elements {
            let Some(name) = element.attr(attribute) else { continue };
            let Some((vocabulary, term)) = dublin_core_name(&name) else { continue };
            if !budget.value() {
                return found;
            }
            let mut said = attributes(element, budget);
            said.insert("URI".to_owned(), format!("{vocabulary}{term}"));
            if vocabulary == ELEMENTS { &mut found.elements } else { &mut found.terms }.push(said);
        }
    }
    found
}

/// Splits a name such as `DC.title` or `DCTERMS.issued` into vocabulary and term.
fn dublin_core_name(name: &str) -> Option<(&'static str, String)> {
    let name = name.trim().to_ascii_lowercase();
    let (prefix, rest) = name.split_once(['.', ':'])?;
    if !matches!(prefix, "dc" | "dcterms" | "dct") {
        return None;
    }
    // A refinement is a term: `DC.Date.modified`.
    let (is_refined, term) = rest.rsplit_once('.').map_or((false, rest), |(_, last)| (true, last));
    let is_element = prefix == "dc" && !is_refined && ELEMENT_NAMES.contains(&term);
    (!term.is_empty()).then(|| (if is_element { ELEMENTS } else { TERMS }, term.to_owned()))
}

fn attributes(element: &NodeRef<'_>, budget: &mut Budget) -> BTreeMap<String, String> {
    let Some(element) = element.element_ref() else { return BTreeMap::new() };
    element
        .attrs
        .iter()
        .filter(|attribute| {
            matches!(&*attribute.name.local, "name" | "content" | "lang" | "scheme" | "rel" | "href" | "hreflang")
        })
        .map(|attribute| (attribute.name.local.to_string(), budget.clipped(&attribute.value).to_owned()))
        .collect()
}

/// Returns the names and contents of a page's `meta` elements, in page order: those of Twitter's
/// cards, and those of no other notation.
pub(super) fn twitter_and_others(page: &Page<'_>, budget: &mut Budget) -> [Vec<(String, String)>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for element in &page.metas {
        let name = element.attr("name").or_else(|| element.attr("property")).or_else(|| element.attr("http-equiv"));
        let (Some(name), Some(content)) = (name, element.attr("content")) else { continue };
        let name = name.trim();
        let is_twitter = name.get(..8).is_some_and(|begin| begin.eq_ignore_ascii_case("twitter:"));
        if !is_twitter && (super::open_graph::is_known(name) || dublin_core_name(name).is_some()) {
            continue;
        }
        if let Some(content) = budget.text(&content) {
            found[usize::from(!is_twitter)].push((budget.clipped(name).to_owned(), content));
        }
    }
    found
}
