//! Which things of a page become items, and with which properties.

use super::*;

/// The name, type, price and price range of each item.
fn priced(html: &str) -> serde_json::Value {
    let of_item = |item: &Item| {
        let mut said = json!({"type": item.types[0]});
        for name in ["name", "brand", "sku", "price", "price_low", "price_high"] {
            if let Some(value) = item.normal.get(name) {
                said[name] = json!(value);
            }
        }
        said
    };
    find_items(html).items.iter().map(of_item).collect()
}

/// The type and name of each item.
fn named(html: &str) -> Vec<String> {
    let name = |item: &Item| item.normal.get("name").map_or_else(String::new, |name| json!(name).to_string());
    find_items(html).items.iter().map(|item| format!("{} {}", item.types[0], name(item).trim_matches('"'))).collect()
}

#[test]
fn unreadable_markup_is_a_gap() {
    for (json_ld, expected, why) in [
        (r#"{"@type":"A","b":"x \ud83d","c":1}"#, json!({"b": ["x \u{fffd}"], "c": [1]}), "half of a pair, the first"),
        (r#"{"@type":"A","b":"\ude00 x","c":1}"#, json!({"b": ["\u{fffd} x"], "c": [1]}), "the second"),
        (
            r#"{"@type":"A","b":"\ude00\ud83d","c":1}"#,
            json!({"b": ["\u{fffd}\u{fffd}"], "c": [1]}),
            "both, the wrong way round",
        ),
        (
            r#"{"@type":"A","b":"\ud83d\ud83d\ude00\ud83dA","c":1}"#,
            json!({"b": ["\u{fffd}\u{1f600}\u{fffd}A"], "c": [1]}),
            "a whole pair among halves",
        ),
        (r#"{"@type":"A","b":"\u12 \uzzzz \u","c":1}"#, json!({"b": ["\\u12 \\uzzzz \\u"], "c": [1]}), "no number"),
        (r#"{"@type":"A","b\ud83d":"x","c":1}"#, json!({"b\u{fffd}": ["x"], "c": [1]}), "in a name"),
        (r#"{"@type":"A","b":1e999,"c":1}"#, json!({"c": [1]}), "a number that no double holds"),
        (r#"{"@type":"A","b":[-1e999,2],"c":1}"#, json!({"b": [2], "c": [1]}), "in a list"),
        (r#"{"@type":"A","b":NaN,"c":1}"#, json!({"c": [1]}), "what programs print for no number"),
        (r#"{"@type":"A","b":undefined,"c":1}"#, json!({"c": [1]}), "what JavaScript says for nothing"),
        (r#"{"@type":"A","b":,"c":1}"#, json!({"c": [1]}), "a template without its value"),
        (r#"{"@type":"A","c":1,"b":}"#, json!({"c": [1]}), "at the end"),
        (r#"{"@type":"A","b":01.50.2,"c":1}"#, json!({"c": [1]}), "not a number"),
        (r#"{"@type":"A","b":-Infinity , "c":true}"#, json!({"c": [true]}), "what is right stays"),
        (r#"{"@type":"A","b":12e-1,"c":1.5}"#, json!({"b": [1.2], "c": [1.5]}), "as JSON has them"),
    ] {
        let html = script(json_ld);
        let items = find_items(&html).items;
        assert_eq!(fields_of_items(&items), json!([{"types": ["A"], "fields": expected}]), "{json_ld}: {why}");
    }
}

#[test]
fn each_variant_of_a_group_is_a_product() {
    let group = |rest: &str| {
        script(&format!(
            r##"{{"@context":"https://schema.org","@type":"ProductGroup","@id":"#g","name":"Shirt","brand":"B",{rest}}}"##
        ))
    };
    let offer = |price: u8| format!(r#""offers":{{"@type":"Offer","price":{price},"priceCurrency":"EUR"}}"#);
    let (ten, twelve) = (offer(10), offer(12));
    for (html, expected, why) in [
        (
            group(&format!(
                r#""hasVariant":[{{"@type":"Product","name":"Shirt S","sku":"s",{ten}}},{{"sku":"m","brand":"C",{twelve}}}]"#
            )),
            json!([
                {"type": "ProductGroup", "name": "Shirt", "brand": "B", "price": 10, "price_low": 10, "price_high": 12},
                {"type": "Product", "name": "Shirt S", "brand": "B", "sku": "s", "price": 10},
                {"type": "Product", "name": "Shirt", "brand": "C", "sku": "m", "price": 12},
            ]),
            "what the variant does not say, the group says for it",
        ),
        (
            group(&format!(r#""sku":"all","hasVariant":{{"@type":"Product",{ten}}}"#)),
            json!([
                {"type": "ProductGroup", "name": "Shirt", "brand": "B", "sku": "all", "price": 10},
                {"type": "Product", "name": "Shirt", "brand": "B", "price": 10},
            ]),
            "the group's number is not the variant's",
        ),
        (
            group(&format!(
                r#"{ten},"hasVariant":[{{"@type":"Product","sku":"s"}},{{"@type":"Product","sku":"m",{twelve}}}]"#
            )),
            json!([
                {"type": "ProductGroup", "name": "Shirt", "brand": "B", "price": 10, "price_low": 10, "price_high": 12},
                {"type": "Product", "name": "Shirt", "brand": "B", "sku": "s", "price": 10},
                {"type": "Product", "name": "Shirt", "brand": "B", "sku": "m", "price": 12},
            ]),
            "an offer of the group is one of those that have none",
        ),
        (
            group(
                r#""offers":{"@type":"AggregateOffer","lowPrice":1,"highPrice":2},"hasVariant":[{"@type":"Product","sku":"s"}]"#,
            ),
            json!([
                {"type": "ProductGroup", "name": "Shirt", "brand": "B", "price": 1, "price_low": 1, "price_high": 2},
                {"type": "Product", "name": "Shirt", "brand": "B", "sku": "s"},
            ]),
            "a range over all is not the price of one",
        ),
        (
            script(&format!(
                r##"[{{"@type":"Product","@id":"#s","sku":"s","isVariantOf":{{"@id":"#g"}},{ten}}},
                    {{"@type":"Product","@id":"#m","sku":"m","isVariantOf":{{"@id":"#g"}},{twelve}}},
                    {{"@type":"ProductGroup","@id":"#g","name":"Shirt","brand":"B"}}]"##
            )),
            json!([
                {"type": "Product", "name": "Shirt", "brand": "B", "sku": "s", "price": 10},
                {"type": "Product", "name": "Shirt", "brand": "B", "sku": "m", "price": 12},
                {"type": "ProductGroup", "name": "Shirt", "brand": "B", "price": 10, "price_low": 10, "price_high": 12},
            ]),
            "variants that name their group",
        ),
        (
            script(&format!(
                r##"{{"@graph":[{{"@type":"ProductGroup","@id":"#g","name":"Shirt","hasVariant":[{{"@id":"#s"}},{{"@id":"#m"}}]}},
                    {{"@type":"Product","@id":"#s","sku":"s","isVariantOf":{{"@id":"#g"}},{ten}}},
                    {{"@type":"Product","@id":"#m","sku":"m","isVariantOf":{{"@id":"#g"}},{twelve}}}]}}"##
            )),
            json!([
                {"type": "ProductGroup", "name": "Shirt", "price": 10, "price_low": 10, "price_high": 12},
                {"type": "Product", "name": "Shirt", "sku": "s", "price": 10},
                {"type": "Product", "name": "Shirt", "sku": "m", "price": 12},
            ]),
            "both name each other",
        ),
        (
            "<div itemscope itemtype=https://schema.org/ProductGroup><b itemprop=name>Shirt</b>
                <p itemprop=hasVariant itemscope itemtype=https://schema.org/Product><i itemprop=sku>s</i>
                <i itemprop=offers itemscope itemtype=https://schema.org/Offer><i itemprop=price>10</i></i></p></div>"
                .to_owned(),
            json!([
                {"type": "ProductGroup", "name": "Shirt", "price": 10},
                {"type": "Product", "name": "Shirt", "sku": "s", "price": 10},
            ]),
            "in microdata",
        ),
    ] {
        assert_eq!(priced(&html), expected, "{html}: {why}");
    }
    let html = group(
        r#""color":["red","blue"],"material":"wool","variesBy":"https://schema.org/color","hasVariant":{"sku":"s"}"#,
    );
    let items = find_items(&html).items;
    assert!(items[1].fields.contains_key("material"), "all are of wool");
    assert!(!items[1].fields.contains_key("color"), "in this they differ");
    let both = group(r#""hasVariant":[{"sku":"s","offers":{"price":10}},{"sku":"m","offers":{"price":12}}]"#)
        + "<div itemscope itemtype=https://schema.org/ProductGroup><p itemprop=hasVariant itemscope><i itemprop=sku>s</i>
           <i itemprop=offers itemscope><i itemprop=price>10,00</i></i></p></div>";
    let skus: Vec<_> = find_items(&both).items.iter().filter_map(|item| item.normal.get("sku").cloned()).collect();
    assert_eq!(json!(skus), json!(["s", "m"]), "two notations describe the same variants");
}

#[test]
fn lists_and_pages_reach_their_things() {
    for (json_ld, expected, why) in [
        (
            r#"{"@type":"WebPage","name":"W","mainEntity":{"@type":"Product","name":"P"}}"#,
            &["WebPage W", "Product P"][..],
            "what the page is about",
        ),
        (
            r#"{"@type":"CollectionPage","name":"W","mainEntity":{"@type":"ItemList","name":"L","itemListElement":[
                {"@type":"ListItem","position":1,"item":{"@type":"Product","name":"P"}},
                {"@type":"ListItem","position":2,"item":{"@type":"Product","name":"Q"}}]}}"#,
            &["CollectionPage W", "ItemList L", "Product P", "Product Q"],
            "a list within it",
        ),
        (
            r#"{"@type":"ItemList","name":"L","itemListElement":[{"@type":"Product","name":"P"},
                {"@type":"ItemList","name":"M","itemListElement":{"@type":"ListItem","item":{"@type":"Event","name":"E"}}}]}"#,
            &["ItemList L", "Product P", "ItemList M", "Event E"],
            "things without a place in it, and a list in a list",
        ),
        (
            r#"{"@type":"BreadcrumbList","name":"B","itemListElement":[
                {"@type":"ListItem","item":{"@type":"WebPage","@id":"/","name":"Home"}}]}"#,
            &["BreadcrumbList B"],
            "the way to a page is not what it lists",
        ),
        (
            r#"{"@type":"ItemList","name":"L","itemListElement":[{"@type":"ListItem","url":"/a"},"x"]}"#,
            &["ItemList L"],
            "addresses alone are not things",
        ),
        (
            r##"{"@graph":[{"@type":"WebPage","name":"W","mainEntity":{"@id":"#p"}},{"@type":"Product","@id":"#p","name":"P"}]}"##,
            &["WebPage W", "Product P"],
            "named by its identifier, it is there once",
        ),
        (
            r#"[[{"@type":"Product","name":"P"}],[[{"@type":"Product","name":"Q"}]]]"#,
            &["Product P", "Product Q"],
            "lists in lists",
        ),
        (
            r#"{"@graph":[[{"@type":"Product","name":"P"}],{"@graph":{"@type":"Product","name":"Q"}}]}"#,
            &["Product P", "Product Q"],
            "lists and graphs in a graph",
        ),
        (
            r#"{"@type":"WebPage","name":"W","@included":[{"@type":"Product","name":"P"}]}"#,
            &["Product P", "WebPage W"],
            "what is only put beside it",
        ),
        (
            r#"{"@type":"WebPage","name":"W","mainEntity":{"@graph":[{"@type":"Product","name":"P"}]}}"#,
            &["WebPage W", "Product P"],
            "a graph as a value",
        ),
    ] {
        assert_eq!(named(&script(json_ld)), expected, "{json_ld}: {why}");
    }
    let both = script(r#"{"@type":"WebPage","mainEntity":{"@type":"Product","name":"P"}}"#)
        + "<p itemscope itemtype=http://schema.org/Product><b itemprop=name>P</b></p>";
    assert_eq!(named(&both), ["WebPage ", "Product P"], "two notations describe one thing");
    let microdata = "<div itemscope itemtype=http://schema.org/ItemList><p itemprop=itemListElement itemscope
        itemtype=http://schema.org/ListItem><i itemprop=item itemscope itemtype=http://schema.org/Book><b itemprop=name>B</b></i></p></div>";
    assert_eq!(named(microdata), ["ItemList ", "Book B"], "in microdata");
}

#[test]
fn counts_are_whole_numbers() {
    for (written, expected, why) in [
        (r#""1.234""#, Some(1234), "points group digits in Germany"),
        (r#""1,234""#, Some(1234), "commas in England"),
        (r#""1 234""#, Some(1234), "spaces in France"),
        ("\"1\u{202f}234\u{a0}567\"", Some(1_234_567), "those of typographers"),
        (r#""1'234""#, Some(1234), "apostrophes in Switzerland"),
        (r#""1.234.567""#, Some(1_234_567), "several"),
        (r#""12,34,567""#, Some(1_234_567), "Indian groups"),
        (r#""(1,234 reviews)""#, Some(1234), "words around it"),
        (r#""1,234+""#, Some(1234), "and more"),
        ("1234", Some(1234), "a number"),
        ("12.0", Some(12), "written as a fraction"),
        (r#""12.0""#, Some(12), "the same as a text"),
        ("0", Some(0), "none"),
        ("1.5", None, "half a review"),
        (r#""1.5""#, None, "the same"),
        (r#""-3""#, None, "less than none"),
        ("-3", None, "the same"),
        (r#""10-20""#, None, "two numbers"),
        (r#""4.5/5""#, None, "a rating"),
        (r#""12%""#, None, "a share"),
        (r#""many""#, None, "no number"),
        ("1e300", None, "more than there can be"),
    ] {
        for (property, name) in [("ratingCount", "rating_count"), ("reviewCount", "review_count")] {
            let html =
                script(&format!(r#"{{"@type":"Product","name":"A","aggregateRating":{{"{property}":{written}}}}}"#));
            let count = find_items(&html).items[0].normal.get(name).map(|count| json!(count));
            assert_eq!(count, expected.map(|count: u64| json!(count)), "{written}: {why}");
        }
    }
}

#[test]
fn contexts_give_names_their_meaning() {
    let product = || json!([{"types": ["Product"], "fields": {"name": ["A"]}}]);
    let with_id = || json!([{"types": ["Product"], "id": "https://a.example/a", "fields": {"name": ["A"]}}]);
    for (json_ld, expected, why) in [
        (r#"{"@context":"https://schema.org","type":"Product","id":"/a","name":"A"}"#, with_id(), "schema.org says so"),
        (
            r#"{"@context":"http://www.schema.org/","type":"Product","id":"/a","name":"A"}"#,
            with_id(),
            "so it is called",
        ),
        (
            r#"{"@context":"https://schema.org/docs/jsonldcontext.jsonld","type":"Product","id":"/a","name":"A"}"#,
            with_id(),
            "where it stands",
        ),
        (
            r#"{"@context":["https://schema.org/",{}],"type":"Product","id":"/a","name":"A"}"#,
            with_id(),
            "one of several",
        ),
        (r#"{"type":"Product","id":"/a","name":"A"}"#, with_id(), "without a context, it is taken for granted"),
        (
            r#"{"@context":{"@vocab":"https://schema.org/","kind":"@type","uri":"@id"},"kind":"Product","uri":"/a","name":"A"}"#,
            with_id(),
            "words of its own",
        ),
        (
            r#"{"@context":{"@vocab":"https://schema.org/","kind":{"@id":"@type"}},"kind":["Product"],"name":"A"}"#,
            product(),
            "defined at length",
        ),
        (
            r#"{"@context":{"@vocab":"https://schema.org/","g":"@graph","v":"@value"},"g":[{"@type":"Product","name":{"v":"A"}}]}"#,
            product(),
            "other keywords",
        ),
        (
            r#"{"@context":{"@vocab":"https://schema.org/"},"@type":"Product","type":"x","name":"A"}"#,
            json!([{"types": ["Product"], "fields": {"name": ["A"], "type": ["x"]}}]),
            "a vocabulary alone says nothing of keywords",
        ),
        (
            r#"{"@context":["https://schema.org",{"type":null}],"@type":"Product","type":"x","name":"A"}"#,
            product(),
            "a word without a meaning says nothing",
        ),
        (
            r#"{"@context":{"s":"https://schema.org/","titel":"s:name","art":{"@id":"@type"}},"art":"s:Product","titel":"A"}"#,
            product(),
            "a word for a word with a prefix",
        ),
        (
            r#"{"@context":{"@vocab":"https://schema.org/","titel":"name"},"@type":"Product","titel":"A"}"#,
            product(),
            "a word for a word of the vocabulary",
        ),
        (
            r#"{"@context":{"schema":"https://schema.org"},"@type":"schema:Product","schema:name":"A"}"#,
            product(),
            "no slash",
        ),
        (r#"{"@type":"https://schema.org/Product","https://schema.org/name":"A"}"#, product(), "whole names"),
        (r#"{"@context":{"a":"b:x","b":"a:x"},"@type":"Product","name":"A","a:y":null}"#, product(), "a circle"),
        (
            r#"{"@context":"https://schema.org","@type":"Product","name":"A","brand":{"type":"Brand","id":"/b","name":"B"}}"#,
            json!([{"types": ["Product"], "fields": {"name": ["A"],
                "brand": [{"types": ["Brand"], "id": "https://a.example/b", "fields": {"name": ["B"]}}]}}]),
            "in things, too",
        ),
        (
            r#"{"@context":{"@vocab":"http://x.example/"},"@type":"T","a":{"@context":"https://schema.org","type":"Product","name":"A"}}"#,
            json!([{"types": ["http://x.example/T"], "fields": {"http://x.example/a": [{"types": ["Product"], "fields": {"name": ["A"]}}]}}]),
            "a thing may have a context of its own",
        ),
    ] {
        assert_eq!(fields_of_items(&find_items(&script(json_ld)).items), expected, "{json_ld}: {why}");
    }
    for availability in ["schema:InStock", "http://schema.org/InStock", "InStock"] {
        let html = script(&format!(r#"{{"@type":"Offer","price":1,"availability":"{availability}"}}"#));
        assert_eq!(json!(find_items(&html).items[0].normal["availability"]), "InStock", "{availability}");
    }
}

#[test]
fn variants_and_lists_are_capped() {
    let text = "x".repeat(30_000);
    let fields: String = (0..20).map(|n| format!(r#""f{n}":"{text}","#)).collect();
    let variants: String = (0..900).map(|n| format!(r#"{{"@type":"Product","sku":"{n}"}},"#)).collect();
    let heavy = script(&format!(r#"{{"@type":"ProductGroup",{fields}"hasVariant":[{variants}{{}}]}}"#));
    let list: String = (0..5_000).map(|n| format!(r#"{{"@type":"Thing","name":"{n}"}},"#)).collect();
    let nested = (0..20).fold(format!(r#"{{"@type":"Thing","a":"{text}"}}"#), |inner, _| {
        format!(r#"{{"@type":"WebPage","mainEntity":[{inner}]}}"#)
    });
    for (html, why) in [
        (heavy, "each variant would have a copy of all"),
        (script(&format!(r#"{{"@type":"ItemList","itemListElement":[{list}{{}}]}}"#)), "many things"),
        (script(&format!("[{}{{}}]", format!("{nested},").repeat(25))), "each level would have a copy of those in it"),
    ] {
        let found = find_items(&html);
        assert!(found.is_cut, "{why}");
        assert!(found.items.len() <= budget::ITEMS_MAX, "{why}");
        assert!(serde_json::to_string(&found.items).unwrap().len() < 32 << 20, "{why}");
    }
}
