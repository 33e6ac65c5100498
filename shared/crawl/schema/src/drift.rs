//! Drift: the differences between an earlier and a current schema.

use std::collections::BTreeSet;
use std::fmt;

use dragline_domain::shown::one_line;
use serde::{Deserialize, Serialize};

use crate::limits::NAME_BYTES_MAX;
use crate::page_types::PageType;
use crate::{Kind, LearnedField, LearnedRepetition, LearnedSchema, LearnedType};

/// Below this many items or pages, a share is not significant.
const SAMPLE_MIN: u64 = 5;

/// From this share on, in percent, nearly all have it.
const MOST_PERCENT: u64 = 80;

/// Up to this share, in percent, hardly any have it.
const FEW_PERCENT: u64 = 20;

/// From this share on, in percent, a new field counts.
const NEW_PERCENT: u64 = 50;

/// One difference, with its shares before and now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// What changed.
    pub change: Change,
    /// The share before.
    pub before: Share,
    /// The share now.
    pub now: Share,
    /// Examples of pages where the current state occurs.
    pub urls: BTreeSet<String>,
}

/// A change. Item types are named by their tables, fields by their columns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Change {
    /// Nearly all items had the field, and hardly any have it now. The shares are of the type's
    /// items.
    FieldGone {
        /// The item type.
        item_type: String,
        /// The field.
        field: String,
    },
    /// The field's values have another kind. The shares are of the items that have the field.
    KindChanged {
        /// The item type.
        item_type: String,
        /// The field.
        field: String,
        /// The kind of nearly all values before.
        from: Kind,
        /// The kind of nearly all values now.
        to: Kind,
    },
    /// No item had the field, and many have it now. The shares are of the type's items.
    FieldNew {
        /// The item type.
        item_type: String,
        /// The field.
        field: String,
    },
    /// Nearly all pages of a pattern had items of the type, and hardly any have them now. The
    /// shares are of these pages.
    TypeGone {
        /// The item type.
        item_type: String,
        /// The pattern of the pages' URLs.
        pattern: String,
    },
    /// No page had items of the type, and some have them now. The shares are of all pages.
    TypeNew {
        /// The item type.
        item_type: String,
    },
    /// Nearly all pages of a pattern had a repeated structure (a list, table or set of labels), and
    /// hardly any have it now. The shares are of these pages.
    RepeatedGone {
        /// The CSS selector of its entries.
        each: String,
        /// The pattern of the pages' URLs.
        pattern: String,
    },
    /// No page of a pattern had a repeated structure, and many have it now. The shares are of these
    /// pages.
    RepeatedNew {
        /// The CSS selector of its entries.
        each: String,
        /// The pattern of the pages' URLs.
        pattern: String,
    },
    /// Nearly all entries had the field, and hardly any have it now. The shares are of the entries.
    RepeatedFieldGone {
        /// The field's name.
        field: String,
        /// Where it was in the entry.
        place: String,
        /// The CSS selector of the entries.
        each: String,
        /// The pattern of the pages' URLs.
        pattern: String,
    },
    /// No entry had the field, and many have it now. The shares are of the entries.
    RepeatedFieldNew {
        /// The field's name.
        field: String,
        /// Where it is in the entry.
        place: String,
        /// The CSS selector of the entries.
        each: String,
        /// The pattern of the pages' URLs.
        pattern: String,
    },
}

/// A part of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The number of those that have it.
    pub having: u64,
    /// The total.
    pub of: u64,
}

impl Share {
    /// Returns the share in percent, rounded down; 0 if the total is 0.
    #[must_use]
    pub fn percent(self) -> u64 {
        self.having.saturating_mul(100).checked_div(self.of).unwrap_or_default()
    }

    const fn is_sample(self) -> bool {
        self.of >= SAMPLE_MIN
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.having, self.of)
    }
}

/// Returns the differences, in a fixed order; none if both are equal. Differences that rest on few
/// items or pages are left out, and so are those that a limit may have caused.
#[must_use]
pub fn drift(before: &LearnedSchema, now: &LearnedSchema) -> Vec<Drift> {
    let mut found = Vec::new();
    for (table, now_type) in now.types() {
        match before.types().get(table) {
            Some(before_type) => compare_type(table, before_type, now_type, &mut found),
            None if before.items_left_out() == 0 && before.pages() >= SAMPLE_MIN && now_type.items >= SAMPLE_MIN => {
                found.push(Drift {
                    change: Change::TypeNew { item_type: table.clone() },
                    before: Share { having: 0, of: before.pages() },
                    now: Share { having: now_type.pages, of: now.pages() },
                    urls: now_type.urls.clone(),
                });
            }
            None => {}
        }
    }
    if now.items_left_out() == 0 {
        compare_page_types(before, now, &mut found);
    }
    for (pattern, before_page) in before.page_types().iter() {
        // Pages without any repeated structure may have been extracted without looking for it.
        if let Some(now_page) = now.page_types().get(pattern).filter(|_| !before_page.repeated.is_empty()) {
            compare_repeated(pattern, before_page, now_page, &mut found);
        }
    }
    found.sort_by(|a, b| a.change.cmp(&b.change));
    found
}

fn compare_repeated(pattern: &str, before: &PageType, now: &PageType, found: &mut Vec<Drift>) {
    let share = |page: &PageType, each: &str| Share {
        having: page.repeated.get(each).map_or(0, |learned| learned.pages),
        of: page.pages,
    };
    for each in before.repeated.keys().chain(now.repeated.keys()).collect::<BTreeSet<_>>() {
        let (before_share, now_share) = (share(before, each), share(now, each));
        let (of_change, pattern) = (each.clone(), pattern.to_owned());
        match (before.repeated.get(each), now.repeated.get(each)) {
            _ if now.repeated_left_out == 0 && is_gone(before_share, now_share) => {
                let change = Change::RepeatedGone { each: of_change, pattern };
                found.push(Drift { change, before: before_share, now: now_share, urls: now.urls.clone() });
            }
            (None, Some(of_now)) if before.repeated_left_out == 0 && is_new(before_share, now_share) => {
                let change = Change::RepeatedNew { each: of_change, pattern };
                found.push(Drift { change, before: before_share, now: now_share, urls: of_now.urls.clone() });
            }
            (Some(of_before), Some(of_now)) => compare_repeated_fields((&pattern, each), of_before, of_now, found),
            _ => {}
        }
    }
}

fn compare_repeated_fields(
    (pattern, each): (&str, &str),
    before: &LearnedRepetition,
    now: &LearnedRepetition,
    found: &mut Vec<Drift>,
) {
    let share = |of: &LearnedRepetition, place: &str| Share {
        having: of.fields.get(place).map_or(0, |field| field.entries),
        of: of.entries,
    };
    for place in before.fields.keys().chain(now.fields.keys()).collect::<BTreeSet<_>>() {
        let (before_share, now_share) = (share(before, place), share(now, place));
        let (each, pattern, of_change) = (each.to_owned(), pattern.to_owned(), place.clone());
        let change = match (before.fields.get(place), now.fields.get(place)) {
            (Some(field), _) if now.fields_left_out == 0 && is_gone(before_share, now_share) => {
                Change::RepeatedFieldGone { field: field.name.clone(), place: of_change, each, pattern }
            }
            (None, Some(field)) if before.fields_left_out == 0 && is_new(before_share, now_share) => {
                Change::RepeatedFieldNew { field: field.name.clone(), place: of_change, each, pattern }
            }
            _ => continue,
        };
        found.push(Drift { change, before: before_share, now: now_share, urls: now.urls.clone() });
    }
}

fn is_new(before: Share, now: Share) -> bool {
    before.is_sample() && now.is_sample() && before.having == 0 && now.percent() >= NEW_PERCENT
}

fn compare_page_types(before: &LearnedSchema, now: &LearnedSchema, found: &mut Vec<Drift>) {
    for (pattern, before_page) in before.page_types().iter() {
        let Some(now_page) = now.page_types().get(pattern) else { continue };
        for (table, &having) in &before_page.types {
            let before = Share { having, of: before_page.pages };
            let now = Share { having: now_page.types.get(table).copied().unwrap_or_default(), of: now_page.pages };
            if is_gone(before, now) {
                let change = Change::TypeGone { item_type: table.clone(), pattern: pattern.clone() };
                found.push(Drift { change, before, now, urls: now_page.urls.clone() });
            }
        }
    }
}

fn is_gone(before: Share, now: Share) -> bool {
    let are_samples = before.is_sample() && now.is_sample();
    are_samples && before.percent() >= MOST_PERCENT && now.percent() <= FEW_PERCENT
}

fn compare_type(table: &str, before: &LearnedType, now: &LearnedType, found: &mut Vec<Drift>) {
    let share = |of: &LearnedType, name: &str| Share {
        having: of.fields.get(name).map_or(0, |field| field.items),
        of: of.items,
    };
    let (item_type, names) = (table.to_owned(), before.fields.keys().chain(now.fields.keys()));
    for name in names.collect::<BTreeSet<_>>() {
        let (before_share, now_share) = (share(before, name), share(now, name));
        let (item_type, field) = (item_type.clone(), name.clone());
        if now.values_left_out == 0 && is_gone(before_share, now_share) {
            let change = Change::FieldGone { item_type, field };
            found.push(Drift { change, before: before_share, now: now_share, urls: now.urls.clone() });
            continue;
        }
        match (before.fields.get(name), now.fields.get(name)) {
            (Some(before_field), Some(now_field)) => {
                let (Some(was), Some(is)) = (kind_of_most(before_field), kind_of_most(now_field)) else { continue };
                if was != is {
                    let change = Change::KindChanged { item_type, field, from: was, to: is };
                    let share = |of: &LearnedField| Share {
                        having: of.kinds.get(&is).copied().unwrap_or_default(),
                        of: of.items,
                    };
                    let (before, now) = (share(before_field), share(now_field));
                    found.push(Drift { change, before, now, urls: now_field.urls.clone() });
                }
            }
            (None, Some(now_field)) => {
                if before.values_left_out == 0 && is_new(before_share, now_share) {
                    let change = Change::FieldNew { item_type, field };
                    found.push(Drift { change, before: before_share, now: now_share, urls: now_field.urls.clone() });
                }
            }
            (_, None) => {}
        }
    }
}

/// Returns the kind of nearly all values; `None` if there is no such kind or there are too few
/// values.
fn kind_of_most(field: &LearnedField) -> Option<Kind> {
    let kind = field.main_kind();
    let share = Share { having: field.kinds.get(&kind).copied().unwrap_or_default(), of: field.items };
    (share.is_sample() && share.percent() >= MOST_PERCENT).then_some(kind)
}

/// Returns a field's place for display. A place found by a label contains the page's own words.
fn display_place(place: &str) -> String {
    one_line(if place.is_empty() { "." } else { place }, NAME_BYTES_MAX)
}

/// One line for display, without the pages.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.change {
            Change::FieldGone { item_type, field } => write!(f, "{item_type}.{field} is gone")?,
            Change::KindChanged { item_type, field, from, to } => {
                write!(f, "{item_type}.{field} is {to}, no longer {from}")?;
            }
            Change::FieldNew { item_type, field } => write!(f, "{item_type}.{field} is new")?,
            Change::TypeGone { item_type, pattern } => write!(f, "{item_type} is gone from {pattern}")?,
            Change::TypeNew { item_type } => write!(f, "{item_type} is new")?,
            Change::RepeatedGone { each, pattern } => write!(f, "`{each}` is gone from {pattern}")?,
            Change::RepeatedNew { each, pattern } => write!(f, "`{each}` is new on {pattern}")?,
            Change::RepeatedFieldGone { field, place, each, pattern } => {
                write!(f, "{field} (`{}`) is gone from `{each}` on {pattern}", display_place(place))?;
            }
            Change::RepeatedFieldNew { field, place, each, pattern } => {
                write!(f, "{field} (`{}`) is new in `{each}` on {pattern}", display_place(place))?;
            }
        }
        write!(f, ": {}, now {}", self.before, self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::{documents, learn_all};

    #[test]
    fn significant_changes_are_reported() {
        const ALL: &str = r#""name":"A","size":7"#;
        for (before, now, expected, why) in [
            ((10, ALL), (10, ALL), vec![], "nothing changed"),
            (
                (10, ALL),
                (10, r#""name":"A""#),
                vec!["product.size is gone: 10 of 10, now 0 of 10"],
                "the field is gone",
            ),
            ((4, ALL), (10, r#""name":"A""#), vec![], "four items before say nothing"),
            ((10, ALL), (4, r#""name":"A""#), vec![], "four items now say nothing"),
            (
                (10, ALL),
                (10, r#""name":"A","size":"large""#),
                vec!["product.size is text, no longer number: 0 of 10, now 10 of 10"],
                "the kind changed",
            ),
            (
                (10, ALL),
                (10, r#""name":"A","size":7,"colour":"red""#),
                vec!["product.colour is new: 0 of 10, now 10 of 10"],
                "a new field",
            ),
        ] {
            let (before, now) =
                (learn_all(&documents("Product", before.0, before.1)), learn_all(&documents("Product", now.0, now.1)));
            let told: Vec<String> = drift(&before, &now).iter().map(ToString::to_string).collect();
            assert_eq!(told, expected, "{why}");
        }
    }

    #[test]
    fn lost_and_new_types_are_reported() {
        let before = learn_all(&documents("Product", 10, r#""name":"A""#));
        let now = learn_all(&documents("Offer", 10, r#""name":"A""#));
        let told: Vec<String> = drift(&before, &now).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["product is gone from /p/*: 10 of 10, now 0 of 10", "offer is new: 0 of 10, now 10 of 10"]);
    }

    #[test]
    fn a_share_of_nothing_is_zero() {
        assert_eq!(Share { having: 0, of: 0 }.percent(), 0);
    }
}
