//! A whole crawl of a site over loopback, from a data directory.

use std::fs;
use std::path::Path;

use dragline_domain::definition::Definition;
use dragline_local::{LocalStore, SqliteReader};
use dragline_sink::{Start, Target, write};
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{crawl, definition};

use crate::cluster::{Database, assert_equal, target_in};

pub(crate) fn page(folder: &Path, name: &str, body: &str) {
    fs::write(folder.join(name), format!("<!doctype html><html lang=en><title>{name}</title>{body}</html>")).unwrap();
}

pub(crate) fn product(name: &str, price: &str) -> String {
    format!(
        r#"<p>Buy {name} now, it is a good one</p><script type="application/ld+json">{{"@context":"https://schema.org",
           "@type":"Product","name":"{name}","offers":{{"@type":"Offer","price":"{price}","priceCurrency":"EUR"}}}}</script>"#
    )
}

pub(crate) fn reader(data: &Path, crawl: &Definition) -> SqliteReader {
    LocalStore::open_read_only(data).unwrap().into_reader(crawl.name.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_equals_the_data_directory_after_each_iteration() {
    let (database, data, folder) =
        (Database::create().await, tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    let links: String = (0..20).map(|n| format!("<a href=/p{n}.html>{n}</a> ")).collect();
    page(folder, "index.html", &format!("<h1>Shop</h1>{links}<a href=/none.html>none</a>"));
    for n in 0..20 {
        page(folder, &format!("p{n}.html"), &product(&format!("Chair {n}"), &format!("{n}9.90")));
    }
    let site = Site::builder().directory(folder).start().await.unwrap();
    let definition = definition(&[site.url()], |_| {});
    crawl(data.path(), &definition).await;
    let name = definition.name.to_string();
    let target = Target { batch_rows: Some(7), ..target_in(&database) };
    let totals = write(&reader(data.path(), &definition), &definition.name, &target, &|_| {}).await.unwrap();
    assert!(totals.rows > 60, "{totals:?}");
    assert_equal(&database, &reader(data.path(), &definition), &name).await;
    let count = database.value("SELECT count(*) FROM dragline.item_product WHERE price > 100").await;
    assert_eq!(count.as_deref(), Some("10"));

    fs::remove_file(folder.join("p3.html")).unwrap();
    page(
        folder,
        "p4.html",
        "<p>Sold out, and nothing is left of the product that was here</p><a href=/new.html>new</a>",
    );
    page(folder, "p5.html", &product("Table", "5"));
    page(folder, "new.html", &product("New", "7"));
    crawl(data.path(), &definition).await;
    write(&reader(data.path(), &definition), &definition.name, &target, &|_| {}).await.unwrap();
    assert_equal(&database, &reader(data.path(), &definition), &name).await;
    let gone = database.value("SELECT count(*) FROM dragline.page WHERE url LIKE '%/p3.html'").await;
    assert_eq!(gone.as_deref(), Some("0"));
    let change =
        database.value("SELECT change FROM dragline.change WHERE url LIKE '%/p3.html' AND iteration = 2").await;
    assert_eq!(change.as_deref(), Some("gone"));

    let from_start = Target { start: Start::FromStart, ..target };
    let totals = write(&reader(data.path(), &definition), &definition.name, &from_start, &|_| {}).await.unwrap();
    assert_eq!((totals.changed, totals.removed), (0, 0), "what is there is right");
}
