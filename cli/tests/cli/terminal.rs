//! A terminal to run the command on.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::command;

/// Runs the command on a terminal of 100 columns. Returns the exit code and the terminal's output.
pub(crate) fn on_a_terminal(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    on_a_terminal_with(directory, arguments, &[])
}

/// Like [`on_a_terminal`], with environment variables.
pub(crate) fn on_a_terminal_with(
    directory: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there is a free terminal");
    grantpt(&master).expect("it is ours");
    unlockpt(&master).expect("it is ours");
    tcsetwinsize(&master, Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).expect("it has a size");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    let terminal = || OpenOptions::new().read(true).write(true).open(path).expect("it can be opened");
    let mut command = command(directory, arguments);
    let mut child = command
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .stdin(terminal())
        .stdout(terminal())
        .stderr(terminal())
        .spawn()
        .expect("the command was built");
    // Only the child may keep the terminal open, so that reading ends with it.
    drop(command);
    let mut written = Vec::new();
    // Linux reports the closed side as an error.
    let _closed = File::from(master).read_to_end(&mut written);
    let code = child.wait().expect("it is our child").code();
    (code, String::from_utf8_lossy(&written).into_owned())
}
