//! The learned schema of a site's items.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use dragline_domain::document::Document;
use dragline_domain::item::{Cell, Item};
use dragline_domain::shown::one_line;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use siphasher::sip::SipHasher13;

use crate::limits::{
    EXAMPLE_CHARS_MAX, EXAMPLES_MAX, FIELDS_MAX, FIELDS_OF_ALL_TYPES_MAX, NAME_BYTES_MAX, TYPES_MAX, URL_BYTES_MAX,
};
use crate::{Kind, PageTypes};

/// The version of the stored form. Other versions are not read.
const VERSION: u32 = 1;

/// A schema learned from documents. Its size is limited, whatever the number of documents.
///
/// Below the limits it does not depend on the order of the documents, or on how they were divided
/// among parts that are merged. Above them, the rarest entries are left out, and types that only
/// pages name go before those of the definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedSchema {
    #[serde(deserialize_with = "this_version")]
    version: u32,
    /// The number of pages, with items or without.
    pages: u64,
    types: BTreeMap<String, LearnedType>,
    /// The number of items left out because their types were.
    items_left_out: u64,
    page_types: PageTypes,
}

/// What was learned about one item type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedType {
    /// Its name as pages write it; the alphabetically first if there are several. `None` if it is
    /// too long.
    pub name: Option<String>,
    /// The number of items of this type.
    pub items: u64,
    /// The number of pages with such items.
    pub pages: u64,
    /// The type's fields, by the names of their columns ([`Item::columns`]).
    pub fields: BTreeMap<String, LearnedField>,
    /// The number of values left out because their fields were.
    pub values_left_out: u64,
    /// Examples of pages that have it.
    pub urls: BTreeSet<String>,
    /// Who named the type. Schemas stored before this field existed count as named by pages.
    #[serde(default, skip_serializing_if = "NamedBy::is_pages")]
    pub named_by: NamedBy,
}

/// Who named an item type. If room runs out, types with the greater value are kept longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// Pages alone.
    #[default]
    Pages,
    /// The crawl's definition.
    Definition,
}

impl NamedBy {
    /// Returns who named an item's type.
    fn from_item(item: &Item) -> Self {
        if item.is_of_definition() { Self::Definition } else { Self::Pages }
    }

    const fn is_pages(&self) -> bool {
        matches!(self, Self::Pages)
    }
}

/// What was learned about one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedField {
    /// Its place in the item, as a definition writes it under `item`; `None` if a definition cannot
    /// express it.
    pub property: Option<String>,
    /// The number of items that have it.
    pub items: u64,
    /// The number of these whose value has each kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// Example values, each on one line and safe to print to a terminal.
    pub examples: BTreeSet<String>,
    /// Whether the value is the same everywhere.
    pub variety: Variety,
    /// Examples of pages that have it.
    pub urls: BTreeSet<String>,
}

/// Whether all values are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variety {
    /// All values so far are the same; this is their digest.
    Same(u64),
    /// There are several values.
    Various,
}

impl Default for LearnedSchema {
    fn default() -> Self {
        Self { version: VERSION, pages: 0, types: BTreeMap::new(), items_left_out: 0, page_types: PageTypes::default() }
    }
}

impl LearnedSchema {
    /// Learns from a document. Redirects and other documents that are not pages and have no items
    /// are ignored.
    pub fn learn(&mut self, document: &Document) {
        let content = document.content.as_deref();
        let items = content.map_or(&[][..], |content| &content.items);
        let repeated = content.map_or(&[][..], |content| &content.repeated);
        if document.page.is_none() && items.is_empty() {
            return;
        }
        let url = document.url.as_str();
        self.pages += 1;
        let mut on_page = BTreeSet::new();
        for item in items {
            let table = item.table();
            let learned = self.types.entry(table.clone()).or_default();
            learned.learn(item, url);
            if on_page.insert(table) {
                learned.pages += 1;
            }
            self.compact();
        }
        self.page_types.learn(document.url.path(), url, &on_page, repeated);
    }

    /// Merges a schema learned from other documents.
    pub fn merge(&mut self, other: Self) {
        self.pages += other.pages;
        self.items_left_out += other.items_left_out;
        for (table, learned) in other.types {
            self.types.entry(table).or_default().merge(learned);
        }
        self.page_types.merge(other.page_types);
        self.compact();
    }

    /// Returns the number of pages, with items or without.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the item types, by the names of their tables ([`Item::table`]).
    #[must_use]
    pub const fn types(&self) -> &BTreeMap<String, LearnedType> {
        &self.types
    }

    /// Returns the number of items left out because there were too many types.
    #[must_use]
    pub const fn items_left_out(&self) -> u64 {
        self.items_left_out
    }

    /// Returns the page types.
    #[must_use]
    pub const fn page_types(&self) -> &PageTypes {
        &self.page_types
    }

    /// Finds a type by the name that pages write or by the name of its table. Returns the table's
    /// name with it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(&str, &LearnedType)> {
        let is_it =
            |(table, learned): &(&String, &LearnedType)| *table == name || learned.name.as_deref() == Some(name);
        self.types.iter().find(is_it).map(|(table, learned)| (table.as_str(), learned))
    }

    /// Leaves out the rarest types while there are too many of them, or too many fields.
    fn compact(&mut self) {
        for (_, left) in take_rarest(&mut self.types, TYPES_MAX, LearnedType::rank) {
            self.items_left_out += left.items;
        }
        let mut fields: usize = self.types.values().map(|learned| learned.fields.len()).sum();
        if fields <= FIELDS_OF_ALL_TYPES_MAX {
            return;
        }
        let mut tables = by_rarity(&self.types, LearnedType::rank).into_iter();
        while fields > FIELDS_OF_ALL_TYPES_MAX / 4 * 3
            && let Some(table) = tables.next()
            && let Some(left) = self.types.remove(&table)
        {
            fields -= left.fields.len();
            self.items_left_out += left.items;
        }
    }
}

impl LearnedType {
    /// Returns the sort key for dropping types: the greatest stay.
    const fn rank(&self) -> (NamedBy, u64) {
        (self.named_by, self.items)
    }

    fn learn(&mut self, item: &Item, url: &str) {
        self.items += 1;
        self.named_by = self.named_by.max(NamedBy::from_item(item));
        self.take_name(item.types.first().cloned());
        add_url(&mut self.urls, url);
        for (name, column) in item.columns_by_property() {
            let (value, digest) = match &column.cell {
                Cell::Bool(yes) => (yes.to_string(), digest(yes)),
                Cell::Number(number) => (number.to_string(), digest(&number.to_string())),
                Cell::Text(text) => (one_line(text, EXAMPLE_CHARS_MAX), digest(text)),
            };
            let kind = Kind::infer(&name, &column);
            let mut field = LearnedField {
                property: column.property.filter(|property| property.len() <= NAME_BYTES_MAX),
                items: 1,
                kinds: BTreeMap::from([(kind, 1)]),
                examples: BTreeSet::from([one_line(&value, EXAMPLE_CHARS_MAX)]),
                variety: Variety::Same(digest),
                urls: BTreeSet::new(),
            };
            add_url(&mut field.urls, url);
            self.put(name, field);
        }
        self.compact();
    }

    fn merge(&mut self, other: Self) {
        self.items += other.items;
        self.named_by = self.named_by.max(other.named_by);
        self.pages += other.pages;
        self.values_left_out += other.values_left_out;
        self.take_name(other.name);
        add_examples(&mut self.urls, other.urls);
        for (name, field) in other.fields {
            self.put(name, field);
        }
        self.compact();
    }

    fn take_name(&mut self, name: Option<String>) {
        let name = name.filter(|name| name.len() <= NAME_BYTES_MAX);
        self.name = [self.name.take(), name].into_iter().flatten().min();
    }

    fn put(&mut self, name: String, field: LearnedField) {
        match self.fields.get_mut(&name) {
            Some(known) => known.merge(field),
            None => {
                self.fields.insert(name, field);
            }
        }
    }

    fn compact(&mut self) {
        for (_, left) in take_rarest(&mut self.fields, FIELDS_MAX, |field| field.items) {
            self.values_left_out += left.items;
        }
    }
}

impl LearnedField {
    fn merge(&mut self, other: Self) {
        self.property = [self.property.take(), other.property].into_iter().flatten().min();
        self.items += other.items;
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        add_examples(&mut self.examples, other.examples);
        add_examples(&mut self.urls, other.urls);
        if self.variety != other.variety {
            self.variety = Variety::Various;
        }
    }

    /// Returns the most frequent kind.
    #[must_use]
    pub fn main_kind(&self) -> Kind {
        let most = self.kinds.iter().max_by_key(|(_, count)| **count);
        most.map_or(Kind::Text, |(kind, _)| *kind)
    }

    /// Returns the only kind; `None` if there are several.
    #[must_use]
    pub fn only_kind(&self) -> Option<Kind> {
        let mut kinds = self.kinds.keys();
        kinds.next().copied().filter(|_| kinds.next().is_none())
    }
}

/// Adds a page to the examples.
pub(crate) fn add_url(urls: &mut BTreeSet<String>, url: &str) {
    if url.len() <= URL_BYTES_MAX
        && !urls.contains(url)
        && (urls.len() < EXAMPLES_MAX || urls.last().is_some_and(|last| url < last.as_str()))
    {
        add_examples(urls, BTreeSet::from([url.to_owned()]));
    }
}

/// Adds examples and keeps the alphabetically first, so that the result does not depend on their
/// order.
pub(crate) fn add_examples(examples: &mut BTreeSet<String>, others: BTreeSet<String>) {
    examples.extend(others);
    while examples.len() > EXAMPLES_MAX {
        examples.pop_last();
    }
}

/// Removes the rarest entries if there are more than `max`. It leaves some room, so that new
/// entries have time to become frequent.
pub(crate) fn take_rarest<T, R: Ord>(
    all: &mut BTreeMap<String, T>,
    max: usize,
    rank: impl Fn(&T) -> R,
) -> Vec<(String, T)> {
    if all.len() <= max {
        return Vec::new();
    }
    let too_many = all.len() - max / 4 * 3;
    by_rarity(all, rank).into_iter().take(too_many).filter_map(|name| all.remove_entry(&name)).collect()
}

/// Returns the names, rarest first.
fn by_rarity<T, R: Ord>(all: &BTreeMap<String, T>, rank: impl Fn(&T) -> R) -> Vec<String> {
    let mut names: Vec<(R, &String)> = all.iter().map(|(name, one)| (rank(one), name)).collect();
    names.sort();
    names.into_iter().map(|(_, name)| name.clone()).collect()
}

/// Computes a digest that is the same on every machine.
fn digest(value: &impl Hash) -> u64 {
    let mut hasher = SipHasher13::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn this_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("version {other} of what was learned cannot be read, only {VERSION}"))),
    }
}
