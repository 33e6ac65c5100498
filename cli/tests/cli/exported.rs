//! Exports of a site that changes daily: items, feeds, and reports of days with broken pages.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_testkit::hostile::{HostileSite, Step, html, reply};
use parquet::basic::LogicalType;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Ran, dragline};

const DEFINITION: &str = "
items:
  - type: Offer
    when: { path: { prefix: /product/ } }
    fields:
      name: { css: h1 }
      price: { css: .price, kind: number, required: true }
      left: { css: .left, kind: number }
      since: { css: time, kind: date }
";

const FEED: &str = "<rss version='2.0'><channel><title>News</title><link>/</link><item><title>One &amp;amp; two</title><link>/product/1</link>
    <author>a@b.example (Ann)</author><category>x</category><pubDate>Wed, 03 Mar 2021 10:00:00 +0100</pubDate>
    <description>&lt;p&gt;First&lt;/p&gt;</description><enclosure url='/a.mp3' length='3' type='audio/mpeg'/></item></channel></rss>";

/// A shop on one day. Its first page, which is read before all others, has more types than there
/// may be tables.
fn shop(target: &str, day: usize) -> Vec<Step> {
    match target {
        "/robots.txt" => reply(404, &[], ""),
        "/" => {
            let junk: String = (0..250)
                .map(|n| format!("<p itemscope itemtype=https://schema.org/Junk{n}><b itemprop=name>{n}</b></p>"))
                .collect();
            html(format!("{junk}<a href=/product/1>1</a><a href=/product/2>2</a><a href=/feed>feed</a>"))
        }
        "/feed" => reply(200, &["content-type: text/plain", "content-type: application/rss+xml"], FEED),
        product => {
            let price = match day {
                1 => "<b class=price>10</b>",
                2 => "",
                _ => "<b class=price>12.5</b>",
            };
            let left = if day == 1 { "<i class=left>3</i><time>2021-03-03</time>" } else { "" };
            html(format!("<h1>Chair {product}</h1>{price}{left}"))
        }
    }
}

struct Shop {
    directory: TempDir,
    day: Arc<AtomicUsize>,
    _site: HostileSite,
}

impl Shop {
    async fn open() -> Self {
        let day = Arc::new(AtomicUsize::new(0));
        let of_site = Arc::clone(&day);
        let site = HostileSite::start(move |asked| shop(&asked.target, of_site.load(Ordering::SeqCst))).await;
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let yaml = format!("name: shop\nseeds: ['{}']\npoliteness: {{ delay: 0s }}{DEFINITION}", site.url("/"));
        std::fs::write(directory.path().join("crawl.yaml"), yaml).expect("it can be written");
        Self { directory, day, _site: site }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        dragline(self.directory.path(), arguments)
    }

    /// Crawls the shop on the next day.
    fn crawl(&self) -> Ran {
        self.day.fetch_add(1, Ordering::SeqCst);
        self.run(&["crawl", "crawl.yaml", "--allow-private", "--quiet"])
    }

    fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    }

    /// Returns the columns of a Parquet file, each with its logical type and its values.
    fn parquet(&self, arguments: &[&str]) -> Vec<(String, Option<LogicalType>, Vec<Field>)> {
        let path = self.directory.path().join("rows.parquet");
        let out = File::create(&path).expect("it can be made");
        let mut command = super::command(self.directory.path(), arguments);
        assert!(command.stdout(out).status().expect("it runs").success(), "{arguments:?}");
        columns(&path)
    }
}

fn columns(path: &Path) -> Vec<(String, Option<LogicalType>, Vec<Field>)> {
    let reader = SerializedFileReader::new(File::open(path).expect("it is there")).expect("it is Parquet");
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let rows: Vec<_> = reader.get_row_iter(None).expect("it has rows").map(|row| row.expect("a row")).collect();
    let column = |(at, column): (usize, &Arc<parquet::schema::types::ColumnDescriptor>)| {
        let values = rows.iter().filter_map(|row| row.get_column_iter().nth(at)).map(|(_, field)| field.clone());
        (column.name().to_owned(), column.logical_type_ref().cloned(), values.collect())
    };
    schema.columns().iter().enumerate().map(column).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shop_is_followed_over_a_day_on_which_its_pages_are_broken() {
    let shop = Shop::open().await;
    tokio::task::block_in_place(|| {
        let first = shop.crawl();
        assert_eq!((first.code, first.stderr.as_str()), (Some(0), ""), "a day like any other");
        let broken = shop.crawl();
        assert_eq!(broken.code, Some(3), "pages have no price: {}", broken.stderr);
        let is_told = |what: &str| broken.stderr.lines().any(|line| line.contains(what));
        assert!(is_told("stuck: ") && is_told("Offer.price does not fit `required`"), "{}", broken.stderr);
        assert!(is_told("2 pages stuck: "), "{}", broken.stderr);
        assert_eq!(shop.crawl().code, Some(0), "the next day all is well");

        let database = Connection::open(shop.directory.path().join("dragline-data/dragline.db")).expect("it is there");
        let query = include_str!("../../../docs/guide/shop/prices.sql");
        let mut statement = database.prepare(query).expect("the table of the definition's own type is there");
        let rows = statement.query_map([], |row| Ok((row.get("was")?, row.get("price")?))).expect("it runs");
        let changes: Vec<(f64, f64)> = rows.map(|row| row.expect("two prices")).collect();
        assert_eq!(changes, [(10.0, 12.5), (10.0, 12.5)], "from one good day to the next");

        let of_type = ["export", "--what", "items", "--type", "Offer"];
        let csv = shop.run(&[&of_type[..], &["--format", "csv"]].concat()).stdout;
        let head = csv.lines().next().expect("a head");
        assert_eq!(head, "crawl,iteration,url,at,n,types,item_id,left,name,price,since", "also what no page has today");
        let picked = shop.lines(&[&of_type[..], &["--columns", "left,price"]].concat());
        assert_eq!(picked, [json!({"left": null, "price": 12.5}), json!({"left": null, "price": 12.5})]);
        let parquet = shop.parquet(&[&of_type[..], &["--format", "parquet"]].concat());
        let kinds: Vec<_> = parquet.iter().map(|(name, kind, values)| (name.as_str(), kind, values.first())).collect();
        let is = |name: &str, kind: fn(Option<&LogicalType>) -> bool, value: fn(&Field) -> bool| {
            let (_, of, first) = kinds.iter().find(|(of, ..)| *of == name).expect("the column is there");
            assert!(kind(of.as_ref()) && first.is_some_and(value), "{name}: {of:?} {first:?}");
        };
        is("n", |kind| kind.is_none(), |value| matches!(value, Field::Long(_)));
        is("iteration", |kind| kind.is_none(), |value| matches!(value, Field::Long(_)));
        is("price", |kind| kind.is_none(), |value| matches!(value, Field::Double(_)));
        is("left", |kind| kind.is_none(), |value| matches!(value, Field::Null));
        is("since", |kind| matches!(kind, Some(LogicalType::Date)), |value| matches!(value, Field::Null));
        is(
            "at",
            |kind| matches!(kind, Some(LogicalType::Timestamp(_))),
            |value| matches!(value, Field::TimestampMicros(_)),
        );

        for format in ["jsonl", "csv", "parquet"] {
            let unknown = shop.run(&["export", "--what", "items", "--type", "Ofer", "--format", format]);
            assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""), "{format}");
            assert!(unknown.stderr.contains("no item has the type `Ofer`"), "{format}: {}", unknown.stderr);
            assert!(unknown.stderr.contains("did you mean `Offer`?"), "{format}: {}", unknown.stderr);
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn feeds_are_exported_with_their_entries() {
    let shop = Shop::open().await;
    tokio::task::block_in_place(|| {
        assert_eq!(shop.crawl().code, Some(0));
        let rows = shop.lines(&["export", "--what", "feeds"]);
        let said = |row: &Value| {
            let fields = ["n", "kind", "format", "title", "author", "summary", "published", "categories"];
            json!(fields.map(|field| row[field].clone()))
        };
        assert_eq!(
            rows.iter().map(said).collect::<Vec<_>>(),
            [
                json!([0, "feed", "rss 2.0", "News", null, null, null, null]),
                json!([1, "entry", "rss 2.0", "One & two", "Ann", "First", "2021-03-03T10:00:00+01:00", "[\"x\"]"]),
            ],
            "the last of two types says that it is a feed"
        );
        let of_first = shop.lines(&["export", "--what", "feeds", "--iteration", "1", "--columns", "n,title"]);
        assert_eq!(of_first, [json!({"n": 0, "title": "News"}), json!({"n": 1, "title": "One & two"})]);
        let csv = shop.run(&["export", "--what", "feeds", "--format", "csv", "--columns", "kind,title"]);
        assert_eq!(csv.stdout, "kind,title\nfeed,News\nentry,One & two\n");
        let parquet = shop.parquet(&["export", "--what", "feeds", "--format", "parquet"]);
        let published = parquet.iter().find(|(name, ..)| name == "published").expect("the column is there");
        assert!(matches!(published.1, Some(LogicalType::Timestamp(_))), "{published:?}");
        assert_eq!(published.2, [Field::Null, Field::TimestampMicros(1_614_762_000_000_000)]);
        assert_eq!(parquet.len(), 17);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn formulas_are_written_unchanged_on_request() {
    let site = HostileSite::start(|_| html("<title>=1+1</title><a href=/p>-P</a>")).await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    tokio::task::block_in_place(|| {
        let run = |arguments: &[&str]| dragline(directory.path(), arguments);
        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--quiet", "--max-pages", "1"]);
        let export = |what: &str, column: &str, more: &[&str]| {
            let arguments = ["export", "--what", what, "--format", "csv", "--columns", column];
            run(&[&arguments, more].concat()).stdout
        };
        for (what, column, text) in [("links", "anchor", "-P"), ("pages", "title", "=1+1")] {
            assert_eq!(export(what, column, &[]), format!("{column}\n'{text}\n"));
            assert_eq!(export(what, column, &["--raw"]), format!("{column}\n{text}\n"));
        }
        let refused = run(&["export", "--what", "links", "--raw"]);
        assert!(refused.code == Some(2) && refused.stderr.contains("add `--format csv`"), "{}", refused.stderr);
    });
}
