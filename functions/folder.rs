//! The folders of processes on a disk that they may share.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns this process's own folder, as processes may share a disk: on an emulator at the same
/// time, on Lambda one after another. Folders of dead processes of the function (for example, out
/// of memory) are deleted to free space.
pub(crate) fn process_folder(function: &str) -> PathBuf {
    let prefix = format!("dragline-{function}-");
    let shared = env::temp_dir();
    for other in fs::read_dir(&shared).into_iter().flatten().flatten() {
        let id = other.file_name().to_str().and_then(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        if id.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            // Another process may delete it at the same time.
            _ = fs::remove_dir_all(other.path());
        }
    }
    shared.join(format!("{prefix}{}", std::process::id()))
}
