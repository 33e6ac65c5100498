//! Parts of a page that the server streamed later than their place in it.
//!
//! React answers at once with placeholders for slow parts, and sends these at the end of the same
//! page: `<div hidden id="S:1">`. A line of script moves it to `<template id="B:1">`, which is
//! followed by a fallback, up to a comment; or to `<template id="P:1">`, which has none (react-dom,
//! "Fizz instruction set"). Readers see the part there, so it is moved there.

use std::collections::HashMap;

use dom_query::{Document, NodeData, NodeId, NodeRef};

use crate::tree::DEPTH_MAX;

/// The most parts of a page.
const PARTS_MAX: usize = 1_000;

/// The most nodes of a fallback.
const FALLBACK_NODES_MAX: usize = 1_000;

/// Whether a page may have such parts; if not, its tree need not be searched for them.
pub(crate) fn may_have_parts(html: &str) -> bool {
    html.contains("S:") && html.contains("<template")
}

/// Moves the parts of a page to their places. A part without a place stays hidden.
pub(crate) fn put_together(document: &Document) {
    let mut parts = Vec::new();
    let mut places: HashMap<String, NodeRef<'_>> = HashMap::new();
    for node in document.root().descendants_it().filter(NodeRef::is_element) {
        let Some(id) = node.id_attr() else { continue };
        match id.split_once(':') {
            Some(("S", number)) if parts.len() < PARTS_MAX && node.has_attr("hidden") => {
                parts.push((number.to_owned(), node));
            }
            Some(("B" | "P", number)) if node.has_name("template") => {
                places.entry(number.to_owned()).or_insert(node);
            }
            _ => {}
        }
    }
    for (number, part) in parts {
        if let Some(place) = places.remove(&number).filter(|place| is_apart(place, part.id)) {
            clear_fallback(&place);
            for child in part.children() {
                place.insert_before(&child.id);
            }
            place.remove_from_parent();
        }
    }
}

/// Whether a place is in the page, and not within the part itself.
fn is_apart(place: &NodeRef<'_>, part: NodeId) -> bool {
    let mut around = place.parent();
    for _ in 0..DEPTH_MAX {
        match around {
            Some(node) if node.id == part => return false,
            Some(node) if node.is_document() => return true,
            Some(node) => around = node.parent(),
            None => return false,
        }
    }
    false
}

/// Removes a fallback up to the comment that ends it. Without that comment, nothing is removed.
fn clear_fallback(place: &NodeRef<'_>) {
    let (mut shown, mut depth, mut next) = (Vec::new(), 0_usize, place.next_sibling());
    while let Some(node) = next.filter(|_| shown.len() < FALLBACK_NODES_MAX) {
        match comment(&node).as_deref() {
            Some("/$") if depth == 0 => {
                shown.iter().for_each(NodeRef::remove_from_parent);
                return;
            }
            Some("/$") => depth -= 1,
            Some("$" | "$?" | "$!") => depth += 1,
            _ => {}
        }
        shown.push(node);
        next = node.next_sibling();
    }
}

fn comment(node: &NodeRef<'_>) -> Option<String> {
    let said = |node: &dom_query::TreeNode| match &node.data {
        NodeData::Comment { contents } => Some(contents.to_string()),
        _ => None,
    };
    node.query(said).flatten()
}

#[cfg(test)]
mod tests {
    use crate::tree;

    #[test]
    fn parts_are_put_where_scripts_put_them() {
        let wait = r#"<!--$?--><template id="B:0"></template><i>Wait</i><!--/$-->"#;
        for (html, expected, why) in [
            (
                format!(r#"<p>a</p>{wait}<p>c</p><div hidden id="S:0"><p>b</p></div>"#),
                r#"<p>a</p><!--$?--><p>b</p><!--/$--><p>c</p><div hidden="" id="S:0"></div>"#,
                "in place of what is shown in the meantime",
            ),
            (
                r#"<p>a<template id="P:1"></template></p><p>c</p><div hidden id="S:1"><b>b</b></div>"#.to_owned(),
                r#"<p>a<b>b</b></p><p>c</p><div hidden="" id="S:1"></div>"#,
                "a part of a part, with nothing shown in the meantime",
            ),
            (
                format!(r#"{wait}<div hidden id="S:1"><b>b</b></div><div hidden id="S:0"><template id="P:1"></template></div>"#),
                r#"<!--$?--><b>b</b><!--/$--><div hidden="" id="S:1"></div><div hidden="" id="S:0"></div>"#,
                "a part in another one",
            ),
            (
                r#"<!--$?--><template id="B:0"></template><!--$--><i>W</i><!--/$--><!--/$--><p>c</p><div hidden id="S:0">b</div>"#.to_owned(),
                r#"<!--$?-->b<!--/$--><p>c</p><div hidden="" id="S:0"></div>"#,
                "comments within what is shown in the meantime",
            ),
            (
                r#"<template id="B:0"></template><p>c</p><div hidden id="S:0">b</div>"#.to_owned(),
                r#"b<p>c</p><div hidden="" id="S:0"></div>"#,
                "nothing says where it ends, so nothing is lost",
            ),
            (
                r#"<p>a</p><div hidden id="S:0">b</div><template></template>"#.to_owned(),
                r#"<p>a</p><div hidden="" id="S:0">b</div><template></template>"#,
                "no place",
            ),
            (
                r#"<p>a</p><div hidden id="S:0"><p><template id="B:0"></template></p></div>"#.to_owned(),
                r#"<p>a</p><div hidden="" id="S:0"><p><template id="B:0"></template></p></div>"#,
                "a place within itself",
            ),
            (
                r#"<template id="B:0"></template><div id="S:0">b</div>"#.to_owned(),
                r#"<template id="B:0"></template><div id="S:0">b</div>"#,
                "which is seen already",
            ),
        ] {
            let document = tree::parse(&format!("<body>{html}")).unwrap();
            assert_eq!(document.body().unwrap().inner_html().as_ref(), expected, "{why}");
        }
    }

    #[test]
    fn a_tree_that_gets_too_deep_is_refused() {
        let part = |number: usize| {
            let (next, open, close) = (number + 1, "<div>".repeat(100), "</div>".repeat(100));
            format!(r#"<div hidden id="S:{number}">{open}<template id="P:{next}"></template>{close}</div>"#)
        };
        let html = |parts: usize| {
            let parts: String = (0..parts).map(part).collect();
            format!(r#"<template id="P:0"></template>{parts}"#)
        };
        assert!(tree::parse(&html(2)).is_some());
        assert!(tree::parse(&html(3)).is_none());
        assert!(tree::parse(&html(900)).is_none());
    }
}
