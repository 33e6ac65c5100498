//! Refused types of items, with the reasons, and their stored form.

use super::*;
use crate::url::{CrawlUrl, UrlRules};

fn draft() -> Draft {
    Draft::for_seeds(vec![CrawlUrl::parse("https://example.org/", &UrlRules::default()).unwrap()])
}

pub(super) fn css(selector: &str) -> Selector {
    Selector { at: SelectorPlace::Css { selector: selector.to_owned(), attribute: None }, regex: None }
}

pub(super) fn field(name: &str, selector: Selector) -> FieldRule {
    let (kind, presence) = (FieldKind::One(ScalarKind::Text), Presence::Optional);
    FieldRule { name: name.to_owned(), any: vec![selector], kind, presence, min: None, max: None, pattern: None }
}

fn game(fields: Vec<FieldRule>) -> ItemType {
    ItemType { name: "Game".to_owned(), when: None, each: None, fields }
}

#[test]
fn senseless_types_of_items_are_refused() {
    let number = |min, max| {
        let kind = FieldKind::One(ScalarKind::Number);
        FieldRule { kind, min, max, ..field("score", css("b")) }
    };
    let record = |fields| FieldRule { kind: FieldKind::Record(fields), ..field("row", css("tr")) };
    let json = || Selector { at: SelectorPlace::Json("$.a".to_owned()), regex: None };
    let mut deep = field("a", css("b"));
    for _ in 0..4 {
        deep = record(vec![deep]);
    }
    let many: Vec<FieldRule> = (0..201).map(|n| field(&format!("f{n}"), css("b"))).collect();
    let h1 = || field("hero", css("h1"));
    for (types, expected, why) in [
        (vec![game(vec![h1()])], "", "a type of one field"),
        (vec![game(vec![number(Some(0.0), Some(9.5))])], "", "bounds of a number"),
        (vec![game(vec![record(vec![h1()])])], "", "a record"),
        (vec![ItemType { each: Some(json()), ..game(vec![field("a", json())]) }], "", "JSON in JSON"),
        (
            vec![ItemType { name: "my game".into(), ..game(vec![h1()]) }],
            "`my game` is not a valid name of a type",
            "a space",
        ),
        (vec![ItemType { name: "x".repeat(65), ..game(vec![h1()]) }], "is not a valid name of a type", "too long"),
        (vec![game(vec![field("a-b", css("h1"))])], "Game.a-b: `a-b` is not a valid name of a field", "a hyphen"),
        (vec![game(vec![])], "Game: there are no fields", "nothing is wanted"),
        (vec![game(vec![record(vec![])])], "Game.row: there are no fields", "a record of nothing"),
        (vec![game(vec![h1(), h1()])], "Game.hero: the name `hero` appears twice", "which one counts?"),
        (vec![game(vec![h1()]), game(vec![h1()])], "Game: the name `Game` appears twice", "which one counts?"),
        (
            vec![game(vec![number(Some(2.0), Some(1.0))])],
            "nothing fits: `min` is `2`, and `max` is `1`",
            "the wrong way round",
        ),
        (vec![game(vec![number(Some(f64::NAN), None)])], "a bound must be a number", "not a number"),
        (
            vec![game(vec![FieldRule { min: Some(1.0), ..h1() }])],
            "`min` and `max` are for numbers and money, not for the kind `text`",
            "a text has no size",
        ),
        (
            vec![game(vec![FieldRule { pattern: Some("a".parse().unwrap()), ..number(None, None) }])],
            "`pattern` is for texts, URLs and dates",
            "a number has no letters",
        ),
        (vec![game(vec![FieldRule { any: vec![], ..h1() }])], "the field has no place", "where is it?"),
        (vec![game(vec![field("a", css(" "))])], "the selector is empty", "it selects nothing"),
        (vec![game(vec![field("a", css(&"a".repeat(1_001)))])], "a selector of 1001 bytes", "nobody writes it"),
        (
            vec![game(vec![field("a", json())])],
            "there is no JSON here that `json` could look into",
            "a page is not JSON",
        ),
        (vec![game(vec![deep])], "fields are nested more than 4 deep", "nobody reads it"),
        (vec![game(many)], "201 fields, but at most 200 are allowed", "it takes time by them"),
    ] {
        let problems = Definition::new(Draft { items: types, ..draft() }).err().map(|problems| problems.to_string());
        let told = problems.unwrap_or_default();
        assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{why}: {told}");
    }
}

#[test]
fn types_of_items_are_stored_and_read() {
    let types = vec![ItemType { each: Some(css("li")), ..game(vec![field("hero", css("h1"))]) }];
    let definition = Definition::new(Draft { items: types, ..draft() }).unwrap();
    let json = serde_json::to_string(&definition).unwrap();
    assert!(
        json.contains(r#""items":[{"type":"Game","each":{"at":{"css":{"selector":"li"}}},"fields":[{"name":"hero""#),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<Definition>(&json).unwrap(), definition);
    let later = json.replace(r#""type":"Game""#, r#""type":"Game","colour":"red""#);
    assert_eq!(
        serde_json::from_str::<Definition>(&later).unwrap(),
        definition,
        "what a later version adds is not minded"
    );
}
