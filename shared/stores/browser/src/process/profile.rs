//! The directories in which browsers keep what they store.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

/// What the names of these directories begin with.
const PREFIX: &str = "dragline-browser-";

/// The file that is locked while a directory is in use, however its process ends.
const LOCK: &str = "dragline.lock";

/// The browser's own directory in it, which is removed first.
const STORED: &str = "profile";

/// A directory for one browser. Dropping it removes it, or else leaves that to the next process.
#[derive(Debug)]
pub(super) struct Profile {
    directory: TempDir,
    stored: PathBuf,
    _lock: File,
}

impl Profile {
    /// Makes an empty one, which nobody else may read.
    pub(super) fn create() -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        let directory = Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = File::create_new(directory.path().join(LOCK))?;
        lock.try_lock()?;
        let stored = directory.path().join(STORED);
        fs::create_dir(&stored)?;
        Ok(Self { directory, stored, _lock: lock })
    }

    /// Returns the path for the browser.
    pub(super) fn path(&self) -> &Path {
        &self.stored
    }

    /// Removes what the browser stored, which fails while a process of it still writes.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.stored) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // With its lock, which nobody holds then, it counts as abandoned.
        self.directory.disable_cleanup(self.clear().is_err());
    }
}

/// Removes the directories of processes that were killed before they could.
pub(super) fn remove_abandoned() {
    remove_abandoned_in(&std::env::temp_dir());
}

/// What cannot be read or removed is left to others.
fn remove_abandoned_in(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_ours(&entry.file_name()) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_uses_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let used = Profile::create_in(parent.path()).unwrap();
        let path = used.path().to_owned();
        let abandoned = parent.path().join(format!("{PREFIX}killed"));
        let others = parent.path().join("other");
        let beginning = parent.path().join(format!("{PREFIX}beginning"));
        for directory in [&abandoned, &others] {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join(LOCK), "").unwrap();
        }
        fs::create_dir(&beginning).unwrap();
        remove_abandoned_in(parent.path());
        assert!(!abandoned.exists(), "its process is gone");
        assert!(path.exists(), "it is in use");
        assert!(others.exists(), "it is not ours");
        assert!(beginning.exists(), "its process is about to lock it");
        drop(used);
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }
}
