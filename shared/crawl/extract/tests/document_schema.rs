//! Checks `docs/reference/document.schema.json` against stored documents: it accepts all of them,
//! and has no key that none of them uses.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod samples;

use std::collections::BTreeSet;

use dragline_domain::change::Part;
use dragline_domain::content::{ContentLevel, Gap, MainPartSource, RepeatedForm};
use dragline_domain::definition::ScalarKind;
use dragline_domain::document::{Disposition, Document, DocumentState, LinkKind, PageCut, Rel};
use dragline_domain::feed::FeedFormat;
use dragline_domain::item::Notation;
use dragline_domain::markup::{MalformedReason, PagePart};
use dragline_domain::outcome::Outcome;
use dragline_domain::rendering::RenderEnd;
use dragline_domain::url::Spelling;
use dragline_domain::use_preferences::{Purpose, UseSource, UseStand};
use dragline_domain::validity::ValidationType;
use jsonschema::Validator;
use serde::Serialize;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../docs/reference/document.schema.json");

/// A line from a program before links had `disposition`, and documents `content`, `made_by`, `body`
/// and `difference`.
const OLD: &str = r#"{"n":3,"url":"https://a.example/","outcome":20,"detail":null,"state":"processed","page":null,"links":[{"kind":"a","target":"https://a.example/b","fate":"follow"}]}"#;

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap()
}

fn flaws(validator: &Validator, line: &Value) -> Vec<String> {
    validator.iter_errors(line).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Documents of every shape, with descriptions.
fn valid() -> Vec<(&'static str, Value)> {
    let mut valid: Vec<_> = samples::all().into_iter().map(|(what, document)| (what, json(document))).collect();
    valid.push(("an old one", serde_json::from_str(OLD).unwrap()));
    valid
}

#[test]
fn stored_documents_are_valid() {
    let validator = validator(&schema());
    for (what, line) in valid() {
        assert_eq!(flaws(&validator, &line), [""; 0], "{what}");
        let read: Document = serde_json::from_value(line.clone()).unwrap();
        assert_eq!(flaws(&validator, &json(read)), [""; 0], "{what}, stored again");
    }
}

#[test]
fn each_level_says_what_it_is_for() {
    for (level, expected) in [
        (ContentLevel::Text, &["items", "markup", "misfits"][..]),
        (ContentLevel::Items, &["items", "markup", "misfits"]),
        (ContentLevel::Full, &["about", "items", "main", "markup", "misfits", "validity"]),
    ] {
        let content = json(samples::extracted(level).content);
        assert_eq!(content.as_object().unwrap().keys().collect::<Vec<_>>(), expected, "{level}");
    }
}

#[test]
fn wrong_documents_are_refused() {
    let validator = validator(&schema());
    let right = json(samples::everything());
    for (at, key, value, why) in [
        ("", "more", Some(json!(1)), "an unknown key"),
        ("", "n", None, "a missing key"),
        ("", "page", None, "it is null where there is no page"),
        ("", "n", Some(json!(-1)), "below the least number"),
        ("", "n", Some(json!("1")), "a text for a number"),
        ("", "outcome", Some(json!(21)), "no such outcome"),
        ("", "outcome", Some(json!("file_ingested")), "an outcome's name"),
        ("", "state", Some(json!("new")), "no such state"),
        ("", "url", Some(json!("/relative")), "a URL that is not absolute"),
        ("", "made_by", Some(json!("HTML 1")), "an extractor in capitals"),
        ("", "content", Some(json!(null)), "null for an absent part"),
        ("/page", "text", None, "a page without text"),
        ("/page", "cut", Some(json!(true)), "a truth for a word"),
        ("/page", "more", Some(json!(1)), "an unknown key of a page"),
        ("/page/directives", "nofollow", None, "half of the directives"),
        ("/links/0", "disposition", None, "nobody says what is done with it"),
        ("/links/0", "fate", Some(json!("follow")), "it is said twice"),
        ("/links/0", "disposition", Some(json!("blocked")), "blocked without its rule"),
        ("/links/0", "kind", Some(json!("A")), "a kind in capitals"),
        ("/content", "more", Some(json!([])), "an unknown key of content"),
        ("/content", "gaps", Some(json!(["tree", "tree"])), "a gap twice"),
        ("/content/items/0", "types", Some(json!([])), "an item of no type"),
        ("/content/items/0", "fields", Some(json!({"name": {"values": [null], "from": []}})), "a value of null"),
        ("/content/items/0", "normal", Some(json!({"m": {"amount": 1, "currency": null, "x": 1}})), "not money"),
        ("/content/misfits/0", "value", None, "it is null where nothing is there"),
        ("/content/about", "words", None, "a page without the number of its words"),
        ("/content/about", "text_sha1", Some(json!("abc")), "a digest that is too short"),
        ("/content/about/headings/0", "level", Some(json!(7)), "there is no h7"),
        ("/content/main", "markdown", None, "a main part without Markdown"),
        ("/content/markup", "anchors", Some(json!("0000000")), "half a place"),
        ("/content/markup", "is_cut", Some(json!(false)), "it is absent where nothing is missing"),
        ("/content/markup/malformed/0", "why", Some(json!("wrong")), "no such reason"),
        ("/content/markup/uses/0", "part", Some(json!("section")), "no such part"),
        ("/content/use/0", "ai-train", Some(json!(true)), "a truth for a word"),
        ("/content", "reserved_for", Some(json!("training")), "no such purpose"),
        ("/content/validity", "kind", Some(json!("html")), "its name is `type`"),
        ("/content/validity/flaws/0", "line", Some(json!(0)), "lines are counted from 1"),
        ("/body", "at", Some(json!("yesterday")), "not a time"),
        ("/body", "visit", Some(json!([1, 2, 3])), "a place of three numbers"),
        ("/body", "object", Some(json!("/raw")), "a key that is a path from the root"),
        ("/difference", "parts", Some(json!(["nothing"])), "no such part"),
        ("/difference/links_added/0", "disposition", Some(json!("follow")), "nothing is done with it"),
    ] {
        let mut wrong = right.clone();
        let object = wrong.pointer_mut(at).and_then(Value::as_object_mut).unwrap_or_else(|| panic!("{at}: {why}"));
        match value {
            Some(value) => _ = object.insert(key.to_owned(), value),
            None => assert!(object.remove(key).is_some(), "{at}/{key}: {why}"),
        }
        assert!(!validator.is_valid(&wrong), "{at}/{key}: {why}");
    }
}

/// Resolves a reference in the schema, with its name; other nodes are returned unchanged.
fn resolved<'s>(schema: &'s Value, name: &'s str, node: &'s Value) -> (&'s str, &'s Value) {
    match node["$ref"].as_str().and_then(|to| to.strip_prefix("#/$defs/")) {
        Some(name) => (name, &schema["$defs"][name]),
        None => (name, node),
    }
}

/// Adds the keys of an object in the schema that this value uses, as `definition.key`.
fn keys_used(schema: &Value, (name, node): (&str, &Value), value: &Value, used: &mut BTreeSet<String>) {
    let (name, node) = resolved(schema, name, node);
    let branches = ["oneOf", "anyOf"].iter().filter_map(|of| node[of].as_array()).flatten();
    for branch in branches {
        let properties = &resolved(schema, name, branch).1["properties"];
        let is_of_branch = value.as_object().is_none_or(|object| object.keys().all(|key| !properties[key].is_null()));
        if is_of_branch {
            keys_used(schema, (name, branch), value, used);
        }
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let property = &node["properties"][key];
        if !property.is_null() {
            used.insert(format!("{name}.{key}"));
            keys_used(schema, (name, property), value, used);
        } else if node["additionalProperties"].is_object() {
            keys_used(schema, (name, &node["additionalProperties"]), value, used);
        }
    }
    for value in value.as_array().into_iter().flatten() {
        keys_used(schema, (name, &node["items"]), value, used);
    }
}

/// Adds all keys of the objects in the schema, and checks that each has a description.
fn keys_known(name: &str, node: &Value, known: &mut BTreeSet<String>) {
    for (key, property) in node["properties"].as_object().into_iter().flatten() {
        assert!(property["description"].is_string(), "{name}.{key} has no description");
        known.insert(format!("{name}.{key}"));
    }
    for branch in node["oneOf"].as_array().into_iter().flatten() {
        keys_known(name, branch, known);
    }
}

#[test]
fn the_schema_has_no_key_that_no_document_has() {
    let schema = schema();
    let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
    keys_known("document", &schema, &mut known);
    for (name, node) in schema["$defs"].as_object().unwrap() {
        assert!(node["description"].is_string(), "{name} has no description");
        keys_known(name, node, &mut known);
    }
    for (_, line) in valid() {
        keys_used(&schema, ("document", &schema), &line, &mut used);
    }
    assert_eq!(known.difference(&used).collect::<Vec<_>>(), [""; 0]);
}

/// All variants of an enum: omitting one here does not compile.
macro_rules! every {
    ($enum:ident: $($variant:ident $(($value:expr))?),+) => {{
        let _ = |value: &$enum| match value { $($enum::$variant { .. } => (),)+ };
        [$(json($enum::$variant $(($value))?)),+].to_vec()
    }};
}

#[test]
fn the_schema_lists_the_variants_of_each_enum() {
    let schema = schema();
    let blocked = json!({"blocked": "a rule"});
    for (name, variants) in [
        ("document_state", every!(DocumentState: Processed, Stuck)),
        ("page_cut", every!(PageCut: Whole, Text, Links, TextAndLinks)),
        ("malformed_reason", MalformedReason::ALL.iter().map(json).collect()),
        ("page_part", every!(PagePart: Header, Nav, Main, Aside, Footer)),
        ("link_kind", LinkKind::ALL.iter().map(json).collect()),
        (
            "disposition",
            every!(Disposition: Follow, NotAPage, NoFollow, OutOfScope, TooDeep, Blocked("a rule".to_owned()), BeyondBudget, Later, Check, Last, Framed, Changed),
        ),
        ("spelling", every!(Spelling: Whole, Stripped)),
        ("rel", every!(Rel: Follow, NoFollow)),
        ("part", Part::ALL.iter().chain([&Part::Rest]).map(json).collect()),
        (
            "gap",
            every!(Gap: Tree, Items, About, Main, File, FileEncrypted, FileDamaged, FilePictures, FileCharacters, Rendering),
        ),
        ("render_end", every!(RenderEnd: Quiet, PageTime, WallTime, Stopped)),
        ("taken", every!(MainPartSource: Found, Share, Structure, Alike, Width, Page, Selected, Whole)),
        ("feed_format", every!(FeedFormat: Rss, Atom, Json)),
        ("repeated_form", every!(RepeatedForm: List, Table, Pairs)),
        ("scalar_kind", every!(ScalarKind: Text, Number, Money, Date, Url, Boolean)),
        ("notation", every!(Notation: JsonLd, Microdata, Rdfa, OpenGraph, Definition)),
        ("validation_type", every!(ValidationType: Html, Xhtml, Xml, Css, Rss, Atom, Json, Sitemap)),
        ("use_source", every!(UseSource: Robots, WellKnown, Rsl, Header, Page)),
        ("use_stand", every!(UseStand: Allowed, Reserved)),
        ("purpose", Purpose::ALL.iter().map(json).collect()),
        ("outcome", Outcome::ALL.iter().map(json).collect()),
    ] {
        let definition = json!({"$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"]});
        let validator = validator(&definition);
        for variant in &variants {
            assert_eq!(flaws(&validator, variant), [""; 0], "{name}");
        }
        let listed = schema["$defs"][name]["oneOf"].as_array().unwrap().iter().map(|one| one.get("const"));
        let listed: Vec<_> = listed.map(|listed| listed.unwrap_or(&blocked)).collect();
        assert_eq!(listed.len(), variants.len(), "{name}");
        for listed in listed {
            assert!(variants.contains(listed), "{name}: there is no {listed}");
        }
    }
    for outcome in Outcome::ALL {
        let listed = schema["$defs"]["outcome"]["oneOf"].as_array().unwrap();
        let listed = listed.iter().find(|one| one["const"] == outcome.code()).unwrap();
        assert_eq!(listed["title"], outcome.name());
        assert_eq!(listed["description"], outcome.meaning(), "{outcome}");
    }
}
