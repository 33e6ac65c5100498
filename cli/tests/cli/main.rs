//! Tests of the built `dragline` command: usage errors, help, and output about hostile servers on
//! this machine.

mod access;
mod archive;
mod collector;
mod colour;
mod dead_seeds;
mod definition;
mod demand;
mod diff;
mod display;
#[cfg(all(unix, feature = "stack"))]
mod examples;
mod exits;
mod explain;
mod exported;
mod get;
mod graph;
mod help;
mod history;
mod import;
mod init;
mod iterations;
#[cfg(target_os = "linux")]
mod large;
mod live;
mod log_in;
mod nothing_got;
mod nothing_there;
mod notify;
mod order;
mod outcomes;
mod overrule;
mod private;
#[cfg(unix)]
mod read_only;
mod reparse;
mod retention;
mod running;
mod search;
mod serve;
mod several;
#[cfg(unix)]
mod sink;
mod site_report;
#[cfg(feature = "stack")]
mod stack;
mod telemetry;
mod terminal;
mod usage;

use std::path::Path;
use std::process::Command;

/// The output and the exit code of a run.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Returns the command, set up to run in a directory.
fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragline"));
    command.args(arguments).current_dir(directory).env_remove("RUST_LOG").env_remove("NO_COLOR");
    command.env_remove("DRAGLINE_DATA").env("COLUMNS", "100");
    command
}

/// Writes a file with a secret, which its owner alone can read.
fn write_secret(path: &Path, secret: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, secret).expect("there is room");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
}

/// Runs the command in a directory.
fn dragline(directory: &Path, arguments: &[&str]) -> Ran {
    ran(&mut command(directory, arguments))
}

/// Runs a command.
fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("the command was built");
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs the command in an empty directory.
fn dragline_alone(arguments: &[&str]) -> Ran {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    dragline(directory.path(), arguments)
}
