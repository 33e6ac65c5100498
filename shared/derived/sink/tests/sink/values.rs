//! Values and names that PostgreSQL holds in another way, or not at all.

use dragline_sink::{SchemaName, Start, Target};

use crate::cluster::{Database, assert_equal, target_in};
use crate::restarts::write_to;
use crate::stored::{Stored, url};

#[tokio::test]
async fn texts_arrive_as_they_are_except_for_nul() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(0));
    let long = "long ".repeat(1 << 20);
    for (n, title) in
        ["a\tb\nc\\.\r", "\\N", "\\.", "", "nul\0nul", "'; DROP TABLE page; --", "😀 日本 \u{feff}\u{202e}", &long]
            .into_iter()
            .enumerate()
    {
        stored.put_page(1, &format!("/{n}"), "x");
        let page = stored.pages.last_mut().unwrap();
        (page.title, page.text) = (Some(title.to_owned()), None);
    }
    let long_url = url(&format!("/{}", "x".repeat(2_000)));
    stored.pages[0].url.clone_from(&long_url);
    stored.links[0].from_url.clone_from(&long_url);
    stored.links[0].to_url = long_url.clone() + &"y".repeat(3_000);
    write_to(&stored, &target_in(&database)).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    let title = database.value("SELECT title FROM dragline.page WHERE title LIKE 'nul%'").await;
    assert_eq!(title.as_deref(), Some("nul\u{fffd}nul"));
}

#[tokio::test]
async fn items_have_a_table_for_each_type_and_columns_as_they_come() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(0));
    stored.put_items(
        1,
        "/1",
        r#"[{"types":["Product","Thing"],"id":"https://a.example/#p","fields":{
               "name":{"values":["A \u0000 chair"],"from":["json_ld"]},
               "xmin":{"values":["a column of PostgreSQL's own"],"from":["json_ld"]},
               "select":{"values":["a keyword"],"from":["json_ld"]},
               "tags":{"values":["a","b \u0000 \ud83d\ude00"],"from":["json_ld"]},
               "total":{"values":[{"amount":5,"currency":"EUR"}],"from":["definition"]}},
             "normal":{"price":19.90,"isNew":true,"made":"2021-03-03","sold":"2021-03-03T10:00:00+01:00"}},
            {"types":["NewsArticle"],"fields":{"headline":{"values":["News"],"from":["json_ld"]}}}]"#,
    );
    write_to(&stored, &target_in(&database)).await.unwrap();
    let product = "SELECT name || '/' || xmin_ || '/' || \"select\" || '/' || price || '/' || is_new || '/' || made || '/' || sold || '/' || total || '/' || total_currency
                   || '/' || types || '/' || item_id FROM dragline.item_product";
    let expected = "A \u{fffd} chair/a column of PostgreSQL's own/a keyword/19.9/true/2021-03-03/2021-03-03 09:00:00+00/5/EUR/Product Thing/https://a.example/#p";
    assert_eq!(in_utc(&database, product).await, expected);
    let tags = database.value("SELECT tags ->> 1 FROM dragline.item_product").await;
    assert_eq!(tags.as_deref(), Some("b \u{fffd} 😀"), "nested values are jsonb");
    let news = database.value("SELECT n || headline FROM dragline.item_news_article").await;
    assert_eq!(news.as_deref(), Some("1News"));
    let types = "SELECT string_agg(column_name || ' ' || data_type, ',' ORDER BY column_name) FROM information_schema.columns
                 WHERE table_name = 'item_product' AND column_name IN ('price', 'is_new', 'made', 'sold', 'tags', 'total')";
    let expected = "is_new boolean,made date,price numeric,sold timestamp with time zone,tags jsonb,total numeric";
    assert_eq!(database.value(types).await.as_deref(), Some(expected));
}

async fn in_utc(database: &Database, sql: &str) -> String {
    let client = database.client().await;
    client.batch_execute("SET TimeZone = 'UTC'").await.unwrap();
    client.query_one(sql, &[]).await.unwrap().get(0)
}

fn product(value: &str) -> String {
    format!(r#"[{{"types":["Product"],"fields":{{"size":{{"values":[{value}],"from":["json_ld"]}}}}}}]"#)
}

/// The types of a column change while its values are written, in any order, and the values are
/// those that a database has that knew the last type from the beginning.
#[tokio::test]
async fn a_column_is_widened_for_values_of_other_types() {
    let database = Database::create().await;
    for (first, second, expected, why) in [
        ("7.50", "8", "numeric", "both are numbers"),
        ("7.50", "\"large\"", "text", "a text holds a number"),
        ("true", "7", "text", "a text holds both"),
        ("\"2021-03-03\"", "\"2021-03-03T10:00:00Z\"", "timestamp with time zone", "a day begins at a time"),
        ("\"2021-03-03T10:00:00+01:00\"", "\"soon\"", "text", "the page's own form is kept"),
        ("\"2021-03-03T10:00:00+01:00\"", "\"a\",\"b\"", "jsonb", "JSON holds a text"),
        ("\"large\"", "\"a\",\"b\"", "jsonb", "JSON holds a text"),
        ("true", "{\"fields\":{\"a\":[{\"fields\":{\"b\":[1,2]}}]}},1", "jsonb", "JSON holds a boolean"),
    ] {
        for (one, other) in [(first, second), (second, first)] {
            database.run("DROP SCHEMA IF EXISTS dragline CASCADE").await;
            let mut stored = Stored::with_pages(0);
            // In two batches, and another crawl has one of them, too.
            for (n, value) in [one, one, one, one, other].into_iter().enumerate() {
                stored.put_items(1, &format!("/{n}"), &product(value));
            }
            let mut before = Stored::with_pages(0);
            before.crawl = "before".parse().unwrap();
            before.put_items(1, "/", &product(one));
            write_to(&before, &target_in(&database)).await.unwrap();
            write_to(&stored, &target_in(&database)).await.unwrap();
            write_to(&before, &target_in(&database)).await.unwrap();
            let kind = "SELECT data_type FROM information_schema.columns WHERE table_name = 'item_product' AND column_name = 'size'";
            assert_eq!(database.value(kind).await.as_deref(), Some(expected), "{one} then {other}: {why}");
            let values = "SELECT string_agg(size::text, ' ' ORDER BY crawl, url) FROM dragline.item_product";
            let followed = database.value(values).await;
            for (crawl, start) in [(&before, Start::FromStart), (&stored, Start::FromStart)] {
                write_to(crawl, &Target { start, ..target_in(&database) }).await.unwrap();
            }
            assert_eq!(followed, database.value(values).await, "{one} then {other}: {why}");
        }
    }
}

#[tokio::test]
async fn an_item_that_changes_its_type_moves_to_another_table() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(4));
    write_to(&stored, &target_in(&database)).await.unwrap();
    stored.begin(2);
    stored.put_items(2, "/1", r#"[{"types":["Article"],"fields":{"name":{"values":["B"],"from":["json_ld"]}}}]"#);
    stored.put_items(2, "/2", "[]");
    write_to(&stored, &target_in(&database)).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn a_page_with_any_number_of_types_and_properties_makes_no_more_than_some() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(0));
    let item = |type_number: usize, from: usize| {
        let fields: Vec<String> =
            (from..from + 150).map(|n| format!(r#""p{n}":{{"values":[{n}],"from":["json_ld"]}}"#)).collect();
        format!(r#"{{"types":["T{type_number}"],"fields":{{{}}}}}"#, fields.join(","))
    };
    let wide: Vec<String> = (0..8).map(|n| item(0, n * 150)).collect();
    stored.put_items(1, "/wide", &format!("[{}]", wide.join(",")));
    let many: Vec<String> = (0..520).map(|n| format!(r#"{{"types":["T{n}"],"fields":{{}}}}"#)).collect();
    stored.put_items(1, "/many", &format!("[{}]", many.join(",")));
    write_to(&stored, &target_in(&database)).await.unwrap();
    let count = |of: &str| format!("SELECT count(*) FROM {of}");
    let columns = "information_schema.columns WHERE table_name = 'item_t0'";
    assert_eq!(database.value(&count(columns)).await.as_deref(), Some("800"));
    let rest = "SELECT rest_ ->> 'p1199' FROM dragline.item_t0 WHERE rest_ ? 'p1199'";
    assert_eq!(database.value(rest).await.as_deref(), Some("1199"), "nothing is lost");
    let tables = "information_schema.tables WHERE table_name LIKE 'item%'";
    assert_eq!(database.value(&count(tables)).await.as_deref(), Some("501"));
    assert_eq!(database.value(&count("dragline.item_other_")).await.as_deref(), Some("20"));
}

#[tokio::test]
async fn a_schema_may_have_any_name() {
    let (database, stored) = (Database::create().await, Stored::with_pages(2));
    let schema: SchemaName = "Crawl of \"us\"; --".parse().unwrap();
    write_to(&stored, &Target { schema, ..target_in(&database) }).await.unwrap();
    let count = database.value("SELECT count(*) FROM \"Crawl of \"\"us\"\"; --\".page").await;
    assert_eq!(count.as_deref(), Some("2"));
}
