//! JSON Schema for rows of items.

use dragline_domain::item::COMMON;
use serde_json::{Map, Value, json};

use crate::{Kind, LearnedField, LearnedSchema};

/// Returns the JSON Schema (2020-12) of a row that `dragline export --what items` writes for an
/// item of this type; `None` if there is no such type. Fields that all items had are required.
#[must_use]
pub fn json_schema(learned: &LearnedSchema, item_type: &str) -> Option<Value> {
    let (table, of_type) = learned.find(item_type)?;
    let mut properties: Map<String, Value> = COMMON.into_iter().map(|name| (name.to_owned(), common(name))).collect();
    properties.extend(of_type.fields.iter().map(|(name, field)| (name.clone(), property(field))));
    let always = ["crawl", "iteration", "url", "n", "types"].into_iter().map(str::to_owned);
    let all_have =
        of_type.fields.iter().filter(|(_, field)| field.items == of_type.items).map(|(name, _)| name.clone());
    Some(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": of_type.name.as_deref().unwrap_or(table),
        "type": "object",
        "properties": properties,
        "required": always.chain(all_have).collect::<Vec<_>>(),
    }))
}

fn common(name: &str) -> Value {
    match name {
        "iteration" => json!({ "type": "integer", "minimum": 1 }),
        "n" => json!({ "type": "integer", "minimum": 0 }),
        "url" => json!({ "type": "string", "format": "uri" }),
        "at" => json!({ "type": "string", "format": "date-time" }),
        _ => json!({ "type": "string" }),
    }
}

fn property(field: &LearnedField) -> Value {
    let mut types: Vec<&str> = field.kinds.keys().map(|kind| json_type(*kind)).collect();
    types.sort_unstable();
    types.dedup();
    let mut property = match types[..] {
        [only] => json!({ "type": only }),
        _ => json!({ "type": types }),
    };
    if field.only_kind() == Some(Kind::Url) {
        property["format"] = json!("uri");
    }
    property["examples"] = field.examples.iter().map(|example| json_example(field, example)).collect();
    property
}

const fn json_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "boolean",
        Kind::Number | Kind::Money => "number",
        Kind::Date | Kind::Url | Kind::List | Kind::Text => "string",
    }
}

/// Returns an example in the form it has in the row; as text if its kind is uncertain.
fn json_example(field: &LearnedField, example: &str) -> Value {
    match field.only_kind().map(json_type) {
        Some("boolean" | "number") => serde_json::from_str(example).unwrap_or_else(|_| json!(example)),
        _ => json!(example),
    }
}
