//! `dragline upgrade`: bringing a data directory up to date.

use dragline_local::{LocalStore, OpenError};

use crate::args::UpgradeArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::terminal::Console;

/// Brings a data directory to the newest format, if it has an older one.
///
/// # Errors
/// There is no data directory, it is in use, or it cannot be written.
pub(crate) async fn upgrade(args: &UpgradeArgs, console: &Console) -> Result<Exit, CliError> {
    match LocalStore::open_read_only(&args.data) {
        Ok(_) => console.say(&format!("{} has the newest format already", args.data.display())),
        Err(OpenError::Older { found, known, .. }) => {
            // Whoever opens it for writing brings it up to date.
            drop(args.waiting.open(&args.data, console).await?);
            console.say(&format!("brought {} from format {found} to {known}", args.data.display()));
        }
        Err(other) => return Err(other.into()),
    }
    Ok(Exit::Done)
}
