//! Things nested in a page or a list that are items in their own right.

use std::collections::BTreeSet;

use dragline_domain::item::{Record, Value};

use super::budget::{Budget, ITEMS_MAX};

/// Lists whose elements are parts of them.
const WHOLES: [&str; 3] = ["BreadcrumbList", "HowToSection", "HowToStep"];

/// Adds after each record its main entities and list elements, recursively. A thing with the
/// identifier of another record is not added again.
pub(super) fn with_reached(records: Vec<Record>, budget: &mut Budget) -> Vec<Record> {
    let mut ids: BTreeSet<String> = records.iter().filter_map(|record| record.id.clone()).collect();
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        let mut reached = Vec::new();
        reach(&record, &mut reached);
        let mut copies = Vec::new();
        for inner in reached {
            if inner.id.as_ref().is_some_and(|id| !ids.insert(id.clone())) {
                continue;
            }
            if all.len() + copies.len() > ITEMS_MAX || !budget.copies(inner) {
                budget.is_cut = true;
                break;
            }
            copies.push(inner.clone());
        }
        all.push(record);
        all.append(&mut copies);
    }
    all
}

/// Finds a record's main entities and list elements. Recurses as deep as things are nested.
fn reach<'r>(record: &'r Record, reached: &mut Vec<&'r Record>) {
    let values = |record: &'r Record, name: &str| record.fields.get(name).map_or(&[][..], Vec::as_slice).iter();
    for thing in values(record, "mainEntity").filter_map(as_record) {
        take(thing, reached);
    }
    if record.types.iter().any(|name| WHOLES.contains(&name.as_str())) {
        return;
    }
    for element in values(record, "itemListElement").filter_map(as_record) {
        take(element, reached);
        if !is_thing(element) {
            values(element, "item").filter_map(as_record).for_each(|thing| take(thing, reached));
        }
    }
}

fn take<'r>(thing: &'r Record, reached: &mut Vec<&'r Record>) {
    if is_thing(thing) {
        reached.push(thing);
        reach(thing, reached);
    }
}

/// Whether a record is more than a position in a list.
fn is_thing(record: &Record) -> bool {
    record.types.iter().any(|name| name != "ListItem")
}

fn as_record(value: &Value) -> Option<&Record> {
    match value {
        Value::Record(record) => Some(record),
        _ => None,
    }
}
