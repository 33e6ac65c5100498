//! Pruning a crawl and forgetting URLs.

use std::fs;
use std::io::Read;
use std::path::Path;

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::{Ran, dragline};

/// A site whose news change at each visit. `/secret` is a page of its own that links to another.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => reply(404, &[], ""),
        ("/", 0..=2) => html(links(["/news", "/secret", "/same"])),
        ("/", _) => html(links(["/news", "/secret", "/same", "/news"])),
        ("/news", n) => html(format!("news of day {n}")),
        ("/secret", n) => html(format!("<p>classified {n}</p>{}", links(["/beyond"]))),
        _ => html("the same"),
    })
    .await
}

fn crawled(directory: &Path, site: &HostileSite, times: usize) {
    for _iteration in 0..times {
        let ran = dragline(
            directory,
            &["crawl", &site.url("/"), "--crawl", "docs", "--allow-private", "--delay", "0s", "--quiet"],
        );
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}

fn answer(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("an object")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_iterations_are_pruned_and_say_so_where_they_are_read() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let (news, same) = (site.url("/news"), site.url("/same"));
    tokio::task::block_in_place(|| {
        let nothing = run(&["prune", "--keep", "1"]);
        assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(2), ""), "there is no crawl");
        crawled(directory.path(), &site, 4);
        let all = run(&["prune", "--keep", "4"]);
        assert_eq!(
            (all.code, all.stdout.as_str()),
            (Some(0), "docs: every iteration is kept, so there is nothing to delete\n")
        );
        let would = answer(&run(&["prune", "--keep", "2", "--dry-run", "--json"]));
        assert_eq!((&would["is_dry_run"], &would["pruned_up_to"]), (&true.into(), &2.into()), "{would}");
        let done = answer(&run(&["prune", "--keep", "2", "--json"]));
        for field in ["visits", "documents", "warc_objects", "warc_bytes", "visits_kept", "iterations"] {
            assert_eq!(done[field], would[field], "{field}: as it was foretold");
            assert!(done[field].as_u64().unwrap() > 0, "{field}: {done}");
        }
        for (arguments, message) in [
            (&["status", "--iteration", "1"][..], "iteration 1 was pruned on "),
            (&["export", "--what", "log", "--iteration", "2"], "iteration 2 was pruned on "),
            (&["export", "--what", "pages", "--iteration", "2"], "iteration 2 was pruned on "),
            (&["get", &news, "--iteration", "2"], "iteration 2 was pruned on "),
            (&["diff", "--from", "1", "--to", "4"], "iteration 2 was pruned on "),
            (&["diff", "--from", "2", "--to", "4", "--what", "links"], "iteration 2 was pruned on "),
        ] {
            let ran = run(arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
            let end = "; what later ones refer to is kept\n";
            assert!(
                ran.stderr.starts_with(&format!("error: the crawl `docs`: {message}")) && ran.stderr.ends_with(end),
                "{}",
                ran.stderr
            );
        }
        for arguments in [
            &["status"][..],
            &["status", "--iteration", "3"],
            &["diff", "--from", "2", "--to", "4"],
            &["diff", "--what", "links"],
            &["export", "--what", "candidates"],
            &["export", "--what", "pages", "--iteration", "3"],
        ] {
            let ran = run(arguments);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        }
        let body = run(&["get", &same, "--iteration", "3"]);
        assert!(body.stdout.contains("the same"), "the body that was fetched in iteration 1: {}", body.stderr);
        let visits = run(&["history", &news]);
        assert!(visits.stderr.starts_with("iterations up to 2 were pruned"), "{}", visits.stderr);
        crawled(directory.path(), &site, 1);
        assert!(run(&["diff"]).stdout.contains("/news"), "the next iteration compares as ever");
    });
}

/// Returns all stored files, with WARC files decoded.
fn stored(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("it can be read").map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files.extend(stored(&path));
            continue;
        }
        let mut bytes = fs::read(&path).expect("it can be read");
        if path.extension().is_some_and(|end| end == "gz") {
            let mut decoded = Vec::new();
            MultiGzDecoder::new(&bytes[..]).read_to_end(&mut decoded).expect("gzip members");
            bytes = decoded;
        }
        files.push((path.display().to_string(), bytes));
    }
    files
}

/// Returns the names of the files that contain a text.
fn with(text: &str, files: &[(String, Vec<u8>)]) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    files.iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_links_to_a_forgotten_url_remain() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let (secret, beyond) = (site.url("/secret"), site.url("/beyond"));
    tokio::task::block_in_place(|| {
        crawled(directory.path(), &site, 3);
        let before = stored(directory.path());
        assert!(with("classified", &before).len() > 3, "in the database and in each WARC file");
        let objects: Vec<_> = before.iter().filter(|(name, _)| name.ends_with(".gz")).collect();
        let lengths = |files: &[(String, Vec<u8>)]| -> Vec<(String, u64)> {
            let gz = files.iter().filter(|(name, _)| name.ends_with(".gz"));
            gz.map(|(name, _)| (name.clone(), fs::metadata(name).unwrap().len())).collect()
        };
        let sizes = lengths(&before);

        let forgotten = run(&["forget", &secret]);
        assert_eq!(
            (forgotten.code, forgotten.stdout.as_str()),
            (Some(0), "docs: 1 URL forgotten, with 3 visits and 3 documents\n"),
            "{}",
            forgotten.stderr
        );
        assert!(
            forgotten.stderr.contains("is found again by the next crawl unless its definition excludes it"),
            "{}",
            forgotten.stderr
        );
        let after = stored(directory.path());
        assert_eq!(lengths(&after), sizes, "each object is as long as before");
        assert_eq!(with("classified", &after), Vec::<String>::new(), "no text of it");
        for (name, bytes) in after.iter().filter(|(name, _)| name.ends_with(".gz")) {
            let text = String::from_utf8_lossy(bytes);
            let named: Vec<&str> = text.lines().filter(|line| line.contains("/secret")).collect();
            assert!(named.iter().all(|line| line.contains("<a href")), "{name}: beyond links: {named:?}");
        }
        assert!(!objects.is_empty());
        let links: Vec<Value> = rows(&run(&["export", "--what", "links"]));
        assert!(links.iter().any(|link| link["to_url"] == secret.as_str()), "the link of another page stays");
        assert!(links.iter().all(|link| link["from_url"] != secret.as_str()), "its own are gone");
        let candidates = rows(&run(&["export", "--what", "candidates"]));
        let found = candidates.iter().find(|row| row["url"] == beyond.as_str()).expect("it stays known");
        assert_eq!(found["via"], Value::Null, "nobody knows where it was found");
        let unknown = run(&["history", &secret]);
        assert_eq!(unknown.code, Some(2), "{}", unknown.stdout);
        for (path, text) in [("/beyond", "the same"), ("/news", "news of day 2")] {
            let body = run(&["get", &site.url(path)]);
            assert!(body.stdout.contains(text), "{path}: {}", body.stderr);
        }

        let again = run(&["forget", &secret]);
        assert_eq!(again.stdout, "docs: nothing is stored of these URLs\n");
        crawled(directory.path(), &site, 1);
        assert!(
            run(&["get", &secret]).stdout.contains("classified 3"),
            "a changed page links to it, so it is found again"
        );
        let where_ = answer(&run(&["forget", "--where", "path: {prefix: /s}", "--json"]));
        assert_eq!((&where_["urls"], where_["documents"].as_u64() > Some(1)), (&2.into(), true), "{where_}");
        assert_eq!(run(&["forget", "--where", "path: {prefix: s}"]).code, Some(2), "no path begins so");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forget_disturbed_by_a_reader_is_completed_by_the_next_try() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        crawled(directory.path(), &site, 1);
        let reader =
            rusqlite::Connection::open(directory.path().join("dragline-data/dragline.db")).expect("it is there");
        reader.execute_batch("BEGIN; SELECT count(*) FROM visit;").expect("it can be read");
        for why in ["forgotten", "forgotten before, and still read"] {
            let told = run(&["forget", &site.url("/secret")]);
            assert_eq!((told.code, told.stdout.as_str()), (Some(2), ""), "{why}: {}", told.stderr);
            assert!(told.stderr.contains("another process is reading it"), "{why}: {}", told.stderr);
            assert!(told.stderr.contains("hint: when nobody reads it any more, run the same command again"), "{why}");
        }
        // Its files are read only afterwards: closing one would release this process's locks on it.
        drop(reader);
        let done = run(&["forget", &site.url("/secret")]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert_eq!(with("classified", &stored(directory.path())), Vec::<String>::new(), "no text of it");
    });
}

/// Returns the total size of all files in a directory, in bytes.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("it can be read").map(Result::unwrap);
    entries
        .map(
            |entry| {
                if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().expect("it is there").len() }
            },
        )
        .sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_counts_every_byte_of_the_directory() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        crawled(directory.path(), &site, 1);
        assert_eq!(run(&["search", "news"]).code, Some(0), "which makes a link graph and a word index");
        let status = answer(&run(&["status", "--json"]));
        let disk = status["disk"].as_object().expect("an object");
        for kind in ["warc_bytes", "documents_bytes", "graph_bytes", "search_bytes"] {
            assert!(disk[kind].as_u64() > Some(0), "{kind}: {status}");
        }
        let told: u64 = disk.values().filter_map(Value::as_u64).sum();
        assert_eq!(told, size(&directory.path().join("dragline-data")), "{status}");
        let at: jiff::Timestamp = status["last_commit"].as_str().expect("it was").parse().expect("an instant");
        let begun: jiff::Timestamp = status["started_at"].as_str().expect("it was").parse().expect("an instant");
        assert!(at >= begun, "{status}");
        assert_eq!(status["stands_still"]["why"], "over", "{status}");
    });
}

fn rows(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}
