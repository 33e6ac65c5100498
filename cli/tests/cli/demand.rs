//! URLs on demand, and rebuilt documents.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use serde_json::Value;

use super::{Ran, dragline};

/// Pages with links to `/a` and `/b` that show the requested path.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        target => html(format!("<title>{target}</title>{}", links(["/a", "/b", "/c?utm_source=d"]))),
    })
    .await
}

fn summary(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("an object")
}

fn rows(directory: &Path, what: &str) -> Vec<Value> {
    let ran = dragline(directory, &["export", "--what", what]);
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

const FAST: [&str; 4] = ["--allow-private", "--delay", "0s", "--json"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_urls_in_a_file_are_visited_and_skipped_lines_are_reported() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let list = format!("# mine\n{}\n\nnonsense\n{}\nhttps://example.com/\n", site.url("/x"), site.url("/y"));
    fs::write(directory.path().join("urls.txt"), list).expect("it can be written");
    tokio::task::block_in_place(|| {
        let crawl = |more: &[&str]| dragline(directory.path(), &[&["crawl"], more, &FAST].concat());
        let first = crawl(&[&site.url("/"), "--max-depth", "0"]);
        assert_eq!(summary(&first)["task"], "crawl");
        let demanded = crawl(&["-i", "urls.txt", "--depth", "0"]);
        let result = summary(&demanded);
        assert_eq!((&result["task"], &result["pages"]), (&"demand".into(), &2.into()), "{result}");
        for said in [
            "urls.txt:4: `nonsense` cannot be crawled",
            "urls.txt:6: https://example.com/ is not crawled by",
            "2 URLs queued; 2 left out",
        ] {
            assert!(demanded.stderr.contains(said), "{said}: {}", demanded.stderr);
        }
        assert_eq!(rows(directory.path(), "pages").len(), 3, "beside what was there");
        let missing = crawl(&["-i", "none.txt"]);
        assert_eq!(missing.code, Some(2));
        assert!(missing.stderr.starts_with("error: none.txt cannot be read: "), "{}", missing.stderr);
        let long = "x".repeat(600);
        let refused = crawl(&["-i", "urls.txt", "--pattern", &long]);
        assert!(refused.stderr.contains("at most 500 are allowed"), "{}", refused.stderr);
        let again = summary(&dragline(directory.path(), &["reparse", "--json"]));
        assert_eq!((&again["task"], &again["remade"]), (&"reparse".into(), &3.into()), "{again}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_may_have_more_urls_than_a_definition_has_seeds() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let mut list = String::new();
    for n in 0..10_050 {
        writeln!(list, "{}", site.url(&format!("/page/{n}"))).expect("it is a text");
    }
    fs::write(directory.path().join("urls.txt"), list).expect("it can be written");
    tokio::task::block_in_place(|| {
        let arguments = ["crawl", "-i", "urls.txt", "--depth", "0", "--max-pages", "3"];
        let ran = dragline(directory.path(), &[&arguments[..], &FAST].concat());
        assert!(ran.stderr.contains("10,050 URLs queued\n"), "{}", ran.stderr);
        let result = summary(&ran);
        assert_eq!((&result["pages"], &result["unvisited"]), (&3.into(), &10_047.into()), "{result}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_url_is_found_as_the_crawl_knows_it() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let definition = format!("seeds: [\"{}\"]\nstrip_query_parameters: []\n", site.url("/"));
    fs::write(directory.path().join("crawl.yaml"), definition).expect("it can be written");
    tokio::task::block_in_place(|| {
        summary(&dragline(directory.path(), &[&["crawl", "crawl.yaml"][..], &FAST].concat()));
        let url = site.url("/c?utm_source=d");
        let body = dragline(directory.path(), &["get", &url]);
        assert!(body.stdout.contains("<title>/c?utm_source=d</title>"), "{}{}", body.stdout, body.stderr);
        let more = site.url("/e?utm_source=f");
        let demanded = dragline(directory.path(), &[&["crawl", &more, "--depth", "0"][..], &FAST].concat());
        assert_eq!(summary(&demanded)["pages"], 1);
        assert!(rows(directory.path(), "pages").iter().any(|row| row["url"] == *more), "with its parameter");
        let forgotten = dragline(directory.path(), &["forget", &url]);
        assert!(forgotten.stdout.contains("1 URL forgotten"), "{}{}", forgotten.stdout, forgotten.stderr);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_not_rebuilt_while_a_crawl_is_unfinished() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    tokio::task::block_in_place(|| {
        let seed = site.url("/");
        summary(&dragline(directory.path(), &[&["crawl", &seed][..], &FAST].concat()));
        let database =
            rusqlite::Connection::open(directory.path().join("dragline-data/dragline.db")).expect("it is there");
        database.execute("UPDATE iteration SET status = 'paused', closed_at = NULL", []).expect("it can be written");
        drop(database);
        let refused = dragline(directory.path(), &["reparse"]);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("is not finished\nhint: finish it first: `dragline crawl`"),
            "{}",
            refused.stderr
        );
    });
}
