//! The command reads the same from a stack as from a data directory with the same crawl.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use dragline_aws_tests::{EmulatedStack, Ran, dragline};
use dragline_domain::definition::{Definition, Draft, Requisites};
use dragline_testkit::site::{Reply, Site};
use dragline_testkit::whole_crawls::{crawl, definition};
use serde_json::Value;

const HTML: &str = "text/html; charset=utf-8";

/// The fields that differ between two crawls of the same site: times, and where captures are
/// stored.
const BY_NATURE: [&str; 15] = [
    "at",
    "duration_ms",
    "first_byte_ms",
    "remote",
    "object",
    "offset",
    "length",
    "first_seen",
    "due_at",
    "last_at",
    "last_contentful_at",
    "interval_ms",
    "last_checked",
    "last_changed",
    "away_since",
];

/// A site with a bit of everything: pages, a redirect, URLs that robots.txt forbids, that are
/// missing or not pages, and canonical links to all of these.
async fn site() -> Site {
    let page = |body: &str| {
        Reply::new(http::StatusCode::OK)
            .header(http::header::CONTENT_TYPE, http::HeaderValue::from_static(HTML))
            .header(http::header::ETAG, http::HeaderValue::from_static("\"1\""))
            .body(body.to_owned())
    };
    let moved = |to| {
        Reply::new(http::StatusCode::MOVED_PERMANENTLY)
            .header(http::header::LOCATION, http::HeaderValue::from_static(to))
    };
    let calls_canonical = |url: &str| page(&format!("<title>Text</title><link rel=canonical href={url}>text of it"));
    Site::builder()
        .robots("User-agent: *\nDisallow: /private/\n")
        .reply(
            "/",
            page(
                "<title>Home, \"quoted\"</title><meta name=description content='=1+1'><a href=/a>a</a><a href=/moved>b</a>\
                 <a href=/private/c>c</a><a href=/private/d>d</a><a href=/missing>e</a><a href=/download.zip>f</a>\
                 <a href=/copy>k</a><a href=/of/missing>l</a><a href=/mutual/1>m</a><a href=/mutual/2>n</a>\
                 <a href=/of/moved>o</a><a href=/of/forbidden>p</a><a href=/of/elsewhere>q</a><a href=/chain>r</a>\
                 <a rel=nofollow href=/g>g</a><a href=https://elsewhere.example/>h</a><img src=/i.png>",
            ),
        )
        .reply("/a", page("<html lang=de><title>A</title><link rel=canonical href=/a>text<br>in lines"))
        .reply("/copy", calls_canonical("/a"))
        .reply("/of/missing", calls_canonical("/missing"))
        .reply("/of/moved", calls_canonical("/moved-home"))
        .reply("/of/forbidden", calls_canonical("/private/c"))
        .reply("/of/elsewhere", calls_canonical("https://elsewhere.example/"))
        .reply("/mutual/1", calls_canonical("/mutual/2"))
        .reply("/mutual/2", calls_canonical("/mutual/1"))
        .reply("/chain", calls_canonical("/of/missing"))
        .reply("/moved-home", moved("/of/moved"))
        .reply("/moved", moved("/b?x=1"))
        .reply("/b?x=1", page("<title>B</title><meta name=robots content=noindex><a href=/forbidden/by/rule>j</a>"))
        .start()
        .await
        .unwrap()
}

/// A crawl of two origins, one request at a time, so that links are found in the same order each
/// time.
fn docs(sites: &[&Site]) -> Definition {
    let seeds: Vec<String> = sites.iter().map(|site| format!("{}/", site.url().trim_end_matches('/'))).collect();
    definition(&seeds, |draft| {
        draft.name = "docs".parse().unwrap();
        draft.politeness.concurrency = 1;
        draft.politeness.delay = Duration::ZERO;
    })
}

/// The rows, sorted, without the fields that always differ.
fn comparable(ran: &Ran) -> BTreeSet<String> {
    let rows = ran.rows();
    let texts: BTreeSet<String> = rows.iter().cloned().map(|row| without(row, &BY_NATURE).to_string()).collect();
    assert_eq!(texts.len(), rows.len(), "no row is repeated");
    texts
}

fn without(mut row: Value, fields: &[&str]) -> Value {
    let object = row.as_object_mut().unwrap();
    for field in fields {
        object.remove(*field);
    }
    row
}

/// A summary, without the fields that always differ.
fn summary(ran: &Ran) -> Value {
    const OF_ONE_ENGINE: [&str; 9] =
        ["started_at", "closed_at", "slowest", "data", "stack", "is_running", "last_commit", "stands_still", "disk"];
    without(ran.rows().remove(0), &OF_ONE_ENGINE)
}

struct Both {
    stack: EmulatedStack,
    data: tempfile::TempDir,
}

impl Both {
    /// Checks that the command gives the same answer for the stack's crawl and the directory's.
    fn ask(&self, arguments: &[&str]) -> (Ran, Ran) {
        let directory: &Path = self.data.path();
        let of_stack = [arguments, &["docs", "--stack", self.stack.name()]].concat();
        let of_data = [arguments, &["--data", "data"]].concat();
        (dragline(directory, &of_stack), dragline(directory, &of_data))
    }

    /// The same for a command that takes the crawl's name by a flag.
    fn ask_by_flags(&self, arguments: &[&str]) -> (Ran, Ran) {
        let directory: &Path = self.data.path();
        let of_stack = [arguments, &["--crawl", "docs", "--stack", self.stack.name()]].concat();
        let of_data = [arguments, &["--crawl", "docs", "--data", "data"]].concat();
        (dragline(directory, &of_stack), dragline(directory, &of_data))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployed_crawl_reads_as_a_local_one_of_the_same_site() {
    let both = Both { stack: EmulatedStack::new().await, data: tempfile::tempdir().unwrap() };
    let (one, other) = (site().await, site().await);
    let definition = docs(&[&one, &other]);
    for _iteration in 1..=2 {
        both.stack.crawl(&definition).await;
        crawl(&both.data.path().join("data"), &definition).await;
    }
    for (what, rows_min) in [("pages", 6), ("links", 20), ("log", 14), ("candidates", 14)] {
        for iteration in [&[][..], &["--iteration", "1"], &["--iteration", "2"]] {
            let (stack, local) = both.ask(&[&["export", "--what", what], iteration].concat());
            let (stack, local) = (comparable(&stack), comparable(&local));
            let missing: Vec<_> = local.difference(&stack).collect();
            let surplus: Vec<_> = stack.difference(&local).collect();
            assert!(
                missing.is_empty() && surplus.is_empty(),
                "{what}: the stack lacks {missing:#?} and adds {surplus:#?}"
            );
            // In the second iteration little has changed.
            let rows_min = if iteration.contains(&"2") { 1 } else { rows_min };
            assert!(local.len() >= rows_min, "{what}: {local:#?}");
        }
        let (stack, local) = both.ask(&["export", "--what", what, "--format", "csv"]);
        let head = |ran: &Ran| ran.stdout.lines().next().unwrap().to_owned();
        assert_eq!(head(&stack), head(&local), "{what}: the same columns in the same order");
    }
    for (path, visits) in [("", 2), ("b?x=1", 2), ("private/c", 2), ("missing", 2)] {
        let url = format!("{}/{path}", one.url().trim_end_matches('/'));
        let (stack, local) = both.ask_by_flags(&["history", &url, "--format", "jsonl"]);
        assert_eq!(stack.rows().len(), visits, "{url}: {}", stack.stdout);
        assert_eq!(comparable(&stack), comparable(&local), "{url}");
    }
    for (question, rows_min) in
        [(&["broken"][..], 2), (&["chains", "--hops", "1"], 2), (&["orphans"], 0), (&["duplicates"], 1)]
    {
        let (stack, local) = both.ask(&[question, &["--format", "jsonl"]].concat());
        assert_eq!((stack.code, comparable(&stack)), (Some(0), comparable(&local)), "{question:?}: {}", stack.stderr);
        assert!(local.rows().len() >= rows_min, "{question:?}: {}", local.stdout);
    }
    let (stack, local) = both.ask(&["report", "--format", "json"]);
    let found = |ran: &Ran| -> BTreeSet<String> {
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let all = report["findings"].as_array().unwrap();
        all.iter().map(|finding| format!("{} {}", finding["id"], finding["count"])).collect()
    };
    assert_eq!((stack.code, found(&stack)), (Some(0), found(&local)), "{}", stack.stderr);
    assert!(found(&local).contains("\"broken\" 6"), "{:?}", found(&local));
    let (stack, local) =
        both.ask_by_flags(&["links", &format!("{}/a", one.url().trim_end_matches('/')), "--format", "jsonl"]);
    assert_eq!(comparable(&stack), comparable(&local));
    assert!(local.rows().len() > 2, "{}", local.stdout);
    // The stack has no index at first: the command makes one. Then it reads the published one,
    // which is where it is.
    for published in [false, true] {
        if published {
            both.stack.publish(&definition.name).await;
        }
        for (query, pages) in
            [("text", 12), ("quoted -lines", 2), ("lang:de", 2), ("title:text anchor:q", 2), ("qouted", 2)]
        {
            let (stack, local) = both.ask_by_flags(&["search", query, "--json"]);
            let found = |ran: &Ran| -> Value {
                let mut found: Value = serde_json::from_str(&ran.stdout).unwrap();
                for hit in found["results"].as_array_mut().unwrap() {
                    *hit = without(hit.take(), &["day"]);
                }
                found
            };
            assert_eq!((stack.code, found(&stack)), (Some(0), found(&local)), "{query}: {}", stack.stderr);
            assert_eq!(found(&local)["total"], pages, "{query}: {}", local.stdout);
        }
        let (stack, local) = both.ask_by_flags(&["words", "--format", "csv"]);
        assert_eq!((stack.code, &stack.stdout), (Some(0), &local.stdout), "{}", stack.stderr);
        let (stack, local) = both.ask_by_flags(&["words", "text", "--all", "--format", "csv"]);
        let places =
            |ran: &Ran| ran.stdout.lines().map(|row| row.split(',').next_back().map(str::to_owned)).collect::<Vec<_>>();
        assert_eq!((stack.code, places(&stack)), (Some(0), places(&local)), "{}", stack.stderr);
        let (stack, local) =
            both.ask_by_flags(&["similar", &format!("{}/a", one.url().trim_end_matches('/')), "--json"]);
        assert_eq!((stack.code, local.code), (Some(0), Some(0)), "{} {}", stack.stderr, local.stderr);
        let cache = both.data.path().join("cache/dragline");
        assert_eq!(cache.join(both.stack.name()).join("search").exists(), !published);
        if cache.exists() {
            std::fs::remove_dir_all(cache).unwrap();
        }
    }
    let (stack, local) = both.ask(&["archive", "-o", "docs.wacz"]);
    let answers = |ran: &Ran| ran.stderr.split_once("iB: ").map(|(_, answers)| answers.to_owned());
    assert_eq!((stack.code, answers(&stack)), (Some(0), answers(&local)), "{} {}", stack.stderr, local.stderr);
    assert!(answers(&local).is_some(), "{}", local.stderr);
    for (path, body) in [("a", "<html lang=de><title>A</title>"), ("moved-home", "")] {
        let url = format!("{}/{path}", one.url().trim_end_matches('/'));
        for more in [&[][..], &["--iteration", "1"], &["--headers"], &["--raw"]] {
            let (stack, local) = both.ask_by_flags(&[&["get", &url], more].concat());
            assert_eq!((stack.code, local.code), (Some(0), Some(0)), "{url} {more:?}: {}", stack.stderr);
            let body_of = |ran: &Ran| ran.stdout.rsplit("\r\n").next().unwrap().to_owned();
            assert!(body_of(&stack).starts_with(body), "{url} {more:?}: {}", stack.stdout);
            assert_eq!((body_of(&stack), &stack.stderr), (body_of(&local), &local.stderr), "{url} {more:?}");
        }
    }
    let unknown = dragline(
        both.data.path(),
        &["history", "https://elsewhere.example/", "--crawl", "docs", "--stack", both.stack.name()],
    );
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    let hint = format!("`dragline export --what candidates docs --stack {}`", both.stack.name());
    assert!(unknown.stderr.contains(&hint), "{}", unknown.stderr);
    let (stack, local) = both.ask(&["status", "--json"]);
    assert_eq!(summary(&stack), summary(&local));
    assert_eq!(stack.rows()[0]["stack"], both.stack.name());
    let (of_stack, of_data) = both.ask(&["status", "--json", "--iteration", "1"]);
    assert_eq!(summary(&of_stack), summary(&of_data), "an earlier iteration, too");
    assert_eq!(of_stack.rows()[0]["iteration"], 1);
    let by_flags = dragline(both.data.path(), &["status", "--json", "--crawl", "docs", "--stack", both.stack.name()]);
    assert_eq!(by_flags.stdout, stack.stdout, "a crawl of a stack can be named by the flag as well");
    let (text, _) = both.ask(&["status"]);
    let again = format!("dragline report docs --stack {} -o report.html", both.stack.name());
    assert!(text.stdout.contains("docs: iteration 2 is over"), "{}", text.stdout);
    assert!(text.stdout.contains(&again), "it says what to do next: {}", text.stdout);
    let (stack, _) = both.ask_by_flags(&["search", "text", "--json"]);
    assert_eq!((stack.code, stack.stderr.as_str()), (Some(0), ""), "the published index is that of the crawl as it is");
    both.stack.crawl(&definition).await;
    let (stack, _) = both.ask_by_flags(&["search", "text", "--json"]);
    assert!(stack.code == Some(0) && stack.stderr.contains("the crawl has gone on since"), "{}", stack.stderr);
}

/// Also in a second iteration, in which what is known says that it is no page of the crawl, and in
/// a third, in which it is no longer asked for.
#[tokio::test(flavor = "multi_thread")]
async fn what_pages_need_is_known_alike() {
    let both = Both { stack: EmulatedStack::new().await, data: tempfile::tempdir().unwrap() };
    let of_type = |kind: &'static str, body: &str| {
        let kind = http::HeaderValue::from_static(kind);
        Reply::new(http::StatusCode::OK).header(http::header::CONTENT_TYPE, kind).body(body.to_owned())
    };
    let cdn = Site::builder()
        .reply("/style.css", of_type("text/css", "@import 'base.css'; p { background: url(p.png) }"))
        .reply("/base.css", of_type("text/css", "@font-face { src: url(f.woff2) }"))
        .reply("/p.png", of_type("image/png", "p"))
        .reply("/f.woff2", of_type("font/woff2", "f"))
        .reply("/page", of_type(HTML, "no page of the crawl"))
        .start()
        .await
        .unwrap();
    let at = cdn.url();
    let home = format!("<link rel=stylesheet href={at}style.css><img src=/favicon.ico><a href={at}page>out</a>");
    // Nothing is missing: when that is due again depends on how long the test takes.
    let own = of_type("image/png", "own");
    let site = Site::builder().reply("/", of_type(HTML, &home)).reply("/favicon.ico", own).start().await.unwrap();
    let with = |requisites| {
        let draft = Draft { requisites, ..Draft::clone(&docs(&[&site])) };
        Definition::new(draft).unwrap()
    };
    let ended = |outcome: &str, ran: &Ran| ran.rows().iter().filter(|row| row["last_outcome_name"] == outcome).count();
    for (iteration, requisites, excluded) in
        [(1, Requisites::Fetch, 0), (2, Requisites::Fetch, 0), (3, Requisites::Ignore, 5)]
    {
        let definition = with(requisites);
        both.stack.crawl(&definition).await;
        crawl(&both.data.path().join("data"), &definition).await;
        for what in ["candidates", "log", "links"] {
            let (stack, local) = both.ask(&["export", "--what", what]);
            assert_eq!(comparable(&stack), comparable(&local), "{what} after iteration {iteration}");
        }
        let (stack, _) = both.ask(&["export", "--what", "candidates"]);
        assert_eq!(stack.rows().len(), 6, "iteration {iteration}: {}", stack.stdout);
        let found = ended("blocked_url_by_local_policy", &stack);
        assert_eq!(found, excluded, "iteration {iteration}: {}", stack.stdout);
    }
    let asked: Vec<String> = cdn.log().into_iter().map(|access| access.target).collect();
    assert!(!asked.contains(&"/page".to_owned()), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn why_nothing_was_got_is_told_alike() {
    let both = Both { stack: EmulatedStack::new().await, data: tempfile::tempdir().unwrap() };
    let broken = Reply::new(http::StatusCode::INTERNAL_SERVER_ERROR);
    let site = Site::builder().reply("/robots.txt", broken).start().await.unwrap();
    let definition = docs(&[&site]);
    both.stack.crawl(&definition).await;
    crawl(&both.data.path().join("data"), &definition).await;
    let (stack, local) = both.ask(&["status", "--json"]);
    assert_eq!(summary(&stack), summary(&local));
    let (stack, local) = both.ask(&["status"]);
    for ran in [&stack, &local] {
        let told = format!("{} (robots.txt answered 500)", site.url());
        assert!(ran.stdout.contains(&told), "the origin, and how its robots.txt failed: {}", ran.stdout);
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_to_do() {
    let stack = EmulatedStack::new().await;
    let untagged = EmulatedStack::without_tags().await;
    let directory = tempfile::tempdir().unwrap();
    let definition = docs(&[&site().await]);
    let put = dragline_ports::frontier::PutCrawl { definition, seen: None, next: None };
    dragline_ports::frontier::Crawls::put_crawl(stack.frontier(), &put).await.unwrap();
    for (crawl, name, said, hint) in [
        ("docs", "t-none", "there is no stack `t-none` in ", "--stack NAME"),
        ("docs", untagged.name(), "does not say where its bucket is", "deploy the stack again"),
        ("news", stack.name(), "there is no crawl `news`", "dragline put crawl.yaml --stack t-"),
        ("docs", stack.name(), "the crawl `docs` has not begun yet", "dragline start docs --stack t-"),
    ] {
        for reader in [&["status"][..], &["export", "--what", "log"]] {
            let ran = dragline(directory.path(), &[reader, &[crawl, "--stack", name]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{reader:?} {crawl} {name}: {}", ran.stderr);
            for text in [said, hint] {
                assert!(ran.stderr.contains(text), "{reader:?} {crawl} {name}: {}", ran.stderr);
            }
        }
    }
    stack.crawl(&docs(&[&site().await])).await;
    let ran =
        dragline(directory.path(), &["export", "--what", "log", "docs", "--iteration", "9", "--stack", stack.name()]);
    assert!(ran.stderr.contains("has no iteration 9; the latest is 1"), "{}", ran.stderr);
}
