//! The things that JSON-LD objects describe, with their references resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use dragline_domain::item::{Record, Value};
use serde_json::Value as Json;

use super::context::{Context, Object};
use crate::items::budget::{Budget, FIELDS_MAX, ITEMS_MAX};
use crate::items::page::Page;

/// The longest chain of references followed. Nodes of a graph refer to each other in cycles;
/// farther ones are irrelevant to a thing.
const REFERENCES_MAX: usize = 3;

/// Properties whose value is not a part of the thing: the thing belongs to it, or both are siblings
/// on the page.
const NOT_PARTS: [&str; 6] = ["breadcrumb", "isPartOf", "isVariantOf", "mainEntity", "mainEntityOfPage", "subjectOf"];

/// An object with properties.
#[derive(Clone, Debug)]
struct Node<'v> {
    object: &'v Object,
    context: Rc<Context>,
}

/// Makes records of the page's things that are not part of another one.
pub(super) fn records(objects: &[Json], page: &Page<'_>, budget: &mut Budget) -> Vec<Record> {
    let mut graph = Graph { page, top: Vec::new(), top_ids: BTreeSet::new(), by_id: BTreeMap::new() };
    let context = Rc::new(Context::default());
    for object in objects.iter().filter_map(Json::as_object) {
        graph.add(object, &context, budget);
    }
    let mut records: Vec<Record> = Vec::new();
    for at in graph.roots() {
        if records.len() == ITEMS_MAX {
            budget.is_cut = true;
            break;
        }
        let mut maker = RecordBuilder { graph: &graph, budget, within: Vec::new(), references: 0 };
        let record = maker.record(&graph.top[at], 0);
        if !record.types.is_empty() || !record.fields.is_empty() {
            records.push(record);
        }
    }
    records
}

struct Graph<'g, 'v, 't> {
    page: &'g Page<'t>,
    /// The objects outside of all others, in page order.
    top: Vec<Node<'v>>,
    top_ids: BTreeSet<String>,
    /// All objects with properties, by identifier.
    by_id: BTreeMap<String, Vec<Node<'v>>>,
}

impl<'v> Graph<'_, 'v, '_> {
    fn add(&mut self, object: &'v Object, outer: &Rc<Context>, budget: &mut Budget) {
        let context = Context::from_object(object, outer, budget);
        for others in ["@graph", "@included"].iter().filter_map(|key| object.get(*key)) {
            self.add_all(others, &context, budget);
        }
        if object.contains_key("@graph") && says_nothing(object) {
            return;
        }
        self.identify(object, outer, budget);
        // Several descriptions of the same thing become one, at the position of the first.
        if id(object).is_none_or(|id| self.top_ids.insert(self.page.absolute(id))) {
            self.top.push(Node { object, context });
        }
    }

    /// Adds the objects of a graph. Recurses as deep as `serde_json` reads.
    fn add_all(&mut self, graph: &'v Json, context: &Rc<Context>, budget: &mut Budget) {
        match graph {
            Json::Array(values) => values.iter().for_each(|value| self.add_all(value, context, budget)),
            Json::Object(object) => self.add(object, context, budget),
            _ => {}
        }
    }

    /// Indexes the identifiers of an object and of nested ones. Recurses as deep as `serde_json`
    /// reads.
    fn identify(&mut self, object: &'v Object, outer: &Rc<Context>, budget: &mut Budget) {
        if !budget.step() {
            return;
        }
        let context = Context::from_object(object, outer, budget);
        if let Some(id) = id(object)
            && !is_reference(object)
        {
            let node = Node { object, context: Rc::clone(&context) };
            self.by_id.entry(self.page.absolute(id)).or_default().push(node);
        }
        for (key, value) in object {
            if key != "@graph" && key != "@context" {
                self.identify_in(value, &context, budget);
            }
        }
    }

    fn identify_in(&mut self, value: &'v Json, context: &Rc<Context>, budget: &mut Budget) {
        match value {
            Json::Object(object) => self.identify(object, context, budget),
            Json::Array(values) => values.iter().for_each(|value| self.identify_in(value, context, budget)),
            _ => {}
        }
    }

    /// Returns the indices of the top-level objects that are not part of another one, and one of
    /// each cycle.
    fn roots(&self) -> Vec<usize> {
        let places: BTreeMap<String, usize> = (self.top.iter().enumerate())
            .filter_map(|(at, node)| Some((self.page.absolute(id(node.object)?), at)))
            .collect();
        let parts: Vec<Vec<usize>> = self
            .top
            .iter()
            .enumerate()
            .map(|(at, node)| {
                let mut parts = Vec::new();
                self.parts(node.object, &places, &mut parts);
                parts.retain(|part| *part != at);
                parts
            })
            .collect();
        let mut is_part = vec![false; self.top.len()];
        parts.iter().flatten().for_each(|part| is_part[*part] = true);
        let mut is_reached = vec![false; self.top.len()];
        let mut roots = Vec::new();
        let unreferred = (0..self.top.len()).filter(|at| !is_part[*at]);
        for at in unreferred.chain(0..self.top.len()) {
            if is_reached[at] {
                continue;
            }
            roots.push(at);
            let mut pending = vec![at];
            while let Some(at) = pending.pop() {
                if !std::mem::replace(&mut is_reached[at], true) {
                    pending.extend(&parts[at]);
                }
            }
        }
        roots.sort_unstable();
        roots
    }

    fn parts(&self, object: &Object, places: &BTreeMap<String, usize>, found: &mut Vec<usize>) {
        for (key, value) in object {
            if key.starts_with('@') && !matches!(key.as_str(), "@list" | "@set") || NOT_PARTS.contains(&key.as_str()) {
                continue;
            }
            self.parts_in(value, places, found);
        }
    }

    fn parts_in(&self, value: &Json, places: &BTreeMap<String, usize>, found: &mut Vec<usize>) {
        match value {
            Json::Object(object) => {
                let place = id(object).and_then(|id| places.get(&self.page.absolute(id)));
                found.extend(place);
                self.parts(object, places, found);
            }
            Json::Array(values) => values.iter().for_each(|value| self.parts_in(value, places, found)),
            _ => {}
        }
    }
}

/// Makes the record of a thing.
struct RecordBuilder<'m, 'g, 'v, 't> {
    graph: &'m Graph<'g, 'v, 't>,
    budget: &'m mut Budget,
    /// The identifiers of the things under construction, outermost first.
    within: Vec<String>,
    /// The number of references followed so far.
    references: usize,
}

impl<'v> RecordBuilder<'_, '_, 'v, '_> {
    fn record(&mut self, node: &Node<'v>, depth: usize) -> Record {
        let id = id(node.object).map(|id| self.graph.page.absolute(id));
        let mut record = Record { id: id.clone().filter(|id| !id.starts_with("_:")), ..Record::default() };
        let Some(id) = id else {
            self.fill(&mut record, node, depth);
            return record;
        };
        self.within.push(id.clone());
        // The object itself comes first, before other descriptions of the same thing.
        self.fill(&mut record, node, depth);
        for other in self.graph.by_id.get(&id).into_iter().flatten() {
            if !std::ptr::eq(other.object, node.object) && self.budget.step() {
                self.fill(&mut record, other, depth);
            }
        }
        self.within.pop();
        record
    }

    fn fill(&mut self, record: &mut Record, node: &Node<'v>, depth: usize) {
        let Node { object, context } = node;
        for name in object.get("@type").map(all).into_iter().flatten().filter_map(Json::as_str) {
            let name = context.name(name.trim());
            if !name.is_empty() && record.types.len() < FIELDS_MAX && !record.types.contains(&name) {
                record.types.push(name);
            }
        }
        for (key, value) in *object {
            if key.starts_with('@') {
                continue;
            }
            let mut values = Vec::new();
            self.values(value, context, depth, &mut values);
            if values.is_empty() {
                continue;
            }
            let name = context.name(key);
            if record.fields.len() >= FIELDS_MAX && !record.fields.contains_key(&name) {
                self.budget.is_cut = true;
                return;
            }
            let field = record.fields.entry(name).or_default();
            // Two objects of one thing may repeat each other.
            if field.is_empty() {
                *field = values;
            } else if *field != values {
                field.extend(values);
            }
        }
    }

    fn values(&mut self, value: &'v Json, context: &Rc<Context>, depth: usize, out: &mut Vec<Value>) {
        match value {
            Json::Null => {}
            Json::Bool(value) => out.extend(self.budget.value().then_some(Value::Bool(*value))),
            Json::Number(value) => out.extend(self.budget.value().then(|| Value::Number(value.clone()))),
            Json::String(text) => out.extend(self.budget.text_value(text)),
            Json::Array(values) => {
                for value in values {
                    self.values(value, context, depth, out);
                }
            }
            Json::Object(object) => {
                if let Some(value) = object.get("@value").or_else(|| object.get("@list")).or_else(|| object.get("@set"))
                {
                    self.values(value, context, depth, out);
                } else if let Some(graph) = object.get("@graph").filter(|_| says_nothing(object)) {
                    let context = Context::from_object(object, context, self.budget);
                    self.values(graph, &context, depth, out);
                } else if is_reference(object) {
                    out.extend(self.resolve_reference(object, depth));
                } else if self.budget.may_nest(depth) && self.budget.value() {
                    let node = Node { object, context: Context::from_object(object, context, self.budget) };
                    let is_within = id(object).is_some_and(|id| self.within.contains(&self.graph.page.absolute(id)));
                    let record = if is_within {
                        let mut record = Record::default();
                        self.fill(&mut record, &node, depth + 1);
                        record
                    } else {
                        self.record(&node, depth + 1)
                    };
                    if record != Record::default() {
                        out.push(Value::Record(record));
                    }
                }
            }
        }
    }

    /// Resolves an object that is only a reference: to the thing, or to its identifier if the page
    /// does not describe it here.
    fn resolve_reference(&mut self, object: &'v Object, depth: usize) -> Option<Value> {
        let id = self.graph.page.absolute(id(object)?);
        let node = self.graph.by_id.get(&id).and_then(|nodes| nodes.first());
        let Some(node) = node.filter(|_| self.references < REFERENCES_MAX && !self.within.contains(&id)) else {
            return self.budget.text_value(&id).filter(|_| !id.starts_with("_:"));
        };
        if !self.budget.may_nest(depth) || !self.budget.value() {
            return None;
        }
        self.references += 1;
        let record = self.record(node, depth + 1);
        self.references -= 1;
        Some(Value::Record(record))
    }
}

fn id(object: &Object) -> Option<&str> {
    object.get("@id").and_then(Json::as_str).map(str::trim).filter(|id| !id.is_empty())
}

/// Whether an object has nothing but keywords.
fn says_nothing(object: &Object) -> bool {
    object.keys().all(|key| key.starts_with('@'))
}

/// Whether an object is only a reference.
fn is_reference(object: &Object) -> bool {
    object.contains_key("@id") && object.keys().all(|key| matches!(key.as_str(), "@id" | "@type"))
}

/// Returns the elements of a list, or the single value.
fn all(value: &Json) -> &[Json] {
    match value {
        Json::Array(values) => values,
        one => std::slice::from_ref(one),
    }
}
