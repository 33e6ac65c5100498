//! Usage errors: exit code 2, nothing on standard output, and a hint about what to do.

use std::fs;

use super::{dragline, dragline_alone};

#[test]
fn mistakes_are_reported_on_standard_error() {
    for (arguments, said, why) in [
        (&["crawl", "docs.invalid"][..], "neither a file nor a host that can be found", "no such host (RFC 2606)"),
        (&["crawl", "ftp://example.org/"], "only http and https are crawled", "another protocol"),
        (&["crawl", "https://user:secret@example.org/"], "remove what comes before the `@`", "credentials"),
        (&["crawl", "missing.yaml"], "missing.yaml cannot be read", "no such file"),
        (&["crawl", "https://example.org/", "crawl.yaml"], "hint: add the URLs to its `seeds`", "both"),
        (&["crawl", "https://example.org/", "--delay", "1"], "did you mean `1s`?", "no unit"),
        (&["crawl", "https://example.org/", "--delay", "2h"], "politeness.delay: `2h`", "out of range"),
        (&["crawl", "https://example.org/", "--exclude", "("], "unclosed group", "not a pattern"),
        (
            &["crawl", "https://example.org/", "--exclude", "example"],
            "hint: make the pattern narrower",
            "excludes the seed",
        ),
        (&["crawl", "https://example.org/", "--user-agent", "*"], "begin with a name", "not a user agent"),
        (&["crawl", "https://example.org/", "--ca-file", "none.pem"], "none.pem cannot be read", "no such file"),
        (&["crawl"], "hint: give a URL to start from", "nothing to resume"),
        (&["export"], "--what", "which rows?"),
        (&["export", "--what", "everything"], "possible values: pages, links, log, candidates", "no such rows"),
        (&["export", "--what", "log", "--iteration", "0"], "0 is not in 1", "counted from 1"),
        (&["status", "--iteration", "0"], "0 is not in 1", "counted from 1"),
        (&["status", "--crawl", "No Name"], "is not a valid crawl name", "two words"),
        (&["history"], "<URL>", "which URL?"),
        (&["history", "example.org"], "did you mean `https://example.org/`?", "the scheme is missing"),
        (&["history", "https://user:secret@example.org/"], "remove what comes before the `@`", "credentials"),
        (&["history", "https://example.org/", "--format", "xml"], "possible values: jsonl, csv", "no such format"),
        (&["get"], "<URL>", "which URL?"),
        (&["get", "https://example.org/", "--iteration", "first"], "invalid digit", "not a number"),
        (&["explain"], "<URL>", "which URL?"),
        (&["explain", "https://example.org/", "--robots-file", "none"], "none cannot be read", "no such file"),
        (&["crwal"], "crawl", "a typo"),
        (&["crawl", "--progress", "xml"], "possible values: auto, json", "no such form"),
        (&["crawl", "--progress", "json", "--quiet"], "cannot be used with", "everything and nothing"),
        (
            &["explain", "--outcome", "999"],
            "this is not a known outcome; docs/reference/outcomes.md lists them all",
            "no such number",
        ),
        (&["explain", "--outcome", "robots_txt"], "did you mean blocked_by_robots_txt (170)?", "part of a name"),
        (&["explain", "https://example.org/", "--outcome", "20"], "cannot be used with", "two questions"),
    ] {
        let ran = dragline_alone(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {why}\n{}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{arguments:?}: {why}\n{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{arguments:?}: {why}\n{}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{arguments:?}: credentials are never printed");
    }
}

#[test]
fn mistakes_leave_no_directory_behind() {
    let directory = tempfile::tempdir().unwrap();
    for arguments in [&["crawl"][..], &["crawl", "example.org"], &["status"], &["export", "--what", "log"]] {
        dragline(directory.path(), arguments);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn a_mistake_in_a_definition_is_shown_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let text = "seeds: [https://example.org/]\nbudget:\n  page: 100\n  duration: 5\n";
    fs::write(directory.path().join("crawl.yaml"), text).unwrap();
    let ran = dragline(directory.path(), &["crawl", "crawl.yaml"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr);
}

#[test]
fn credentials_in_a_definition_are_refused_and_not_shown() {
    for (seed, why) in [
        ("https://user:secret@example.org/", "name and password"),
        ("https://secret@example.org/", "a name alone"),
        ("https://:secret@example.org/", "a password alone"),
        ("https://user:secret@exa mple.org/", "in a URL with another mistake"),
        ("https://user:a/secret@example.org/", "with a slash that had to be encoded"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("crawl.yaml"), format!("seeds:\n- {seed}\n")).unwrap();
        let ran = dragline(directory.path(), &["crawl", "crawl.yaml"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{why}: {}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{why}: {}", ran.stderr);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "{why}: nothing was stored");
    }
}

#[test]
fn control_characters_in_arguments_are_escaped() {
    for arguments in [
        &["crawl", "missing\u{1b}[2J.yaml"][..],
        &["explain", "https://exa mple.org/\u{1b}[2J"],
        &["status", "--data", "none\u{1b}[2J"],
    ] {
        let ran = dragline_alone(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(!ran.stderr.contains('\u{1b}'), "{arguments:?}: {}", ran.stderr.escape_debug());
    }
}
