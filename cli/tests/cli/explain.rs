//! `explain` with a robots.txt from a file, without network access.

use std::fs;
use std::path::Path;

use super::dragline;

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
        (
            &["https://example.org/a.zip", "--spec", "crawl.yaml"],
            1,
            "scope.exclude entry 1",
            "the definition excludes it",
        ),
        (&["https://example.com/", "--spec", "crawl.yaml"], 1, "scope.within (origin)", "another site"),
        (
            &["https://example.org/a?ref=b&utm_source=c", "--spec", "crawl.yaml"],
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
