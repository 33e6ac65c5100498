//! Product variants: each is a product that inherits properties from its group (schema.org,
//! `ProductGroup`).

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::item::{Field, Item, Notation, Record, Value};

use super::budget::{Budget, FIELDS_MAX, ITEMS_MAX};
use super::page::short_name;

/// Properties that identify a group, or relate it to others, which its variants do not inherit.
const OF_GROUP: [&str; 16] = [
    "gtin",
    "gtin12",
    "gtin13",
    "gtin14",
    "gtin8",
    "hasVariant",
    "identifier",
    "isVariantOf",
    "mainEntityOfPage",
    "mpn",
    "productGroupID",
    "productID",
    "sameAs",
    "sku",
    "url",
    "variesBy",
];

/// An item, with the offers of its variants.
#[derive(Debug, Default)]
pub(super) struct ItemWithOffers {
    pub(super) item: Item,
    /// The offers of its variants.
    pub(super) offers: Vec<Value>,
    /// The index of its group; `None` if it has none, or the page does not describe it as a thing
    /// of its own.
    group: Option<usize>,
}

impl From<Item> for ItemWithOffers {
    fn from(item: Item) -> Self {
        Self { item, offers: Vec::new(), group: None }
    }
}

/// Adds the variants of groups after them, unless they are items already, and adds to each the
/// properties of its group.
pub(super) fn spread(items: Vec<Item>, budget: &mut Budget) -> Vec<ItemWithOffers> {
    let is_concerned = |item: &Item| {
        ["hasVariant", "isVariantOf", "inProductGroupWithID"].iter().any(|name| item.fields.contains_key(*name))
    };
    if !items.iter().any(is_concerned) {
        return items.into_iter().map(ItemWithOffers::from).collect();
    }
    let mut all = with_variants(items, budget);
    find_groups(&mut all);
    for at in 0..all.len() {
        let Some(ItemWithOffers { item, group, .. }) = all.get(at) else { break };
        let (mut offers, mut fields) = (Vec::new(), BTreeMap::new());
        if let Some(group) = group.and_then(|group| all.get(group)) {
            offers.extend(values(item, "offers").filter(|offer| budget.copies_value(offer)).cloned());
            let said = group.item.fields.iter();
            let said = said.map(|(name, field)| (name.as_str(), field.values.as_slice(), field.from.as_slice()));
            fields = inherited(said.collect(), item, budget);
        } else if let Some(field) = item.fields.get("isVariantOf")
            && let Some(group) = field.values.iter().find_map(as_record)
        {
            let said = group.fields.iter();
            let said = said.map(|(name, values)| (name.as_str(), values.as_slice(), field.from.as_slice()));
            fields = inherited(said.collect(), item, budget);
        }
        if let Some(group) = group.and_then(|group| all.get_mut(group)) {
            group.offers.extend(offers);
        }
        if let Some(variant) = all.get_mut(at) {
            variant.item.fields.extend(fields);
        }
    }
    all
}

/// Makes items of the variants in groups.
fn with_variants(items: Vec<Item>, budget: &mut Budget) -> Vec<ItemWithOffers> {
    let mut ids: BTreeSet<String> = items.iter().filter_map(|item| item.id.clone()).collect();
    let mut all: Vec<ItemWithOffers> = Vec::with_capacity(items.len());
    for item in items {
        let mut variants = Vec::new();
        if let Some(field) = item.fields.get("hasVariant") {
            let mut numbers = BTreeSet::new();
            for record in field.values.iter().filter_map(as_record) {
                // Several notations describe the same variants, each in its own words.
                let number = number(record).filter(|_| field.from.len() > 1);
                if number.is_some_and(|number| !numbers.insert(number)) {
                    continue;
                }
                if record.id.as_ref().is_some_and(|id| !ids.insert(id.clone())) {
                    continue;
                }
                if all.len() + variants.len() > ITEMS_MAX || !budget.copies(record) {
                    budget.is_cut = true;
                    break;
                }
                let variant = ItemWithOffers::from(variant(record, field));
                variants.push(ItemWithOffers { group: Some(all.len()), ..variant });
            }
        }
        all.push(ItemWithOffers::from(item));
        all.append(&mut variants);
    }
    all
}

/// Returns the number that distinguishes a variant.
fn number(variant: &Record) -> Option<&str> {
    const NUMBERS: [&str; 8] = ["sku", "gtin", "gtin13", "gtin14", "gtin12", "gtin8", "mpn", "productID"];
    NUMBERS.iter().find_map(|property| variant.fields.get(*property)?.iter().find_map(name))
}

fn variant(record: &Record, of: &Field) -> Item {
    let mut types = record.types.clone();
    if types.is_empty() {
        types.push("Product".to_owned());
    }
    let field = |values: &Vec<Value>| Field { values: values.clone(), from: of.from.clone() };
    let fields = record.fields.iter().map(|(name, values)| (name.clone(), field(values))).collect();
    Item { types, id: record.id.clone(), fields, normal: BTreeMap::new() }
}

/// Links variants to sibling groups: either names the other one.
fn find_groups(all: &mut [ItemWithOffers]) {
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_variant: BTreeMap<String, usize> = BTreeMap::new();
    for (at, ItemWithOffers { item, .. }) in all.iter().enumerate() {
        let names = values(item, "productGroupID").chain(values(item, "url")).filter_map(name);
        for name in item.id.iter().map(String::as_str).chain(names) {
            by_name.entry(name.to_owned()).or_insert(at);
        }
        for variant in values(item, "hasVariant").filter_map(name) {
            by_variant.entry(variant.to_owned()).or_insert(at);
        }
    }
    for (at, spread) in all.iter_mut().enumerate() {
        let ItemWithOffers { item, group, .. } = spread;
        let named = ["isVariantOf", "inProductGroupWithID"].into_iter().flat_map(|property| values(item, property));
        let mut by_own = named.filter_map(name).filter_map(|name| by_name.get(name).copied());
        let by_group = item.id.as_ref().and_then(|id| by_variant.get(id).copied());
        *group = group.or_else(|| by_own.find(|place| *place != at)).or(by_group).filter(|place| *place != at);
    }
}

/// Returns the group's properties that a variant lacks and may share.
fn inherited(said: Vec<(&str, &[Value], &[Notation])>, variant: &Item, budget: &mut Budget) -> BTreeMap<String, Field> {
    let differing: BTreeSet<&str> = said
        .iter()
        .filter(|(property, ..)| *property == "variesBy")
        .flat_map(|(_, values, _)| values.iter().filter_map(name))
        .map(short_name)
        .collect();
    let mut fields = BTreeMap::new();
    for (property, values, from) in said {
        let is_its_own = OF_GROUP.contains(&property)
            || differing.contains(property)
            || variant.fields.contains_key(property)
            // A price range over all variants does not apply to one.
            || property == "offers" && values.iter().filter_map(as_record).any(is_range);
        if is_its_own {
            continue;
        }
        let has_room = variant.fields.len() + fields.len() < FIELDS_MAX;
        if !has_room || !values.iter().all(|value| budget.copies_value(value)) {
            budget.is_cut = true;
            break;
        }
        fields.insert(property.to_owned(), Field { values: values.to_vec(), from: from.to_vec() });
    }
    fields
}

fn is_range(offer: &Record) -> bool {
    offer.types.iter().any(|name| name == "AggregateOffer")
}

fn values<'i>(item: &'i Item, property: &str) -> impl Iterator<Item = &'i Value> + use<'i> {
    item.fields.get(property).map_or(&[][..], |field| field.values.as_slice()).iter()
}

/// Returns the name by which a value refers to something.
fn name(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Record(record) => record.id.as_deref(),
        _ => None,
    }
}

fn as_record(value: &Value) -> Option<&Record> {
    match value {
        Value::Record(record) => Some(record),
        _ => None,
    }
}
