//! Lists: similar sibling elements, with their fields.

use std::collections::{HashMap, HashSet};

use dragline_domain::content::{RepeatedField, RepeatedForm};
use url::Url;

use super::alike::{self, ALIKE_MIN, SimilarElements};
use super::names::{field_name, is_telling};
use super::outline::{Outline, Region};
use super::selectors::{
    SelectedEntries, compound, first_that_selects, for_children, path_to, place, place_of_type, with_classes,
};
use super::tried::{self, FieldCandidate, FieldPath};
use super::{CANDIDATES_MAX, Group};
use crate::typed::work::Work;

/// The most entries examined for fields.
const LOOKED_AT_MAX: usize = 100;

/// The most elements of an entry examined for fields.
const ELEMENTS_OF_ENTRY_MAX: usize = 300;

/// The cost of examining an element.
const NOTE_COST: u64 = 8;

/// The most field positions noted per list.
const PLACES_MAX: usize = 200;

/// Fields that occur in a smaller share of the entries, in percent, are dropped.
const FIELD_PERCENT: usize = 20;

/// One field of a list must occur in this share of the entries, in percent; otherwise they are not
/// similar.
const LIST_PERCENT: usize = 60;

/// How many ancestors describe a field's position in the entry.
const ABOVE_MAX: usize = 2;

/// An unnamed element later than this among its siblings is not a field.
const PLACE_MAX: usize = 40;

/// Elements that are not searched for fields.
const CLOSED: &[&str] = &["button", "dl", "input", "select", "table", "textarea"];

/// Returns the lists of a page. Tables with headings are not among them; elements in entries of a
/// nested list belong to the inner one.
pub(super) fn groups(outline: &Outline<'_>, others: &[Group], base: &Url, work: &mut Work) -> Vec<Group> {
    let mut inner: HashSet<usize> = others.iter().flat_map(|group| group.entries.iter().copied()).collect();
    let (mut groups, mut seen) = (Vec::new(), HashSet::new());
    let mut candidates = alike::all(outline);
    // Rows of known tables are not a list.
    let table_of = |at: usize| outline.above(at).nth(1);
    let is_known = |at: usize| inner.contains(&at) || table_of(at).is_some_and(|table| inner.contains(&table));
    candidates.retain(|alike| alike.name != "tr" || !alike.members.iter().any(|&at| is_known(at)));
    let is_bare = |at: usize| outline.get(at).children.is_empty();
    candidates.retain(|alike| alike.name != "a" || !alike.members.iter().all(|&at| is_bare(at)));
    // Large groups matter most; among equals, inner ones come before outer ones.
    candidates.sort_by_key(|alike| std::cmp::Reverse(alike.members.len().min(ALIKE_MIN * 4)));
    candidates.truncate(CANDIDATES_MAX);
    candidates.sort_by_key(|alike| std::cmp::Reverse(alike.members.first().map(|&at| outline.get(at).depth)));
    for alike in candidates {
        let Some(selected) = entries(outline, &alike, work) else { continue };
        let entries = &selected.entries;
        if inner.contains(&entries[0]) || !seen.insert(selected.each.clone()) {
            continue;
        }
        let written = field_candidates(outline, entries, &inner, work);
        let least = (entries.len() * FIELD_PERCENT).div_ceil(100).max(2);
        let fields = tried::fields(outline, entries, written, least, base, work);
        // Sibling links are words of a text, unless they contain elements.
        let counts = |field: &RepeatedField| alike.name != "a" || field.css.is_some();
        let is_of_most = |field: &&RepeatedField| having(field) * 100 >= entries.len() * LIST_PERCENT && counts(field);
        let of_most = fields.iter().filter(is_of_most).count();
        if of_most < if alike.is_vague() { 2 } else { 1 } {
            continue;
        }
        inner.extend(entries);
        groups.extend(Group::new(RepeatedForm::List, selected, fields, work));
    }
    groups
}

fn having(field: &RepeatedField) -> usize {
    usize::try_from(field.entries).unwrap_or(usize::MAX)
}

/// Returns the selector of similar elements, with everything that it selects.
fn entries(outline: &Outline<'_>, alike: &SimilarElements, work: &mut Work) -> Option<SelectedEntries> {
    let &first = alike.members.first()?;
    let with_text = alike.members.iter().filter(|&&at| outline.get(at).has_text).count();
    if with_text < ALIKE_MIN || with_text * 2 < alike.members.len() {
        return None;
    }
    let own = with_classes(&alike.name, &alike.classes);
    let parent = outline.get(first).parent?;
    let mut tries: Vec<String> = own.contains('.').then(|| own.clone()).into_iter().collect();
    tries.extend(for_children(outline, parent, &own));
    if alike.members.iter().all(|&at| outline.get(at).parent == Some(parent)) {
        tries.push(format!("{} > {own}", path_to(outline, parent)));
    }
    // A row with fewer entries than a list needs is one more of its kind.
    let is_alike = |at: usize| {
        outline.get(at).parent.is_some_and(|above| above == parent || compound(outline, above) == alike.parent)
    };
    first_that_selects(outline, tries, (&alike.name, &alike.members), is_alike, work)
}

/// Notes the positions of values in entries: frequent ones come first, then those earlier in the
/// page.
fn field_candidates(
    outline: &Outline<'_>,
    entries: &[usize],
    inner: &HashSet<usize>,
    work: &mut Work,
) -> Vec<FieldCandidate> {
    let mut noted = FieldNotes { outline, inner, places: HashMap::new(), written: Vec::new() };
    for &entry in entries.iter().take(LOOKED_AT_MAX) {
        let looked_at = noted.entry(entry);
        if !work.spend(looked_at * NOTE_COST) {
            break;
        }
    }
    let FieldNotes { written, places, .. } = noted;
    let mut written: Vec<(usize, usize, FieldCandidate)> = written
        .into_iter()
        .enumerate()
        .map(|(order, one)| (places.get(&one.place).map_or(0, |noted| noted.1), order, one))
        .collect();
    let looked_at = entries.len().min(LOOKED_AT_MAX);
    written.retain(|(count, ..)| count * 100 >= looked_at * FIELD_PERCENT);
    written.sort_by_key(|(count, order, _)| (count * 2 < looked_at, *order));
    written.into_iter().map(|(.., one)| one).collect()
}

struct FieldNotes<'o, 'p> {
    outline: &'o Outline<'p>,
    inner: &'o HashSet<usize>,
    /// The last entry with it, and the number of entries with it.
    places: HashMap<FieldPath, (usize, usize)>,
    written: Vec<FieldCandidate>,
}

/// An element still to be examined.
struct PendingElement {
    at: usize,
    is_in_text: bool,
}

impl FieldNotes<'_, '_> {
    /// Notes the positions in an entry. Returns the number of elements examined.
    fn entry(&mut self, entry: usize) -> u64 {
        let mut waiting = vec![PendingElement { at: entry, is_in_text: false }];
        let (mut left, mut looked_at) = (ELEMENTS_OF_ENTRY_MAX, 0);
        while let Some(PendingElement { at, is_in_text }) = waiting.pop() {
            let element = self.outline.get(at);
            let is_other = at != entry && (self.inner.contains(&at) || CLOSED.contains(&element.name.as_str()));
            if left == 0 || is_other || element.standing != Region::Page || element.name.is_empty() {
                continue;
            }
            (left, looked_at) = (left - 1, looked_at + 1);
            let has_own_text = element.has_text && has_own_text(element.node);
            self.element(entry, at, has_own_text, is_in_text);
            let is_in_text = is_in_text || has_own_text;
            waiting.extend(element.children.iter().rev().take(left).map(|&at| PendingElement { at, is_in_text }));
        }
        looked_at
    }

    fn element(&mut self, entry: usize, at: usize, has_own_text: bool, is_in_text: bool) {
        let element = self.outline.get(at);
        let property = element.node.attr("itemprop").filter(|property| is_telling(property));
        let property = property.as_deref();
        let class = element.classes.first().filter(|_| at != entry);
        let attribute = match element.name.as_str() {
            "a" if element.node.attr("href").is_some_and(|href| !leads_nowhere(&href)) => Some("href"),
            "img" if element.node.attr("src").is_some_and(|src| !src.starts_with("data:")) => Some("src"),
            "img" if element.node.has_attr("data-src") => Some("data-src"),
            "time" if element.node.has_attr("datetime") => Some("datetime"),
            _ if property.is_some() && element.node.has_attr("content") => Some("content"),
            _ => None,
        };
        // Words of a sentence are part of it, unless they are named.
        let is_text = has_own_text && (!is_in_text || property.is_some() || class.is_some());
        if attribute.is_none() && !is_text {
            return;
        }
        let Some(css) = self.css(entry, at, property) else { return };
        let named = property.and_then(field_name);
        if let Some(attribute) = attribute {
            let name = match attribute {
                "href" => Some("link".to_owned()),
                "src" | "data-src" => Some("image".to_owned()),
                _ => named.clone().or_else(|| Some("date".to_owned())),
            };
            self.note(entry, FieldPath { css: css.clone(), attribute: Some(attribute) }, name);
        }
        if is_text && !matches!(attribute, Some("datetime" | "content")) {
            let name = named.or_else(|| self.name(entry, at));
            self.note(entry, FieldPath { css, attribute: None }, name);
        }
    }

    fn note(&mut self, entry: usize, place: FieldPath, name: Option<String>) {
        if let Some((last, count)) = self.places.get_mut(&place) {
            if *last != entry {
                (*last, *count) = (entry, *count + 1);
            }
        } else if self.places.len() < PLACES_MAX {
            self.written.push(FieldCandidate { place: place.clone(), name, path: None });
            self.places.insert(place, (entry, 1));
        }
    }

    /// Returns the selector of an element below an entry: `Some(None)` for the entry itself, `None`
    /// if it cannot be selected.
    #[expect(clippy::option_option, reason = "the entry itself needs no selector")]
    fn css(&self, entry: usize, at: usize, property: Option<&str>) -> Option<Option<String>> {
        if at == entry {
            return Some(None);
        }
        if let Some(property) = property {
            return Some(Some(format!("[itemprop={property}]")));
        }
        let (mut steps, mut next) = (vec![self.step(at)?], at);
        while steps.len() <= ABOVE_MAX
            && !steps.last().is_some_and(|step| step.contains('.'))
            && let Some(parent) = self.outline.get(next).parent.filter(|&parent| parent != entry)
        {
            steps.push(self.step(parent)?);
            next = parent;
        }
        steps.reverse();
        Some(Some(steps.join(" > ")))
    }

    fn step(&self, at: usize) -> Option<String> {
        let element = self.outline.get(at);
        let own = compound(self.outline, at);
        if element.name.is_empty() {
            return None;
        }
        if matches!(element.name.as_str(), "td" | "th") {
            let place = place(self.outline, at);
            return (place <= PLACE_MAX).then(|| format!("{}:nth-child({place})", element.name));
        }
        if own.contains('.') {
            return Some(own);
        }
        match place_of_type(self.outline, at) {
            1 => Some(own),
            place => (place <= PLACE_MAX).then(|| format!("{own}:nth-of-type({place})")),
        }
    }

    /// Returns the name by the class of an element or of its ancestors in the entry; `None` if
    /// there is none.
    fn name(&self, entry: usize, at: usize) -> Option<String> {
        let blocks: Vec<String> =
            self.outline.get(entry).classes.iter().filter_map(|class| field_name(class)).collect();
        let mut next = Some(at).filter(|&at| at != entry);
        while let Some(at) = next {
            let element = self.outline.get(at);
            if let Some(name) = element.classes.iter().find_map(|class| field_name(class)) {
                let short = blocks.iter().find_map(|block| name.strip_prefix(&format!("{block}_")));
                return Some(short.map(str::to_owned).unwrap_or(name));
            }
            if matches!(element.name.as_str(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6") {
                return Some("title".to_owned());
            }
            // The first child of another element takes that one's name.
            let is_first = |&parent: &usize| parent != entry && self.outline.get(parent).children.first() == Some(&at);
            next = element.parent.filter(is_first);
        }
        None
    }
}

/// Whether a link only runs a script.
fn leads_nowhere(href: &str) -> bool {
    let href = href.trim_start();
    href == "#" || href.get(..11).is_some_and(|scheme| scheme.eq_ignore_ascii_case("javascript:"))
}

fn has_own_text(node: dom_query::NodeRef<'_>) -> bool {
    std::iter::successors(node.first_child(), dom_query::NodeRef::next_sibling).any(|child| child.is_nonempty_text())
}
