//! Aliases of keywords, defined by contexts (JSON-LD 1.1, "Aliasing Keywords").

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::context::Object;
/// The supported keywords.
const KEYWORDS: [&str; 9] = ["@context", "@graph", "@id", "@included", "@list", "@reverse", "@set", "@type", "@value"];

/// The most aliases in one place: they are copied for each nested context.
const ALIASES_MAX: usize = 16;

/// The meaning of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Keyword(&'static str),
    /// The context has removed its meaning.
    Nothing,
}

type Aliases = BTreeMap<String, Meaning>;

/// Replaces the aliases in objects by the keywords.
pub(super) fn resolve_aliases(objects: &[Json]) -> Cow<'_, [Json]> {
    if !objects.iter().any(may_have_aliases) {
        return Cow::Borrowed(objects);
    }
    // The default context is schema.org.
    let usual = Rc::new(usual());
    let resolved = objects.iter().map(|object| match object.get("@context") {
        Some(_) => value(object, &Rc::default()),
        None => value(object, &usual),
    });
    Cow::Owned(resolved.collect())
}

/// The aliases in the context of schema.org and of most other standards.
fn usual() -> Aliases {
    [("id", "@id"), ("type", "@type")].map(|(name, keyword)| (name.to_owned(), Meaning::Keyword(keyword))).into()
}

/// Whether a value may contain an alias. Recurses as deep as `serde_json` reads.
fn may_have_aliases(value: &Json) -> bool {
    match value {
        Json::Array(values) => values.iter().any(may_have_aliases),
        Json::Object(object) => object.iter().any(|(key, value)| match key.as_str() {
            "id" | "type" => true,
            "@context" => !value.is_string(),
            _ => may_have_aliases(value),
        }),
        _ => false,
    }
}

fn value(of: &Json, outer: &Rc<Aliases>) -> Json {
    match of {
        Json::Array(values) => values.iter().map(|inner| value(inner, outer)).collect(),
        Json::Object(object) => Json::Object(resolved_object(object, outer)),
        other => other.clone(),
    }
}

fn resolved_object(object: &Object, outer: &Rc<Aliases>) -> Object {
    let aliases = match object.get("@context") {
        Some(context) => Rc::new(read_aliases(context, outer)),
        None => Rc::clone(outer),
    };
    let mut resolved = Object::new();
    for (key, of) in object {
        let name = match aliases.get(key) {
            // The keyword itself takes precedence; then a key of that name is a property.
            Some(Meaning::Keyword(keyword)) if !object.contains_key(*keyword) => keyword,
            Some(Meaning::Nothing) => continue,
            _ => key.as_str(),
        };
        let read = if name == "@context" { of.clone() } else { value(of, &aliases) };
        resolved.entry(name).or_insert(read);
    }
    resolved
}

/// Reads the aliases of a context within an outer one.
fn read_aliases(context: &Json, outer: &Aliases) -> Aliases {
    let parts = match context {
        Json::Array(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut aliases = outer.clone();
    for part in parts {
        match part {
            Json::Null => aliases.clear(),
            // The context is at another URL.
            Json::String(_) => aliases.extend(usual()),
            Json::Object(terms) => {
                for (name, meaning) in terms.iter().filter(|(name, _)| !name.starts_with('@')) {
                    let text = meaning.as_str().or_else(|| meaning.get("@id")?.as_str());
                    let keyword = KEYWORDS.into_iter().find(|keyword| text == Some(keyword));
                    match keyword.map(Meaning::Keyword).or_else(|| meaning.is_null().then_some(Meaning::Nothing)) {
                        Some(meaning) if aliases.len() < ALIASES_MAX => drop(aliases.insert(name.clone(), meaning)),
                        _ => drop(aliases.remove(name)),
                    }
                }
            }
            _ => {}
        }
    }
    aliases
}
