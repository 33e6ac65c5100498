//! Building selectors, and trying them on the page.

use dragline_definition::selectors::Css;
use selectors::context::SelectorCaches;

use super::ENTRIES_MAX;
use super::names::is_telling;
use super::outline::{Outline, Region};
use crate::typed::work::Work;

/// The most classes of one element in a selector.
const CLASSES_MAX: usize = 2;

/// How many ancestors are tried in front of a group's selector, and are the steps of a path.
const ABOVE_MAX: usize = 8;

/// Elements that occur rarely, so that they identify a region.
const LANDMARKS: &[&str] = &["article", "aside", "main", "section"];

/// The most siblings counted.
const SIBLINGS_MAX: usize = 200;

/// Returns an element's name with its first class.
pub(super) fn compound(outline: &Outline<'_>, at: usize) -> String {
    let element = outline.get(at);
    // The class of the body belongs to the page.
    let class = element.classes.first().filter(|_| element.name != "body");
    format!("{}{}", element.name, class.map(|class| format!(".{class}")).unwrap_or_default())
}

/// Returns a selector of this name with these classes.
pub(super) fn with_classes(name: &str, classes: &[String]) -> String {
    let classes: String = classes.iter().take(CLASSES_MAX).map(|class| format!(".{class}")).collect();
    format!("{name}{classes}")
}

/// Returns the id of an element with `#`, if it can be used in a selector.
fn id(outline: &Outline<'_>, at: usize) -> Option<String> {
    let id = outline.get(at).node.id_attr()?;
    is_telling(&id).then(|| format!("#{id}"))
}

/// Returns selectors for an element, from short ones to the full path to it.
pub(super) fn for_element(outline: &Outline<'_>, at: usize) -> Vec<String> {
    let (own, mut tries) = (compound(outline, at), Vec::new());
    // With the name, as hostile pages give one id to elements of several names.
    tries.extend(id(outline, at).map(|id| format!("{}{id}", outline.get(at).name)));
    if own.contains('.') {
        tries.push(own.clone());
    }
    if let Some(parent) = outline.get(at).parent {
        tries.extend(for_children(outline, parent, &own));
    }
    tries.push(path_to(outline, at));
    tries
}

/// Returns selectors for the children `own` of an element, from short ones on.
pub(super) fn for_children(outline: &Outline<'_>, parent: usize, own: &str) -> Vec<String> {
    let within = format!("{} > {own}", compound(outline, parent));
    let of_id = id(outline, parent).map(|id| format!("{id} > {own}"));
    let above = outline.above(parent).take(ABOVE_MAX).filter_map(|at| {
        let is_landmark = LANDMARKS.contains(&outline.get(at).name.as_str());
        let named = Some(compound(outline, at)).filter(|compound| is_landmark || compound.contains('.'));
        Some(format!("{} {within}", id(outline, at).or(named)?))
    });
    let mut tries = vec![within.clone()];
    tries.extend(of_id);
    tries.extend(above);
    tries
}

/// Returns the path to an element by its ancestors' positions.
pub(super) fn path_to(outline: &Outline<'_>, at: usize) -> String {
    let mut steps = Vec::new();
    let mut next = Some(at);
    while let Some(at) = next.filter(|_| steps.len() <= ABOVE_MAX) {
        let element = outline.get(at);
        if let Some(id) = id(outline, at).filter(|_| !steps.is_empty()) {
            steps.push(id);
            break;
        }
        if matches!(element.name.as_str(), "body" | "html") {
            steps.push("body".to_owned());
            break;
        }
        steps.push(format!("{}:nth-of-type({})", element.name, place_of_type(outline, at)));
        next = element.parent;
    }
    steps.reverse();
    steps.join(" > ")
}

/// Returns the position of an element among its siblings of the same name, from 1. Not exact if
/// there are very many.
pub(super) fn place_of_type(outline: &Outline<'_>, at: usize) -> usize {
    let name = &outline.get(at).name;
    1 + siblings_before(outline, at).filter(|&sibling| outline.get(sibling).name == *name).count()
}

/// Returns the position of an element among its siblings, from 1. Not exact if there are very many.
pub(super) fn place(outline: &Outline<'_>, at: usize) -> usize {
    1 + siblings_before(outline, at).count()
}

fn siblings_before(outline: &Outline<'_>, at: usize) -> impl Iterator<Item = usize> {
    let siblings = outline.get(at).parent.map_or(&[][..], |parent| &outline.get(parent).children);
    siblings.iter().copied().take_while(move |&sibling| sibling != at).take(SIBLINGS_MAX)
}

/// Entries with their selector.
pub(super) struct SelectedEntries {
    pub(super) each: String,
    pub(super) entries: Vec<usize>,
    /// Whether it selects more than these.
    pub(super) is_cut: bool,
}

/// Returns the first selector for elements of a name that selects all of `wanted`, and otherwise
/// only elements that may be with them, together with its matches.
pub(super) fn first_that_selects(
    outline: &Outline<'_>,
    tries: Vec<String>,
    (name, members): (&str, &[usize]),
    may_be: impl Fn(usize) -> bool,
    work: &mut Work,
) -> Option<SelectedEntries> {
    tries.into_iter().find_map(|text| {
        let mut selected = select(outline, &text, name, work)?;
        let mut missing = members.iter().peekable();
        for &at in &selected {
            if missing.next_if(|&&member| member == at).is_none()
                && (outline.get(at).standing != Region::Page || !may_be(at))
            {
                return None;
            }
        }
        if missing.peek().is_some() {
            return None;
        }
        let is_cut = selected.len() > ENTRIES_MAX;
        selected.truncate(ENTRIES_MAX);
        Some(SelectedEntries { each: text, entries: selected, is_cut })
    })
}

/// Returns the matches of a selector for elements of this name; `None` if it is not supported, or
/// took too long.
fn select(outline: &Outline<'_>, text: &str, name: &str, work: &mut Work) -> Option<Vec<usize>> {
    let css = Css::parse(text).ok()?;
    let mut caches = SelectorCaches::default();
    let mut selected = Vec::new();
    for &at in outline.elements_named(name) {
        // All of these have the right name, so their ancestors are examined.
        work.spend(2 + outline.get(at).depth / 4).then_some(())?;
        if css.matcher().match_element_with_caches(&outline.get(at).node, &mut caches) {
            selected.push(at);
        }
    }
    Some(selected)
}
