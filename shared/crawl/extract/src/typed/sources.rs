//! JSON sources of a page: its JSON-LD, its scripts, and the items from its structured data.

use std::collections::HashMap;

use dragline_domain::item::{Field, Item, Value as ItemValue};
use selectors::context::SelectorCaches;
use serde_json::{Map, Value};

use super::compiled::{At, Type};
use super::work::{Work, cost_of_bytes};
use super::{PageParts, find};

/// The longest script read as JSON, in bytes.
const SCRIPT_BYTES_MAX: usize = 8 << 20;
/// The depth to which values of items are examined.
const DEPTH_MAX: usize = 8;

/// The values that paths search.
pub(super) struct Sources<'p> {
    pub(super) json_ld: Vec<&'p Value>,
    /// By selector.
    scripts: HashMap<String, Vec<Value>>,
    pub(super) items: Vec<(&'p [String], Value)>,
    /// Whether something was not read.
    pub(super) was_cut: bool,
}

impl<'p> Sources<'p> {
    /// Collects only the values that the types' places need.
    pub(super) fn collect(page: &PageParts<'p>, types: &[&Type]) -> Self {
        let places = || types.iter().flat_map(|item_type| item_type.places());
        let mut work = Work::new();
        let mut caches = SelectorCaches::default();
        let mut scripts = HashMap::new();
        for place in places() {
            let At::Script { selector, css, .. } = &place.at else { continue };
            if scripts.contains_key(selector) {
                continue;
            }
            let mut values = Vec::new();
            for node in find::select(page.document.root(), css, &mut caches, &mut work) {
                let source = node.text();
                if source.len() > SCRIPT_BYTES_MAX || !work.spend(cost_of_bytes(source.len())) {
                    work.cut();
                    continue;
                }
                values.extend(json_in(&source));
            }
            scripts.insert(selector.clone(), values);
        }
        let needs_items = places().any(|place| matches!(place.at, At::Item { .. }));
        let items = page.items.iter().filter(|_| needs_items).map(|item| (&*item.types, item_json(item))).collect();
        Self { json_ld: nodes(page.json_ld), scripts, items, was_cut: work.was_cut() }
    }

    pub(super) fn scripts(&self, selector: &str) -> &[Value] {
        self.scripts.get(selector).map_or(&[], Vec::as_slice)
    }
}

/// Returns the things in JSON-LD: the values, those in lists, and those in a `@graph`.
fn nodes(values: &[Value]) -> Vec<&Value> {
    let mut nodes = Vec::new();
    for value in values {
        match value {
            Value::Array(values) => nodes.extend(values),
            value => nodes.push(value),
        }
    }
    let graphs: Vec<&Value> = nodes.iter().filter_map(|node| node.get("@graph")?.as_array()).flatten().collect();
    nodes.extend(graphs);
    nodes
}

/// Reads a script that is JSON, or that assigns JSON to a variable.
fn json_in(source: &str) -> Option<Value> {
    let source = source.trim();
    if let Ok(value) = serde_json::from_str(source) {
        return Some(value);
    }
    let (_, assigned) = source.split_once('=')?;
    let begins = assigned.trim_start();
    if !begins.starts_with(['{', '[']) {
        return None;
    }
    // The rest of the script follows.
    serde_json::Deserializer::from_str(begins).into_iter().next()?.ok()
}

fn item_json(item: &Item) -> Value {
    let mut properties: Map<String, Value> =
        item.normal.iter().map(|(name, value)| (name.clone(), value_json(value, 0))).collect();
    let id = item.id.iter().map(|id| ("id".to_owned(), Value::String(id.clone())));
    properties.extend(id);
    let fields = item.fields.iter().map(|(name, Field { values, .. })| (name.clone(), values_json(values, 0)));
    properties.extend(fields);
    Value::Object(properties)
}

fn values_json(values: &[ItemValue], depth: usize) -> Value {
    match values {
        [value] => value_json(value, depth),
        values => Value::Array(values.iter().map(|value| value_json(value, depth)).collect()),
    }
}

fn value_json(value: &ItemValue, depth: usize) -> Value {
    match value {
        ItemValue::Bool(is_true) => Value::Bool(*is_true),
        ItemValue::Number(number) => Value::Number(number.clone()),
        ItemValue::Text(text) => Value::String(text.clone()),
        ItemValue::Money(money) => {
            let currency = money.currency.as_deref().unwrap_or_default();
            Value::String(format!("{} {currency}", money.amount).trim_end().to_owned())
        }
        ItemValue::Record(_) if depth > DEPTH_MAX => Value::Null,
        ItemValue::Record(record) => {
            let id = record.id.iter().map(|id| ("id".to_owned(), Value::String(id.clone())));
            let fields = record.fields.iter().map(|(name, values)| (name.clone(), values_json(values, depth + 1)));
            Value::Object(id.chain(fields).collect())
        }
    }
}
