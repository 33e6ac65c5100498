//! Records of RDFa things.

use std::collections::BTreeMap;

use dragline_domain::item::{Record, Value};

use super::{RdfaNode, RdfaValue};
use crate::items::budget::{Budget, FIELDS_MAX, ITEMS_MAX};
use crate::items::page::short_name;

/// Makes records of the things with a type that are not part of another one, and of one of each
/// cycle.
pub(in crate::items) fn records(nodes: &[RdfaNode], budget: &mut Budget) -> Vec<Record> {
    let places: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let parts: Vec<Vec<usize>> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| {
            let values = node.properties.values().flatten();
            let places = values.filter_map(|value| match value {
                RdfaValue::Thing { id } => places.get(id.as_str()).copied(),
                RdfaValue::Text { .. } => None,
            });
            places.filter(|place| *place != at).collect()
        })
        .collect();
    let mut is_part = vec![false; nodes.len()];
    for (node, parts) in nodes.iter().zip(&parts) {
        // A page's main entity is not a part of the page.
        if !node.types.is_empty() {
            parts.iter().for_each(|part| is_part[*part] = true);
        }
    }
    let mut is_reached = vec![false; nodes.len()];
    let mut roots = Vec::new();
    let unreferred = (0..nodes.len()).filter(|at| !is_part[*at]);
    for at in unreferred.chain(0..nodes.len()) {
        if is_reached[at] || nodes[at].types.is_empty() {
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
    budget.is_cut |= roots.len() > ITEMS_MAX;
    roots.truncate(ITEMS_MAX);
    let mut maker = RecordBuilder { nodes, places, budget, within: Vec::new() };
    roots.into_iter().map(|at| maker.record(at)).collect()
}

struct RecordBuilder<'m> {
    nodes: &'m [RdfaNode],
    places: BTreeMap<&'m str, usize>,
    budget: &'m mut Budget,
    within: Vec<usize>,
}

impl RecordBuilder<'_> {
    fn record(&mut self, at: usize) -> Record {
        let node = &self.nodes[at];
        self.within.push(at);
        let mut record = Record {
            types: node.types.iter().map(|name| short_name(name).to_owned()).collect(),
            id: Some(node.id.clone()).filter(|id| !id.starts_with("_:")),
            fields: BTreeMap::new(),
        };
        for (name, values) in &node.properties {
            let values: Vec<Value> = values.iter().filter_map(|value| self.value(value)).collect();
            if !values.is_empty() && record.fields.len() < FIELDS_MAX {
                record.fields.entry(short_name(name).to_owned()).or_default().extend(values);
            }
        }
        self.within.pop();
        record
    }

    fn value(&mut self, value: &RdfaValue) -> Option<Value> {
        let id = match value {
            RdfaValue::Text { value, .. } => return self.budget.text_value(value),
            RdfaValue::Thing { id } => id,
        };
        match self.places.get(id.as_str()).copied() {
            Some(at) if !self.within.contains(&at) => {
                let has_room = self.budget.may_nest(self.within.len()) && self.budget.value();
                has_room.then(|| Value::Record(self.record(at)))
            }
            _ if id.starts_with("_:") => None,
            _ => self.budget.text_value(id),
        }
    }
}
