use std::fmt::Write as _;

use dragline_domain::item::{Item, Notation, Value};
use serde_json::json;
use url::Url;

use super::*;

mod things;

fn find_items(html: &str) -> PageItems {
    items(html, &Url::parse("https://a.example/dir/page").unwrap()).unwrap()
}

fn script(json: &str) -> String {
    format!("<script type='application/ld+json'>{json}</script>")
}

/// Types, identifiers and fields, without their sources.
fn fields_of_items(items: &[Item]) -> serde_json::Value {
    let of_item = |item: &Item| {
        let fields: serde_json::Map<String, serde_json::Value> =
            item.fields.iter().map(|(name, field)| (name.clone(), json!(field.values))).collect();
        let mut said = json!({"types": item.types, "fields": fields});
        if let Some(id) = &item.id {
            said["id"] = json!(id);
        }
        said
    };
    items.iter().map(of_item).collect()
}

#[test]
fn signs_of_markup() {
    for (html, expected, why) in [
        ("<p>plain", false, "nothing"),
        ("<div itemscope>", true, "microdata"),
        ("<script type='application/ld+json'>", true, "JSON-LD"),
        ("<p typeof=Person>", true, "RDFa"),
        ("<meta property='og:title'>", true, "Open Graph"),
    ] {
        assert_eq!(has_markup(html), expected, "{html}: {why}");
    }
}

#[test]
fn json_ld_is_read() {
    let thing = |name: &str| json!([{"types": ["Thing"], "fields": {"name": [name]}}]);
    for (json_ld, expected, why) in [
        (r#"{"@type":"Thing","name":"A"}"#, thing("A"), "a thing"),
        (r#"{"@type":"https://schema.org/Thing","http://schema.org/name":"A"}"#, thing("A"), "whole URLs"),
        (r#"{"@type":"schema:Thing","schema:name":"A"}"#, thing("A"), "a prefix that all know"),
        (
            r#"{"@context":{"s":"http://schema.org/"},"@type":"s:Thing","s:name":"A"}"#,
            thing("A"),
            "a prefix of its own",
        ),
        (r#"{"@context":{"@vocab":"http://schema.org"},"@type":"Thing","name":"A"}"#, thing("A"), "a vocabulary"),
        (r#"{"@type":"Thing","name":{"@value":" A ","@language":"de"}}"#, thing("A"), "a value with its language"),
        (r#"{"@type":"Thing","name":{"@list":["A",null,""]}}"#, thing("A"), "a list, and what says nothing"),
        (r#"{"@type":"Thing","name":"A","@reverse":{"x":"B"}}"#, thing("A"), "what others say of it is not read"),
        (
            r#"{"@context":{"@vocab":"http://xmlns.com/foaf/0.1/"},"@type":"Person","name":"A"}"#,
            json!([{"types": ["http://xmlns.com/foaf/0.1/Person"], "fields": {"http://xmlns.com/foaf/0.1/name": ["A"]}}]),
            "another vocabulary is named",
        ),
        (
            r##"{"@graph":[{"@id":"#a","@type":"Article","author":{"@id":"#b"}},{"@id":"#b","@type":"Person","name":"B"}]}"##,
            json!([{"types": ["Article"], "id": "https://a.example/dir/page#a",
                "fields": {"author": [{"types": ["Person"], "id": "https://a.example/dir/page#b", "fields": {"name": ["B"]}}]}}]),
            "what another one refers to is a part of it",
        ),
        (
            r#"{"@graph":[{"@id":"/a","@type":"Article","isPartOf":{"@id":"/w"}},{"@id":"/w","@type":"WebPage","name":"W"}]}"#,
            json!([
                {"types": ["Article"], "id": "https://a.example/a",
                    "fields": {"isPartOf": [{"types": ["WebPage"], "id": "https://a.example/w", "fields": {"name": ["W"]}}]}},
                {"types": ["WebPage"], "id": "https://a.example/w", "fields": {"name": ["W"]}},
            ]),
            "unless it is what that one is a part of",
        ),
        (
            r#"[{"@id":"/a","@type":"A","b":{"@id":"/b"}},{"@id":"/b","@type":"B","a":{"@id":"/a"}}]"#,
            json!([{"types": ["A"], "id": "https://a.example/a",
                "fields": {"b": [{"types": ["B"], "id": "https://a.example/b", "fields": {"a": ["https://a.example/a"]}}]}}]),
            "of a circle, the first one is kept",
        ),
        (
            r#"[{"@id":"/a","@type":"A","x":1},{"@id":"/a","y":true}]"#,
            json!([{"types": ["A"], "id": "https://a.example/a", "fields": {"x": [1], "y": [true]}}]),
            "what is said of one thing in two places is one thing",
        ),
        (r#"[null,1,"x",{},[]]"#, json!([]), "nothing is said"),
    ] {
        assert_eq!(fields_of_items(&find_items(&script(json_ld)).items), expected, "{json_ld}: {why}");
    }
}

#[test]
fn other_notations_are_read() {
    let thing = |name: &str| json!([{"types": ["Thing"], "fields": {"name": [name]}}]);
    let schema = "itemscope itemtype=https://schema.org/Thing";
    for (html, expected, why) in [
        (format!("<p {schema}><b itemprop=name> A </b>"), thing("A"), "text"),
        (format!("<p {schema}><meta itemprop=name content=A>"), thing("A"), "of an attribute"),
        (format!("<p {schema}><b itemprop=name content=A>B</b>"), thing("A"), "of any element's attribute"),
        (format!("<p {schema}>A"), thing("A"), "a thing without properties is called what it says"),
        (
            format!("<base href=/b/><p {schema}><a itemprop='url sameAs' href=c>x</a><time itemprop=at datetime=2021-03-03>x</time>"),
            json!([{"types": ["Thing"], "fields":
                {"url": ["https://a.example/b/c"], "sameAs": ["https://a.example/b/c"], "at": ["2021-03-03"]}}]),
            "URLs are absolute, a value may have two names",
        ),
        (format!("<p {schema} itemref='x x y'></p><i id=x itemprop=name>A</i>"), thing("A"), "what stands elsewhere"),
        (
            "<p vocab=http://schema.org/ typeof=Thing><b property=name>A</b>".to_owned(),
            thing("A"),
            "RDFa with a vocabulary",
        ),
        ("<p typeof=schema:Thing><b property=schema:name>A</b>".to_owned(), thing("A"), "RDFa with a prefix"),
        (
            "<p vocab=https://schema.org/ typeof=Offer resource=#o><i property=seller typeof=Person><b property=name>A</b></i>"
                .to_owned(),
            json!([{"types": ["Offer"], "id": "https://a.example/dir/page#o",
                "fields": {"seller": [{"types": ["Person"], "fields": {"name": ["A"]}}]}}]),
            "RDFa with a thing in a thing",
        ),
        (
            "<meta property=og:type content=video.other><meta property=og:title content=A><meta property=og:image content=1>
             <meta property=og:image:width content=9><meta property=og:image content=2>"
                .to_owned(),
            json!([{"types": ["VideoObject"], "fields": {"name": ["A"],
                "image": [{"types": ["ImageObject"], "fields": {"url": ["1"], "width": ["9"]}}, "2"]}}]),
            "a width belongs to the image before it",
        ),
        (
            "<html prefix='o: https://ogp.me/ns#'><meta property=o:type content=book><meta property=book:isbn content=1>"
                .to_owned(),
            json!([{"types": ["Book"], "fields": {"isbn": ["1"]}}]),
            "a prefix of the page's own",
        ),
        (
            "<meta property=og:type content=website><meta property=og:title content=A>".to_owned(),
            json!([]),
            "a page that is about no one thing",
        ),
    ] {
        assert_eq!(fields_of_items(&find_items(&html).items), expected, "{html}: {why}");
    }
}

#[test]
fn several_notations_of_one_thing_give_one_item() {
    use Notation::{JsonLd, Microdata, OpenGraph};
    let micro = |kind: &str, name: &str| {
        format!("<p itemscope itemtype=http://schema.org/{kind}><b itemprop=name>{name}</b></p>")
    };
    let json_ld = |kind: &str, name: &str| script(&format!(r#"{{"@type":"{kind}","name":"{name}"}}"#));
    let og = "<meta property=og:type content=article><meta property=og:title content=C>";
    for (html, expected, why) in [
        (json_ld("Product", "A") + &micro("Product", "A"), vec![vec![JsonLd, Microdata]], "one of its type in each"),
        (json_ld("Product", "A") + &micro("Event", "A"), vec![vec![JsonLd], vec![Microdata]], "of different types"),
        (
            json_ld("Product", "A") + &json_ld("Product", "B") + &micro("Product", "b ") + &micro("Product", "C"),
            vec![vec![JsonLd], vec![JsonLd, Microdata], vec![Microdata]],
            "one of several, by its name",
        ),
        (
            micro("Product", "A") + &micro("Product", "A"),
            vec![vec![Microdata], vec![Microdata]],
            "a list may have two of one name",
        ),
        (json_ld("NewsArticle", "A") + og, vec![vec![JsonLd]], "Open Graph is less exact"),
        (
            script(r#"{"@type":"Thing","url":"http://a.example/x/","name":"A"}"#)
                + "<p itemscope itemtype=http://schema.org/Thing><a itemprop=url href=/x>x</a><b itemprop=name>B</b></p>"
                + &micro("Thing", "C"),
            vec![vec![JsonLd, Microdata], vec![Microdata]],
            "by its URL",
        ),
    ] {
        let found = find_items(&html);
        let from: Vec<_> = found.items.iter().map(|item| item.fields["name"].from.clone()).collect();
        assert_eq!(from, expected, "{html}: {why}");
    }
    let found = find_items(&(json_ld("NewsArticle", "A") + og));
    assert_eq!(found.items.len(), 1);
    assert_eq!(found.items[0].types, ["NewsArticle"]);
    assert_eq!(found.items[0].fields["headline"].from, [OpenGraph]);
}

#[test]
fn items_have_a_common_form() {
    let offers = |offers: &str| script(&format!(r#"{{"@type":"Product","name":"A","offers":{offers}}}"#));
    for (html, expected, why) in [
        (
            offers(r#"{"price":"1.299,00 €","availability":"http://schema.org/InStock","priceValidUntil":"March 3, 2021"}"#),
            json!({"name": "A", "price": 1299, "currency": "EUR", "availability": "InStock", "valid_until": "2021-03-03"}),
            "an offer",
        ),
        (
            offers(r#"[{"price":5,"priceCurrency":"usd"},{"price":"3.50","priceCurrency":"USD"},{"price":1,"priceCurrency":"EUR"}]"#),
            json!({"name": "A", "price": 3.5, "price_low": 3.5, "price_high": 5, "currency": "USD"}),
            "several offers, of which one cannot be compared",
        ),
        (
            offers(r#"{"@type":"AggregateOffer","lowPrice":"3","highPrice":9,"priceCurrency":"GBP"}"#),
            json!({"name": "A", "price": 3, "price_low": 3, "price_high": 9, "currency": "GBP"}),
            "a sum of offers",
        ),
        (
            offers(r#"{"priceSpecification":{"price":7,"priceCurrency":"CHF"}}"#),
            json!({"name": "A", "price": 7, "currency": "CHF"}),
            "a price that is specified elsewhere",
        ),
        (
            script(
                r#"{"@type":"Recipe","aggregateRating":{"ratingValue":"4,5","bestRating":5,"ratingCount":"1,234"},"totalTime":"PT1H",
                "author":[{"@type":"Person","name":"B"}],"image":{"url":"/i.png"},"datePublished":"2021-03-03T10:00:00+01:00"}"#,
            ),
            json!({"rating": 4.5, "rating_best": 5, "rating_count": 1234, "duration_s": 3600, "author": "B",
                "image": "https://a.example/i.png", "published": "2021-03-03T10:00:00+01:00"}),
            "a recipe",
        ),
        (
            "<meta property=og:type content=product><meta property=og:title content=A><meta property=product:price:amount content=9.90>
             <meta property=product:price:currency content=EUR><meta property=product:availability content='out of stock'>"
                .to_owned(),
            json!({"name": "A", "price": 9.9, "currency": "EUR", "availability": "OutOfStock"}),
            "Open Graph",
        ),
    ] {
        assert_eq!(json!(find_items(&html).items[0].normal), expected, "{html}: {why}");
    }
}

#[test]
fn hostile_pages_are_cut() {
    let mut graph = String::new();
    for n in 0..40 {
        let next = n + 1;
        let _ =
            write!(graph, r##"{{"@id":"#{n}","a":[{}]}},"##, vec![format!(r##"{{"@id":"#{next}"}}"##); 100].join(","));
    }
    let all_in_all: String = (0..300)
        .map(|n| {
            format!(
                "<p itemscope id=p{n} itemref='{}'><b itemprop=x{n}>x</b></p>",
                (0..300).map(|m| format!("p{m} ")).collect::<String>()
            )
        })
        .collect();
    let big = format!("<div id=big>{}</div>", "<i itemprop=a>x</i>".repeat(5_000));
    let circle = "<p itemscope itemref=b></p><i id=b itemprop=b itemscope itemref=b>x</i>";
    let prefixes: String = (0..200).map(|n| format!(r#""p{n}":"http://p/","#)).collect();
    let contexts = r#"{"@context":{"r":"http://r/"},"x":1},"#.repeat(5_000);
    let fields: String = (0..1_000).map(|n| format!("<i itemprop=a{n}>x</i>")).collect();
    for (html, is_cut, why) in [
        (script(&format!(r#"{{"@graph":[{graph}{{"@id":"/40","x":1}}]}}"#)), true, "references that multiply"),
        (script(&format!(r#"{{"a":"{}"}}"#, "x".repeat(2 << 20))), true, "a long script"),
        (script(&format!(r#"{{"a":"{}"}}"#, "x".repeat(100_000))), true, "a long text"),
        (script(&format!("[{}1]", r#"{"a":1},"#.repeat(5_000))), true, "many things"),
        (
            script(&format!(r#"{{"@context":{{{prefixes}"q":"http://q/"}},"@graph":[{contexts}{{}}]}}"#)),
            true,
            "declarations are copied into each of many contexts",
        ),
        (script(&r#"{"a":"#.repeat(100_000)), false, "what is nested too deeply cannot be read"),
        (all_in_all, true, "each thing refers to all"),
        (big + &"<p itemscope itemref=big></p>".repeat(900), true, "many things refer to a large one"),
        (circle.to_owned(), false, "a thing that refers to itself"),
        (format!("<p itemscope>{}", "<i itemprop=a>x</i>".repeat(100_000)), true, "many values"),
        (format!("<p itemscope>{fields}"), true, "many properties"),
        (format!("<p itemscope>{}", "<i itemscope itemprop=a>".repeat(100)), true, "things in things"),
        ("<p itemscope>".repeat(2_000), true, "many things of microdata"),
        (format!("<p vocab=http://schema.org/>{}", "<b typeof=A property=b>".repeat(100)), true, "RDFa in RDFa"),
        (format!("<p typeof=schema:A>{}", "<b property=schema:a>x</b>".repeat(60_000)), true, "many values of RDFa"),
        (
            "<meta property=og:type content=article><meta property=og:image content=x>".repeat(30_000),
            true,
            "Open Graph",
        ),
    ] {
        let found = find_items(&html);
        assert_eq!(found.is_cut, is_cut, "{why}");
        assert!(found.items.len() <= budget::ITEMS_MAX, "{why}");
        assert!(serde_json::to_string(&found.items).unwrap().len() < 32 << 20, "{why}");
    }
}

#[test]
fn markup_is_kept_as_written() {
    let html = "<script type='Application/LD+JSON; charset=utf-8'>[{\"a\":1}]</script><meta name=twitter:card content=summary>
        <meta name=DC.title content=T><meta name=author content=B><meta property=og:title content=O>
        <p itemscope itemtype=http://x.example/T><b itemprop=n>1</b></p><p typeof=foaf:Person><b property=foaf:name>N</b></p>";
    let markup = markup(html, &Url::parse("https://a.example/").unwrap()).unwrap();
    assert_eq!(
        json!(markup),
        json!({
            "json_ld": [{"a": 1}],
            "microdata": [{"type": ["http://x.example/T"], "properties": {"n": ["1"]}}],
            "rdfa": [
                {"@id": "https://a.example/", "http://ogp.me/ns#title": [{"@value": "O"}]},
                {"@id": "_:thing1", "@type": ["http://xmlns.com/foaf/0.1/Person"], "http://xmlns.com/foaf/0.1/name": [{"@value": "N"}]},
            ],
            "open_graph": [{"namespace": {"og": "http://ogp.me/ns#"}, "properties": [["og:title", "O"]]}],
            "twitter": [["twitter:card", "summary"]],
            "dublin_core": {"namespaces": {}, "terms": [],
                "elements": [{"name": "DC.title", "content": "T", "URI": "http://purl.org/dc/elements/1.1/title"}]},
            "meta": [["author", "B"]],
        })
    );
    assert!(matches!(
        items(html, &Url::parse("https://a.example/").unwrap()).unwrap().items[1].fields["n"].values[..],
        [Value::Text(_)]
    ));
}
