//! Vocabularies, prefixes and terms of RDFa.

use std::collections::BTreeMap;

use dom_query::NodeRef;

use crate::items::budget::{Budget, FIELDS_MAX};

/// The predefined prefixes (the initial context of RDFa 1.1, and the vocabularies of Open Graph).
const INITIAL: [(&str, &str); 34] = [
    ("article", "http://ogp.me/ns/article#"),
    ("as", "https://www.w3.org/ns/activitystreams#"),
    ("book", "http://ogp.me/ns/book#"),
    ("cc", "http://creativecommons.org/ns#"),
    ("ctag", "http://commontag.org/ns#"),
    ("dc", "http://purl.org/dc/terms/"),
    ("dc11", "http://purl.org/dc/elements/1.1/"),
    ("dcat", "http://www.w3.org/ns/dcat#"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("gr", "http://purl.org/goodrelations/v1#"),
    ("ical", "http://www.w3.org/2002/12/cal/icaltzd#"),
    ("music", "http://ogp.me/ns/music#"),
    ("og", "http://ogp.me/ns#"),
    ("org", "http://www.w3.org/ns/org#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("product", "http://ogp.me/ns/product#"),
    ("profile", "http://ogp.me/ns/profile#"),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfa", "http://www.w3.org/ns/rdfa#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("rev", "http://purl.org/stuff/rev#"),
    ("schema", "http://schema.org/"),
    ("sioc", "http://rdfs.org/sioc/ns#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("v", "http://rdf.data-vocabulary.org/#"),
    ("vcard", "http://www.w3.org/2006/vcard/ns#"),
    ("video", "http://ogp.me/ns/video#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("wdr", "http://www.w3.org/2007/05/powder#"),
    ("website", "http://ogp.me/ns/website#"),
    ("xhv", "http://www.w3.org/1999/xhtml/vocab#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// The declarations at an element and its ancestors.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The vocabulary of names without a prefix.
    pub(super) vocabulary: Option<String>,
    prefixes: BTreeMap<String, String>,
}

impl Names {
    /// Reads an element's declarations; `None` if it has none.
    pub(super) fn declare(element: &NodeRef<'_>, outer: &Self, budget: &mut Budget) -> Option<Self> {
        let mut declared: Vec<(String, String)> = Vec::new();
        let mut vocabulary = None;
        for attribute in &element.element_ref()?.attrs {
            match &*attribute.name.local {
                "vocab" => vocabulary = Some(attribute.value.trim().to_owned()),
                "prefix" => {
                    let mut words = attribute.value.split_ascii_whitespace();
                    while let (Some(name), Some(url)) = (words.next(), words.next()) {
                        if let Some(name) = name.strip_suffix(':') {
                            declared.push((name.to_ascii_lowercase(), url.to_owned()));
                        }
                    }
                }
                name => {
                    if let Some(name) = name.strip_prefix("xmlns:") {
                        declared.push((name.to_ascii_lowercase(), attribute.value.trim().to_owned()));
                    }
                }
            }
        }
        if declared.is_empty() && vocabulary.is_none() {
            return None;
        }
        let mut names = outer.clone();
        if let Some(vocabulary) = vocabulary {
            names.vocabulary = (!vocabulary.is_empty()).then_some(vocabulary);
        }
        for (name, url) in declared {
            if names.prefixes.len() >= FIELDS_MAX || !budget.value() {
                budget.is_cut = true;
                break;
            }
            names.prefixes.insert(name, budget.clipped(&url).to_owned());
        }
        Some(names)
    }

    /// Expands a name to its URL; `None` if it has none.
    pub(super) fn expand(&self, name: &str) -> Option<String> {
        let Some((prefix, rest)) = name.split_once(':') else {
            return Some(format!("{}{name}", self.vocabulary.as_ref()?));
        };
        match self.prefix(prefix) {
            Some(url) if !rest.starts_with("//") => Some(format!("{url}{rest}")),
            _ => Some(name.to_owned()),
        }
    }

    /// Returns the URL of a prefix.
    pub(super) fn prefix(&self, prefix: &str) -> Option<&str> {
        let prefix = prefix.to_ascii_lowercase();
        let initial = || INITIAL.iter().find(|(known, _)| *known == prefix).map(|(_, url)| *url);
        self.prefixes.get(&prefix).map(String::as_str).or_else(initial)
    }
}
