//! The built command.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// What a run of the command printed, and how it ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ran {
    /// The rows that it printed, one JSON object per line.
    ///
    /// # Panics
    /// If it failed, or printed something else.
    #[must_use]
    pub fn rows(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs the command in a directory. It is the binary built with the tests, as another build would
/// compile the SDK again.
///
/// # Panics
/// If it is missing, or was built without the feature `stack`.
pub fn dragline(directory: &Path, arguments: &[&str]) -> Ran {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(BINARY.get_or_init(binary));
    // Nothing of a test is left in the user's cache.
    command.env("XDG_CACHE_HOME", directory.join("cache")).env_remove("RUST_LOG");
    let output = command.args(arguments).current_dir(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The binary's path: tests are in `deps`, and binaries one directory up.
fn binary() -> PathBuf {
    let binary = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("dragline");
    let help = Command::new(&binary).args(["start", "--help"]).output();
    assert!(
        help.is_ok_and(|help| help.status.success()),
        "{} was built without the feature `stack`. hint: run make aws",
        binary.display()
    );
    binary
}
