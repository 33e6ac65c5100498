//! The elements of a tree that hold structured data, and walks over it.

use std::collections::HashMap;

use dom_query::{Document, NodeId, NodeRef};
use url::Url;

/// Where a walk continues after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// With the node's children.
    Into,
    /// After the node's descendants.
    Past,
}

/// Returns the next node in tree order, within a subtree.
pub(super) fn following<'t>(node: &NodeRef<'t>, root: NodeId, then: Then) -> Option<NodeRef<'t>> {
    if then == Then::Into
        && let Some(child) = node.first_child()
    {
        return Some(child);
    }
    let mut node = *node;
    while node.id != root {
        if let Some(sibling) = node.next_sibling() {
            return Some(sibling);
        }
        node = node.parent()?;
    }
    None
}

/// Returns the words of an attribute.
pub(super) fn words(node: &NodeRef<'_>, attribute: &str) -> Vec<String> {
    node.attr(attribute).map(|value| value.split_ascii_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

/// The elements found in one walk over a page.
pub(super) struct Page<'t> {
    /// The base of relative URLs.
    pub(super) base: Url,
    /// Scripts with JSON-LD.
    pub(super) scripts: Vec<NodeRef<'t>>,
    /// `meta` elements.
    pub(super) metas: Vec<NodeRef<'t>>,
    /// `link` elements.
    pub(super) links: Vec<NodeRef<'t>>,
    /// Elements that begin a microdata item outside of others.
    pub(super) items: Vec<NodeRef<'t>>,
    /// The root element.
    pub(super) root: Option<NodeRef<'t>>,
    /// Whether there are RDFa attributes.
    pub(super) has_rdfa: bool,
    ids: HashMap<String, NodeRef<'t>>,
}

impl<'t> Page<'t> {
    /// Walks over a tree and collects its elements.
    pub(super) fn read(document: &'t Document, url: &Url) -> Self {
        let mut page = Self {
            base: url.clone(),
            scripts: Vec::new(),
            metas: Vec::new(),
            links: Vec::new(),
            items: Vec::new(),
            root: None,
            has_rdfa: false,
            ids: HashMap::new(),
        };
        let root = document.root();
        let mut base = None;
        let mut has_references = false;
        let mut identified = Vec::new();
        let mut next = Some(root);
        while let Some(node) = next {
            next = following(&node, root.id, Then::Into);
            let Some(element) = node.element_ref() else { continue };
            if page.root.is_none() {
                page.root = Some(node);
            }
            match &*element.name.local {
                "meta" => page.metas.push(node),
                "link" => page.links.push(node),
                "script" if element.attr("type").is_some_and(|kind| is_json_ld(&kind)) => page.scripts.push(node),
                "base" if base.is_none() => base = element.attr("href"),
                _ => {}
            }
            let (mut has_scope, mut has_property) = (false, false);
            for attribute in &element.attrs {
                match &*attribute.name.local {
                    "itemscope" => has_scope = true,
                    "itemprop" => has_property = true,
                    "itemref" => has_references = true,
                    "id" => identified.push(node),
                    "property" | "typeof" | "vocab" => page.has_rdfa = true,
                    _ => {}
                }
            }
            if has_scope && !has_property {
                page.items.push(node);
            }
        }
        if has_references {
            for node in identified {
                if let Some(id) = node.attr("id") {
                    page.ids.entry(id.to_string()).or_insert(node);
                }
            }
        }
        if let Some(base) = base.and_then(|base| url.join(&base).ok()) {
            page.base = base;
        }
        page
    }

    /// Returns the first element with an id; `None` on pages without `itemref`.
    pub(super) fn by_id(&self, id: &str) -> Option<NodeRef<'t>> {
        self.ids.get(id).copied()
    }

    /// Resolves a URL; returns it unchanged if it is not one.
    pub(super) fn absolute(&self, reference: &str) -> String {
        let reference = reference.trim();
        if reference.is_empty() || reference.starts_with("_:") {
            return reference.to_owned();
        }
        match Url::parse(reference) {
            // As written, like everywhere else it is compared.
            Ok(_) => reference.to_owned(),
            Err(_) => self.base.join(reference).map_or_else(|_| reference.to_owned(), String::from),
        }
    }
}

/// Whether a script's type is that of JSON-LD, with or without parameters.
fn is_json_ld(kind: &str) -> bool {
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
}

/// Returns the name of a type or property: for schema.org its last part, otherwise the URL.
pub(super) fn short_name(name: &str) -> &str {
    if let Some(name) = name.strip_prefix("schema:").filter(|name| !name.is_empty()) {
        return name;
    }
    let without_scheme = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"));
    without_scheme
        .map(|rest| rest.strip_prefix("www.").unwrap_or(rest))
        .and_then(|rest| rest.strip_prefix("schema.org/"))
        .map(|name| name.trim_start_matches('/'))
        .filter(|name| !name.is_empty())
        .unwrap_or(name)
}
