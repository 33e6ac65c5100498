//! A directory of files, looked up as web servers do.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use percent_encoding::percent_decode_str;

use super::content::{Content, Page, PathContent};
use super::media_type::media_type;

/// The files below a directory. Symbolic links are followed, even out of it.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// A site whose `/` is this directory.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Content for Directory {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        let Some(file) = below(&self.root, path) else { return Ok(PathContent::Missing) };
        match read(&file, path.ends_with('/')) {
            Err(error) if is_absence(&error) => Ok(PathContent::Missing),
            found => found,
        }
    }
}

/// The file that a path names; `None` if it is not UTF-8 or would lead out of the root.
fn below(root: &Path, path: &str) -> Option<PathBuf> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let relative = Path::new(decoded.trim_start_matches('/'));
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    (inside && !decoded.contains('\0')).then(|| root.join(relative))
}

fn read(file: &Path, slash: bool) -> io::Result<PathContent> {
    let mut file = file.to_owned();
    let mut metadata = std::fs::metadata(&file)?;
    if metadata.is_dir() {
        if !slash {
            return Ok(PathContent::Directory);
        }
        file.push("index.html");
        metadata = std::fs::metadata(&file)?;
    } else if slash {
        return Ok(PathContent::Missing);
    }
    let modified = metadata.modified()?;
    let tag = format!("{:x}-{:x}", seconds(modified), metadata.len());
    Ok(PathContent::Page(Page {
        media_type: media_type(&file),
        modified,
        tag,
        body: std::fs::read(&file)?.into(),
        zipped: None,
    }))
}

fn seconds(time: SystemTime) -> u64 {
    // A file from before 1970 is tagged as if it were from 1970; its length still distinguishes
    // versions.
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_looked_up_as_web_servers_do() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("root");
        std::fs::create_dir_all(root.join("sub/empty")).unwrap();
        for (name, body) in [("../secret", "s"), ("index.html", "i"), ("a b.html", "a"), ("sub/index.html", "si")] {
            std::fs::write(root.join(name), body).unwrap();
        }
        std::os::unix::fs::symlink("../secret", root.join("link.txt")).unwrap();
        let long = format!("/{}", "x".repeat(5000));
        let site = Directory::new(&root);
        let page = |path: &str| match site.find(path).unwrap() {
            PathContent::Page(page) => String::from_utf8(page.body.to_vec()).unwrap(),
            PathContent::Directory => "redirect".to_owned(),
            PathContent::Missing => "missing".to_owned(),
        };
        for (path, expected, why) in [
            ("/", "i", "the root's index"),
            ("/index.html", "i", "the same by name"),
            ("/a%20b.html", "a", "escapes are decoded"),
            ("/sub", "redirect", "a directory needs its slash"),
            ("/sub/", "si", "its index"),
            ("/sub/empty/", "missing", "a directory without an index"),
            ("/index.html/", "missing", "a file is not a directory"),
            ("/index.html/x", "missing", "nothing is below a file"),
            ("/../secret", "missing", "no way out of the root"),
            ("/%2e%2e/secret", "missing", "nor an escaped one"),
            ("/sub/..%2f..%2fsecret", "missing", "nor one behind an escaped slash"),
            ("/a%00b", "missing", "file names have no zero byte"),
            ("/%ff", "missing", "not UTF-8"),
            (&long, "missing", "longer than any file name"),
            ("/link.txt", "s", "a symbolic link is the site owner's choice"),
        ] {
            assert_eq!(page(path), expected, "{path}: {why}");
        }
    }

    #[test]
    fn another_length_is_another_tag() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a.txt");
        let tag = |body: &str| {
            std::fs::write(&file, body).unwrap();
            match Directory::new(root.path()).find("/a.txt").unwrap() {
                PathContent::Page(page) => page.tag,
                other => panic!("{other:?}"),
            }
        };
        assert_ne!(tag("one"), tag("three"));
    }
}
