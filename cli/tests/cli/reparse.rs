//! Documents rebuilt by a changed definition: current ones and earlier ones.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use serde_json::Value;

use super::{Ran, dragline};

/// A shop of two chairs, whose current prices are in an attribute.
async fn shop(day: Arc<AtomicUsize>) -> HostileSite {
    HostileSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html(format!("<title>Shop</title>{}", links(["/chair/1", "/chair/2"]))),
        chair => {
            let day = day.load(Ordering::Relaxed);
            html(format!("<title>{chair}</title><h1>{chair}</h1><b data-price='{day}.50'></b><p>Sit down.</p>"))
        }
    })
    .await
}

fn write(directory: &Path, site: &HostileSite, fields: &str) {
    let yaml = format!(
        "name: shop\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\nitems:\n  - type: Chair\n    when: {{ path: {{ prefix: /chair/ }} }}\n    fields:\n      {fields}\n",
        site.url("/")
    );
    fs::write(directory.join("crawl.yaml"), yaml).expect("it can be written");
}

const NAME: &str = "name: { css: h1, required: true }";
const BROKEN: &str = "name: { css: h9, required: true }";
const PRICE: &str = "name: { css: h1, required: true }\n      price: { css: b, attribute: data-price, kind: number }";

fn json(ran: &Ran, code: i32) -> Value {
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("an object")
}

fn prices(directory: &Path, more: &[&str]) -> Vec<Value> {
    let ran = dragline(directory, &[&["export", "--what", "items", "--type", "Chair"], more].concat());
    let rows = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    rows.filter(|row| row["url"].as_str().is_some_and(|url| url.ends_with("/chair/1"))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_definition_is_stored_and_applied_to_current_and_past_documents() {
    let (day, directory) = (Arc::new(AtomicUsize::new(1)), tempfile::tempdir().expect("there is room"));
    let (site, directory) = (shop(Arc::clone(&day)).await, directory.path());
    tokio::task::block_in_place(|| {
        let nothing = dragline(directory, &["reparse", "--all"]);
        assert_eq!(nothing.code, Some(2), "nothing was crawled: {}", nothing.stderr);
        for (n, fields) in [(1, NAME), (2, BROKEN), (3, BROKEN)] {
            day.store(n, Ordering::Relaxed);
            write(directory, &site, fields);
            dragline(directory, &["crawl", "crawl.yaml", "--allow-private"]);
        }
        let requests = site.targets().len();
        write(directory, &site, NAME);
        let mended = json(&dragline(directory, &["reparse", "crawl.yaml", "--json"]), 0);
        assert_eq!((&mended["task"], &mended["remade"], &mended["stuck"]), (&"reparse".into(), &3.into(), &0.into()));
        assert_eq!(json(&dragline(directory, &["status", "--json"]), 0)["crawl"], "shop");

        write(directory, &site, PRICE);
        let all = json(&dragline(directory, &["reparse", "crawl.yaml", "--all", "--json"]), 0);
        assert_eq!((&all["kept"], &all["misfits"], &all["crawl"]), (&0.into(), &0.into(), &"shop".into()), "{all}");
        let of = |iteration: &str| prices(directory, &["--iteration", iteration])[0]["price"].clone();
        assert_eq!([of("1"), of("2"), of("3")], [Value::from(1.5), Value::from(2.5), Value::from(3.5)]);
        let diff = dragline(directory, &["diff", "--from", "1", "--to", "2"]).stdout;
        assert_eq!(diff.matches("(items)").count(), 2, "{diff}");
        let again = dragline(directory, &["reparse", "--all"]);
        assert!(again.stdout.contains(" made again, 0 of them with another content"), "{}", again.stdout);
        assert_eq!(site.targets().len(), requests, "nothing was requested");
        dragline(directory, &["crawl", "--allow-private"]);
        let now = prices(directory, &[]);
        assert_eq!(now[0]["price"], 3.5, "the next crawl goes on by the stored definition: {now:?}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_are_reported_before_anything_is_stored() {
    let (site, directory) = (shop(Arc::default()).await, tempfile::tempdir().expect("there is room"));
    let directory = directory.path();
    tokio::task::block_in_place(|| {
        write(directory, &site, NAME);
        for (arguments, says, why) in [
            (&["reparse", "crawl.yaml"][..], "there is nothing to crawl", "it never began"),
            (&["reparse", "none.yaml"], "none.yaml cannot be read", "no such file"),
        ] {
            let ran = dragline(directory, arguments);
            assert_eq!(ran.code, Some(2), "{why}: {}", ran.stderr);
            assert!(!directory.join("dragline-data").exists(), "{why}: {says}: {}", ran.stderr);
        }
        dragline(directory, &["crawl", "crawl.yaml", "--allow-private"]);
        let yaml = fs::read_to_string(directory.join("crawl.yaml")).expect("it is there");
        fs::write(directory.join("other.yaml"), yaml.replace("name: shop", "name: other")).expect("it can be written");
        fs::write(directory.join("wrong.yaml"), yaml.replace("css: h1", "css: '['")).expect("it can be written");
        for (arguments, says, why) in [
            (&["reparse", "other.yaml"][..], "other", "a crawl that the directory does not hold"),
            (&["reparse", "other.yaml", "--all"], "other", "the same"),
            (&["reparse", "wrong.yaml", "--all"], "wrong.yaml:", "not a selector"),
        ] {
            let ran = dragline(directory, arguments);
            assert_eq!(ran.code, Some(2), "{why}: {}", ran.stderr);
            assert!(ran.stderr.contains(says), "{why}: {}", ran.stderr);
        }
    });
}
