//! `explain` with a robots.txt from a file, without network access.

use std::fs;
use std::path::Path;

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::{dragline, dragline_alone};

fn prepared() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let write =
        |name: &str, text: &[u8]| fs::write(directory.path().join(name), text).expect("there is room for a file");
    write("robots.txt", b"User-agent: *\nDisallow: /private/\n\nUser-agent: ShelfBot\nDisallow: /\n");
    write(
        "crawl.yaml",
        b"seeds: [https://example.org/]\nscope:\n  exclude: ['\\.zip$']\nstrip_query_parameters: [ref]\n",
    );
    directory
}

fn explain(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let ran = dragline(directory, &[&["explain", "--robots-file", "robots.txt"], arguments].concat());
    assert_eq!(ran.stderr, "", "{arguments:?}");
    (ran.code, ran.stdout)
}

#[test]
fn the_exit_code_and_the_text_say_the_same() {
    let directory = prepared();
    for (arguments, code, said, why) in [
        (&["https://example.org/a"][..], 0, "would be crawled\n  no rule of robots.txt matches", "nothing blocks it"),
        (&["https://example.org/private/a"], 1, "robots.txt line 2: `Disallow: /private/`", "the site forbids it"),
        (
            &["https://example.org/a", "--user-agent", "ShelfBot/1.0"],
            1,
            "robots.txt line 5: `Disallow: /`",
            "another group",
        ),
        (&["http://127.0.0.1/a"], 1, "because of its private address", "not on the Internet"),
        (
            &["https://example.org/a/b/a/b/a"],
            1,
            "because of its trap limits\n  traps.segment_repeats_max",
            "links of a trap",
        ),
        (&["http://127.0.0.1/a", "--allow-private"], 0, "would be crawled", "allowed by the flag"),
        (&["https://example.org/a.zip", "-f", "crawl.yaml"], 1, "scope.exclude entry 1", "the definition excludes it"),
        (&["https://example.com/", "-f", "crawl.yaml"], 1, "scope.within (site)", "another site"),
        (
            &["https://example.org/a?ref=b&utm_source=c", "-f", "crawl.yaml"],
            0,
            "https://example.org/a?utm_source=c: would be crawled",
            "the definition says what is stripped",
        ),
    ] {
        let (found, text) = explain(directory.path(), arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {why}\n{text}");
        assert!(text.contains(said), "{arguments:?}: {why}\n{text}");
    }
}

#[test]
fn the_answer_as_json() {
    let directory = prepared();
    let (code, text) = explain(directory.path(), &["https://example.org/private/", "--json"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_licence_that_robots_txt_names_is_explained() {
    let terms = r#"<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>
        <prohibits type="usage">ai-train</prohibits></license></content></rsl>"#;
    let site = HostileSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "License: /licence.xml\n"),
        "/licence.xml" => reply(200, &[], terms),
        _ => html("a page"),
    })
    .await;
    let (url, directory) = (site.url("/a"), tempfile::tempdir().expect("there is room for a directory"));
    let of_file = "RSL file: content / (search allowed, ai-input allowed, ai-train reserved)";
    let of_line = "robots.txt: line 1: License: /licence.xml (ai-input reserved, ai-train reserved)";
    tokio::task::block_in_place(|| {
        for (purpose, code, said) in
            [("purpose: ai-train", 1, of_file), ("purpose: ai-input", 0, of_file), ("purpose: archive", 0, of_line)]
        {
            let definition = format!("seeds: ['{url}']\n{purpose}\n");
            fs::write(directory.path().join("crawl.yaml"), definition).expect("there is room for a file");
            let ran = dragline(directory.path(), &["explain", &url, "-f", "crawl.yaml", "--allow-private"]);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "{purpose}: {}", ran.stdout);
            assert!(ran.stdout.contains(said), "{purpose}: {}", ran.stdout);
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_crawl_in_a_data_directory_is_explained() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html("<a href=/a>a</a> <a href=/b>b</a> <a href=/c.zip>c</a>"),
        _ => html("a page"),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let (seed, url) = (site.url("/"), |target: &str| site.url(target));
    let definition = format!(
        "seeds: ['{seed}']\nscope: {{exclude: ['\\.zip$']}}\nbudget: {{pages: 2}}\npoliteness: {{delay: 0s}}\n"
    );
    fs::write(directory.path().join("site.yaml"), definition).expect("there is room for a file");
    tokio::task::block_in_place(|| {
        let crawled = dragline(directory.path(), &["crawl", "site.yaml", "--allow-private", "--quiet"]);
        assert_eq!(crawled.code, Some(0), "{}", crawled.stderr);
        for (target, code, told) in [
            ("/", 0, &["would be crawled", "\n  a seed", "file_ingested, status 200", "due in every iteration"][..]),
            ("/a", 0, &["found 1 link from a seed, on http", "last ended in iteration 1"]),
            (
                "/b",
                0,
                &["left over in iteration 1: the budget of the crawl is spent", "up to 2 pages; the last one spent it"],
            ),
            ("/never", 0, &["it is not known: it is no seed"]),
            ("/c.zip", 1, &["because of its scope", "scope.exclude entry 1"]),
        ] {
            let ran = dragline(directory.path(), &["explain", &url(target)]);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "{target}: {}", ran.stdout);
            for part in told.iter().chain(&["\nin the crawl 127.0.0.1-", "\n  private addresses are allowed\n"]) {
                assert!(ran.stdout.contains(part), "{target}: `{part}` is missing: {}", ran.stdout);
            }
        }
        let json = dragline(directory.path(), &["explain", &url("/b"), "--json"]).stdout;
        assert!(json.contains(r#""standing":{"left_over":"budget_exhausted"}"#), "{json}");
        let fresh = dragline(directory.path(), &["explain", &url("/b"), "-f", "site.yaml"]);
        assert_eq!(fresh.code, Some(1), "a new crawl may not contact it: {}", fresh.stdout);
        assert!(!fresh.stdout.contains("in the crawl"), "{}", fresh.stdout);
        assert_eq!(dragline_alone(&["explain", &url("/b")]).stdout, fresh.stdout, "and so it is elsewhere");
        let nowhere = dragline(directory.path(), &["explain", &url("/b"), "--data", "nowhere"]);
        assert_eq!(nowhere.code, Some(2), "it was named, and is not there: {}", nowhere.stdout);
    });
}
