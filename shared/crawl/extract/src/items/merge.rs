//! Merging the descriptions of a thing in several notations into one item.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::item::{Field, Item, Notation, Record, Value};

use super::budget::FIELDS_MAX;
use super::page::Page;
use crate::tree::in_one_line;

/// A thing, with the keys for comparing it with others.
struct Thing {
    item: Item,
    notations: BTreeSet<Notation>,
    families: BTreeSet<String>,
}

/// Merges things into items. The things come in the order of their notations.
pub(super) fn merge(records: Vec<(Notation, Record)>, page: &Page<'_>) -> Vec<Item> {
    let mut alone = BTreeMap::new();
    for (notation, record) in &records {
        for family in families(&record.types) {
            *alone.entry((*notation, family)).or_insert(0_usize) += 1;
        }
    }
    let mut things: Vec<Thing> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for (notation, record) in records {
        if record.fields.is_empty() && record.types.is_empty() {
            continue;
        }
        let families = families(&record.types);
        let keys = keys(&record, &families, page);
        let is_alone = |family: &&String| alone.get(&(notation, (*family).clone())) == Some(&1);
        let sole: Vec<Key> = families.iter().filter(is_alone).map(|family| Key::Sole(family.clone())).collect();
        let place = keys.iter().chain(&sole).find_map(|key| {
            let place = *places.get(key)?;
            let thing = &things[place];
            let fits = match key {
                Key::Id(_) => true,
                // Within one notation, they are two things: lists may have several of one name.
                Key::Url(..) | Key::Name(..) => !thing.notations.contains(&notation),
                Key::Sole(family) => {
                    let is_sole = |of: &Notation| alone.get(&(*of, family.clone())) == Some(&1);
                    !thing.notations.contains(&notation) && thing.notations.iter().all(is_sole)
                }
            };
            fits.then_some(place)
        });
        let place = place.unwrap_or_else(|| {
            things.push(Thing { item: Item::default(), notations: BTreeSet::new(), families: BTreeSet::new() });
            things.len() - 1
        });
        for key in keys.into_iter().chain(sole) {
            places.entry(key).or_insert(place);
        }
        let thing = &mut things[place];
        thing.notations.insert(notation);
        thing.families.extend(families);
        add(&mut thing.item, notation, record);
    }
    things.into_iter().map(|thing| thing.item).collect()
}

/// The common ground of two descriptions of a thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Id(String),
    Url(String, String),
    Name(String, String),
    /// It is the only one of its family in its notation.
    Sole(String),
}

fn keys(record: &Record, families: &BTreeSet<String>, page: &Page<'_>) -> Vec<Key> {
    let mut keys: Vec<Key> = record.id.clone().map(Key::Id).into_iter().collect();
    let texts = |names: &[&str]| {
        let values = names.iter().filter_map(|name| record.fields.get(*name)).flatten();
        let texts = values.filter_map(|value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        });
        texts.take(3).collect::<Vec<_>>()
    };
    for family in families {
        let urls = texts(&["url"]).into_iter().chain(record.id.clone());
        keys.extend(urls.map(|url| Key::Url(family.clone(), comparable_url(&page.absolute(&url)))));
        let names = texts(&["name", "headline"]);
        keys.extend(names.iter().map(|name| Key::Name(family.clone(), in_one_line(name).to_lowercase())));
    }
    keys
}

/// Normalises a URL for comparison, as people write the same page's URL differently.
fn comparable_url(url: &str) -> String {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    url.split('#').next().unwrap_or(url).trim_end_matches('/').to_owned()
}

/// Returns a thing's families, which are broader than its types: notations differ in how exact they
/// are.
fn families(types: &[String]) -> BTreeSet<String> {
    types.iter().take(8).map(|name| family(name).to_owned()).collect()
}

fn family(name: &str) -> &str {
    match name {
        "ProductGroup" | "IndividualProduct" | "ProductModel" | "SomeProducts" => "Product",
        "BlogPosting" | "LiveBlogPosting" | "SocialMediaPosting" | "Report" => "Article",
        _ if name.ends_with("Article") => "Article",
        _ if name.ends_with("Event") => "Event",
        _ => name,
    }
}

/// Adds a description in another notation to an item.
fn add(item: &mut Item, notation: Notation, record: Record) {
    for name in record.types {
        // Open Graph has few types: beside a better one, its type is irrelevant.
        let is_rough = item.types.iter().any(|known| family(known) == name && notation == Notation::OpenGraph);
        if !item.types.contains(&name) && !is_rough {
            item.types.push(name);
        }
    }
    if item.types.is_empty() {
        item.types.push("Thing".to_owned());
    } else if item.types.len() > 1 {
        item.types.retain(|name| name != "Thing");
    }
    item.id = item.id.take().or(record.id);
    for (name, values) in record.fields {
        if item.fields.len() >= FIELDS_MAX && !item.fields.contains_key(&name) {
            continue;
        }
        let field = item.fields.entry(name).or_insert_with(|| Field { values: Vec::new(), from: Vec::new() });
        // A list may be long and entirely new, so repetitions are found by their spelling.
        let mut said: BTreeSet<String> = field.values.iter().map(spelling).collect();
        let known = field.values.len();
        for value in values {
            let is_said =
                !said.insert(spelling(&value)) || field.values[..known].iter().take(16).any(|old| covers(old, &value));
            if !is_said {
                field.values.push(value);
            }
        }
        if !field.from.contains(&notation) {
            field.from.push(notation);
        }
    }
}

/// Normalises a value for comparison: notations differ in whether a number is a text, and whether a
/// URL ends with a slash.
fn spelling(value: &Value) -> String {
    match value {
        Value::Text(text) => in_one_line(text.trim_end_matches('/')),
        Value::Number(number) => number.to_string(),
        Value::Bool(is_true) => is_true.to_string(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Whether one value contains all of another one. Nested things have to be equal.
fn covers(known: &Value, value: &Value) -> bool {
    let (Value::Record(known), Value::Record(value)) = (known, value) else {
        return spelling(known) == spelling(value);
    };
    value.types.iter().all(|name| known.types.contains(name))
        && (value.id.is_none() || value.id == known.id)
        && value.fields.iter().all(|(name, values)| {
            let known: BTreeSet<String> = known.fields.get(name).into_iter().flatten().map(spelling).collect();
            values.iter().all(|value| known.contains(&spelling(value)))
        })
}
