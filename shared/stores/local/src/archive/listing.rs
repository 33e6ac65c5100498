//! Listing files in the order of their keys.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::files::patiently;

/// The maximum depth of directories: a key has at most 1,024 characters, and ours have five parts.
const DEPTH_MAX: usize = 32;

/// Lists the paths below `root`, `/`-separated, of files that start with `prefix`, come after
/// `after` and pass the filter; in byte order, at most `limit`.
pub(crate) fn list_files(
    root: &Path,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
    pleases: impl Fn(&str) -> bool,
) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    // The directories and files still to visit, the next one last. Directories end in `/`.
    let mut waiting = entries(root, "")?;
    while let Some(path) = waiting.pop() {
        if found.len() >= limit {
            break;
        }
        if path.ends_with('/') {
            let can_hold = path.starts_with(prefix) || prefix.starts_with(&path);
            let is_over = after.is_some_and(|after| !after.starts_with(&path) && *path < *after);
            if can_hold && !is_over && path.matches('/').count() <= DEPTH_MAX {
                waiting.extend(entries(root, &path)?);
            }
        } else if path.starts_with(prefix) && after.is_none_or(|after| *path > *after) && pleases(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Lists a directory, last entry first.
fn entries(root: &Path, directory: &str) -> io::Result<Vec<String>> {
    let listing = match patiently(|| fs::read_dir(root.join(directory))) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing?,
    };
    let mut entries = Vec::new();
    for entry in listing {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if kind.is_dir() {
            entries.push(format!("{directory}{name}/"));
        } else if kind.is_file() {
            entries.push(format!("{directory}{name}"));
        }
    }
    entries.sort_unstable_by(|a, b| b.cmp(a));
    Ok(entries)
}
