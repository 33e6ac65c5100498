//! Why a command failed. Each error becomes a [`Failure`] in the module that raises it; this one
//! knows no command.

use std::error::Error;
use std::io;

use dragline_ports::error::{PortError, PortErrorKind};

use crate::exit::Exit;

/// Why a command failed, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One line or, for definitions, one line per mistake.
    pub(crate) message: String,
    /// How to fix it, the most likely first. Empty if the message is enough.
    pub(crate) hints: Vec<String>,
    pub(crate) exit: Exit,
    /// Whether the reader of standard output closed the pipe.
    pub(crate) is_closed_output: bool,
}

impl Failure {
    /// Returns a failure without hints, and without an exit code of its own.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), exit: Exit::Error, is_closed_output: false }
    }

    /// Returns the failure with the message of an error, which is its cause, too.
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self::new(error.to_string()).caused_by(error)
    }

    /// Adds a hint, which comes after those that it has.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds hints, the most likely first.
    pub(crate) fn with_hints(self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        hints.into_iter().fold(self, Self::with_hint)
    }

    /// Gives it the exit code of its cause, if that has one of its own.
    pub(crate) fn caused_by(self, cause: &(dyn Error + 'static)) -> Self {
        let exit = if causes(cause).any(is_full_disk) { Exit::DiskFull } else { self.exit };
        Self { exit, ..self }
    }

    /// Gives it the cause why standard output cannot be written.
    pub(crate) fn of_output(self, cause: &(dyn Error + 'static)) -> Self {
        let is_closed_output = causes(cause).any(|cause| is_of_kind(cause, &[io::ErrorKind::BrokenPipe]));
        Self { is_closed_output, ..self.caused_by(cause) }
    }

    /// Returns its lines as they are printed.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        let hints = self.hints.iter().map(|hint| format!("\nhint: {hint}"));
        format!("error: {}{}", self.message, hints.collect::<String>())
    }
}

/// Returns an error and its causes, the nearest first.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn is_full_disk(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<PortError>().is_some_and(|error| error.kind == PortErrorKind::Full)
        || is_of_kind(error, &[io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded])
}

fn is_of_kind(error: &(dyn Error + 'static), kinds: &[io::ErrorKind]) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| kinds.contains(&error.kind()))
}

impl From<PortError> for Failure {
    fn from(error: PortError) -> Self {
        let hint = match error.kind {
            PortErrorKind::Full => {
                "free some disk space and run the same command again to resume; everything stored so far is safe"
            }
            PortErrorKind::Unavailable => {
                "close any other program that is writing to the database, and run the same command again to resume"
            }
            PortErrorKind::Refused => {
                "check the disk and who may write to the data directory, and run the same command again to resume"
            }
            PortErrorKind::Corrupt | PortErrorKind::TooLarge | PortErrorKind::Other => return Self::from_error(&error),
        };
        Self::from_error(&error).with_hint(hint)
    }
}

/// Returns a function that turns the error of an action into a failure.
pub(crate) fn while_doing(action: &'static str) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure::new(format!("{action}: {error}")).caused_by(&error)
}

/// Returns the failure to write an answer to standard output.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
pub(crate) fn while_writing(error: io::Error) -> Failure {
    Failure::new(format!("writing to standard output: {error}")).of_output(&error)
}

#[cfg(test)]
mod tests;
