//! Contexts, which define the meaning of names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use crate::items::budget::{Budget, FIELDS_MAX};
use crate::items::page::short_name;

/// The cost of copying a term, in node visits.
const COPIED_STEPS: usize = 4;

/// The longest definition of a term, in bytes: it is repeated with each name.
const MEANING_BYTES_MAX: usize = 1 << 10;

/// The longest chain of terms defined by each other.
const DEFINITIONS_MAX: usize = 4;

/// An object of JSON-LD.
pub(super) type Object = Map<String, Json>;

/// The meanings of names.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// The vocabulary of names without a prefix; `None` for schema.org.
    vocabulary: Option<String>,
    /// The definitions of terms, as written.
    terms: BTreeMap<String, String>,
}

impl Context {
    /// Reads an object's own context; returns the outer one if it has none.
    pub(super) fn from_object(object: &Object, outer: &Rc<Self>, budget: &mut Budget) -> Rc<Self> {
        let Some(context) = object.get("@context") else { return Rc::clone(outer) };
        let parts = match context {
            Json::Array(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        // Most contexts only name schema.org.
        let is_plain = parts.iter().all(Json::is_string);
        if is_plain && (outer.vocabulary.is_none() || !parts.iter().any(is_schema_org)) {
            return Rc::clone(outer);
        }
        // The outer definitions are copied.
        if !budget.steps(COPIED_STEPS * outer.terms.len()) {
            return Rc::clone(outer);
        }
        let mut read = Self { vocabulary: outer.vocabulary.clone(), terms: outer.terms.clone() };
        for part in parts {
            match part {
                Json::Null => read = Self::default(),
                Json::Object(part) => read.define(part),
                part if is_schema_org(part) => read.vocabulary = None,
                _ => {}
            }
        }
        Rc::new(read)
    }

    fn define(&mut self, terms: &Object) {
        for (name, meaning) in terms {
            // A term may be defined by an object.
            let text = meaning.as_str().or_else(|| meaning.get("@id")?.as_str());
            let text = text.filter(|text| text.len() <= MEANING_BYTES_MAX);
            match text {
                Some(text) if name == "@vocab" => self.vocabulary = Some(text.to_owned()),
                None if name == "@vocab" && meaning.is_null() => self.vocabulary = None,
                Some(text) if !name.starts_with('@') && !text.starts_with('@') && text != name => {
                    if self.terms.len() < FIELDS_MAX {
                        self.terms.insert(name.clone(), text.to_owned());
                    }
                }
                // It is a repetition, or removes the definition.
                _ => drop(self.terms.remove(name)),
            }
        }
    }

    /// Returns the name of a type or a property: short for schema.org, as a URL for any other
    /// vocabulary.
    pub(super) fn name(&self, name: &str) -> String {
        let mut name = Cow::Borrowed(name);
        for _ in 0..DEFINITIONS_MAX {
            let Some(meaning) = self.meaning(&name) else { break };
            name = Cow::Owned(meaning);
        }
        match &self.vocabulary {
            Some(vocabulary) if !name.contains(':') => {
                let slash = if vocabulary.ends_with(['/', '#']) { "" } else { "/" };
                short_name(&format!("{vocabulary}{slash}{name}")).to_owned()
            }
            _ => short_name(&name).to_owned(),
        }
    }

    /// Expands a term, or a name with a prefix; `None` if it is not defined.
    fn meaning(&self, name: &str) -> Option<String> {
        if let Some(meaning) = self.terms.get(name) {
            return Some(meaning.clone());
        }
        let (prefix, rest) = name.split_once(':').filter(|(_, rest)| !rest.starts_with("//"))?;
        let url = self.terms.get(prefix)?;
        // People often leave out the slash after a bare host.
        let is_host = url.split_once("://").is_some_and(|(_, host)| !host.contains(['/', '#', '?']));
        Some(format!("{url}{}{rest}", if is_host { "/" } else { "" }))
    }
}

/// Whether a context is one of schema.org's URLs.
fn is_schema_org(context: &Json) -> bool {
    const CONTEXTS: [&str; 3] = ["", "docs/jsonldcontext.json", "docs/jsonldcontext.jsonld"];
    let url = context.as_str().unwrap_or_default().trim();
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
    let rest = rest.strip_prefix("www.").unwrap_or(rest).strip_prefix("schema.org");
    rest.is_some_and(|path| CONTEXTS.contains(&path.trim_matches('/')))
}
