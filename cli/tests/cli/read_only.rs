//! Reading directories that are not writable: another user's, and copies, with or without the log
//! of a killed crawl.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::{Ran, command, dragline, ran};

/// Longer than the start of a crawl takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The user id of a user who owns nothing.
const NOBODY: u32 = 65_534;

/// A directory that every user can read, with a copy of the command in it.
struct Place {
    directory: tempfile::TempDir,
    command: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("it is ours");
        let command = directory.path().join("dragline");
        // Other users may not be able to read the checkout.
        fs::copy(env!("CARGO_BIN_EXE_dragline"), &command).expect("there is room for the command");
        let place = Self { directory, command };
        fs::create_dir(place.cache()).expect("there is room");
        fs::set_permissions(place.cache(), Permissions::from_mode(0o777)).expect("it is ours");
        place
    }

    /// Returns the cache directory of the reader.
    fn cache(&self) -> PathBuf {
        self.path().join("cache")
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs the command as a user who cannot write here. Root can write everywhere, so it switches
    /// to another user.
    fn reader(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(&self.command);
        command.args(arguments).current_dir(self.path()).env_remove("RUST_LOG").env("XDG_CACHE_HOME", self.cache());
        if fs::metadata(self.path()).expect("it is ours").uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        ran(&mut command)
    }

    /// Reads a data directory with every command, checks that nothing in it changes, and returns
    /// the output of `status --json`.
    #[track_caller]
    fn read(&self, data: &str, why: &str) -> String {
        let directory = self.path().join(data);
        let (names, modes) = (names(&directory), [0o444, 0o555]);
        for name in &names {
            let path = directory.join(name);
            let mode = modes[usize::from(path.is_dir())];
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
        }
        fs::set_permissions(&directory, Permissions::from_mode(0o555)).expect("it is ours");
        let status = self.reader(&["status", "--json", "--data", data]);
        assert_eq!(status.code, Some(0), "{why}: {}", status.stderr);
        for what in ["pages", "links", "log", "candidates"] {
            let export = self.reader(&["export", "--what", what, "--data", data]);
            assert_eq!(export.code, Some(0), "{why}: {what}: {}", export.stderr);
        }
        for question in [&["broken"][..], &["search", "page"], &["report", "--format", "md"]] {
            let answer = self.reader(&[question, &["--data", data]].concat());
            assert_eq!(answer.code, Some(0), "{why}: {question:?}: {}", answer.stderr);
        }
        assert_eq!(self::names(&directory), names, "{why}: no file was added or removed");
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).expect("it is ours");
        status.stdout
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("it can be read").file_name().into_string().expect("ours")).collect();
    names.sort();
    names
}

/// Copies these files of a data directory into a new one.
fn copy(place: &Place, from: &str, to: &str, files: &[&str]) {
    let (from, to) = (place.path().join(from), place.path().join(to));
    fs::create_dir(&to).expect("there is room");
    for file in files {
        fs::copy(from.join(file), to.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

fn requests(status: &str) -> u64 {
    let number = status.split_once("\"requests\":").expect("it is told").1;
    number.split(|c: char| !c.is_ascii_digit()).next().expect("a number").parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_can_be_read_where_nothing_can_be_written() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html("<a href=/a>a</a> <a href=/b>b</a>"),
        _ => html("<p>a page"),
    })
    .await;
    let (seed, place) = (site.url("/"), Place::new());
    tokio::task::block_in_place(|| {
        let whole = dragline(place.path(), &["crawl", &seed, "--allow-private", "--delay", "0s", "--data", "whole"]);
        assert_eq!(whole.code, Some(0), "{}", whole.stderr);
        assert_eq!(names(&place.path().join("whole")), ["dragline.db", "lock", "raw"], "everything is in one file");
        let status = place.read("whole", "a crawl that is over");
        assert_eq!(requests(&status), 3, "{status}");
        copy(&place, "whole", "copied", &["dragline.db"]);
        assert_eq!(requests(&place.read("copied", "a copy of the database alone")), 3);
    });

    let arguments = ["crawl", &seed, "--allow-private", "--delay", "2s", "--data", "killed"];
    let mut crawl = command(place.path(), &arguments);
    let mut killed = crawl.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command was built");
    let asked_before = site.targets().len();
    let began = async {
        // The first page is a segment of its own, and is logged before the second one is requested.
        while site.targets().len() < asked_before + 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, began).await.expect("it begins");
    killed.kill().expect("it works");
    killed.wait().expect("it is ours");
    tokio::task::block_in_place(|| {
        let log = fs::metadata(place.path().join("killed/dragline.db-wal")).expect("it was left");
        assert!(log.len() > 0, "the newest commits are only in the log");
        copy(&place, "killed", "without_index", &["dragline.db", "dragline.db-wal"]);
        copy(&place, "killed", "with_index", &["dragline.db", "dragline.db-wal", "dragline.db-shm"]);
        for data in ["killed", "without_index", "with_index"] {
            let status = place.read(data, data);
            assert!(requests(&status) >= 1, "{data}: the log is read, too: {status}");
            assert!(status.contains("\"status\":\"open\""), "{data}: {status}");
        }
        let copied = dragline(place.path(), &["status", "--data", "without_index"]);
        assert_eq!(copied.code, Some(0), "a user who can write there can read it as well: {}", copied.stderr);
    });
}

/// Returns the files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn derived_files_of_read_only_data_go_to_the_cache_or_the_requested_folder() {
    let site = HostileSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => reply(404, &[], ""),
        ("/", 0) => html("<title>first</title><a href=/a>a</a>"),
        ("/", _) => html("<title>second</title><a href=/a>a</a>"),
        _ => html("<p>a page"),
    })
    .await;
    let (seed, place) = (site.url("/"), Place::new());
    tokio::task::block_in_place(|| {
        for _ in 0..2 {
            let crawl = dragline(place.path(), &["crawl", &seed, "--allow-private", "--delay", "0s", "--data", "data"]);
            assert_eq!(crawl.code, Some(0), "{}", crawl.stderr);
        }
        // A user who could once write there left world-writable folders.
        let (data, asked_for) = (place.path().join("data"), place.path().join("asked-for"));
        let beside = ["graph", "search"].map(|name| data.join(name));
        for folder in beside.iter().chain([&asked_for]) {
            fs::create_dir(folder).expect("there is room");
            fs::set_permissions(folder, Permissions::from_mode(0o777)).expect("it is ours");
        }
        fs::set_permissions(&data, Permissions::from_mode(0o555)).expect("it is ours");
        let questions = [
            &["status"][..],
            &["export", "--what", "pages", "--iteration", "1"],
            &["export", "--what", "links", "--format", "dot"],
            &["report", "--format", "md"],
            &["search", "page"],
            &["broken"],
            &["diff"],
            &["history", &seed],
            &["get", &seed],
        ];
        let ask = |more: &[&str]| {
            for question in questions {
                let answer = place.reader(&[question, &["--data", "data"], more].concat());
                assert_eq!(answer.code, Some(0), "{question:?} {more:?}: {}", answer.stderr);
            }
        };
        ask(&["--cache", "asked-for"]);
        assert_eq!(files(&place.cache()), Vec::<PathBuf>::new(), "all of it is where it was asked for");
        let kept = files(&asked_for);
        let is_kept = |name: &str| kept.iter().any(|path| path.components().any(|part| part.as_os_str() == name));
        assert!(is_kept("graph") && is_kept("search"), "{kept:?}");
        ask(&[]);
        assert!(!files(&place.cache()).is_empty(), "the user's cache");
        fs::set_permissions(&data, Permissions::from_mode(0o755)).expect("it is ours");
        assert_eq!(beside.iter().flat_map(|folder| files(folder)).collect::<Vec<_>>(), Vec::<PathBuf>::new());

        let elsewhere = place.path().join("elsewhere");
        let forgotten = dragline(place.path(), &["forget", &site.url("/a"), "--data", "data", "--cache", "asked-for"]);
        assert_eq!(forgotten.code, Some(0), "{}", forgotten.stderr);
        assert_eq!(files(&asked_for), Vec::<PathBuf>::new(), "what is forgotten is in none of it");
        let broken = dragline(place.path(), &["broken", "--data", "data", "--cache", "elsewhere"]);
        assert_eq!(broken.code, Some(0), "{}", broken.stderr);
        assert!(!files(&elsewhere).is_empty(), "also where something can be written beside the data");
    });
}

#[test]
fn another_format_is_reported_and_left_as_it_is() {
    let place = Place::new();
    let data = place.path().join("other");
    let made = dragline(place.path(), &["crawl", "http://127.0.0.1:1/", "--data", "other"]);
    assert_eq!(made.code, Some(4), "its seed is private: {}", made.stderr);
    let database = data.join("dragline.db");
    let mut bytes = fs::read(&database).expect("it was made");
    for (format, why) in [(15_u32, "from before the first release"), (16, "of a later version")] {
        // The header field of `PRAGMA user_version`: https://www.sqlite.org/fileformat.html,
        // section 1.3.
        bytes[60..64].copy_from_slice(&format.to_be_bytes());
        fs::write(&database, &bytes).expect("it is ours");
        fs::set_permissions(&data, Permissions::from_mode(0o555)).expect("it is ours");
        let read = place.reader(&["status", "--data", "other"]);
        fs::set_permissions(&data, Permissions::from_mode(0o755)).expect("it is ours");
        let written = dragline(place.path(), &["crawl", "http://127.0.0.1:1/", "--data", "other"]);
        for told in [read, written] {
            assert_eq!(told.code, Some(2), "{why}: {}", told.stderr);
            let expected = format!(
                "error: other/dragline.db has format {format}, and this dragline reads format 1\n\
                 hint: crawl anew into another directory (`--data`), or use the version that wrote it\n"
            );
            assert_eq!(told.stderr, expected, "{why}");
        }
        assert_eq!(fs::read(&database).expect("it is there"), bytes, "{why}: not a byte was changed");
    }
}
