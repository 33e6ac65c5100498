//! Elements beside each other that are alike: of the same name, with the same classes.

use std::collections::HashMap;

use super::outline::{Outline, Region};
use super::selectors::compound;

/// Fewer than these are no list.
pub(super) const ALIKE_MIN: usize = 3;

/// How many kinds of elements of one name are looked for below one parent.
const KINDS_MAX: usize = 4;

/// Elements that hold entries of lists; so do those that a page makes up.
const ENTRY_NAMES: &[&str] = &["a", "article", "aside", "details", "div", "figure", "li", "section", "tr"];

/// Elements that stand for anything: without a class, that they are beside each other says little.
const VAGUE_NAMES: &[&str] = &["a", "aside", "details", "div", "section"];

/// Elements that are alike, with what stands above them.
#[derive(Debug)]
pub(super) struct Alike {
    /// Their parents, with the first class.
    pub(super) parent: String,
    pub(super) name: String,
    /// The classes that all of them have.
    pub(super) classes: Vec<String>,
    /// In the order of the page.
    pub(super) members: Vec<usize>,
}

impl Alike {
    /// Whether it takes more than that they are beside each other to make them a list.
    pub(super) fn is_vague(&self) -> bool {
        self.classes.is_empty() && VAGUE_NAMES.contains(&self.name.as_str())
    }
}

/// Returns those of the page; what is alike below parents that are alike is together.
pub(super) fn all(outline: &Outline<'_>) -> Vec<Alike> {
    let mut found: Vec<Alike> = Vec::new();
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
                    found.push(Alike { parent, name, classes, members: Vec::new() });
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

/// Returns the children that may be entries, those of the same name together.
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

/// Divides elements of one name by the classes that many have in common.
fn kinds(outline: &Outline<'_>, mut members: Vec<usize>) -> Vec<(Vec<String>, Vec<usize>)> {
    let mut kinds = Vec::new();
    while members.len() >= ALIKE_MIN && kinds.len() < KINDS_MAX {
        let Some(class) = most_frequent(outline, &members) else {
            // No class tells them apart: if there is none before, they are of one kind.
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

/// Returns the class that most of the elements have, the first of these in the page; `None` if hardly any has one.
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

/// Returns the classes that all have, in the order of the first one.
fn common(outline: &Outline<'_>, members: &[usize]) -> Vec<String> {
    let Some((&first, others)) = members.split_first() else { return Vec::new() };
    let mut common = outline.get(first).classes.clone();
    for &at in others {
        common.retain(|class| outline.get(at).classes.contains(class));
    }
    common
}
