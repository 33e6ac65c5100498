//! Differences of items, field by field.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dragline_domain::change::{ChangeKind, Part};
use dragline_domain::document::Document;
use dragline_domain::ids::Iteration;
use dragline_domain::item::Item;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use dragline_ports::{fields, row};

use super::leaves::leaves;
use super::pages::{documents_at, each_within};
use super::{BATCH_ROWS, PageChange, REMEMBERED_MAX, Span, Which};

/// A field of an item that differs between two iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemChange {
    /// The URL of its page.
    pub url: String,
    /// The item's type.
    pub r#type: String,
    /// Its name, or what distinguishes it on the page: its identifier, or its number among items of
    /// the type.
    pub item: String,
    /// How it differs.
    pub change: ItemChangeKind,
    /// The changed field.
    pub field: String,
    /// The old value; `None` if there was none.
    pub old: Option<String>,
    /// The new value; `None` if there is none.
    pub new: Option<String>,
}

/// How an item differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemChangeKind {
    /// The item is new.
    Added,
    /// The item is gone.
    Removed,
    /// A value has changed.
    Changed,
}

impl ItemChangeKind {
    /// Returns the name as shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

fields! { Text ItemChangeKind => |kind| kind.name().to_owned().into(); }

row! { ItemChange { url, r#type ["type"], item, change, field, old, new } }

/// Calls back with each changed field of an item, page by page, until told to stop.
///
/// # Errors
/// The crawl cannot be read.
pub async fn each_item_change(
    reader: &impl Reader,
    span: Span,
    mut tell: impl FnMut(ItemChange) -> ControlFlow<()>,
) -> PortResult<()> {
    each_within(reader, span, Which::Changed, REMEMBERED_MAX, async |change: PageChange| {
        if !may_have_items(&change) {
            return Ok(ControlFlow::Continue(()));
        }
        let [before, now] = documents_at(reader, &change.url, [span.from(), span.to()]).await?;
        let before = before.filter(|_| !matches!(change.change, ChangeKind::New | ChangeKind::Back));
        let now = now.filter(|_| !matches!(change.change, ChangeKind::Gone | ChangeKind::OutOfScope));
        for change in differences(&change.url, before.as_ref(), now.as_ref()) {
            if tell(change).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
    .await
}

/// Calls back with each field of the items of an iteration, all of them as added, until told to
/// stop: the differences from nothing.
///
/// # Errors
/// The crawl cannot be read.
pub async fn each_first_item(
    reader: &impl Reader,
    number: Iteration,
    mut tell: impl FnMut(ItemChange) -> ControlFlow<()>,
) -> PortResult<()> {
    let filter = &Filter::by_iteration(number);
    let read = |after: Option<Cursor>| async move { reader.documents(filter, after.as_ref(), BATCH_ROWS).await };
    each_row(read, |row: DocumentRow| {
        differences(&row.document.url.to_string(), None, Some(&row.document)).into_iter().try_for_each(&mut tell)
    })
    .await
}

fn may_have_items(change: &PageChange) -> bool {
    change.change != ChangeKind::Changed || change.changed_parts.contains(Part::Items)
}

/// Returns the changed fields between the items of two documents.
fn differences(url: &str, before: Option<&Document>, now: Option<&Document>) -> Vec<ItemChange> {
    let (old, new) = (fields_by_item(before), fields_by_item(now));
    let mut keys: Vec<&(String, String)> = old.keys().chain(new.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut changes = Vec::new();
    for key in keys {
        let (old, new) = (old.get(key), new.get(key));
        let change = match (old, new) {
            (None, _) => ItemChangeKind::Added,
            (_, None) => ItemChangeKind::Removed,
            _ => ItemChangeKind::Changed,
        };
        let value =
            |fields: Option<&BTreeMap<String, String>>, name: &str| fields.and_then(|fields| fields.get(name)).cloned();
        let mut names: Vec<&String> = old.into_iter().chain(new).flat_map(BTreeMap::keys).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (old, new) = (value(old, name), value(new, name));
            for (field, old, new) in changed_leaves(name, old, new) {
                let (r#type, item) = key.clone();
                changes.push(ItemChange { url: url.to_owned(), r#type, item, change, field, old, new });
            }
        }
    }
    changes
}

/// Returns the difference of a field: its value as a whole, or the leaves of nested things and
/// lists.
fn changed_leaves(
    name: &str,
    old: Option<String>,
    new: Option<String>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let is_json = |value: &String| value.starts_with(['[', '{']);
    let ends_of =
        |value: &Option<String>| value.as_ref().filter(|value| is_json(value)).and_then(|json| leaves(name, json));
    if old == new {
        return Vec::new();
    }
    let Some((mut old_ends, mut new_ends)) = ends_of(&old).zip(ends_of(&new)).filter(|(old, new)| old != new) else {
        return vec![(name.to_owned(), old, new)];
    };
    let mut ways: Vec<String> = old_ends.keys().chain(new_ends.keys()).cloned().collect();
    ways.sort_unstable();
    ways.dedup();
    ways.into_iter()
        .map(|way| (old_ends.remove(&way), new_ends.remove(&way), way))
        .filter(|(old, new, _)| old != new)
        .map(|(old, new, way)| (way, old, new))
        .collect()
}

/// Returns the fields of each item, by its type and distinguishing name.
fn fields_by_item(document: Option<&Document>) -> BTreeMap<(String, String), BTreeMap<String, String>> {
    let items: &[Item] =
        document.and_then(|document| document.content.as_deref()).map_or(&[], |content| &content.items);
    let mut named = BTreeMap::new();
    for item in items {
        let fields: BTreeMap<String, String> =
            item.columns().into_iter().map(|(name, cell)| (name, cell.to_string())).collect();
        let name = ["sku", "name", "headline", "title"].iter().find_map(|name| fields.get(*name));
        let name = item.id.as_ref().or(name).cloned().unwrap_or_default();
        let kind = item.types.first().cloned().unwrap_or_default();
        // Items with the same name are numbered.
        let key = (1..).map(|number| match number {
            1 => (kind.clone(), name.clone()),
            _ => (kind.clone(), format!("{name} ({number})").trim_start().to_owned()),
        });
        let free = key.into_iter().find(|key| !named.contains_key(key));
        if let Some(key) = free {
            named.insert(key, fields);
        }
    }
    named
}
