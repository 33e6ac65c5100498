//! Finding elements by CSS selectors.

use dom_query::NodeRef;
use dragline_definition::selectors::{Cost, Css};
use selectors::context::SelectorCaches;

use super::work::Work;

/// The most matches of one place.
pub(super) const MATCHES_MAX: usize = 10_000;

/// Returns the elements below a node that match a selector, in page order.
///
/// Matching looks beyond the element itself: that cost is charged by the element's position in the
/// tree.
pub(crate) fn select<'p>(
    root: NodeRef<'p>,
    css: &Css,
    caches: &mut SelectorCaches,
    work: &mut Work,
) -> Vec<NodeRef<'p>> {
    let mut found = Vec::new();
    let Some(above) = above(root, css.cost(), work) else { return found };
    // The cost of each level so far: its ancestors and their earlier siblings, or only its
    // ancestors.
    let mut levels = vec![above + 1];
    let Some(mut node) = root.first_child() else { return found };
    loop {
        let level = levels.last().copied().unwrap_or(1);
        if node.is_element() {
            let cost = match css.cost() {
                Cost::Element => 1,
                // Most elements fail the last part of the selector, and then their ancestors are
                // not examined.
                Cost::Ancestors => 1 + level / 16,
                Cost::Siblings => level,
            };
            if !work.spend(cost) {
                break;
            }
            if css.matcher().match_element_with_caches(&node, caches) {
                if found.len() == MATCHES_MAX {
                    work.cut();
                    break;
                }
                found.push(node);
            }
            if css.cost() == Cost::Siblings
                && let Some(level) = levels.last_mut()
            {
                *level += 1;
            }
        }
        if let Some(child) = node.first_child() {
            levels.push(level + 1);
            node = child;
            continue;
        }
        loop {
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
                break;
            }
            levels.pop();
            let Some(parent) = node.parent().filter(|parent| parent.id != root.id) else { return found };
            node = parent;
        }
    }
    found
}

/// Returns the cost of a node's ancestors; `None` if it is too much.
fn above(root: NodeRef<'_>, cost: Cost, work: &mut Work) -> Option<u64> {
    let mut above = 0;
    let mut node = Some(root);
    while let Some(at) = node.filter(|_| cost != Cost::Element) {
        above += 1;
        let mut sibling = at.prev_sibling().filter(|_| cost == Cost::Siblings);
        while let Some(before) = sibling {
            above += 1;
            work.spend(1).then_some(())?;
            sibling = before.prev_sibling();
        }
        node = at.parent();
    }
    Some(above)
}
