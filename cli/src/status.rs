//! `dragline status`: how far a crawl is and how it went.

use std::io::{self, Write};

use crate::args::{Answer, StatusArgs, command_to_go_on};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::summary::{self, Summary};
use crate::terminal::Colour;

/// Prints the summary of the latest iteration on standard output.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) fn status(args: &StatusArgs) -> Result<Exit, CliError> {
    let summary = read(args)?;
    match args.answer() {
        Answer::Json => summary.print_json(),
        Answer::Text => {
            let go_on = summary.place.directory().map(command_to_go_on);
            let colour = Colour::of_stream(&io::stdout());
            writeln!(io::stdout().lock(), "{}", summary::text(&summary, go_on.as_deref(), colour))
        }
    }
    .map_err(while_doing("writing to standard output"))?;
    Ok(Exit::Done)
}

/// Reads the summary from where the crawl is.
fn read(args: &StatusArgs) -> Result<Summary, CliError> {
    #[cfg(feature = "stack")]
    if let Some((crawl, stack)) = args.of.deployed()? {
        return crate::block_on(crate::stack::summary(crawl, stack));
    }
    summary::read(&args.of.data.data)
}
