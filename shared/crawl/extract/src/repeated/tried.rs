//! Trying fields on the page, so that everything reported about them was observed.

use std::collections::{BTreeSet, HashSet};

use dom_query::{NodeId, NodeRef};
use dragline_definition::selectors::Css;
use dragline_domain::content::RepeatedField;
use dragline_domain::definition::ScalarKind;
use dragline_domain::item::Value;
use dragline_domain::shown::one_line;
use selectors::context::SelectorCaches;
use url::Url;

use super::outline::Outline;
use super::{FIELDS_MAX, count, names};
use crate::typed::kinds;
use crate::typed::text::{self, VALUE_BYTES_MAX};
use crate::typed::work::Work;

/// The longest example, in characters.
const EXAMPLE_CHARS_MAX: usize = 80;

/// The position of a field in an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldPath {
    /// The selector below the entry; `None` if it is the entry itself.
    pub(super) css: Option<String>,
    /// The attribute; `None` if it is the text.
    pub(super) attribute: Option<&'static str>,
}

/// A field candidate that was not tried yet.
#[derive(Clone, Debug)]
pub(super) struct FieldCandidate {
    pub(super) place: FieldPath,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
}

/// The value at a position in one entry.
pub(super) type FieldText = Option<(NodeId, String)>;

/// The identity of a field's values.
#[derive(PartialEq, Eq, Hash)]
enum FieldIdentity {
    Element(NodeId),
    Url(String),
}

/// Tries fields on entries, and keeps those that occur in at least `least` entries. If two always
/// find the same element, or lead to the same URL, the first one stays.
pub(super) fn fields(
    outline: &Outline<'_>,
    entries: &[usize],
    written: Vec<FieldCandidate>,
    least: usize,
    base: &Url,
    work: &mut Work,
) -> Vec<RepeatedField> {
    let (mut seen, mut names, mut fields) = (HashSet::new(), BTreeSet::new(), Vec::new());
    for FieldCandidate { place, name, path } in written {
        if fields.len() == FIELDS_MAX {
            break;
        }
        let values = values(outline, entries, &place, base, work);
        let having = values.iter().flatten().count();
        let leads = place.attribute.is_some_and(is_url);
        let same = |(id, value): &(NodeId, String)| {
            if leads { FieldIdentity::Url(value.clone()) } else { FieldIdentity::Element(*id) }
        };
        let found: Vec<Option<FieldIdentity>> = values.iter().map(|value| value.as_ref().map(same)).collect();
        if having < least.max(1) || !seen.insert((place.attribute, found)) {
            continue;
        }
        let texts = || values.iter().flatten().map(|(_, text)| text.as_str());
        let kind = kind_of_all(place.attribute, texts, base);
        let example = one_line(texts().next().unwrap_or_default(), EXAMPLE_CHARS_MAX);
        let name = name.unwrap_or_else(|| name_by_kind(kind).to_owned());
        let attribute = place.attribute.map(str::to_owned);
        let name = names::unused_name(name, &mut names);
        fields.push(RepeatedField { name, css: place.css, attribute, path, kind, entries: count(having), example });
    }
    fields
}

/// Returns the value at a position in each entry: the first one that is not empty.
pub(super) fn values(
    outline: &Outline<'_>,
    entries: &[usize],
    place: &FieldPath,
    base: &Url,
    work: &mut Work,
) -> Vec<FieldText> {
    let css = match place.css.as_deref().map(Css::parse) {
        Some(Ok(css)) => Some(css),
        Some(Err(_)) => return Vec::new(),
        None => None,
    };
    let mut caches = SelectorCaches::default();
    let mut values = Vec::new();
    for &entry in entries {
        let root = outline.get(entry).node;
        values.push(match &css {
            None => value(root, place.attribute, base, work),
            Some(css) => first_below(root, work, |node, work| {
                let is_it = css.matcher().match_element_with_caches(&node, &mut caches);
                is_it.then(|| value(node, place.attribute, base, work)).flatten()
            }),
        });
    }
    values
}

/// Returns the first non-empty result for an element below this one.
fn first_below<'p, T>(
    root: NodeRef<'p>,
    work: &mut Work,
    mut make: impl FnMut(NodeRef<'p>, &mut Work) -> Option<T>,
) -> Option<T> {
    let mut node = root.first_child()?;
    loop {
        work.spend(1).then_some(())?;
        if node.is_element()
            && let Some(made) = make(node, work)
        {
            return Some(made);
        }
        if let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        loop {
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
                break;
            }
            node = node.parent().filter(|parent| parent.id != root.id)?;
        }
    }
}

fn value(node: NodeRef<'_>, attribute: Option<&str>, base: &Url, work: &mut Work) -> FieldText {
    let text = match attribute {
        None => text::collect(node, VALUE_BYTES_MAX, work),
        Some(name) => {
            let written = text::collapse(text::cut(&node.attr(name)?, VALUE_BYTES_MAX));
            match kinds::value(ScalarKind::Url, &written, base).filter(|_| is_url(name) && !written.is_empty()) {
                Some(Value::Text(url)) => url,
                _ => written,
            }
        }
    };
    (!text.is_empty()).then_some((node.id, text))
}

fn is_url(attribute: &str) -> bool {
    matches!(attribute, "href" | "src" | "data-src")
}

/// Returns the kind that all values fit.
fn kind_of_all<'v, V: Iterator<Item = &'v str>>(
    attribute: Option<&str>,
    texts: impl Fn() -> V,
    base: &Url,
) -> ScalarKind {
    let is = |kind: ScalarKind, text: &str| match kinds::value(kind, text, base) {
        // A number in a sentence is not an amount of money.
        Some(Value::Money(money)) => money.currency.is_some(),
        read => read.is_some(),
    };
    let kinds = match attribute {
        Some(name) if is_url(name) => &[ScalarKind::Url][..],
        _ => &[ScalarKind::Number, ScalarKind::Money, ScalarKind::Date],
    };
    kinds.iter().copied().find(|kind| texts().all(|text| is(*kind, text))).unwrap_or_default()
}

/// Returns a default name for a field.
fn name_by_kind(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::Money => "price",
        ScalarKind::Date => "date",
        ScalarKind::Number => "number",
        ScalarKind::Url => "link",
        ScalarKind::Text | ScalarKind::Boolean => "text",
    }
}
