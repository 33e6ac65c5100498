//! Parquet files of a whole crawl, as DuckDB reads them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use dragline_end_to_end::archive::partition_rows;
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_ports::row::{NamedCells, Row};
use dragline_sink::SinkError;
use dragline_sink::parquet::write_parquet;
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{crawl, definition, every_row};
use serde_json::{Value, json};

use crate::crawled::{page, product, reader};

/// Returns rows as JSON objects without missing values, sorted.
fn sorted(rows: impl IntoIterator<Item = Value>) -> Vec<String> {
    let there = |row: Value| match row {
        Value::Object(row) => json!(row.into_iter().filter(|(_, value)| !value.is_null()).collect::<BTreeMap<_, _>>()),
        other => other,
    };
    let mut rows: Vec<String> = rows.into_iter().map(|row| there(row).to_string()).collect();
    rows.sort();
    rows
}

fn json_rows<R: Row>(rows: Vec<R>) -> Vec<String> {
    let columns = R::columns();
    sorted(rows.into_iter().map(|row| serde_json::to_value(NamedCells(&columns, &row.cells())).unwrap()))
}

/// Fails if `DuckDB` does not find the rows of all iterations, each once.
async fn assert_equal(directory: &Path, reader: &impl Reader) {
    let all = &Filter::default();
    let read = |after: Option<Cursor>| async move { reader.seen_pages(all, after.as_ref(), 100).await };
    assert_eq!(sorted(partition_rows(directory, "pages")), json_rows(every_row(read).await));
    let read = |after: Option<Cursor>| async move { reader.seen_links(all, after.as_ref(), 100).await };
    assert_eq!(sorted(partition_rows(directory, "links")), json_rows(every_row(read).await));
    let read = |after: Option<Cursor>| async move { reader.log(all, after.as_ref(), 100).await };
    assert_eq!(sorted(partition_rows(directory, "log")), json_rows(every_row(read).await));
}

/// Returns all files of a directory, with what identifies them.
fn files(directory: &Path) -> BTreeMap<PathBuf, u64> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(self::files(&entry.path()));
        } else {
            files.insert(entry.path(), entry.metadata().unwrap().ino());
        }
    }
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn each_iteration_is_a_partition_that_is_written_once() {
    let (data, folder, lake) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (folder, lake) = (folder.path(), lake.path());
    let links: String = (0..9).map(|n| format!("<a href=/p{n}.html>{n}</a> ")).collect();
    page(folder, "index.html", &format!("<h1>Shop</h1>{links}<a href=/none.html>none</a>"));
    for n in 0..9 {
        page(folder, &format!("p{n}.html"), &product(&format!("Chair {n}"), &format!("{n}9.90")));
    }
    let site = Site::builder().directory(folder).start().await.unwrap();
    let definition = definition(&[site.url()], |_| {});
    let name = &definition.name;
    crawl(data.path(), &definition).await;
    let write = async || write_parquet(&reader(data.path(), &definition), name, lake, &|_| {}).await.unwrap();
    let totals = write().await;
    assert!(totals.rows > 30 && totals.changed == totals.rows, "{totals:?}");
    assert_equal(lake, &reader(data.path(), &definition)).await;
    let items = partition_rows(lake, "items");
    assert_eq!(items.len(), 9);
    for item in &items {
        assert_eq!((&item["type"], &item["iteration"], &item["crawl"]), (&json!("product"), &json!(1), &json!(name)));
        assert!(item["price"].is_f64(), "{item}");
    }

    let first = files(lake);
    assert_eq!(write().await.rows, 0, "nothing is new");
    fs::remove_file(folder.join("p3.html")).unwrap();
    page(folder, "p5.html", &product("Table", "5"));
    crawl(data.path(), &definition).await;
    assert!(write().await.rows > 20);
    assert_equal(lake, &reader(data.path(), &definition)).await;
    assert_eq!(partition_rows(lake, "items").len(), 10, "one page has changed");
    let second = files(lake);
    assert!(first.iter().all(|(path, file)| second.get(path) == Some(file)), "what is written stays as it is");

    // As if the process had been killed before the last stamp, and left a part.
    let own = lake.join("_dragline").join(name.as_str());
    fs::remove_file(own.join("2")).unwrap();
    let partition = lake.join(format!("pages/crawl={name}/iteration=2"));
    fs::write(partition.join(".part-00007.parquet"), "half of it").unwrap();
    fs::write(partition.join("part-00009.parquet"), "of another time").unwrap();
    write().await;
    assert_equal(lake, &reader(data.path(), &definition)).await;
    assert_eq!(files(lake).keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());

    let lock = fs::File::open(own.join("lock")).unwrap();
    lock.lock().unwrap();
    let busy = write_parquet(&reader(data.path(), &definition), name, lake, &|_| {}).await;
    assert!(matches!(busy, Err(SinkError::Busy)), "{busy:?}");
}
