//! The description of the API (`OpenAPI` 3.1): what its handlers say of themselves, and what holds
//! for all of them.

use axum::http::StatusCode;
use dragline_ports::reader::{CandidateRow, LinkRow, LogRow, PageRow, SeenPageRow};
use dragline_ports::row::{Column, ColumnKind, Row};
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::backend::RowKind;

/// The media type of problems.
const PROBLEM: &str = "application/problem+json";

/// The problems that any call may be answered with, besides its own.
const PROBLEMS: [(u16, &str); 5] = [
    (400, "The request is not valid"),
    (401, "The server has tokens, and the request has none of them"),
    (403, "The role of the token does not allow it, or a page of another site sent it"),
    (429, "The address has sent too many requests; `Retry-After` says when to try again"),
    (503, "Too much else is under way, or the store cannot be reached"),
];

/// Returns the description of these calls.
pub(crate) fn describe(openapi: &OpenApi) -> Value {
    let mut description = serde_json::to_value(openapi).unwrap_or_default();
    description["info"] = json!({
        "title": "Dragline",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "What crawls stored, and the commands to them. Errors are problem details (RFC 9457).",
        "license": {"name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE")},
    });
    description["servers"] = json!([{"url": "/", "description": "The server that this description comes from"}]);
    // On the machine itself, no token is needed.
    description["security"] = json!([{}, {"token": []}, {"password": []}]);
    description["components"]["securitySchemes"] = json!({
        "token": {"type": "http", "scheme": "bearer", "description": "A token of `dragline token add`"},
        "password": {"type": "http", "scheme": "basic", "description": "Any name, and a token as the password"},
    });
    let schemas = &mut description["components"]["schemas"];
    for (name, schema) in row_schemas() {
        schemas[name] = schema;
    }
    for (path, calls) in description["paths"].as_object_mut().into_iter().flatten() {
        for (method, call) in calls.as_object_mut().into_iter().flatten() {
            complete(path, method, call);
        }
    }
    description
}

/// Adds to a call what is the same for all of its kind.
fn complete(path: &str, method: &str, call: &mut Value) {
    let responses = &mut call["responses"];
    for (status, description) in PROBLEMS {
        let key = status.to_string();
        if responses.get(&key).is_none() {
            let schema = json!({"$ref": "#/components/schemas/Problem"});
            responses[key] = json!({"description": description, "content": {PROBLEM: {"schema": schema}}});
        }
    }
    responses["429"]["headers"]["Retry-After"] = json!({"schema": {"type": "integer"}, "description": "Seconds"});
    for (status, response) in responses.as_object_mut().into_iter().flatten() {
        complete_response(status, response);
    }
    if method != "get" {
        let parameters = &mut call["parameters"];
        if parameters.is_null() {
            *parameters = json!([]);
        }
        let key = json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            "description": "The same request with the same key is handled once",
        });
        parameters.as_array_mut().into_iter().for_each(|parameters| parameters.push(key.clone()));
    }
    let kind = path.rsplit('/').next().and_then(|last| RowKind::ALL.into_iter().find(|kind| kind.name() == last));
    if let Some(kind) = kind {
        let rows = row_names(kind).iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")}));
        let mut rows: Vec<Value> = rows.collect();
        let row = if rows.len() == 1 { rows.remove(0) } else { json!({"anyOf": rows}) };
        let list = json!({
            "type": "object", "required": ["rows", "next"],
            "properties": {
                "rows": {"type": "array", "items": row},
                "next": {"type": ["string", "null"], "description": "The `cursor` of what follows; null at the end"},
            },
        });
        // As a media type of its own, it would make each answer of a client one or the other.
        call["responses"]["200"]["content"] = json!({"application/json": {"schema": list}});
    }
}

fn complete_response(status: &str, response: &mut Value) {
    let code = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
    let reason = code.and_then(|status| status.canonical_reason()).unwrap_or_default();
    if response["description"].as_str().is_none_or(str::is_empty) {
        response["description"] = reason.into();
    }
    let is_problem = code.is_some_and(|status| status.is_client_error() || status.is_server_error());
    if let (true, Some(content)) = (is_problem, response["content"].as_object_mut())
        && let Some(schema) = content.remove("application/json")
    {
        content.insert(PROBLEM.to_owned(), schema);
    }
    if ["201", "202"].contains(&status) {
        response["headers"]["Location"] =
            json!({"schema": {"type": "string"}, "description": "The path of what was added or begun"});
    }
}

/// Returns the names of the schemas of a kind of rows.
const fn row_names(kind: RowKind) -> &'static [&'static str] {
    match kind {
        RowKind::Pages => &["PageRow", "SeenPageRow"],
        RowKind::Links => &["LinkRow"],
        RowKind::Items => &["ItemRow"],
        RowKind::Log => &["LogRow"],
        RowKind::Candidates => &["CandidateRow"],
    }
}

fn row_schemas() -> [(&'static str, Value); 6] {
    let crawl: &[Column<'_>] = &[
        ("crawl", ColumnKind::Text),
        ("iteration", ColumnKind::Integer),
        ("url", ColumnKind::Text),
        ("at", ColumnKind::Instant),
        ("n", ColumnKind::Integer),
        ("types", ColumnKind::Text),
        ("item_id", ColumnKind::Text),
    ];
    [
        ("PageRow", schema(&PageRow::columns(), "A page as it is now.")),
        ("SeenPageRow", schema(&SeenPageRow::columns(), "A page as an iteration saw it.")),
        ("LinkRow", schema(&LinkRow::columns(), "A link of a page.")),
        ("LogRow", schema(&LogRow::columns(), "A visit.")),
        ("CandidateRow", schema(&CandidateRow::columns(), "A known URL.")),
        ("ItemRow", schema(crawl, "An item, with a column for each of its fields.")),
    ]
}

/// Returns the schema of rows with these columns. What is missing is null.
fn schema(columns: &[Column<'_>], description: &str) -> Value {
    let property = |(name, kind): &Column<'_>| {
        let (name_of_type, format) = match kind {
            ColumnKind::Bool => ("boolean", None),
            ColumnKind::Integer => ("integer", Some("int64")),
            ColumnKind::Number => ("number", Some("double")),
            ColumnKind::Day => ("string", Some("date")),
            ColumnKind::Instant => ("string", Some("date-time")),
            ColumnKind::Text => ("string", None),
        };
        let mut schema = json!({"type": [name_of_type, "null"]});
        if let Some(format) = format {
            schema["format"] = format.into();
        }
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = columns.iter().map(property).collect();
    json!({"type": "object", "description": description, "properties": properties, "additionalProperties": true})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_call_is_described() {
        let description = describe(&crate::router::description());
        let mut names = BTreeSet::new();
        for (path, calls) in description["paths"].as_object().unwrap() {
            for (method, call) in calls.as_object().unwrap() {
                let name = call["operationId"].as_str().unwrap();
                assert!(names.insert(name) && !name.contains('_'), "{method} {path}: {name}");
                assert!(call["summary"].is_string(), "{name}");
                for (status, response) in call["responses"].as_object().unwrap() {
                    assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {status}");
                    let is_problem = status.starts_with(['4', '5']);
                    let types: Vec<&String> =
                        response["content"].as_object().into_iter().flatten().map(|(t, _)| t).collect();
                    assert!(!is_problem || types == [PROBLEM], "{name}: {status} {types:?}");
                }
            }
        }
        let page = &description["components"]["schemas"]["PageRow"]["properties"];
        assert_eq!(page["url"], json!({"type": ["string", "null"]}), "{page}");
    }
}
