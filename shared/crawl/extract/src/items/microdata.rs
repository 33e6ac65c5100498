//! HTML microdata (WHATWG HTML, "Microdata").

use std::collections::{BTreeMap, BTreeSet};

use dom_query::{NodeId, NodeRef};
use dragline_domain::item::{Record, Value};
use serde::Serialize;

use super::budget::{Budget, FIELDS_MAX, ITEMS_MAX};
use super::page::{Page, Then, following, short_name, words};
use super::text::element_text;

/// An item of microdata, as the page writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MicrodataItem {
    /// The URLs of its types; empty if it has none.
    #[serde(rename = "type", skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Its `itemid`, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text or URL of an item without properties; `None` if it has properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The values of its properties, in page order; those referred to by `itemref` come last.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Vec<MicrodataValue>>,
}

/// A value of microdata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MicrodataValue {
    /// A text or an absolute URL.
    Text(String),
    /// Another item.
    Item(MicrodataItem),
    /// A field of a form, as input to an action (schema.org, "Potential Actions").
    Input {
        /// The name of the field in the action's URL.
        #[serde(rename = "valueName")]
        name: String,
        /// Whether the action needs it.
        #[serde(rename = "valueRequired")]
        is_required: bool,
    },
}

/// Reads the items of a page that are not part of other ones.
pub(super) fn read(page: &Page<'_>, budget: &mut Budget) -> Vec<MicrodataItem> {
    budget.is_cut |= page.items.len() > ITEMS_MAX;
    let mut reader = Reader { page, budget, within: Vec::new() };
    page.items.iter().take(ITEMS_MAX).map(|node| reader.item(node)).collect()
}

struct Reader<'r, 't> {
    page: &'r Page<'t>,
    budget: &'r mut Budget,
    /// The items being read, outermost first: a reference to one of them would never end.
    within: Vec<NodeId>,
}

impl<'t> Reader<'_, 't> {
    fn item(&mut self, element: &NodeRef<'t>) -> MicrodataItem {
        self.within.push(element.id);
        let mut item = MicrodataItem {
            types: words(element, "itemtype"),
            id: element.attr("itemid").map(|id| self.page.absolute(&id)),
            ..MicrodataItem::default()
        };
        self.children(element, &mut item);
        let mut seen = vec![element.id];
        for id in words(element, "itemref") {
            if !self.budget.step() {
                break;
            }
            let Some(referred) = self.page.by_id(&id) else { continue };
            if seen.contains(&referred.id) || seen.len() > FIELDS_MAX {
                continue;
            }
            seen.push(referred.id);
            let then = self.property(&referred, &mut item);
            // The standard ignores elements of a referred item that are not properties, but authors
            // mean them.
            if then == Then::Into || !referred.has_attr("itemprop") {
                self.children(&referred, &mut item);
            }
        }
        if item.properties.is_empty() {
            let text = self.text(element);
            item.value = self.budget.text(&text);
        }
        self.within.pop();
        item
    }

    fn children(&mut self, parent: &NodeRef<'t>, item: &mut MicrodataItem) {
        let mut next = parent.first_child();
        while let Some(node) = next {
            if !self.budget.step() {
                return;
            }
            let then = if node.is_element() { self.property(&node, item) } else { Then::Past };
            next = following(&node, parent.id, then);
        }
    }

    /// Adds an element's property to an item. Returns whether the element's content belongs to the
    /// same item.
    fn property(&mut self, element: &NodeRef<'t>, item: &mut MicrodataItem) -> Then {
        let (mut has_scope, mut names) = (false, None);
        if let Some(element) = element.element_ref() {
            for attribute in &element.attrs {
                match &*attribute.name.local {
                    "itemscope" => has_scope = true,
                    "itemprop" => names = Some(attribute.value.to_string()),
                    _ => {}
                }
            }
        }
        let then = if has_scope { Then::Past } else { Then::Into };
        let Some(names) = names else { return then };
        let value = if has_scope {
            if self.within.contains(&element.id) || !self.budget.may_nest(self.within.len()) || !self.budget.value() {
                return then;
            }
            MicrodataValue::Item(self.item(element))
        } else if element.has_name("input") && element.has_attr("name") && !element.has_attr("content") {
            let name = element.attr("name").unwrap_or_default();
            let name = self.budget.clipped(&name).to_owned();
            MicrodataValue::Input { name, is_required: element.has_attr("required") }
        } else {
            let text = self.text(element);
            MicrodataValue::Text(self.budget.clipped(&text).to_owned())
        };
        let names: BTreeSet<&str> = names.split_ascii_whitespace().collect();
        // Many names would repeat the value.
        for name in names {
            self.budget.is_cut |= item.properties.len() >= FIELDS_MAX && !item.properties.contains_key(name);
            if (item.properties.len() >= FIELDS_MAX && !item.properties.contains_key(name)) || !self.repeat(&value) {
                return then;
            }
            item.properties.entry(name.to_owned()).or_default().push(value.clone());
        }
        then
    }

    /// Whether there is room for another copy of a value.
    fn repeat(&mut self, value: &MicrodataValue) -> bool {
        match value {
            MicrodataValue::Input { name: text, .. } | MicrodataValue::Text(text) => {
                text.is_empty() || self.budget.text(text).is_some()
            }
            MicrodataValue::Item(item) => (0..=weight(item)).all(|_| self.budget.value()),
        }
    }

    fn text(&mut self, element: &NodeRef<'t>) -> String {
        let name = element.node_name().unwrap_or_default();
        let url = match &*name {
            "audio" | "embed" | "iframe" | "img" | "source" | "track" | "video" => element.attr("src"),
            "a" | "area" | "link" => element.attr("href"),
            "object" => element.attr("data"),
            _ => None,
        };
        if let Some(url) = url {
            return self.page.absolute(&url);
        }
        let attribute = match &*name {
            "data" | "meter" => element.attr("value"),
            "time" => element.attr("datetime"),
            _ => None,
        };
        // The standard allows it on `meta` alone; the documentation of schema.org uses it elsewhere
        // too.
        match attribute.or_else(|| element.attr("content")) {
            Some(value) => value.trim().to_owned(),
            None if &*name == "meta" => String::new(),
            None => element_text(element, self.budget),
        }
    }
}

/// Returns the number of an item's values, including nested items.
fn weight(item: &MicrodataItem) -> usize {
    item.properties
        .values()
        .flatten()
        .map(|value| match value {
            MicrodataValue::Text(_) | MicrodataValue::Input { .. } => 1,
            MicrodataValue::Item(item) => 1 + weight(item),
        })
        .sum()
}

/// Returns an item as a record.
pub(super) fn record(item: MicrodataItem, budget: &mut Budget) -> Record {
    let mut record = Record {
        types: item.types.iter().map(|name| short_name(name).to_owned()).collect(),
        id: item.id,
        fields: BTreeMap::new(),
    };
    // An author is often a person with only a text.
    if let Some(text) = item.value.and_then(|text| budget.text_value(&text)) {
        record.fields.insert("name".to_owned(), vec![text]);
    }
    for (name, values) in item.properties {
        let values: Vec<Value> = values
            .into_iter()
            .filter_map(|value| match value {
                MicrodataValue::Text(text) => budget.text_value(&text),
                MicrodataValue::Input { name, is_required } => budget.text_value(&name).map(|name| {
                    let fields = [("valueName", name), ("valueRequired", Value::Bool(is_required))];
                    Value::Record(Record {
                        types: vec!["PropertyValueSpecification".to_owned()],
                        id: None,
                        fields: fields.map(|(name, value)| (name.to_owned(), vec![value])).into(),
                    })
                }),
                MicrodataValue::Item(item) => Some(Value::Record(self::record(item, budget))),
            })
            .collect();
        if !values.is_empty() {
            record.fields.entry(short_name(&name).to_owned()).or_default().extend(values);
        }
    }
    record
}
