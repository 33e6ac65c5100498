//! The order of exported rows does not depend on the number of simultaneous requests and sites.

use std::fs;

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::{command, dragline};

/// A site whose pages link to each other in no useful order, and to another site.
async fn site(other: String) -> HostileSite {
    HostileSite::start(move |asked| match asked.target.as_str() {
        "/" => html(format!("<title>/</title><a href=/z>z</a><a href=/b>b</a><a href=/m>m</a><a href='{other}'>other</a>")),
        "/z" => html("<title>/z</title><a href=/k>k</a><a href=/a>a</a><a href=/none>none</a>"),
        path @ ("/b" | "/m" | "/k" | "/a" | "/y") => html(format!(
            "<title>{path}</title><article itemscope itemtype=https://schema.org/Product><b itemprop=name>{path}</b>\
             <h2>About {path}</h2><p>What is said of {path} here is long enough, with all these words, to be the main part of a page.</p></article>\
             <a href=/y>y</a><a href=/z>z</a>"
        )),
        _ => reply(404, &[], ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exports_do_not_depend_on_concurrency() {
    let second = site("/y".to_owned()).await;
    let first = site(second.url("/")).await;
    let directory = tempfile::tempdir().expect("there is room");
    tokio::task::block_in_place(|| {
        let run = |arguments: &[&str]| dragline(directory.path(), arguments);
        for (data, concurrency, origins) in [("one", 1, "1"), ("many", 4, "8")] {
            let yaml = format!(
                "name: docs\nseeds: ['{}', '{}']\ncontent: full\npoliteness: {{ delay: 0s, concurrency: {concurrency} }}\n",
                second.url("/"),
                first.url("/")
            );
            fs::write(directory.path().join("crawl.yaml"), yaml).expect("there is room");
            for _ in 0..2 {
                let crawl =
                    run(&["crawl", "crawl.yaml", "--data", data, "--allow-private", "--quiet", "--origins", origins]);
                assert_eq!(crawl.code, Some(0), "{}", crawl.stderr);
            }
        }
        let mut urls = 0;
        // Columns that depend on when and where something was fetched are left out.
        for (what, columns, columns_then, key) in [
            ("pages", "url,title,text,last_outcome_name", "url,outcome_name,title,text", "url"),
            ("links", "", "", "from_url"),
            ("log", "url,outcome_name,tries,change", "url,outcome_name,tries,change", "url"),
            ("candidates", "url,last_outcome_name,standing", "url,last_outcome_name,standing", "url"),
            ("items", "url,types,name", "url,types,name", "url"),
            ("chunks", "url,text", "url,text", "url"),
        ] {
            for more in [&[][..], &["--iteration", "1"], &["--iteration", "2"]] {
                // The second run stored no document, as nothing had changed.
                if matches!(what, "chunks" | "items") && more.contains(&"2") {
                    continue;
                }
                let formats: &[&str] = match (what, more) {
                    ("links", []) => &["jsonl", "csv", "parquet", "graphml", "dot"],
                    _ => &["jsonl", "csv", "parquet"],
                };
                for format in formats {
                    let is_graph = matches!(*format, "graphml" | "dot");
                    let export = |data: &str| {
                        let mut arguments = vec!["export", "--what", what, "--data", data, "--format", format];
                        arguments.extend(more);
                        let columns = if more.is_empty() { columns } else { columns_then };
                        if !columns.is_empty() && !is_graph {
                            arguments.extend(["--columns", columns]);
                        }
                        if what == "items" {
                            arguments.extend(["--type", "Product"]);
                        }
                        let ran = command(directory.path(), &arguments).output().expect("it runs");
                        let stderr = String::from_utf8_lossy(&ran.stderr);
                        assert!(ran.status.success() && !ran.stdout.is_empty(), "{arguments:?}: {stderr}");
                        ran.stdout
                    };
                    let (one, many) = (export("one"), export("many"));
                    assert!(one == many, "{what} {more:?} as {format}");
                    if *format == "jsonl" {
                        let rows = String::from_utf8(one).expect("it is text");
                        let rows =
                            rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
                        let keys: Vec<String> = rows.map(|row| row[key].as_str().expect("a URL").to_owned()).collect();
                        assert!(keys.is_sorted(), "{what} {more:?}: {keys:?}");
                        urls += keys.len();
                    }
                }
            }
        }
        assert!(urls > 100, "what was compared: {urls}");
    });
}
