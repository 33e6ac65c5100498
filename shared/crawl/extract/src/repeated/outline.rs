//! The elements of a page, noted once.

use std::collections::HashMap;

use dom_query::{Document, NodeRef};

use super::names::{is_plain_name, telling_classes, words};
use crate::typed::work::Work;

/// More elements than pages with lists have. The rest is ignored.
const ELEMENTS_MAX: usize = 200_000;

/// Elements that are invisible, or not part of the page's own text.
const UNSEEN: &[&str] = &[
    "audio", "canvas", "datalist", "head", "iframe", "math", "noscript", "object", "script", "select", "style", "svg",
    "template", "video",
];
/// Words in the classes and ids of menus.
const MENU_WORDS: &[&str] = &[
    "breadcrumb",
    "breadcrumbs",
    "consent",
    "cookie",
    "cookies",
    "megamenu",
    "nav",
    "navbar",
    "navigation",
    "pager",
    "pagination",
    "shariff",
    "sharing",
    "social",
    "subnav",
    "topnav",
];
/// Classes and ids of page frames: headers, footers and the like.
const FRAMES: &[&str] =
    &["footer", "header", "masthead", "page-footer", "page-header", "site-footer", "site-header", "topbar"];
const MENU_ROLES: &[&str] = &["banner", "contentinfo", "menu", "menubar", "navigation", "tablist", "toolbar"];

/// The region of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// In the page itself.
    Page,
    /// In a menu or a page frame.
    Menu,
    /// Invisible.
    Unseen,
}

/// An element.
pub(super) struct Element<'p> {
    pub(super) node: NodeRef<'p>,
    /// In lower case; empty if it cannot be used in a selector.
    pub(super) name: String,
    /// The classes that describe it, in order.
    pub(super) classes: Vec<String>,
    pub(super) parent: Option<usize>,
    /// The number of its ancestors.
    pub(super) depth: u64,
    pub(super) children: Vec<usize>,
    pub(super) standing: Region,
    pub(super) has_text: bool,
}

/// The elements of a page, in page order.
pub(super) struct Outline<'p> {
    pub(super) elements: Vec<Element<'p>>,
    by_name: HashMap<String, Vec<usize>>,
}

impl<'p> Outline<'p> {
    pub(super) fn build(document: &'p Document, work: &mut Work) -> Self {
        let mut outline = Self { elements: Vec::new(), by_name: HashMap::new() };
        let mut open: Vec<usize> = Vec::new();
        let mut node = document.root();
        loop {
            if !work.spend(1) {
                return outline;
            }
            let is_open = node.is_element();
            if is_open {
                if outline.elements.len() == ELEMENTS_MAX {
                    work.cut();
                    return outline;
                }
                open.push(outline.add(node, open.last().copied()));
            } else if node.is_text() && node.is_nonempty_text() {
                outline.note_text(open.last().copied());
            }
            if let Some(child) = node.first_child() {
                node = child;
                continue;
            }
            if is_open {
                open.pop();
            }
            loop {
                if let Some(sibling) = node.next_sibling() {
                    node = sibling;
                    break;
                }
                let Some(parent) = node.parent() else { return outline };
                node = parent;
                if node.is_element() {
                    open.pop();
                }
            }
        }
    }

    pub(super) fn get(&self, at: usize) -> &Element<'p> {
        &self.elements[at]
    }

    /// Returns the elements of a name, in page order.
    pub(super) fn elements_named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the ancestors of an element, nearest first.
    pub(super) fn above(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.get(at).parent, |&at| self.get(at).parent)
    }

    /// Returns the children of these names.
    pub(super) fn children_named(&self, at: usize, names: &[&str]) -> Vec<usize> {
        let children = self.get(at).children.iter().copied();
        children.filter(|&child| names.contains(&self.get(child).name.as_str())).collect()
    }

    fn add(&mut self, node: NodeRef<'p>, parent: Option<usize>) -> usize {
        let at = self.elements.len();
        let name = node.qual_name_ref().map(|name| name.local.to_string()).unwrap_or_default();
        let name = if is_plain_name(&name) { name } else { String::new() };
        let standing = self.standing(&node, &name, parent);
        let classes = node.class().map(|classes| telling_classes(&classes)).unwrap_or_default();
        if let Some(parent) = parent {
            self.elements[parent].children.push(at);
        }
        self.by_name.entry(name.clone()).or_default().push(at);
        let depth = parent.map_or(0, |parent| self.get(parent).depth + 1);
        self.elements.push(Element {
            node,
            name,
            classes,
            parent,
            depth,
            children: Vec::new(),
            standing,
            has_text: false,
        });
        at
    }

    fn standing(&self, node: &NodeRef<'_>, name: &str, parent: Option<usize>) -> Region {
        match parent.map(|parent| self.get(parent).standing) {
            Some(standing @ (Region::Menu | Region::Unseen)) => standing,
            _ if UNSEEN.contains(&name) => Region::Unseen,
            _ if self.is_menu(node, name, parent) => Region::Menu,
            _ => Region::Page,
        }
    }

    fn is_menu(&self, node: &NodeRef<'_>, name: &str, parent: Option<usize>) -> bool {
        match name {
            "html" | "body" | "main" | "article" => return false,
            "nav" | "menu" => return true,
            // An article may have a header of its own.
            "header" | "footer" => {
                let around = parent.into_iter().chain(parent.into_iter().flat_map(|parent| self.above(parent)));
                let is_own =
                    |at: usize| matches!(self.get(at).name.as_str(), "article" | "section" | "main" | "li" | "td");
                return !around.into_iter().any(is_own);
            }
            _ => {}
        }
        let is_role = |role: &str| MENU_ROLES.contains(&role.trim().to_ascii_lowercase().as_str());
        if node.attr("role").is_some_and(|role| is_role(&role)) {
            return true;
        }
        let is_list = matches!(name, "ul" | "ol");
        let says_so = |token: &str| {
            FRAMES.contains(&token)
                || words(token).any(|word| MENU_WORDS.contains(&word) || is_list && matches!(word, "menu" | "menus"))
        };
        [node.class(), node.id_attr()].into_iter().flatten().any(|tokens| {
            let tokens = tokens.to_ascii_lowercase();
            tokens.split_ascii_whitespace().take(32).any(says_so)
        })
    }

    fn note_text(&mut self, at: Option<usize>) {
        let mut next = at;
        while let Some(at) = next.filter(|&at| !self.elements[at].has_text) {
            self.elements[at].has_text = true;
            next = self.elements[at].parent;
        }
    }
}
