//! How the command exits with an error.

use std::error::Error;
use std::io;

use dragline_local::{OpenError, Remaining};
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_search::SearchError;

use super::CliError;
use crate::exit::Exit;
use crate::export::ExportError;

/// The action that error messages name when writing an answer fails.
pub(crate) const WRITING: &str = "writing to standard output";

impl CliError {
    /// Returns the exit code for this error.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Open(OpenError::InUse(_)) | Self::Index(SearchError::Busy { .. }) => Exit::InUse,
            Self::Open(OpenError::Remains { cause: Remaining::DiskFull, .. }) => Exit::DiskFull,
            error if causes(error).any(is_full_disk) => Exit::DiskFull,
            _ => Exit::Error,
        }
    }

    /// Returns whether the reader of standard output closed the pipe.
    pub(crate) fn is_closed_output(&self) -> bool {
        let is_of_output = matches!(self, Self::System { doing: WRITING, .. } | Self::Export(ExportError::Parquet(_)));
        is_of_output && causes(self).any(|cause| is_of_kind(cause, &[io::ErrorKind::BrokenPipe]))
    }
}

/// Returns the causes of an error, the nearest first.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

fn is_full_disk(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<PortError>().is_some_and(|error| error.kind == PortErrorKind::Full)
        || is_of_kind(error, &[io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded])
}

fn is_of_kind(error: &(dyn Error + 'static), kinds: &[io::ErrorKind]) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| kinds.contains(&error.kind()))
}
