//! RDFa Lite 1.1, and the parts of RDFa 1.1 that pages use besides: `about`, `content`, `datatype`,
//! `datetime`.

mod prefixes;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use dom_query::NodeRef;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use self::prefixes::Names;
pub(super) use self::records::records;
use super::budget::{Budget, FIELDS_MAX};
use super::page::Page;
use super::text::element_text;

/// How many values of a property a new one is compared with.
const COMPARED_MAX: usize = 64;

const USES_VOCABULARY: &str = "http://www.w3.org/ns/rdfa#usesVocabulary";

/// An RDFa description of one thing; serialised as expanded JSON-LD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RdfaNode {
    /// Its URL, or a blank node identifier, which begins with `_:`.
    pub id: String,
    /// The URLs of its types.
    pub types: Vec<String>,
    /// The values of its properties, by the URLs of the properties.
    pub properties: BTreeMap<String, Vec<RdfaValue>>,
}

impl Serialize for RdfaNode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("@id", &self.id)?;
        if !self.types.is_empty() {
            map.serialize_entry("@type", &self.types)?;
        }
        for (name, values) in &self.properties {
            map.serialize_entry(name, values)?;
        }
        map.end()
    }
}

/// A value of RDFa.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RdfaValue {
    /// A text.
    Text {
        /// The characters.
        #[serde(rename = "@value")]
        value: String,
        /// The URL of its datatype; `None` if there is none.
        #[serde(rename = "@type", skip_serializing_if = "Option::is_none")]
        datatype: Option<String>,
        /// Its language; `None` if unknown.
        #[serde(rename = "@language", skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// A thing.
    Thing {
        /// Its URL or blank node identifier.
        #[serde(rename = "@id")]
        id: String,
    },
}

/// Reads a page's descriptions, each thing once, in order of first mention.
pub(super) fn read(page: &Page<'_>, budget: &mut Budget) -> Vec<RdfaNode> {
    let Some(root) = page.root.filter(|_| page.has_rdfa) else { return Vec::new() };
    let mut reader = Reader { page, budget, nodes: Vec::new(), places: BTreeMap::new(), unnamed: 0 };
    let subject = page.base.to_string();
    let outer = ElementContext { names: Rc::default(), subject, language: None };
    reader.element(&root, &outer);
    reader.nodes.retain(|node| !node.types.is_empty() || !node.properties.is_empty());
    reader.nodes
}

/// The context of an element, from its ancestors.
#[derive(Clone)]
struct ElementContext {
    names: Rc<Names>,
    /// The subject of properties.
    subject: String,
    language: Option<Rc<str>>,
}

struct Reader<'r, 't> {
    page: &'r Page<'t>,
    budget: &'r mut Budget,
    nodes: Vec<RdfaNode>,
    places: BTreeMap<String, usize>,
    unnamed: usize,
}

/// The relevant attributes of an element.
#[derive(Default)]
struct Attributes {
    about: Option<String>,
    resource: Option<String>,
    href: Option<String>,
    src: Option<String>,
    content: Option<String>,
    datatype: Option<String>,
    property: Option<String>,
    types: Option<String>,
    language: Option<String>,
    has_relation: bool,
    declares: bool,
}

impl Attributes {
    fn read(node: &NodeRef<'_>) -> Self {
        let mut found = Self::default();
        let Some(element) = node.element_ref() else { return found };
        let name = &*element.name.local;
        for attribute in &element.attrs {
            let value = || Some(attribute.value.to_string());
            match &*attribute.name.local {
                "about" => found.about = value(),
                "resource" => found.resource = value(),
                "href" => found.href = value(),
                // For a picture, it acts like an object's `data`, as in HTML+RDFa.
                "src" => found.src = value(),
                "data" if name == "object" => found.src = value(),
                "content" => found.content = value(),
                "datetime" | "value" if found.content.is_none() && matches!(name, "time" | "data") => {
                    found.content = value();
                }
                "datatype" => found.datatype = value(),
                "property" => found.property = value().filter(|value| !value.trim().is_empty()),
                "typeof" => found.types = value(),
                "lang" | "xml:lang" => found.language = value(),
                // In HTML, words without a colon are link types, not properties.
                "rel" | "rev" => found.has_relation |= attribute.value.contains(':'),
                "vocab" | "prefix" => found.declares = true,
                other => found.declares |= other.starts_with("xmlns:"),
            }
        }
        found
    }
}

impl Reader<'_, '_> {
    /// Recurses to the depth of the tree, which the caller has limited.
    fn element(&mut self, node: &NodeRef<'_>, outer: &ElementContext) {
        if !self.budget.step() {
            return;
        }
        let attributes = Attributes::read(node);
        let mut around = outer.clone();
        if attributes.declares
            && let Some(names) = Names::declare(node, &outer.names, self.budget)
        {
            if names.vocabulary != outer.names.vocabulary
                && let Some(vocabulary) = &names.vocabulary
            {
                let id = self.page.absolute(vocabulary);
                let page = self.page.base.to_string();
                self.add(&page, USES_VOCABULARY, RdfaValue::Thing { id });
            }
            around.names = Rc::new(names);
        }
        if let Some(language) = &attributes.language {
            around.language = (!language.is_empty()).then(|| Rc::from(language.as_str()));
        }
        let is_of_interest = attributes.property.is_some()
            || attributes.types.is_some()
            || attributes.about.is_some()
            || attributes.resource.is_some()
            || attributes.has_relation;
        if is_of_interest {
            self.statements(node, &attributes, outer, &mut around);
        }
        let mut child = node.first_child();
        while let Some(node) = child {
            if node.is_element() {
                self.element(&node, &around);
            }
            child = node.next_sibling();
        }
    }

    /// Adds an element's statements (RDFa Core 1.1, "Sequence", without `rel` and `rev`). Sets the
    /// subject for its descendants.
    fn statements(
        &mut self,
        node: &NodeRef<'_>,
        attributes: &Attributes,
        outer: &ElementContext,
        around: &mut ElementContext,
    ) {
        let Attributes { about, resource, href, src, content, datatype, property, types, .. } = attributes;
        let names = Rc::clone(&around.names);
        let about = about.as_deref().and_then(|about| self.resource(about, &names));
        let other = (resource.as_deref().and_then(|resource| self.resource(resource, &names)))
            .or_else(|| href.as_deref().or(src.as_deref()).map(|url| self.page.absolute(url)));
        let is_root = self.page.root.is_some_and(|root| root.id == node.id);
        let says_of_outer = property.is_some() && content.is_none() && datatype.is_none();
        let mut typed = None;
        if says_of_outer {
            around.subject = about.clone().unwrap_or_else(|| outer.subject.clone());
            if types.is_some() {
                let found = about.clone().or_else(|| is_root.then(|| self.page.base.to_string())).or(other.clone());
                typed = Some(found.unwrap_or_else(|| self.unnamed()));
            }
        } else {
            let found = about.clone().or_else(|| if attributes.has_relation { None } else { other.clone() });
            let is_new = types.is_some() && !is_root;
            around.subject = match found {
                Some(found) => found,
                None if is_new && !is_head_or_body(node) => self.unnamed(),
                None => outer.subject.clone(),
            };
            typed = types.is_some().then(|| around.subject.clone());
        }
        if let (Some(typed), Some(types)) = (&typed, types) {
            self.add_types(typed, types, &names);
        }
        if let Some(properties) = property {
            let value = match (&typed, other) {
                (Some(typed), _) if says_of_outer && about.is_none() => RdfaValue::Thing { id: typed.clone() },
                (_, Some(id)) if says_of_outer && !attributes.has_relation => RdfaValue::Thing { id },
                _ => self.literal(node, attributes, around),
            };
            // A thing needs an identifier; an empty text says nothing.
            let subject = around.subject.clone();
            let properties: BTreeSet<&str> = properties.split_ascii_whitespace().collect();
            for name in properties {
                if let Some(name) = names.expand(name) {
                    self.add(&subject, &name, value.clone());
                }
            }
        }
        if let Some(typed) = typed {
            around.subject = typed;
        }
    }

    fn literal(&mut self, node: &NodeRef<'_>, attributes: &Attributes, around: &ElementContext) -> RdfaValue {
        let text = match &attributes.content {
            Some(content) => content.clone(),
            None => element_text(node, self.budget),
        };
        let datatype =
            (attributes.datatype.as_deref()).filter(|kind| !kind.is_empty()).and_then(|kind| around.names.expand(kind));
        let language = around.language.as_deref().filter(|_| datatype.is_none()).map(str::to_owned);
        RdfaValue::Text { value: self.budget.clipped(&text).to_owned(), datatype, language }
    }

    /// Resolves `about` or `resource`: a URL, or a prefixed name, perhaps in brackets. `None` if it
    /// names nothing.
    fn resource(&self, value: &str, names: &Names) -> Option<String> {
        let value = value.trim();
        if let Some(name) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
            return if name.starts_with("_:") {
                Some(name.to_owned())
            } else {
                name.contains(':').then(|| names.expand(name))?
            };
        }
        if let Some((prefix, rest)) = value.split_once(':')
            && !rest.starts_with("//")
            && let Some(url) = names.prefix(prefix)
        {
            return Some(format!("{url}{rest}"));
        }
        Some(if value.is_empty() { self.page.base.to_string() } else { self.page.absolute(value) })
    }

    fn unnamed(&mut self) -> String {
        self.unnamed += 1;
        format!("_:thing{}", self.unnamed)
    }

    fn node(&mut self, id: &str) -> &mut RdfaNode {
        let at = *self.places.entry(id.to_owned()).or_insert_with(|| {
            self.nodes.push(RdfaNode { id: id.to_owned(), ..RdfaNode::default() });
            self.nodes.len() - 1
        });
        &mut self.nodes[at]
    }

    fn add_types(&mut self, id: &str, types: &str, names: &Names) {
        for name in types.split_ascii_whitespace() {
            if let Some(name) = names.expand(name)
                && self.budget.text(&name).is_some()
            {
                let types = &mut self.node(id).types;
                if types.len() < FIELDS_MAX && !types.contains(&name) {
                    types.push(name);
                }
            }
        }
    }

    fn add(&mut self, id: &str, property: &str, value: RdfaValue) {
        let has_room = match &value {
            RdfaValue::Text { value, .. } => self.budget.text(value).is_some(),
            RdfaValue::Thing { id } => self.budget.text(id).is_some(),
        };
        if !has_room {
            return;
        }
        let node = self.node(id);
        if node.properties.len() >= FIELDS_MAX && !node.properties.contains_key(property) {
            self.budget.is_cut = true;
            return;
        }
        let values = node.properties.entry(property.to_owned()).or_default();
        // Repeated statements are dropped; in long lists, only nearby values are compared.
        if !values.iter().rev().take(COMPARED_MAX).any(|known| *known == value) {
            values.push(value);
        }
    }
}

fn is_head_or_body(node: &NodeRef<'_>) -> bool {
    node.has_name("head") || node.has_name("body")
}
