//! JSON-LD, as far as it can be read without fetching what it refers to (JSON-LD 1.1).

mod graph;
mod lenient;

use serde_json::Value;

pub(super) use self::graph::records;
use super::budget::Budget;
use super::page::Page;

/// The longest script that is read, in bytes.
const SCRIPT_BYTES_MAX: usize = 1 << 20;

/// The most bytes of all scripts of a page that are read.
const SCRIPTS_BYTES_MAX: usize = 4 << 20;

/// Reads the objects of a page's scripts; a list's objects one by one.
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
            match value {
                Value::Array(values) => objects.extend(values.into_iter().filter(Value::is_object)),
                Value::Object(_) => objects.push(value),
                _ => {}
            }
        }
    }
    objects
}
