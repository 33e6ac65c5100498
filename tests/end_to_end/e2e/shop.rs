//! Prices followed on a shop, with the definition and the query that docs/guide/shop.md shows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dragline_end_to_end::checkout::root;
use dragline_end_to_end::dragline::{Crawl, binary};
use rusqlite::Connection;

use crate::witness::assert_done;

/// The shop on one of its days, which ends with the test.
struct Shop {
    server: Child,
    url: String,
}

impl Shop {
    fn open(day: u32, port: &str) -> Self {
        let mut server = Command::new("python3")
            .arg(root().join("docs/guide/shop/serve.py"))
            .args([&day.to_string(), port])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut url = String::new();
        BufReader::new(server.stdout.take().expect("it was piped")).read_line(&mut url).expect("it says where it is");
        Self { server, url: url.trim().to_owned() }
    }

    fn port(&self) -> &str {
        self.url.trim_end_matches('/').rsplit(':').next().expect("a port")
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn sql(data: &Path, sql: &str) -> Vec<String> {
    let database = Connection::open(data.join("dragline.db")).expect("it is a database");
    let mut statement = database.prepare(sql).expect("it is a query");
    let rows = statement.query_map([], |row| {
        let (name, was, price): (String, f64, f64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("{name}: {was} {price}"))
    });
    rows.expect("it runs").map(|row| row.expect("a name and two prices")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prices_are_followed_as_the_guide_says() {
    let scratch = tempfile::tempdir().unwrap();
    let (read, data) = (|file: &str| std::fs::read_to_string(root().join(file)).unwrap(), scratch.path().join("data"));
    let (page, yaml, query) =
        (read("docs/guide/shop.md"), read("docs/guide/shop/crawl.yaml"), read("docs/guide/shop/prices.sql"));
    assert!(page.contains(&yaml), "the guide shows docs/guide/shop/crawl.yaml");
    assert!(page.contains(query.split_once('\n').unwrap().1), "and the query of docs/guide/shop/prices.sql");

    let shop = Shop::open(1, "0");
    let port = shop.port().to_owned();
    let definition = scratch.path().join("crawl.yaml");
    let yaml = yaml.replace(":8080/", &format!(":{port}/")).replace("100ms", "0s");
    std::fs::write(&definition, yaml).unwrap();
    let crawl = Crawl::new(&data, &[definition.to_str().unwrap()], &[]);
    assert_done(&crawl.run().await);
    drop(shop);
    let _shop = Shop::open(2, &port);
    assert_done(&crawl.run().await);

    let changed = sql(&data, &query);
    assert_eq!(changed.len(), 14, "every third product: {changed:?}");
    assert!(changed.contains(&"Chair of oak: 22.4 24.9".to_owned()), "{changed:?}");

    let export = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.args(["export", "--what", "items", "--data"]).arg(&data).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let csv = String::from_utf8(export(&["--type", "Product", "--format", "csv"])).unwrap();
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let price = rows.headers().unwrap().iter().position(|head| head == "price").unwrap();
    let prices: Vec<f64> = rows.records().map(|row| row.unwrap()[price].parse().unwrap()).collect();
    assert_eq!(prices.len(), 40);
    let is_there = |wanted: f64| prices.iter().any(|price| (price - wanted).abs() < 0.001);
    assert!(is_there(24.9) && !is_there(22.4), "the prices of today: {prices:?}");
    let of_two =
        String::from_utf8(export(&["--type", "Product", "--columns", "price,url", "--format", "csv"])).unwrap();
    let mut two = csv::Reader::from_reader(of_two.as_bytes());
    assert_eq!(two.headers().unwrap(), vec!["price", "url"]);
    let mut all = csv::Reader::from_reader(csv.as_bytes());
    let url = all.headers().unwrap().iter().position(|head| head == "url").unwrap();
    let rows = |reader: &mut csv::Reader<&[u8]>, [first, second]: [usize; 2]| -> Vec<[String; 2]> {
        let row = |row: csv::StringRecord| [row[first].to_owned(), row[second].to_owned()];
        reader.records().map(|record| row(record.unwrap())).collect()
    };
    assert_eq!(rows(&mut two, [0, 1]), rows(&mut all, [price, url]));
    let line = String::from_utf8(export(&["--type", "Product", "--columns", "price,url"])).unwrap();
    assert!(line.starts_with("{\"price\":") && line.lines().count() == 40, "{line}");
    let parquet = export(&["--type", "Product", "--format", "parquet"]);
    let narrow = export(&["--type", "Product", "--columns", "price,url", "--format", "parquet"]);
    assert!(narrow.starts_with(b"PAR1") && narrow.len() < parquet.len(), "{} bytes", narrow.len());
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"), "{} bytes", parquet.len());
    let lines = String::from_utf8(export(&["--iteration", "1"])).unwrap();
    assert_eq!(lines.lines().count(), 80, "products and offers of the first day");
}
