//! The links and the text of a page according to a tree builder: slow, with another parser and
//! separate rules.

use std::collections::BTreeSet;

use dragline_domain::document::LinkKind;
use scraper::{ElementRef, Html};
use url::Url;

/// Elements whose references have only one kind, as (element, attribute, kind).
const REFERENCES: &[(&str, &str, LinkKind)] = &[
    ("a", "href", LinkKind::A),
    ("area", "href", LinkKind::Area),
    ("img", "src", LinkKind::Img),
    ("video", "src", LinkKind::Video),
    ("video", "poster", LinkKind::Img),
    ("audio", "src", LinkKind::Audio),
    ("object", "data", LinkKind::Object),
    ("embed", "src", LinkKind::Object),
    ("script", "src", LinkKind::Script),
    ("iframe", "src", LinkKind::Iframe),
    ("frame", "src", LinkKind::Iframe),
    ("form", "action", LinkKind::Form),
    ("button", "formaction", LinkKind::Form),
    ("input", "formaction", LinkKind::Form),
    ("body", "background", LinkKind::Img),
];

/// Kind and URL of every link.
pub(crate) type LinkSet = BTreeSet<(LinkKind, String)>;

/// Returns the links of the kinds above, style sheets and icons.
pub(crate) fn links(html: &str, page: &Url) -> LinkSet {
    // This parser assumes that scripts run, so it reads the content of `<noscript>` as text.
    let html = without_noscript(html);
    let document = Html::parse_document(&html);
    let elements: Vec<_> = document
        .tree
        .nodes()
        .filter_map(ElementRef::wrap)
        .filter(|element| !element.ancestors().filter_map(ElementRef::wrap).any(is_template))
        .collect();
    let base = elements.iter().find(|element| element.value().name() == "base" && element.attr("href").is_some());
    let base = base.and_then(|base| page.join(base.attr("href")?).ok()).filter(is_web);
    let base = base.as_ref().unwrap_or(page);

    let mut links = LinkSet::new();
    for element in elements {
        let name = element.value().name();
        for (_, attribute, kind) in REFERENCES.iter().filter(|(of, ..)| *of == name) {
            add(&mut links, element.attr(attribute), *kind, base, page);
        }
        let rel = element.attr("rel").unwrap_or_default();
        for (word, kind) in [("stylesheet", LinkKind::Css), ("icon", LinkKind::Img)] {
            if name == "link" && rel.split_ascii_whitespace().any(|of| of.eq_ignore_ascii_case(word)) {
                add(&mut links, element.attr("href"), kind, base, page);
            }
        }
    }
    links
}

/// Returns the words of a page that nothing hides: no attribute `hidden` around them, no script,
/// and no `<video>`.
pub(crate) fn seen_words(html: &str) -> Vec<String> {
    let document = Html::parse_document(html);
    let is_unseen = |element: ElementRef<'_>| {
        element.attr("hidden").is_some() || matches!(element.value().name(), "script" | "video")
    };
    let texts = document.tree.root().descendants().filter_map(|node| {
        let is_seen = !node.ancestors().filter_map(ElementRef::wrap).any(is_unseen);
        node.value().as_text().filter(|_| is_seen).map(|text| text.to_string())
    });
    let text: Vec<_> = texts.collect();
    text.concat().split_whitespace().map(str::to_owned).collect()
}

/// Whether [`links`] finds all links of this kind.
pub(crate) fn knows(kind: LinkKind) -> bool {
    kind == LinkKind::Css || REFERENCES.iter().any(|(.., known)| *known == kind)
}

fn add(links: &mut LinkSet, reference: Option<&str>, kind: LinkKind, base: &Url, page: &Url) {
    let Some(reference) = reference.map(|reference| reference.trim_matches(|c: char| c <= ' ')) else { return };
    let is_in_page = reference.is_empty() || reference.starts_with('#');
    let Some(mut url) = base.join(reference).ok().filter(is_web) else { return };
    url.set_fragment(None);
    if !is_in_page || (url != *page && kind.leads_to_page()) {
        links.insert((kind, url.into()));
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn is_template(element: ElementRef<'_>) -> bool {
    element.value().name() == "template"
}

fn without_noscript(html: &str) -> String {
    let lower_case = html.to_ascii_lowercase();
    let mut kept = String::with_capacity(html.len());
    let mut from = 0;
    let mut tags: Vec<_> = ["<noscript>", "</noscript>"]
        .iter()
        .flat_map(|tag| lower_case.match_indices(tag).map(|(at, tag)| (at, tag.len())))
        .collect();
    tags.sort_unstable();
    for (at, length) in tags {
        kept.push_str(&html[from..at]);
        from = at + length;
    }
    kept.push_str(&html[from..]);
    kept
}
