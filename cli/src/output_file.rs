//! Files that commands write.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::Failure;

/// Creates a temporary file beside another, which it replaces when it is complete.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new();
    // As for other files, the user's umask decides who may read it.
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    file.prefix(".dragline-").tempfile_in(folder)
}

/// Returns a function that turns the error of a file into a failure.
pub(crate) fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::new(format!("{} cannot be written: {error}", path.display())).caused_by(&error)
}
