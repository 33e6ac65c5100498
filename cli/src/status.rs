//! `dragline status`: how far a crawl is and how it went.

use std::io::{self, Write};
use std::path::Path;

use dragline_local::LocalStore;
use serde::Serialize;

use crate::args::{Answer, StatusArgs, command_to_resume};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::summary::{self, Summary};
use crate::terminal::{Colour, write_json};

/// The line before the summary of a running crawl.
const RUNNING: &str = "A crawl is running here; the figures cover what it has committed so far.";

/// Whether a process is crawling into a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// A process is.
    GoesOn,
    /// No process is.
    Over,
}

impl Run {
    /// Returns whether the directory is in use. If the system cannot tell, it counts as not in use: the figures are right either way.
    fn of(data: &Path) -> Self {
        if LocalStore::is_in_use(data).unwrap_or(false) { Self::GoesOn } else { Self::Over }
    }

    fn is_going_on(self) -> bool {
        self == Self::GoesOn
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Status<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// `None` for a stack, which runs on its own.
    is_running: Option<bool>,
}

/// Prints the summary of the latest iteration on standard output.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) async fn status(args: &StatusArgs) -> Result<Exit, CliError> {
    let summary = read(args).await?;
    let run = summary.place.directory().map(Run::of);
    match args.answer() {
        Answer::Json => {
            write_json(io::stdout().lock(), &Status { is_running: run.map(Run::is_going_on), summary: &summary })
        }
        Answer::Text => {
            let go_on = summary.place.directory().filter(|_| run == Some(Run::Over)).map(command_to_resume);
            let colour = Colour::of_stream(&io::stdout());
            let mut text = summary::text(&summary, go_on.as_deref(), colour);
            if run == Some(Run::GoesOn) {
                text = format!("{RUNNING}\n{text}");
            }
            writeln!(io::stdout().lock(), "{text}")
        }
    }
    .map_err(while_doing("writing to standard output"))?;
    Ok(Exit::Done)
}

/// Reads the summary from the data directory or the stack.
async fn read(args: &StatusArgs) -> Result<Summary, CliError> {
    #[cfg(feature = "stack")]
    if let Some((crawl, stack)) = args.of.deployed()? {
        return summary::read(&crate::stack::find(crawl, stack).await?).await;
    }
    summary::of_directory(&args.of.data.data).await
}
