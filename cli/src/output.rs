//! Files that commands write.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// Makes a temporary file beside another one, to be put in its place when it is whole.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new();
    // As other files: the user's umask decides who may read it.
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    file.prefix(".dragline-").tempfile_in(folder)
}
