//! Differences between pages and their earlier captures.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::content::Repeated;
use dragline_domain::document::Document;
use dragline_domain::item::Item;

use crate::drift::{Change, Drift, drift};
use crate::{Kind, LearnedRepetition, LearnedSchema};

/// Pairs of an earlier and a current capture of the same pages.
///
/// A chance difference of one page says little; if many pages differ in the same way, their
/// template has changed.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    before: LearnedSchema,
    now: LearnedSchema,
    shapes: Vec<[Shape; 2]>,
}

/// The structure of one page.
#[derive(Clone, Debug, Default)]
struct Shape {
    /// The kind of each field of its items, by the item's table.
    items: BTreeMap<String, BTreeMap<String, Kind>>,
    /// The places of the fields of its repeated structures, by the selector of the entries.
    repeated: BTreeMap<String, BTreeSet<String>>,
}

impl Pairs {
    /// Adds a page. It is ignored if it has neither items nor repeated structures, then and now.
    pub fn add(&mut self, before: &Document, now: &Document) {
        let says_nothing = |document| items(document).is_empty() && repeated(document).is_empty();
        if says_nothing(before) && says_nothing(now) {
            return;
        }
        self.before.learn(before);
        self.now.learn(now);
        self.shapes.push([shape(before), shape(now)]);
    }

    /// Whether there is nothing to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Returns the differences, as [`drift`] does.
    #[must_use]
    pub fn drifts(&self) -> Vec<Drift> {
        drift(&self.before, &self.now)
    }

    /// Returns the number of pages that show one of these differences.
    #[must_use]
    pub fn pages_with(&self, drifts: &[Drift]) -> usize {
        let differs = |[before, now]: &&[Shape; 2]| drifts.iter().any(|drift| has(before, now, &drift.change));
        self.shapes.iter().filter(differs).count()
    }
}

fn items(document: &Document) -> &[Item] {
    document.content.as_deref().map_or(&[], |content| &content.items)
}

fn repeated(document: &Document) -> &[Repeated] {
    document.content.as_deref().map_or(&[], |content| &content.repeated)
}

fn shape(document: &Document) -> Shape {
    let mut shape = Shape::default();
    for item in items(document) {
        let columns = item.columns_by_property();
        let kinds = columns.into_iter().map(|(name, column)| {
            let kind = Kind::infer(&name, &column);
            (name, kind)
        });
        shape.items.entry(item.table()).or_default().extend(kinds);
    }
    for (each, learned) in repeated(document).iter().filter_map(|one| LearnedRepetition::from_repeated(one, "")) {
        shape.repeated.insert(each, learned.fields.into_keys().collect());
    }
    shape
}

/// Whether a page has changed in this way.
fn has(before: &Shape, now: &Shape, change: &Change) -> bool {
    let kinds = |item_type: &str, field: &str| -> [Option<Kind>; 2] {
        [before, now].map(|shape| shape.items.get(item_type).and_then(|fields| fields.get(field)).copied())
    };
    let has_repeated = |each: &str| [before, now].map(|shape| shape.repeated.contains_key(each));
    let has_place = |each: &str, place: &str| {
        [before, now].map(|shape| shape.repeated.get(each).map(|places| places.contains(place)))
    };
    match change {
        Change::FieldGone { item_type, field } => matches!(kinds(item_type, field), [Some(_), None]),
        Change::FieldNew { item_type, field } => matches!(kinds(item_type, field), [None, Some(_)]),
        Change::KindChanged { item_type, field, to, .. } => {
            matches!(kinds(item_type, field), [Some(was), Some(is)] if was != is && is == *to)
        }
        Change::TypeGone { item_type, .. } => {
            before.items.contains_key(item_type) && !now.items.contains_key(item_type)
        }
        Change::TypeNew { item_type } => !before.items.contains_key(item_type) && now.items.contains_key(item_type),
        Change::RepeatedGone { each, .. } => has_repeated(each) == [true, false],
        Change::RepeatedNew { each, .. } => has_repeated(each) == [false, true],
        Change::RepeatedFieldGone { each, place, .. } => has_place(each, place) == [Some(true), Some(false)],
        Change::RepeatedFieldNew { each, place, .. } => has_place(each, place) == [Some(false), Some(true)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::documents;

    #[test]
    fn drifted_pages_are_reported_and_counted() {
        const ALL: &str = r#""name":"A","size":7"#;
        for (fields, expected, pages, why) in [
            (ALL, vec![], 0, "nothing changed"),
            (r#""name":"A""#, vec!["product.size is gone: 8 of 8, now 0 of 8"], 8, "a field is gone"),
            (
                r#""name":"A","size":"large""#,
                vec!["product.size is text, no longer number: 0 of 8, now 8 of 8"],
                8,
                "a field has another kind",
            ),
            (
                r#""name":"A","size":7,"colour":"red""#,
                vec!["product.colour is new: 0 of 8, now 8 of 8"],
                8,
                "a field is new",
            ),
        ] {
            let mut pairs = Pairs::default();
            for (before, now) in documents("Product", 8, ALL).iter().zip(&documents("Product", 8, fields)) {
                pairs.add(before, now);
            }
            let drifts = pairs.drifts();
            assert_eq!(drifts.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{why}");
            assert_eq!(pairs.pages_with(&drifts), pages, "{why}");
        }
    }

    #[test]
    fn pages_that_did_not_drift_with_the_others_are_not_counted() {
        let (before, mut now) = (documents("Product", 8, r#""size":7"#), documents("Offer", 8, r#""size":7"#));
        now[0] = before[0].clone();
        let mut pairs = Pairs::default();
        for (before, now) in before.iter().zip(&now) {
            pairs.add(before, now);
        }
        let drifts = pairs.drifts();
        let told: Vec<String> = drifts.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["product is gone from /p/*: 8 of 8, now 1 of 8", "offer is new: 0 of 8, now 7 of 8"]);
        assert_eq!(pairs.pages_with(&drifts), 7);
    }

    #[test]
    fn pages_without_items_are_ignored() {
        let bare = |document: &Document| Document { content: None, ..document.clone() };
        let documents = documents("Product", 1, r#""size":7"#);
        let mut pairs = Pairs::default();
        pairs.add(&bare(&documents[0]), &bare(&documents[0]));
        assert!(pairs.is_empty());
        pairs.add(&documents[0], &bare(&documents[0]));
        assert!(!pairs.is_empty());
    }
}
