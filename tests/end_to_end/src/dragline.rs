//! The built `dragline` command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use dragline_testkit::site::Site;
use serde::Deserialize;
use tokio::process::Child;

use crate::checkout::{root, succeed};
use crate::crawl_log::{self, Entry};

/// The variable that names a `dragline` to test, in place of this checkout's build.
const VARIABLE: &str = "DRAGLINE_BIN";

/// How long tests wait for a crawl. Far longer than any takes; it prevents hangs.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The result of a crawl's process.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard error, for the message of a failed test.
    pub stderr: String,
}

/// The path of the command.
///
/// It is the binary built with the tests, whose performance-critical parts are optimised, too.
/// Cargo is asked for it, so that it is never outdated; after `make build` there is nothing to
/// compile.
///
/// # Panics
/// If it cannot be built.
#[must_use]
pub fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os(VARIABLE).map_or_else(build, PathBuf::from)).clone()
}

fn build() -> PathBuf {
    #[derive(Deserialize)]
    struct Message {
        reason: String,
        executable: Option<PathBuf>,
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        // The Makefile's packages, features and kinds of targets: with others, Cargo would compile
        // the dependencies again.
        .args(["build", "--workspace", "--all-features", "--bin=dragline", "--examples", "--message-format=json"])
        .current_dir(root());
    // Test runners set these for the test's package; build scripts that depend on them would run
    // again, and all that depends on those.
    let described = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(described) {
        cargo.env_remove(name);
    }
    let output = succeed(cargo, "building dragline");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let messages = stdout.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let artifacts = messages.filter(|message| message.reason == "compiler-artifact");
    let mut executables = artifacts.filter_map(|artifact| artifact.executable);
    let is_it = |file: &PathBuf| file.file_stem().is_some_and(|name| name == "dragline");
    executables.find(is_it).expect("cargo names the executable that it was asked to build")
}

/// A crawl of some sites into one data directory, which can be run several times.
#[derive(Clone, Debug)]
pub struct Crawl {
    data: PathBuf,
    arguments: Vec<String>,
}

impl Crawl {
    /// Makes a crawl from these URLs with these extra arguments; loopback is allowed.
    #[must_use]
    pub fn new(data: &Path, seeds: &[&str], arguments: &[&str]) -> Self {
        let arguments = seeds.iter().chain(arguments).map(|&argument| argument.to_owned()).collect();
        Self { data: data.to_owned(), arguments }
    }

    /// Its data directory.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Starts or resumes it. The process is killed when its handle is dropped.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start(&self) -> Child {
        let mut command = tokio::process::Command::new(binary());
        command.arg("crawl").args(&self.arguments).arg("--data").arg(&self.data).args(["--allow-private", "--quiet"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        command.spawn().unwrap_or_else(|error| panic!("{}: {error}", binary().display()))
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// If it does not end within [`PATIENCE`].
    pub async fn run(&self) -> Ended {
        wait(self.start()).await
    }

    /// Exports its log, even after the crawl was killed.
    ///
    /// # Panics
    /// If the export fails.
    #[must_use]
    pub fn log(&self) -> Vec<Entry> {
        crawl_log::parse(&self.export("log"))
    }

    /// Exports every page of its first iteration by URL, without the fields that vary: when and how
    /// it was fetched, and where it is stored.
    ///
    /// # Panics
    /// If the export fails.
    #[must_use]
    pub fn pages(&self) -> BTreeMap<String, serde_json::Value> {
        let exported = self.export("pages");
        let mut pages = BTreeMap::new();
        for line in exported.lines() {
            let mut page: serde_json::Map<_, _> = serde_json::from_str(line).expect("a page is an object");
            assert_eq!(page["iteration"], 1, "there is no other");
            for field in ["at", "depth", "object", "offset", "length", "first_seen", "last_checked", "last_changed"] {
                page.remove(field).unwrap_or_else(|| panic!("a page has a field {field}"));
            }
            let url = page["url"].as_str().expect("a URL is text").to_owned();
            assert_eq!(pages.insert(url, page.into()), None, "a page is exported once: {line}");
        }
        pages
    }

    /// Returns the body of a URL as it was in an iteration.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn body(&self, url: &str, iteration: u32) -> Vec<u8> {
        let mut command = Command::new(binary());
        command.args(["get", url, "--iteration", &iteration.to_string(), "--data"]).arg(&self.data);
        succeed(command, "dragline get").stdout
    }

    /// Runs another command on the data directory, and returns what it prints.
    ///
    /// # Panics
    /// If it fails.
    #[must_use]
    pub fn ask(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.ask_for_bytes(arguments)).expect("it prints UTF-8")
    }

    /// The same for what is no text.
    ///
    /// # Panics
    /// If it fails.
    #[must_use]
    pub fn ask_for_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = Command::new(binary());
        command.args(arguments).arg("--data").arg(&self.data);
        let Output { stdout, .. } = succeed(command, &format!("dragline {}", arguments[0]));
        stdout
    }

    fn export(&self, what: &str) -> String {
        self.ask(&["export", "--what", what, "--format", "jsonl"])
    }
}

/// Waits until a running crawl has sent this many requests to a site, over all its runs.
///
/// # Panics
/// If it ends before, or takes longer than [`PATIENCE`].
pub async fn reach(crawl: &mut Child, site: &Site, requests: usize) {
    tokio::select! {
        () = site.reached(requests) => {}
        ended = crawl.wait() => panic!("the crawl ended before request {requests}: {ended:?}"),
        () = tokio::time::sleep(PATIENCE) => panic!("the crawl did not reach request {requests} in {PATIENCE:?}"),
    }
}

/// Waits for a crawl's end.
///
/// # Panics
/// If it does not end within [`PATIENCE`].
pub async fn wait(crawl: Child) -> Ended {
    let output = tokio::time::timeout(PATIENCE, crawl.wait_with_output()).await;
    let output = output.unwrap_or_else(|_| panic!("the crawl did not end in {PATIENCE:?}"));
    let output = output.expect("a child's output can be read");
    Ended { code: output.status.code(), stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
}

/// Sends the signal that Ctrl-C sends.
///
/// # Panics
/// If the process has already ended.
pub fn interrupt(crawl: &Child) {
    let id = crawl.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    let id = id.expect("a child that was not waited for has an id");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("a child can be sent a signal");
}
