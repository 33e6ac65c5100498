//! The built command.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use dragline_end_to_end::dragline::build;
use serde_json::Value;

/// What a run of the command printed, and how it ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ran {
    /// The rows that it printed, a JSON object a line.
    ///
    /// # Panics
    /// It failed, or printed something else.
    #[must_use]
    pub fn rows(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs the command in a directory, with the commands for a stack built in.
///
/// # Panics
/// It cannot be built.
pub fn dragline(directory: &Path, arguments: &[&str]) -> Ran {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(BINARY.get_or_init(|| build("--features=stack")));
    let output = command.args(arguments).current_dir(directory).env_remove("RUST_LOG").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
