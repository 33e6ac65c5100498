//! `dragline status`: how far a crawl is and how it went.

use std::io::{self, Write};
use std::path::Path;

use dragline_local::LocalStore;
use serde::Serialize;

use crate::args::{Answer, StatusArgs, command_to_go_on};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::summary::{self, Summary};
use crate::terminal::{Colour, write_json};

/// What is said where a crawl runs.
const RUNNING: &str = "A crawl is running here; the figures are those of what it has committed.";

/// Whether a process crawls into a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// One does.
    GoesOn,
    /// None does, or none any more.
    Over,
}

impl Run {
    /// Where the system does not say, none does: the figures are good in any case.
    fn of(data: &Path) -> Self {
        if LocalStore::is_in_use(data).unwrap_or(false) { Self::GoesOn } else { Self::Over }
    }

    fn is_going_on(self) -> bool {
        self == Self::GoesOn
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Status<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// Absent for a stack, which works on its own.
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
            let go_on = summary.place.directory().filter(|_| run == Some(Run::Over)).map(command_to_go_on);
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

/// Reads the summary from where the crawl is.
async fn read(args: &StatusArgs) -> Result<Summary, CliError> {
    #[cfg(feature = "stack")]
    if let Some((crawl, stack)) = args.of.deployed()? {
        return summary::read(&crate::stack::find(crawl, stack).await?).await;
    }
    summary::of_directory(&args.of.data.data).await
}
