//! Opens a data directory that another process may be using.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use dragline_local::{LocalStore, OpenError, Remaining, SystemClock};
use dragline_ports::clock::Clock as _;

use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::Console;

/// How often to check whether the directory is free.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What to do while another process uses the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct WaitArgs {
    /// If another dragline process uses the data directory, wait for it to end
    #[arg(long)]
    wait: bool,
}

impl WaitArgs {
    /// Opens the data directory.
    ///
    /// # Errors
    /// It cannot be opened, or is in use and waiting was not requested.
    pub(crate) async fn open(self, data: &Path, console: &Console) -> Result<LocalStore, Failure> {
        self.when_free(console, || LocalStore::open(data, SystemClock::new().now())).await
    }

    /// Runs an action that needs the data directory for itself.
    ///
    /// # Errors
    /// The action failed, or the directory is in use and waiting was not requested.
    pub(crate) async fn when_free<T>(
        self,
        console: &Console,
        mut open: impl FnMut() -> Result<T, OpenError>,
    ) -> Result<T, Failure> {
        let mut is_told = false;
        loop {
            match open() {
                Err(in_use @ OpenError::InUse(_)) if self.wait => {
                    if !is_told {
                        console.say(&format!("{in_use}; waiting for it to end"));
                        is_told = true;
                    }
                    SystemClock::new().sleep(LOOK_EVERY).await;
                }
                opened => return Ok(opened?),
            }
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = match error {
            OpenError::InUse(_) => Exit::InUse,
            OpenError::Remains { cause: Remaining::DiskFull, .. } => Exit::DiskFull,
            _ => Exit::Error,
        };
        Self { exit, ..Self::from_error(&error).with_hints(error.hint()) }
    }
}
