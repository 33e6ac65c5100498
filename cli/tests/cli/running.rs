//! The output of a crawl while it runs and when it is interrupted.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, links, reply};
use serde_json::Value;

use super::terminal::on_a_terminal;
use super::{Ran, command, dragline};

/// Longer than any step takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a site with a page that links to these targets. Its robots.txt forbids `/forbidden`.
async fn site<const N: usize>(targets: [&'static str; N]) -> HostileSite {
    HostileSite::start(move |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "User-agent: *\nDisallow: /forbidden\n"),
        "/" => html(links(targets)),
        "/missing" => reply(404, &[], ""),
        "/broken" => reply(500, &[], ""),
        "/canonical" => html("<link rel=canonical href=/>"),
        "/hangs" => vec![Step::Hold],
        _ => html("text"),
    })
    .await
}

fn crawl<'a>(seed: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["crawl", seed, "--allow-private", "--data", "data"], more].concat()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a directory")
}

/// Waits until the site got this many requests, robots.txt included.
async fn asked_for(site: &HostileSite, requests: usize) {
    let asked = async {
        while site.targets().len() < requests {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("it is crawled");
}

fn started(directory: &Path, arguments: &[&str]) -> Child {
    let mut command = command(directory, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command was built")
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().expect("it is our child");
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bytes_of_a_download_under_way_move() {
    const SENT: usize = 3_000_000;
    let site = HostileSite::start(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => vec![
            Step::send("HTTP/1.1 200 OK\r\ncontent-type: application/zip\r\ncontent-length: 9000000\r\n\r\n"),
            Step::send(vec![b'x'; SENT]),
            Step::Hold,
        ],
    })
    .await;
    let directory = scratch();
    let mut child = started(directory.path(), &crawl(&site.url("/"), &["--progress", "json"]));
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let bytes = tokio::task::spawn_blocking(move || {
        let events =
            stderr.lines().map(|line| serde_json::from_str::<Value>(&line.expect("it is text")).expect("JSON"));
        let mut bytes =
            events.filter(|event| event["event"] == "progress").filter_map(|event| event["body_bytes"].as_u64());
        bytes.find(|bytes| *bytes >= SENT as u64)
    });
    let bytes = tokio::time::timeout(PATIENCE, bytes).await;
    child.kill().expect("it runs");
    child.wait().expect("it is our child");
    assert_eq!(bytes.expect("the bytes move").expect("no panic"), Some(SENT as u64), "what came so far");
}

fn interrupt(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("a child can be sent a signal");
}

fn status(directory: &Path) -> Value {
    let ran = dragline(directory, &["status", "--json", "--data", "data"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).expect("it is JSON")
}

/// Parses standard error as events, and asserts that it contains nothing else.
fn events(stderr: &str) -> Vec<Value> {
    let events: Vec<Value> = stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    for event in &events {
        let at = event["at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        assert!(event["event"].is_string() && at.is_some(), "{event}");
    }
    events
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_progress_is_nothing_but_events() {
    let site = site(["/a", "/missing", "/broken", "/canonical", "/forbidden"]).await;
    let (seed, directory) = (site.url("/"), scratch());
    let arguments = crawl(&seed, &["--delay", "0s", "--retries", "0", "--progress", "json", "-vv"]);
    let ran = tokio::task::block_in_place(|| dragline(directory.path(), &arguments));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    let events = events(&ran.stderr);

    let mut requested: Vec<_> = of_kind(&events, "request")
        .into_iter()
        .map(|event| (event["url"].as_str().unwrap().replace(&seed, "/"), event["outcome"].as_i64().unwrap()))
        .collect();
    requested.sort();
    let expected = [("/", 20), ("/a", 20), ("/broken", 50), ("/canonical", 20), ("/forbidden", 170), ("/missing", 44)];
    assert_eq!(requested, expected.map(|(path, outcome)| (path.to_owned(), outcome)));
    let read: Vec<_> = of_kind(&events, "read").into_iter().map(|event| (&event["url"], &event["outcome"])).collect();
    assert_eq!(read, [(&Value::from(format!("{seed}canonical")), &Value::from(180))], "the outcome after parsing");
    let progress = of_kind(&events, "progress");
    assert!(progress.iter().all(|event| event["pages"].is_u64() && event["elapsed_ms"].is_u64()), "{progress:?}");
    assert!(!of_kind(&events, "log").is_empty(), "the log consists of events, too");
    let end = events.last().unwrap();
    assert_eq!((&end["event"], &end["ended"], &end["exit_code"]), (&"end".into(), &"over".into(), &1.into()));
    assert_eq!(end["summary"]["pages"], 5, "as the summary counts: {end}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_are_events_too() {
    let directory = scratch();
    let ran = dragline(directory.path(), &["crawl", "--progress", "json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    let [error] = &events(&ran.stderr)[..] else { panic!("one event: {}", ran.stderr) };
    assert_eq!(error["event"], "error");
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("dragline crawl")), "{error}");
}

/// Returns the columns of the line that ends with a URL, if there is one.
fn line_of<'a>(output: &'a str, url: &str) -> Option<Vec<&'a str>> {
    let line = output.lines().map(|line| line.trim_end_matches('\r')).find(|line| line.ends_with(url))?;
    Some(line.split_whitespace().collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verbose_prints_a_line_per_url() {
    let site = site(["/a", "/missing", "/broken", "/forbidden"]).await;
    let seed = site.url("/");
    for (verbose, expects_log) in [("-v", false), ("-vv", true)] {
        let directory = scratch();
        let arguments = crawl(&seed, &["--delay", "0s", verbose]);
        let ran = tokio::task::block_in_place(|| dragline(directory.path(), &arguments));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'), "no colour where nobody sees it: {}", ran.stderr.escape_debug());
        assert_eq!(ran.stderr.contains("DEBUG"), expects_log, "{verbose}: {}", ran.stderr);
        for (path, status, outcome) in [
            ("", "200", "file_ingested"),
            ("a", "200", "file_ingested"),
            ("missing", "404", "file_not_found"),
            ("broken", "500", "server_internal_error"),
            ("forbidden", "-", "blocked_by_robots_txt"),
        ] {
            let columns = line_of(&ran.stderr, &format!("  {seed}{path}"))
                .unwrap_or_else(|| panic!("{path} has a line: {}", ran.stderr));
            assert!(columns.first() == Some(&status) && columns.contains(&outcome), "{path}: {columns:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_are_printed_whole_above_the_live_ones() {
    let site = site(["/a", "/broken", "/b", "/c"]).await;
    let seed = site.url("/");
    let directory = scratch();
    for (verbose, data) in [("-v", "urls"), ("-vv", "engine")] {
        let arguments = ["crawl", &seed, "--allow-private", "--delay", "300ms", verbose, "--data", data];
        let (code, output) = tokio::task::block_in_place(|| on_a_terminal(directory.path(), &arguments));
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains("a request every 300ms"), "the live lines show the delay: {output}");
        for path in ["", "a", "broken", "b", "c"] {
            let line = output.split("\r\n").find(|line| line.ends_with(&format!("  {seed}{path}")));
            assert!(line.is_some(), "{verbose}: {path} has a line of its own: {}", output.escape_debug());
        }
        assert!(output.contains("\u{1b}[31m") || output.contains("\u{1b}[1m\u{1b}[31m"), "failures are coloured");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_reads_a_running_crawl_without_disturbing_it() {
    let site = site(["/a", "/b", "/c", "/d", "/e"]).await;
    let (seed, directory) = (site.url("/"), scratch());
    let child = started(directory.path(), &crawl(&seed, &["--delay", "400ms"]));
    asked_for(&site, 3).await;
    tokio::task::block_in_place(|| {
        let shown = status(directory.path());
        assert_eq!((&shown["is_running"], &shown["status"]), (&true.into(), &"open".into()), "{shown}");
        let pages = shown["pages"].as_u64().unwrap_or_default();
        assert!((1..6).contains(&pages), "the first page is committed at once, and some are still to come: {shown}");
        let text = dragline(directory.path(), &["status", "--data", "data"]).stdout;
        assert!(text.starts_with("A crawl is running here"), "{text}");
        assert!(!text.contains("resume, unless"), "there is nothing to resume: {text}");
        let ended = ended(child);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let shown = status(directory.path());
        assert_eq!((&shown["is_running"], &shown["pages"]), (&false.into(), &6.into()), "{shown}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_summary_after_an_interruption_matches_what_is_stored() {
    let targets = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h", "/i", "/j", "/k", "/l", "/m", "/n", "/o", "/p"];
    let site = site(targets).await;
    let (seed, directory) = (site.url("/"), scratch());
    let child = started(directory.path(), &crawl(&seed, &["--delay", "250ms"]));
    asked_for(&site, 6).await;
    interrupt(&child);
    tokio::task::block_in_place(|| {
        let ended = ended(child);
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        let pages = site.targets().len() - 1;
        assert!(pages < targets.len(), "it stops soon");
        assert!(ended.stderr.contains(&format!("\n{pages} pages, ")), "{pages} were fetched: {}", ended.stderr);
        assert_eq!(status(directory.path())["pages"], pages, "and are stored");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_message_after_a_second_interruption_matches_what_is_stored() {
    let site = site(["/a", "/hangs", "/b"]).await;
    let (seed, directory) = (site.url("/"), scratch());
    let child = started(directory.path(), &crawl(&seed, &["--delay", "0s"]));
    asked_for(&site, 4).await;
    interrupt(&child);
    tokio::time::sleep(Duration::from_millis(500)).await;
    interrupt(&child);
    tokio::task::block_in_place(|| {
        let ended = ended(child);
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        assert!(ended.stderr.contains("\nstopped at once; the results of 1 request are stored\n"), "{}", ended.stderr);
        assert_eq!(status(directory.path())["requests"], 1, "only the first page was committed");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_was_killed_asks_for_a_url_as_its_server_spelled_it() {
    let site = HostileSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => reply(404, &[], ""),
        ("/", _) => reply(302, &["location: /?PHPSESSID=ab12", "set-cookie: sid=secret"], ""),
        // The crawler is killed before it gets an answer.
        (_, 0) => vec![Step::Hold],
        _ if asked.field("cookie") == Some("sid=secret") => html("a page"),
        _ => reply(403, &[], ""),
    })
    .await;
    let (directory, url) = (scratch(), site.url("/"));
    let arguments = crawl(&url, &["--delay", "0s"]);
    let mut child = started(directory.path(), &arguments);
    asked_for(&site, 3).await;
    child.kill().expect("it runs");
    ended(child);
    let resumed = tokio::task::block_in_place(|| dragline(directory.path(), &arguments));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let targets: Vec<_> = site.targets().into_iter().filter(|target| target != "/robots.txt").collect();
    assert_eq!(targets, ["/", "/?PHPSESSID=ab12", "/?PHPSESSID=ab12"], "what was committed is not asked for again");
    let log = tokio::task::block_in_place(|| {
        dragline(directory.path(), &["export", "--what", "log", "--format", "jsonl", "--data", "data"])
    });
    assert!(log.stdout.contains("ab12") && !log.stdout.contains("secret"), "{}", log.stdout);
    assert!(!resumed.stderr.contains("secret"), "{}", resumed.stderr);
}
