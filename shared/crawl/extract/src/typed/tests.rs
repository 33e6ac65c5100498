//! Applying types to pages.

use dragline_domain::definition::{
    Condition, FieldKind, FieldRule, ItemType, Presence, ScalarKind, Selector, SelectorPlace, TextTest,
};
use dragline_domain::item::{Field, Item, Notation, Record, Value as ItemValue};
use dragline_domain::url::{CrawlUrl, UrlRules};
use serde_json::json;
use url::Url;

use super::*;
use crate::tree;

const PAGE: &str = r##"<!DOCTYPE html><title>T</title>
<h1 class=hero>  Ana
  <b>Amari</b><script>no()</script></h1>
<p class=price>1.234,50 €</p><p>SKU: <i>A</i>1, SKU: B2</p>
<time datetime=2024-05-01>May</time>
<a class=more href=../d>more</a><a class=more href="javascript:x()">x</a>
<ul class=tags><li>red<li>blue<li> <li>red</ul>
<div class=by>by <a href=/who>Bo</a> and <a>Cy</a></div>
<table class=scores><tr><th>player<th>score<tr><td>a<td>1<tr><td>b<td>many<tr><td>a<td>1</table>
<dl><dt>Weight<dd>2 kg<dt>Size<dd>3</dl>
<li class=card id=c1><h2>One</h2><li class=card id=c2><h2>Two</h2><li class=card>
<script id=__NEXT_DATA__ type=application/json>{"props":{"id":7,"list":[{"n":"x"},{"n":"y"}],"none":null}}</script>
<script id=state>window.state = {"a": "b"}; more();</script>"##;

fn at(at: SelectorPlace) -> Selector {
    Selector { at, regex: None }
}

fn css(selector: &str) -> Selector {
    at(SelectorPlace::Css { selector: selector.to_owned(), attribute: None })
}

fn attribute(selector: &str, name: &str) -> Selector {
    at(SelectorPlace::Css { selector: selector.to_owned(), attribute: Some(name.to_owned()) })
}

fn path(path: &str) -> Selector {
    at(SelectorPlace::Path(path.to_owned()))
}

fn script(selector: &str, json: &str) -> Selector {
    at(SelectorPlace::Script { selector: selector.to_owned(), json: json.to_owned() })
}

fn item(property: &str, item_type: Option<&str>) -> Selector {
    at(SelectorPlace::Item { property: property.to_owned(), item_type: item_type.map(str::to_owned) })
}

fn regex(place: SelectorPlace, pattern: &str) -> Selector {
    Selector { at: place, regex: Some(pattern.parse().unwrap()) }
}

fn field(name: &str, kind: FieldKind, selector: Selector) -> FieldRule {
    let (any, presence) = (vec![selector], Presence::Optional);
    FieldRule { name: name.to_owned(), any, kind, presence, min: None, max: None, pattern: None }
}

fn text(selector: Selector) -> FieldRule {
    field("f", FieldKind::One(ScalarKind::Text), selector)
}

fn one(kind: ScalarKind, selector: Selector) -> FieldRule {
    field("f", FieldKind::One(kind), selector)
}

fn game(fields: Vec<FieldRule>) -> ItemType {
    ItemType { name: "Game".to_owned(), when: None, each: None, fields }
}

fn outcome(types: &[ItemType], html: &str) -> Outcome {
    let document = tree::parse(html).unwrap();
    let url = CrawlUrl::parse("https://a.example/b/c", &UrlRules::default()).unwrap();
    let base = Url::parse(url.as_str()).unwrap();
    let json_ld = [
        json!({"@graph": [{"@type": "Person", "name": "Ana"}, {"@type": "Product", "offers": {"price": 19.5}}]}),
        json!([{"tags": ["p", "q"]}]),
    ];
    let offer =
        Record { fields: [("price".to_owned(), vec![ItemValue::Text("12".to_owned())])].into(), ..Record::default() };
    let offers = Field { values: vec![ItemValue::Record(offer)], from: vec![Notation::Microdata] };
    let product =
        Item { types: vec!["Product".to_owned()], fields: [("offers".to_owned(), offers)].into(), ..Item::default() };
    let page = PageParts { document: &document, url: &url, base: &base, json_ld: &json_ld, items: &[product] };
    Types::new(types).unwrap().apply(&page, Tracing::On)
}

/// Returns the values of the field `f`, and the misfits, as text.
fn evaluate_rule(rule: FieldRule) -> String {
    let outcome = outcome(&[game(vec![rule])], PAGE);
    assert!(!outcome.was_cut);
    let values = outcome.items.iter().flat_map(|item| &item.fields["f"].values);
    let values = values.map(|value| serde_json::to_string(value).unwrap());
    let misfits =
        outcome.misfits.iter().map(|misfit| format!("!{}={:?}", misfit.rule, misfit.value.as_deref().unwrap_or("")));
    values.chain(misfits).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_kind_of_place_is_examined() {
    let list = |selector| field("f", FieldKind::List(ScalarKind::Text), selector);
    let ld = |path: &str| at(SelectorPlace::JsonLd(path.to_owned()));
    let class = |selector: &str| SelectorPlace::Css { selector: selector.to_owned(), attribute: None };
    for (rule, expected, why) in [
        (text(css("h1.hero")), r#""Ana Amari""#, "the text of an element without scripts"),
        (text(css("h3")), "", "there is none"),
        (text(attribute("time", "datetime")), r#""2024-05-01""#, "an attribute"),
        (text(attribute("time", "title")), "", "an attribute that is not there"),
        (list(css("ul.tags li")), r#""red" "blue""#, "each that is not empty, once"),
        (text(css(".tags:has(li) > li:nth-child(2)")), r#""blue""#, "a selector of several parts"),
        (text(css("title ~ p, p.price ~ p")), r#""SKU: A1, SKU: B2""#, "siblings"),
        (text(path("//div[@class='by']/a")), r#""Bo""#, "a path"),
        (list(path("//div[@class='by']/a[last()]/text()")), r#""Cy""#, "the last one, its own text"),
        (text(path("//div/a/@href")), r#""/who""#, "an attribute by a path"),
        (text(path("/html/body/h1")), r#""Ana Amari""#, "from the root"),
        (text(path("//dt[.='Size']/following-sibling::dd[1]")), r#""3""#, "a sibling"),
        (text(path("//dd[starts-with(., '2')]/preceding-sibling::dt[1]")), r#""Weight""#, "one before it"),
        (text(path("//li[contains(@class,'card') and h2='Two']/@id")), r#""c2""#, "by a child"),
        (list(path("//tr[td]/td[1]")), r#""a" "b""#, "the first one of each row"),
        (list(path("//h2/..")), r#""One" "Two""#, "parents"),
        (text(path("//h2[not(.='One')]")), r#""Two""#, "what is not"),
        (text(ld("$.name")), r#""Ana""#, "JSON-LD, in its graph"),
        (list(ld("$.tags")), r#""p" "q""#, "a list in JSON is several values"),
        (text(ld("$..price")), r#""19.5""#, "anywhere below"),
        (text(ld("$.missing")), "", "not there"),
        (text(script("#__NEXT_DATA__", "$.props.id")), r#""7""#, "JSON in a script"),
        (text(script("#__NEXT_DATA__", "$.props.none")), "", "null is nothing"),
        (text(script("#state", "$.a")), r#""b""#, "JSON that is assigned"),
        (text(script("h1", "$.a")), "", "not JSON"),
        (text(item("offers.price", None)), r#""12""#, "an item's property"),
        (text(item("offers.price", Some("Product"))), r#""12""#, "of an item of this type"),
        (text(item("offers.price", Some("Person"))), "", "there is no such item"),
        (list(regex(SelectorPlace::Text, r"SKU: (\w+)")), r#""A1" "B2""#, "the page's text"),
        (text(regex(class("dd"), r"\d+")), r#""2""#, "an element's text"),
    ] {
        let place = rule.any[0].to_string();
        assert_eq!(evaluate_rule(rule), expected, "{place}: {why}");
    }
}

#[test]
fn misfits_are_kept_with_their_rule() {
    let price = || one(ScalarKind::Number, path("//tr[3]/td[2]"));
    let two = || one(ScalarKind::Number, path("//tr[2]/td[2]"));
    let pattern = |pattern: &str, rule| FieldRule { pattern: Some(pattern.parse().unwrap()), ..rule };
    for (rule, expected, why) in [
        (price(), r#"!kind: number="many""#, "a word for a number"),
        (two(), "1", "a number"),
        (FieldRule { min: Some(2.0), ..two() }, r#"!min: 2="1""#, "too little"),
        (FieldRule { max: Some(0.5), ..two() }, r#"!max: 0.5="1""#, "too much"),
        (FieldRule { min: Some(1.0), max: Some(1.0), ..two() }, "1", "bounds belong to what is allowed"),
        (pattern("^B", text(css("h1"))), r#"!pattern: ^B="Ana Amari""#, "another beginning"),
        (pattern("^A", text(css("h1"))), r#""Ana Amari""#, "as it should begin"),
        (FieldRule { presence: Presence::Required, ..text(css("h3")) }, r#"!required="""#, "nothing is there"),
        (one(ScalarKind::Money, css(".price")), r#"{"amount":1234.5,"currency":"EUR"}"#, "money"),
        (one(ScalarKind::Date, attribute("time", "datetime")), r#""2024-05-01""#, "a date"),
        (one(ScalarKind::Date, css("time")), r#"!kind: date="May""#, "a month alone"),
        (one(ScalarKind::Url, attribute("a.more", "href")), r#""https://a.example/d""#, "an absolute URL"),
        (
            field("f", FieldKind::List(ScalarKind::Url), attribute("a.more", "href")),
            r#""https://a.example/d" !kind: url="javascript:x()""#,
            "what fits is kept",
        ),
        (
            FieldRule { any: vec![css("h3"), css("h2")], ..text(css("x")) },
            r#""One""#,
            "the first place that has anything",
        ),
    ] {
        assert_eq!(evaluate_rule(rule), expected, "{why}");
    }
}

#[test]
fn records_and_cards_are_examined() {
    let player = field("player", FieldKind::One(ScalarKind::Text), css("td:nth-child(1)"));
    let score = field("score", FieldKind::One(ScalarKind::Number), css("td:nth-child(2)"));
    let player = FieldRule { presence: Presence::Required, ..player };
    let rows = field("f", FieldKind::Record(vec![player, score]), css("table.scores tr"));
    let expected = r#"{"fields":{"player":["a"],"score":[1]}} {"fields":{"player":["b"]}} {"fields":{"player":["a"],"score":[1]}} !kind: number="many""#;
    assert_eq!(evaluate_rule(rows), expected, "the headings are not a row");
    let json = field("n", FieldKind::One(ScalarKind::Text), at(SelectorPlace::Json("$.n".to_owned())));
    let list = field("f", FieldKind::Record(vec![json]), script("#__NEXT_DATA__", "$.props.list"));
    assert_eq!(evaluate_rule(list), r#"{"fields":{"n":["x"]}} {"fields":{"n":["y"]}}"#, "JSON in JSON");
    let (name, id) = (text(css("h2")), field("id", FieldKind::One(ScalarKind::Text), path("@id")));
    let name = FieldRule { presence: Presence::Required, ..name };
    let cards = ItemType { each: Some(css("li.card")), ..game(vec![name, id]) };
    let outcome = outcome(&[cards], PAGE);
    assert_eq!(outcome.misfits, [], "the card that is empty is not one");
    let ids: Vec<String> = outcome.items.iter().map(|item| serde_json::to_string(&item.fields).unwrap()).collect();
    assert_eq!(
        ids,
        [
            r#"{"f":{"values":["One"],"from":["definition"]},"id":{"values":["c1"],"from":["definition"]}}"#,
            r#"{"f":{"values":["Two"],"from":["definition"]},"id":{"values":["c2"],"from":["definition"]}}"#,
        ]
    );
}

#[test]
fn a_trace_says_where_a_field_came_from() {
    let hero = FieldRule { any: vec![css("h3"), css("h2")], min: Some(0.0), ..one(ScalarKind::Number, css("x")) };
    let outcome = outcome(&[game(vec![hero])], PAGE);
    assert_eq!(
        serde_json::to_string(&outcome.traces).unwrap(),
        r#"[{"item_type":"Game","item":1,"field":"f","tried":[{"place":"css: h3","matches":0},{"place":"css: h2","matches":2}],"raw":"One","found":{"misfit":"kind: number"}}]"#
    );
}

#[test]
fn types_apply_by_the_url() {
    let when = |prefix: &str| Some(Condition::Path(TextTest::Prefix(prefix.to_owned())));
    let url = CrawlUrl::parse("https://a.example/b/c", &UrlRules::default()).unwrap();
    for (when, expected, why) in [(None, true, "all pages"), (when("/b/"), true, "below"), (when("/x/"), false, "not")]
    {
        let types = [ItemType { when, ..game(vec![text(css("h1"))]) }];
        assert_eq!(Types::new(&types).unwrap().matching(&url), expected, "{why}");
        assert_eq!(outcome(&types, PAGE).items.len(), usize::from(expected), "{why}");
    }
}

#[test]
fn pages_that_would_take_forever_are_cut() {
    let list = |selector| field("f", FieldKind::List(ScalarKind::Text), selector);
    let rows = |fields| field("f", FieldKind::Record(fields), css("p"));
    let flat = "<p>x".repeat(30_000);
    let deep = format!("{}x", "<div>".repeat(200)).repeat(1);
    for (html, rule, is_cut, why) in [
        (&flat, list(css("p")), true, "more than 10,000 matches"),
        (&flat, list(css("b ~ p")), true, "by the square of the siblings"),
        (&flat, list(path("//p/following-sibling::p")), true, "by the square, too"),
        (&flat, rows(vec![text(path("."))]), true, "more than 1,000 rows"),
        (&flat, text(css("b")), false, "a selector that looks at each once"),
        (&deep, list(css("div div div div:has(b) div div b")), false, "deep, but small"),
    ] {
        assert_eq!(outcome(&[game(vec![rule])], html).was_cut, is_cut, "{why}");
    }
}

#[test]
fn no_page_makes_it_panic() {
    let place =
        |n: usize| [css("li, p > *"), path("//td/.."), script("script", "$..*"), item("offers", None)][n % 4].clone();
    let scalars = [ScalarKind::Number, ScalarKind::Money, ScalarKind::Date, ScalarKind::Url, ScalarKind::Boolean];
    let fields = (0..20).map(|n| field(&format!("f{n}"), FieldKind::List(scalars[n % 5]), place(n / 5))).collect();
    let types = [game(fields), ItemType { each: Some(css("*")), ..game(vec![text(path("*/text()"))]) }];
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for _ in 0..150 {
        let mut letters: Vec<char> = PAGE.chars().collect();
        for _ in 0..20 {
            let (from, to) = (random(letters.len()), random(letters.len()));
            match random(4) {
                0 => letters[from] = ['<', '>', '"', '\u{a0}', '日', '9', ',', '{'][random(8)],
                1 => letters.swap(from, to),
                2 => drop(letters.drain(from..(from + 9).min(letters.len()))),
                _ => letters.truncate((PAGE.len() / 2).max(to)),
            }
        }
        let outcome = outcome(&types, &letters.into_iter().collect::<String>());
        assert!(
            outcome.misfits.iter().all(|misfit| misfit.value.as_ref().is_none_or(|raw| raw.chars().count() <= 200))
        );
    }
}
