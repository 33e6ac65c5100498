//! JSON-LD, as far as it can be read without fetching contexts (JSON-LD 1.1).

mod context;
mod graph;
mod keywords;
mod lenient;

use dragline_domain::item::Record;
use serde_json::Value;

use super::budget::Budget;
use super::page::Page;

/// The longest script that is read, in bytes.
const SCRIPT_BYTES_MAX: usize = 1 << 20;

/// The most bytes read of all scripts of a page.
const SCRIPTS_BYTES_MAX: usize = 4 << 20;

/// Reads the objects of a page's scripts; (nested) lists are flattened.
pub(super) fn read(page: &Page<'_>, budget: &mut Budget) -> Vec<Value> {
    let mut objects = Vec::new();
    let mut bytes = 0;
    for script in &page.scripts {
        let text = script.text();
        if text.len() > SCRIPT_BYTES_MAX || bytes + text.len() > SCRIPTS_BYTES_MAX {
            budget.is_cut = true;
            continue;
        }
        bytes += text.len();
        for value in lenient::values(&text) {
            add_objects(value, &mut objects);
        }
    }
    objects
}

/// Makes records of the things that are not part of another one.
pub(super) fn records(objects: &[Value], page: &Page<'_>, budget: &mut Budget) -> Vec<Record> {
    graph::records(&keywords::resolve_aliases(objects), page, budget)
}

/// Adds the types of an object, of those in its graph, and of its main entity. Recurses as deep as
/// `serde_json` reads.
pub(super) fn add_types(value: &Value, types: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| add_types(value, types)),
        Value::Object(object) => {
            let named = object.get("@type").into_iter().flat_map(|named| match named {
                Value::Array(names) => names.as_slice(),
                name => std::slice::from_ref(name),
            });
            types.extend(named.filter_map(Value::as_str).map(str::to_owned));
            let inner = ["@graph", "mainEntity"].into_iter().filter_map(|name| object.get(name));
            inner.for_each(|value| add_types(value, types));
        }
        _ => {}
    }
}

/// Adds an object, or those of a list and of nested lists. Recurses as deep as `serde_json` reads.
fn add_objects(value: Value, objects: &mut Vec<Value>) {
    match value {
        Value::Array(values) => values.into_iter().for_each(|value| add_objects(value, objects)),
        Value::Object(_) => objects.push(value),
        _ => {}
    }
}
