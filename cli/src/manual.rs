//! What is made from the command line's description: completions and manual pages.

use std::io::{self, Write as _};
use std::path::Path;

use clap_complete::Shell;

use crate::args;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::unless_closed;

/// The name of the command.
const NAME: &str = "dragline";

/// Prints the completions of a shell.
///
/// # Errors
/// They cannot be written.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), NAME, &mut script);
    print(&script)
}

/// Prints the way through the commands.
///
/// # Errors
/// It cannot be written.
pub(crate) fn guide() -> Result<Exit, Failure> {
    print(args::GUIDE.as_bytes())
}

fn print(text: &[u8]) -> Result<Exit, Failure> {
    unless_closed(io::stdout().lock().write_all(text)).map_err(while_writing)?;
    Ok(Exit::Done)
}

/// Writes a manual page for each command into a directory.
///
/// # Errors
/// A page cannot be written.
pub(crate) fn write_pages(directory: &Path) -> Result<Exit, Failure> {
    let written =
        std::fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(args::command(), directory));
    let failed = |error| Failure::new(format!("{} cannot be written: {error}", directory.display()));
    written.map_err(failed)?;
    Ok(Exit::Done)
}
