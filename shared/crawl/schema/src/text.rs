//! The learned schema as text for people.

use std::fmt::Write;

use dragline_domain::shown::{count, one_line};

use crate::limits::NAME_BYTES_MAX;
use crate::{Drift, LearnedField, LearnedRepetition, LearnedSchema, Share, Variety};

/// Returns a table of the page types, one of each item type with its fields, and one of each
/// repeated structure on pages of one type. The text is safe to print to a terminal.
#[must_use]
pub fn text(learned: &LearnedSchema) -> String {
    let mut out = format!("{} pages\n", learned.pages());
    let rows = learned.page_types().iter().map(|(pattern, page)| {
        let share = Share { having: page.pages, of: learned.pages() };
        let types = page.types.iter().map(|(name, &having)| match (Share { having, of: page.pages }).percent() {
            100 => name.clone(),
            percent => format!("{name} {percent} %"),
        });
        vec![
            pattern.clone(),
            page.pages.to_string(),
            format!("{} %", share.percent()),
            types.collect::<Vec<_>>().join(", "),
        ]
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row[1].parse::<u64>().unwrap_or_default()));
    out.push_str(&columns(&["pages at", "pages", "share", "items"], rows));
    for (table, of_type) in learned.types() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n{table}: {} items on {} pages", of_type.items, of_type.pages);
        let rows = of_type.fields.iter().map(|(name, field)| {
            let share = Share { having: field.items, of: of_type.items };
            vec![name.clone(), kinds(field), format!("{} %", share.percent()), example(field)]
        });
        out.push_str(&columns(&["field", "kind", "share", "example"], rows.collect()));
    }
    for (pattern, page) in learned.page_types().iter() {
        for (each, of_each) in &page.repeated {
            let share = Share { having: of_each.pages, of: page.pages };
            push_repeated(&mut out, (pattern, each), of_each, share);
        }
    }
    out
}

fn push_repeated(out: &mut String, (pattern, each): (&str, &str), learned: &LearnedRepetition, share: Share) {
    let (form, each) = (learned.form.name(), one_line(each, NAME_BYTES_MAX));
    let entries = count(learned.entries);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n{form} {each}: entries: {entries}, on {share} pages at {pattern}");
    let rows = learned.fields.values().map(|field| {
        let kinds = field.kinds.keys().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let share = Share { having: field.entries, of: learned.entries };
        let example = field.examples.first().cloned().unwrap_or_default();
        vec![one_line(&field.name, NAME_BYTES_MAX), kinds, format!("{} %", share.percent()), example]
    });
    out.push_str(&columns(&["field", "kind", "share", "example"], rows.collect()));
}

/// Returns a line for each difference, followed by example pages.
#[must_use]
pub fn drift_text(found: &[Drift]) -> String {
    let mut out = String::new();
    for drift in found {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{drift}");
        for url in &drift.urls {
            let _ = writeln!(out, "  {url}");
        }
    }
    out
}

fn kinds(field: &LearnedField) -> String {
    field.kinds.keys().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

fn example(field: &LearnedField) -> String {
    let example = field.examples.first().cloned().unwrap_or_default();
    match field.variety {
        Variety::Same(_) if field.items > 1 => format!("{example} (everywhere)"),
        _ => example,
    }
}

/// Returns rows below headings, each column as wide as its widest cell.
fn columns(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let head = heads.iter().map(ToString::to_string).collect();
    let rows: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
    let width = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..heads.len()).map(|place| width(place).unwrap_or_default()).collect();
    let mut out = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use dragline_domain::document::Document;
    use proptest::prelude::*;

    use super::*;
    use crate::{drift, json_schema, sql, yaml};

    /// Returns a document at this path, with one item if a type is given. `fields` is JSON.
    pub(crate) fn document(path: &str, item_type: &str, fields: &str) -> Document {
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&format!("{{{fields}}}")).unwrap();
        let fields: serde_json::Map<_, _> = fields
            .into_iter()
            .map(|(name, value)| {
                let values = if value.is_array() { value } else { serde_json::json!([value]) };
                (name, serde_json::json!({ "values": values, "from": ["json_ld"] }))
            })
            .collect();
        let item_type: String = serde_json::from_str(&format!("\"{item_type}\"")).unwrap();
        let item = serde_json::json!({ "types": [item_type], "fields": fields });
        let items = if item_type.is_empty() { vec![] } else { vec![item] };
        let page = serde_json::json!({
            "title": null, "description": null, "language": null, "charset": null, "canonical": null,
            "directives": { "noindex": false, "nofollow": false }, "text": "", "cut": "whole",
        });
        serde_json::from_value(serde_json::json!({
            "n": 0, "url": format!("https://shop.example{path}"), "outcome": 20, "detail": null, "state": "processed",
            "page": page, "links": [], "content": { "items": items },
        }))
        .unwrap()
    }

    /// Returns documents at `/p/1`, `/p/2`…, each with the same item.
    pub(crate) fn documents(item_type: &str, count: usize, fields: &str) -> Vec<Document> {
        (1..=count).map(|n| document(&format!("/p/{n}"), item_type, fields)).collect()
    }

    pub(crate) fn learn_all(documents: &[Document]) -> LearnedSchema {
        let mut learned = LearnedSchema::default();
        documents.iter().for_each(|document| learned.learn(document));
        learned
    }

    fn shop() -> LearnedSchema {
        let mut all = documents("Product", 3, r#""name":"A","price":7,"offers":[1,2]"#);
        all.push(document("/p/9", "Product", r#""name":"B\u001b[2J","since":"2024-01-01""#));
        all.push(document("/", "", ""));
        learn_all(&all)
    }

    #[test]
    fn people_see_page_types_and_fields() {
        insta::assert_snapshot!(text(&shop()));
    }

    #[test]
    fn warehouses_get_tables() {
        insta::assert_snapshot!(sql(&shop()));
    }

    #[test]
    fn programs_get_a_schema() {
        insta::assert_snapshot!(json_schema(&shop(), "Product").unwrap());
        assert_eq!(json_schema(&shop(), "Recipe"), None);
    }

    #[test]
    fn other_versions_are_not_read() {
        let json = serde_json::to_string(&shop()).unwrap();
        assert_eq!(serde_json::from_str::<LearnedSchema>(&json).unwrap(), shop());
        let error = serde_json::from_str::<LearnedSchema>(&json.replace("\"version\":1", "\"version\":2")).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
    }

    #[test]
    fn made_up_types_and_fields_do_not_take_more_memory() {
        let mut learned = LearnedSchema::default();
        for n in 0..600 {
            let fields: Vec<String> = (0..150).map(|field| format!("\"f{n}x{field}\":1")).collect();
            learned.learn(&document(&format!("/p/{n}"), &format!("T{n}"), &fields.join(",")));
            learned.learn(&document(&format!("/q/{n}"), "Product", &fields.join(",")));
            let fields = learned.types().values().map(|of_type| of_type.fields.len());
            assert!(fields.clone().sum::<usize>() <= crate::limits::FIELDS_OF_ALL_TYPES_MAX);
            assert!(fields.max() <= Some(crate::limits::FIELDS_MAX));
            assert!(learned.types().len() <= crate::limits::TYPES_MAX);
        }
        assert!(learned.types().contains_key("product"), "what is frequent stays");
    }

    #[test]
    fn types_of_the_definition_outlast_made_up_ones() {
        use crate::limits::TYPES_MAX;
        use dragline_domain::item::Notation;

        let mut declared = document("/p/0", "Chair", "\"price\":1");
        let item = &mut declared.content.as_mut().unwrap().items[0];
        item.fields.values_mut().for_each(|field| field.from = vec![Notation::Definition]);
        let junk: Vec<Document> = (0..4 * TYPES_MAX)
            .map(|n| document(&format!("/q/{n}"), &format!("T{}", n % (2 * TYPES_MAX)), "\"name\":1"))
            .collect();
        let mut before = learn_all(std::slice::from_ref(&declared));
        junk.iter().for_each(|document| before.learn(document));
        let mut after = learn_all(&junk);
        after.learn(&declared);
        let mut merged = learn_all(&junk);
        merged.merge(learn_all(std::slice::from_ref(&declared)));
        junk.iter().for_each(|document| merged.learn(document));
        for (learned, when) in [(before, "the first of all"), (after, "the last of all"), (merged, "learned elsewhere")]
        {
            let stored: LearnedSchema = serde_json::from_str(&serde_json::to_string(&learned).unwrap()).unwrap();
            assert_eq!(stored, learned);
            assert!(learned.types().contains_key("chair"), "{when}");
            assert!(learned.types().len() <= TYPES_MAX, "{when}");
            assert!(learned.items_left_out() > 0, "{when}: types were left out");
        }
    }

    fn any_documents() -> impl Strategy<Value = Vec<Document>> {
        let path = prop_oneof!["/p/[0-9]{1,3}", "/[a-c]/[a-z]", "/"];
        let value = prop_oneof![
            "[1-9][0-9]{0,2}",
            Just("true".to_owned()),
            "\"[a-c]\"",
            "\"2024-01-0[1-9]\"",
            Just("[1,2]".to_owned())
        ];
        let kind = prop_oneof![Just("text"), Just("number"), Just("url")];
        let field = ("[a-c]", "(b|i|u)", "(\"href\"|null)", kind, 1_u32..4, "[a-c]").prop_map(
            |(name, css, attribute, kind, entries, example)| {
                format!(
                    r#"{{"name":"{name}","css":"{css}","attribute":{attribute},"kind":"{kind}","entries":{entries},"example":"{example}"}}"#
                )
            },
        );
        let fields = proptest::collection::vec(field, 0..4);
        let repeated = ("(list|table)", "li[.](a|b)", fields).prop_map(|(form, each, fields)| {
            format!(r#"{{"form":"{form}","each":"{each}","entries":3,"fields":[{}]}}"#, fields.join(","))
        });
        let repeated = proptest::collection::vec(repeated, 0..3);
        let one = (path, "(Product|Offer|)", "[a-c]", value, repeated);
        let one = one.prop_map(|(path, item_type, name, value, repeated)| {
            let mut document = document(&path, &item_type, &format!("\"{name}\":{value}"));
            let repeated = serde_json::from_str(&format!("[{}]", repeated.join(","))).unwrap();
            document.content.get_or_insert_default().repeated = repeated;
            document
        });
        proptest::collection::vec(one, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_result_depends_neither_on_order_nor_on_parts(
            a in any_documents(), b in any_documents(), c in any_documents(), mut shuffled in Just(()).prop_perturb(|(), rng| rng),
        ) {
            let merged = |parts: &[&LearnedSchema]| {
                let mut sum = LearnedSchema::default();
                parts.iter().for_each(|part| sum.merge((*part).clone()));
                sum
            };
            let (of_a, of_b, of_c) = (learn_all(&a), learn_all(&b), learn_all(&c));
            let mut all: Vec<Document> = [a, b, c].concat();
            let whole = learn_all(&all);
            prop_assert_eq!(&merged(&[&of_a, &of_b, &of_c]), &whole);
            prop_assert_eq!(&merged(&[&of_c, &merged(&[&of_b, &of_a])]), &whole);
            for place in (1..all.len()).rev() {
                all.swap(place, shuffled.random_range(0..=place));
            }
            prop_assert_eq!(&learn_all(&all), &whole);
            prop_assert_eq!(drift(&whole, &whole), vec![]);
            let definition = format!("seeds: [https://shop.example/]\n{}", yaml(&whole));
            prop_assert!(dragline_definition::parse(&definition, "crawl.yaml").is_ok(), "{}", definition);
        }
    }
}
