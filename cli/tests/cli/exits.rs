//! Exit codes: each reason has its own, and `--json` prints an object for each.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, pipe};
use std::path::Path;
use std::process::{Command, Stdio};

use dragline_testkit::hostile::{HostileSite, html, reply};
use serde_json::Value;

use super::{Ran, command, dragline, ran};

async fn site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html("<a href=/a>a</a>"),
        _ => html("a page"),
    })
    .await
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a directory")
}

fn crawl<'a>(seed: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["crawl", seed, "--allow-private", "--delay", "0s"], more].concat()
}

/// Returns the object that a failed command prints.
#[track_caller]
fn object(ran: &Ran, code: i32) -> Value {
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout));
    assert_eq!(object["exit_code"], code, "{object}");
    assert!(object["error"].is_string() && object["hints"].is_array(), "{object}");
    object
}

/// Takes the lock of the data directory, as a crawling process does.
fn lock(directory: &Path) -> File {
    let data = directory.join("dragline-data");
    fs::create_dir_all(&data).expect("there is room");
    let lock = OpenOptions::new().create(true).append(true).open(data.join("lock")).expect("it is ours");
    lock.try_lock().expect("nobody has it");
    lock
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_in_use_has_its_own_exit_code_and_can_be_waited_for() {
    let (site, directory) = (site().await, scratch());
    let seed = site.url("/");
    tokio::task::block_in_place(|| {
        let made = dragline(directory.path(), &crawl(&seed, &["--quiet"]));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        for arguments in [
            &crawl(&seed, &["--json"])[..],
            &["reparse", "--json"],
            &["reparse", "--all", "--json"],
            &["prune", "--keep", "1", "--json"],
            &["forget", &seed, "--json"],
        ] {
            let lock = lock(directory.path());
            let told = object(&dragline(directory.path(), arguments), 6);
            assert!(told["error"].as_str().unwrap().contains("is in use by another dragline process"), "{told}");
            let waiting = [arguments, &["--wait"]].concat();
            let mut waiting = command(directory.path(), &waiting);
            let mut child =
                waiting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command was built");
            let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
            let first = lines.next().expect("it says that it waits").expect("it prints UTF-8");
            assert!(first.ends_with("is in use by another dragline process; waiting for it to end"), "{first}");
            drop(lock);
            assert!(lines.all(|line| line.is_ok()));
            let ended = child.wait().expect("it is ours");
            // Nothing was due for some of them.
            assert!(matches!(ended.code(), Some(0..=1)), "{arguments:?}: {ended}");
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_stops_at_the_minimum_of_free_space_and_resumes() {
    let (site, directory) = (site().await, scratch());
    let seed = site.url("/");
    tokio::task::block_in_place(|| {
        let stopped = dragline(directory.path(), &crawl(&seed, &["--keep-free", "1000000TiB", "--json"]));
        assert_eq!(stopped.code, Some(8), "{}", stopped.stderr);
        let summary: Value = serde_json::from_str(&stopped.stdout).expect("the summary");
        assert_eq!((&summary["status"], &summary["requests"]), (&"open".into(), &0.into()), "{summary}");
        assert!(stopped.stderr.contains("less than the 976.56 PiB of --keep-free"), "{}", stopped.stderr);
        assert!(
            stopped.stderr.contains("hint: free some disk space; to resume: `dragline crawl"),
            "{}",
            stopped.stderr
        );
        assert_eq!(site.targets(), Vec::<String>::new(), "nothing was requested");
        let resumed = dragline(directory.path(), &["crawl", "--allow-private", "--keep-free", "0B"]);
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert!(resumed.stderr.contains("iteration 1 resumes"), "{}", resumed.stderr);
    });
}

#[test]
fn mistakes_are_reported_as_json_too() {
    let directory = scratch();
    for arguments in [
        &["status", "--json"][..],
        &["crawl", "--json"],
        &["crawl", "example.org", "--json"],
        &["status", "--json", "--iteration", "0"],
        &["forget", "--json"],
    ] {
        object(&dragline(directory.path(), arguments), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_pipe_is_not_an_error_but_a_full_disk_is() {
    let (site, directory) = (site().await, scratch());
    let (seed, page) = (site.url("/"), site.url("/a"));
    tokio::task::block_in_place(|| {
        let made = dragline(directory.path(), &crawl(&seed, &["--quiet"]));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let to = |arguments: &[&str], output: Stdio| {
            let mut command: Command = command(directory.path(), arguments);
            let output =
                command.stdout(output).stderr(Stdio::piped()).spawn().expect("it was built").wait_with_output();
            let output = output.expect("it is ours");
            (output.status.code(), String::from_utf8(output.stderr).expect("it prints UTF-8"))
        };
        ran(&mut command(directory.path(), &["search", "page"]));
        for arguments in [
            &["status"][..],
            &["status", "--json"],
            &["export", "--what", "pages"],
            &["export", "--what", "pages", "--format", "csv"],
            &["export", "--what", "pages", "--format", "parquet"],
            &["export", "--what", "documents"],
            &["export", "--what", "links", "--format", "dot"],
            &["links", &seed],
            &["broken"],
            &["orphans", "--format", "csv"],
            &["duplicates"],
            &["chains"],
            &["search", "page"],
            &["search", "page", "--json"],
            &["words"],
            &["report", "--format", "md"],
            &["schema"],
            &["history", &page],
            &["get", &page],
            &["explain", &page],
            &["explain", "--outcome", "20"],
            &["prune", "--keep", "1", "--dry-run"],
            &["forget", "https://nowhere.example/"],
            &["--help"],
        ] {
            let (reader, writer) = pipe().expect("there is room for a pipe");
            drop(reader);
            let (code, stderr) = to(arguments, writer.into());
            assert!(code.is_some_and(|code| code < 2), "{arguments:?}: {code:?}: {stderr}");
            assert!(!stderr.contains("error"), "{arguments:?}: {stderr}");
        }
        #[cfg(target_os = "linux")]
        for arguments in [
            &["status"][..],
            &["export", "--what", "pages"],
            &["export", "--what", "pages", "--format", "parquet"],
            &["get", &page],
        ] {
            let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
            let (code, stderr) = to(arguments, full.into());
            assert_eq!(code, Some(7), "{arguments:?}: {stderr}");
            assert!(stderr.contains("error: "), "{arguments:?}: {stderr}");
        }
    });
}
