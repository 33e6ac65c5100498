//! What names mean, as contexts say it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use crate::items::budget::{Budget, FIELDS_MAX};
use crate::items::page::short_name;

/// How much longer than a look at a node it takes to copy a term.
const COPIED_STEPS: usize = 4;

/// The longest meaning of a term, in bytes: it is repeated with each name.
const MEANING_BYTES_MAX: usize = 1 << 10;

/// How many terms in a row may stand for each other.
const DEFINITIONS_MAX: usize = 4;

/// An object of JSON-LD.
pub(super) type Object = Map<String, Json>;

/// What names mean.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// The vocabulary of names without a prefix; `None` for that of schema.org.
    vocabulary: Option<String>,
    /// What terms stand for, as it was written.
    terms: BTreeMap<String, String>,
}

impl Context {
    /// Reads an object's own context; returns the one around it if it has none.
    pub(super) fn from_object(object: &Object, outer: &Rc<Self>, budget: &mut Budget) -> Rc<Self> {
        let Some(context) = object.get("@context") else { return Rc::clone(outer) };
        let parts = match context {
            Json::Array(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        // Most say only that it is that of schema.org.
        let is_plain = parts.iter().all(Json::is_string);
        if is_plain && (outer.vocabulary.is_none() || !parts.iter().any(is_schema_org)) {
            return Rc::clone(outer);
        }
        // What is declared around it is copied.
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
            // A term may have its meaning in an object.
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
                // It says the same again, or has lost its meaning.
                _ => drop(self.terms.remove(name)),
            }
        }
    }

    /// Returns the name of a type or a property: of schema.org alone, of another vocabulary with its URL.
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

    /// Returns what a term stands for, or a name with a prefix; `None` if nothing says so.
    fn meaning(&self, name: &str) -> Option<String> {
        if let Some(meaning) = self.terms.get(name) {
            return Some(meaning.clone());
        }
        let (prefix, rest) = name.split_once(':').filter(|(_, rest)| !rest.starts_with("//"))?;
        let url = self.terms.get(prefix)?;
        // Of a host alone, people forget the slash.
        let is_host = url.split_once("://").is_some_and(|(_, host)| !host.contains(['/', '#', '?']));
        Some(format!("{url}{}{rest}", if is_host { "/" } else { "" }))
    }
}

/// Whether a context is that of schema.org, by one of its addresses.
fn is_schema_org(context: &Json) -> bool {
    const CONTEXTS: [&str; 3] = ["", "docs/jsonldcontext.json", "docs/jsonldcontext.jsonld"];
    let url = context.as_str().unwrap_or_default().trim();
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
    let rest = rest.strip_prefix("www.").unwrap_or(rest).strip_prefix("schema.org");
    rest.is_some_and(|path| CONTEXTS.contains(&path.trim_matches('/')))
}
