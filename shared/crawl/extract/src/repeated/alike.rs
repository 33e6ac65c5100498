//! Groups of similar siblings: elements of the same name with the same classes.

use std::collections::HashMap;

use super::outline::{Outline, Region};
use super::selectors::compound;

/// Fewer elements than this are not a list.
pub(super) const ALIKE_MIN: usize = 3;

/// The most groups of elements of one name below one parent.
const KINDS_MAX: usize = 4;

/// Elements that may be list entries; so may custom elements.
const ENTRY_NAMES: &[&str] = &["a", "article", "aside", "details", "div", "figure", "li", "section", "tr"];

/// Generic elements: without a class, being siblings says little about them.
const VAGUE_NAMES: &[&str] = &["a", "aside", "details", "div", "section"];

/// Similar elements, with a description of their parents.
#[derive(Debug)]
pub(super) struct SimilarElements {
    /// The parents' name, with the first class.
    pub(super) parent: String,
    pub(super) name: String,
    /// The classes that all of them have.
    pub(super) classes: Vec<String>,
    /// In page order.
    pub(super) members: Vec<usize>,
}

impl SimilarElements {
    /// Whether being siblings is not enough to make them a list.
    pub(super) fn is_vague(&self) -> bool {
        self.classes.is_empty() && VAGUE_NAMES.contains(&self.name.as_str())
    }
}

/// Returns the groups of the page; similar elements below similar parents form one group.
pub(super) fn all(outline: &Outline<'_>) -> Vec<SimilarElements> {
    let mut found: Vec<SimilarElements> = Vec::new();
    let mut places = HashMap::new();
    for (parent, element) in outline.elements.iter().enumerate() {
        if element.children.len() < ALIKE_MIN || element.standing != Region::Page || element.name.is_empty() {
            continue;
        }
        for (name, members) in by_name(outline, parent) {
            for (classes, members) in kinds(outline, members) {
                let key = (compound(outline, parent), name.clone(), classes);
                let place = *places.entry(key).or_insert_with_key(|(parent, name, classes)| {
                    let (parent, name, classes) = (parent.clone(), name.clone(), classes.clone());
                    found.push(SimilarElements { parent, name, classes, members: Vec::new() });
                    found.len() - 1
                });
                found[place].members.extend(members);
            }
        }
    }
    for alike in &mut found {
        alike.members.sort_unstable();
    }
    found
}

/// Returns the children that may be entries, grouped by name.
fn by_name(outline: &Outline<'_>, parent: usize) -> Vec<(String, Vec<usize>)> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for &at in &outline.get(parent).children {
        let element = outline.get(at);
        let may_be = ENTRY_NAMES.contains(&element.name.as_str()) || element.name.contains('-');
        if !may_be || element.standing != Region::Page {
            continue;
        }
        match found.iter().position(|(name, _)| *name == element.name) {
            Some(place) => found[place].1.push(at),
            None if found.len() == ENTRY_NAMES.len() => {}
            None => found.push((element.name.clone(), vec![at])),
        }
    }
    found.retain(|(_, members)| members.len() >= ALIKE_MIN);
    found
}

/// Divides elements of one name by the classes that many of them share.
fn kinds(outline: &Outline<'_>, mut members: Vec<usize>) -> Vec<(Vec<String>, Vec<usize>)> {
    let mut kinds = Vec::new();
    while members.len() >= ALIKE_MIN && kinds.len() < KINDS_MAX {
        let Some(class) = most_frequent(outline, &members) else {
            // No class distinguishes them: if there is no other group, they form one.
            if kinds.is_empty() {
                kinds.push((Vec::new(), members));
            }
            break;
        };
        let has = |at: &usize| outline.get(*at).classes.contains(&class);
        let (of_kind, others): (Vec<usize>, Vec<usize>) = members.into_iter().partition(has);
        kinds.push((common(outline, &of_kind), of_kind));
        members = others;
    }
    kinds
}

/// Returns the class of most elements, the first in page order if several tie; `None` if hardly any
/// has one.
fn most_frequent(outline: &Outline<'_>, members: &[usize]) -> Option<String> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut order = 0;
    for &at in members {
        for class in &outline.get(at).classes {
            order += 1;
            counts.entry(class).or_insert((0, order)).0 += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, (count, order))| (*count, std::cmp::Reverse(*order)));
    most.filter(|(_, (count, _))| *count >= ALIKE_MIN).map(|(class, _)| class.to_owned())
}

/// Returns the classes shared by all, in the order of the first element.
fn common(outline: &Outline<'_>, members: &[usize]) -> Vec<String> {
    let Some((&first, others)) = members.split_first() else { return Vec::new() };
    let mut common = outline.get(first).classes.clone();
    for &at in others {
        common.retain(|class| outline.get(at).classes.contains(class));
    }
    common
}
