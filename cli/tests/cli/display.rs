//! Output about a site full of terminal escapes: harmless on a terminal, complete as data.

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, links, reply};

use super::terminal::on_a_terminal;
use super::{Ran, dragline};

/// Would rename the window, ring the bell, clear the screen, delete, and reverse the rest. The
/// command itself writes none of these, though it moves the cursor and colours text.
const PAYLOAD: &str = "\u{1b}]0;owned\u{7}\u{9b}2J\u{7f}\u{202e}";

/// The parts of the payload that must not reach a terminal.
const OBEYED: [&str; 5] = ["\u{1b}]", "\u{7}", "\u{9b}", "\u{7f}", "\u{202e}"];

/// Returns a response with this reason phrase and no body.
fn status_line(status: u16, reason: &str) -> Vec<Step> {
    vec![Step::send(format!("HTTP/1.1 {status} {reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"))]
}

fn answer(asked: &Asked) -> Vec<Step> {
    match asked.target.as_str() {
        "/robots.txt" => {
            reply(200, &[], format!("User-agent: *\nDisallow: /forbidden{PAYLOAD}\nDisallow: /forb*n#{PAYLOAD}\n"))
        }
        "/" => {
            let page =
                format!("<title>title {PAYLOAD}</title><meta name=description content=\"{PAYLOAD}\">text {PAYLOAD}");
            let hidden =
                [format!("/link/{PAYLOAD}"), format!("http://host{PAYLOAD}.example/"), format!("javascript:{PAYLOAD}")];
            let shown = ["/reason", "/redirect", "/type", "/forbidden"].map(str::to_owned);
            html(format!("{page}{}", links(shown.into_iter().chain(hidden))))
        }
        "/reason" => status_line(500, PAYLOAD),
        "/redirect" => reply(302, &[&format!("location: /to{PAYLOAD}")], ""),
        "/type" => {
            reply(200, &[&format!("content-type: text/html;{PAYLOAD}"), &format!("etag: \"{PAYLOAD}\"")], PAYLOAD)
        }
        _ => status_line(404, PAYLOAD),
    }
}

#[track_caller]
fn assert_harmless(output: &str, what: &str) {
    for obeyed in OBEYED {
        assert!(!output.contains(obeyed), "{what}: {obeyed:?} in {}", output.escape_debug());
    }
}

fn crawl<'a>(seed: &'a str, data: &'a str) -> Vec<&'a str> {
    vec!["crawl", seed, "--allow-private", "--delay", "0s", "--data", data]
}

/// Every command that shows crawled data.
const LOOKS: [&[&str]; 10] = [
    &["status"],
    &["status", "--json"],
    &["export", "--what", "pages"],
    &["export", "--what", "links"],
    &["export", "--what", "log"],
    &["export", "--what", "candidates"],
    &["export", "--what", "pages", "--format", "csv"],
    &["export", "--what", "links", "--format", "csv"],
    &["export", "--what", "log", "--format", "csv"],
    &["export", "--what", "candidates", "--format", "csv"],
];

fn look<'a>(arguments: &[&'a str], data: &'a str) -> Vec<&'a str> {
    [arguments, &["--data", data]].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn escapes_of_a_site_never_reach_a_terminal() {
    let site = HostileSite::start(answer).await;
    let seed = site.url("/");
    tokio::task::block_in_place(|| no_escape_of(&seed));
    assert!(site.targets().contains(&"/reason".to_owned()), "the site was crawled: {:?}", site.targets());
}

fn no_escape_of(seed: &str) {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let directory = directory.path();
    for (data, more) in [
        ("shown", &[][..]),
        ("urls", &["--verbose"]),
        ("logged", &["-vv"]),
        ("events", &["--progress", "json"]),
        ("json", &["--json", "--quiet"]),
    ] {
        let (code, output) = on_a_terminal(directory, &[&crawl(seed, data)[..], more].concat());
        assert_eq!(code, Some(1), "a page failed: {output}");
        assert_harmless(&output, data);
    }
    for arguments in LOOKS {
        let (code, output) = on_a_terminal(directory, &look(arguments, "shown"));
        assert_eq!(code, Some(0), "{arguments:?}: {output}");
        assert_harmless(&output, &format!("{arguments:?}"));
    }
    for what in [&["--what", "pages"][..], &["--what", "pages", "--format", "csv"]] {
        let (_, output) = on_a_terminal(directory, &look(&[&["export"], what].concat(), "shown"));
        assert!(output.contains("owned"), "the title is shown, made harmless: {output}");
    }
    for path in ["", "reason", "redirect", "type", "forbidden"] {
        let url = format!("{seed}{path}");
        for format in [&[][..], &["--format", "csv"], &["--format", "jsonl"]] {
            let (code, output) = on_a_terminal(directory, &look(&[&["history", &url], format].concat(), "shown"));
            assert_eq!(code, Some(0), "{path} {format:?}: {output}");
            assert_harmless(&output, &format!("history of {path} {format:?}"));
        }
        for more in [&[][..], &["--headers"], &["--raw", "--headers"]] {
            let (code, output) = on_a_terminal(directory, &look(&[&["get", &url], more].concat(), "shown"));
            assert_eq!(
                code,
                Some(if matches!(path, "forbidden" | "reason" | "type") { 2 } else { 0 }),
                "{path} {more:?}: {output}"
            );
            assert_harmless(&output, &format!("get of {path} {more:?}"));
        }
    }
    let forbidden = format!("{seed}forbidden");
    for more in [&[][..], &["--json"]] {
        let arguments = [&["explain", &forbidden, "--allow-private"][..], more].concat();
        let (code, output) = on_a_terminal(directory, &arguments);
        assert!(matches!(code, Some(0 | 1)), "{output}");
        assert_harmless(&output, &format!("{arguments:?}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exports_keep_every_character() {
    let site = HostileSite::start(answer).await;
    let seed = site.url("/");
    let [jsonl, csv] = tokio::task::block_in_place(|| exported(&seed));
    let title = format!("title {PAYLOAD}");
    let page = jsonl
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON"))
        .find(|page| page["url"] == *seed)
        .expect("the seed is among the pages");
    assert_eq!(page["title"], *title, "as JSON lines");
    assert_harmless(&jsonl, "JSON lines are harmless, as JSON can escape these characters");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let titles =
        rows.headers().expect("there is a head").iter().position(|name| name == "title").expect("it names titles");
    let found = rows.records().any(|row| row.expect("each row is CSV").get(titles) == Some(&title));
    assert!(found, "as CSV: {}", csv.escape_debug());
}

/// Exports the pages as JSON lines and as CSV, into pipes. Progress and summary must be harmless
/// there, too.
fn exported(seed: &str) -> [String; 2] {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let Ran { stdout, stderr, .. } = dragline(directory.path(), &crawl(seed, "data"));
    assert_harmless(&format!("{stdout}{stderr}"), "a crawl without a terminal");
    ["jsonl", "csv"].map(|format| {
        let look = look(&["export", "--what", "pages", "--format", format], "data");
        let ran = dragline(directory.path(), &look);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}");
        ran.stdout
    })
}
