//! `dragline status`: how far a crawl is and how it went.

use std::env;
use std::io::{self, IsTerminal, Write};

use crate::args::{Answer, StatusArgs, command_to_go_on};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::summary;
use crate::terminal::Colour;

/// Prints the summary of the latest iteration on standard output.
///
/// # Errors
/// There is no data directory, or it cannot be read.
pub(crate) fn status(args: &StatusArgs) -> Result<Exit, CliError> {
    let summary = summary::read(&args.data.data)?;
    match args.answer() {
        Answer::Json => summary.print_json(),
        Answer::Text => {
            let go_on = command_to_go_on(&args.data.data);
            let (no_color, term) = (env::var_os("NO_COLOR"), env::var_os("TERM"));
            let colour = Colour::of(io::stdout().is_terminal(), no_color.as_deref(), term.as_deref());
            writeln!(io::stdout().lock(), "{}", summary::text(&summary, Some(&go_on), colour))
        }
    }
    .map_err(while_doing("writing to standard output"))?;
    Ok(Exit::Done)
}
