//! Compresses pages before the first request, so that no request waits for it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use bytes::Bytes;
use dragline_testkit::site::{Content, Page, PathContent};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Content with precompressed pages.
pub(crate) struct CompressedContent<C> {
    content: C,
    zipped: HashMap<String, Bytes>,
}

impl<C: Content> CompressedContent<C> {
    /// Compresses the pages at these paths. Others are compressed for each request.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub(crate) fn new(content: C, paths: impl IntoIterator<Item = String>) -> io::Result<Self> {
        let mut zipped = HashMap::new();
        for path in paths {
            if let PathContent::Page(page) = content.find(&path)? {
                zipped.insert(path, gzip(&page.body)?);
            }
        }
        Ok(Self { content, zipped })
    }
}

impl<C: Content> Content for CompressedContent<C> {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        Ok(match self.content.find(path)? {
            PathContent::Page(page) => PathContent::Page(Page { zipped: self.zipped.get(path).cloned(), ..page }),
            other => other,
        })
    }
}

/// Compresses at the level of web servers that cache compressed files.
fn gzip(body: &[u8]) -> io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    Ok(encoder.finish()?.into())
}

/// Returns the paths of all files below a directory, and of directories with an index. Names that
/// are not UTF-8 or need escapes are left out: they are compressed for each request.
///
/// # Errors
/// A page cannot be read.
pub(crate) fn paths_below(root: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut todo = vec![(root.to_owned(), "/".to_owned())];
    while let Some((directory, path)) = todo.pop() {
        for entry in std::fs::read_dir(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) =
                name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%'))
            else {
                continue;
            };
            // Symbolic links are left out, too, as they could form loops.
            let kind = entry.file_type()?;
            if kind.is_dir() {
                todo.push((entry.path(), format!("{path}{name}/")));
            } else if kind.is_file() {
                paths.push(format!("{path}{name}"));
                if name == "index.html" {
                    paths.push(path.clone());
                }
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use dragline_testkit::site::{Directory, GeneratedSite};

    use super::*;

    #[test]
    fn pages_are_compressed_ahead() {
        let site = GeneratedSite { pages: 2, links_per_page: 1, bytes_per_page: 5_000, seed: 1 };
        let zipped = CompressedContent::new(site.content(), site.paths()).unwrap();
        for path in site.paths() {
            let PathContent::Page(page) = zipped.find(&path).unwrap() else { panic!("{path} is there") };
            let bytes = page.zipped.expect("it was compressed").len();
            assert!(bytes < page.body.len(), "{path}: {bytes} bytes");
        }
        assert_eq!(zipped.find("/none").unwrap(), PathContent::Missing);
    }

    #[test]
    fn files_and_indexes_are_found() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("sub")).unwrap();
        for name in ["a.html", "sub/index.html", "b c.html"] {
            std::fs::write(root.path().join(name), "x").unwrap();
        }
        let mut paths = paths_below(root.path()).unwrap();
        paths.sort();
        assert_eq!(paths, ["/a.html", "/sub/", "/sub/index.html"]);
        let directory = Directory::new(root.path());
        for path in paths {
            assert!(matches!(directory.find(&path).unwrap(), PathContent::Page(_)), "{path}");
        }
    }
}
