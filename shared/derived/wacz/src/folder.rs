//! Writes WARC files to a folder.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use dragline_domain::ids::CrawlId;
use dragline_formats::warc::{ReadLimits, WarcReader};
use dragline_ports::archive::Archive;
use dragline_ports::reader::Reader;
use tempfile::{NamedTempFile, TempPath};

use crate::captures::Captures;
use crate::error::ArchiveError;
use crate::merge::{CopyTotals, Files, Plan, copy};
use crate::names;
use crate::selection::SelectedVisits;

/// Writes records of a crawl to WARC files in a folder, which is created if necessary. The files
/// get their names once all of them are complete; then, if everything was written, files of earlier
/// archives of the crawl are removed.
///
/// # Errors
/// The crawl cannot be read, an object is missing or damaged, or a file cannot be written.
pub async fn write_warc(
    (reader, archive): (&impl Reader, &impl Archive),
    plan: &Plan<'_>,
    folder: &Path,
) -> Result<CopyTotals, ArchiveError> {
    fs::create_dir_all(folder).map_err(|error| file_error(folder, error))?;
    let (captures, chosen) = (Captures::new()?, SelectedVisits::for_selection(&plan.selection)?);
    let mut files = Folder { folder, open: None, whole: Vec::new() };
    let copied = copy((reader, archive), plan, &captures, chosen.as_ref(), &mut files).await?;
    let written = files.finish()?;
    if plan.selection.is_all() {
        remove_earlier(folder, plan.about.crawl, &written)?;
    }
    Ok(copied)
}

fn file_error(path: &Path, source: std::io::Error) -> ArchiveError {
    ArchiveError::File { path: path.to_owned(), source }
}

/// The writer of the folder's files.
struct Folder<'f> {
    folder: &'f Path,
    /// The file being written, and its name.
    open: Option<(PathBuf, BufWriter<NamedTempFile>)>,
    /// Complete files that are not yet named.
    whole: Vec<(PathBuf, TempPath)>,
}

impl Folder<'_> {
    fn end_file(&mut self) -> Result<(), ArchiveError> {
        let Some((path, file)) = self.open.take() else { return Ok(()) };
        let file = file.into_inner().map_err(|error| file_error(&path, error.into_error()))?;
        self.whole.push((path, file.into_temp_path()));
        Ok(())
    }

    /// Gives all files their names, and returns these.
    fn finish(mut self) -> Result<HashSet<PathBuf>, ArchiveError> {
        self.end_file()?;
        let mut written = HashSet::new();
        for (path, file) in self.whole {
            file.persist(&path).map_err(|error| file_error(&path, error.error))?;
            written.insert(path);
        }
        Ok(written)
    }
}

impl Files for Folder<'_> {
    fn begin(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.end_file()?;
        let mut file = tempfile::Builder::new();
        // As for other files, the user's umask decides who may read it.
        #[cfg(unix)]
        file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file =
            file.prefix(".dragline-").tempfile_in(self.folder).map_err(|error| file_error(self.folder, error))?;
        self.open = Some((self.folder.join(name), BufWriter::new(file)));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.open.as_mut().map_or(Ok(()), |(path, file)| file.write_all(bytes).map_err(|error| file_error(path, error)))
    }
}

/// Removes the files of earlier archives of the crawl, as they may contain forgotten URLs.
fn remove_earlier(folder: &Path, crawl: &CrawlId, written: &HashSet<PathBuf>) -> Result<(), ArchiveError> {
    for entry in fs::read_dir(folder).map_err(|error| file_error(folder, error))? {
        let path = entry.map_err(|error| file_error(folder, error))?.path();
        let is_named =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names::is_file_name(crawl, name));
        if is_named && !written.contains(&path) && is_ours(&path, crawl) {
            fs::remove_file(&path).map_err(|error| file_error(&path, error))?;
        }
    }
    Ok(())
}

/// Returns whether this program wrote the file for this crawl. Other programs use similar names.
fn is_ours(path: &Path, crawl: &CrawlId) -> bool {
    let first = File::open(path).ok().and_then(|file| WarcReader::new(file, ReadLimits::default()).next());
    let Some(info) = first.and_then(Result::ok).and_then(|record| record.info()) else { return false };
    let is_of_crawl = |whole: &String| names::is_part_of(crawl, whole);
    info.software.starts_with("Dragline/") && info.is_part_of.iter().any(is_of_crawl)
}

#[cfg(test)]
mod tests {
    use dragline_formats::warc::{Record, RecordId, WarcInfo, WarcWriter};
    use jiff::Timestamp;

    use super::*;

    fn info(software: &str, whole: &str) -> Vec<u8> {
        let info =
            WarcInfo { software: software.to_owned(), is_part_of: vec![whole.to_owned()], ..WarcInfo::default() };
        let mut writer = WarcWriter::new();
        writer.write(&Record::warcinfo(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, &info));
        writer.take_file().unwrap().bytes().unwrap().to_vec()
    }

    #[test]
    fn only_own_files_of_the_crawl_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let crawl = CrawlId::try_from("docs".to_owned()).unwrap();
        let earlier = "docs-20260101000000-00000-localhost.warc.gz";
        for (name, content, stays, why) in [
            (earlier, info("Dragline/0.1", "docs"), false, "an earlier archive"),
            ("docs-00001.warc.gz", info("Dragline/0.1", "docs-3"), false, "one of an older version"),
            ("docs-20260101000000-00001-a.warc.gz", info("Heritrix/3", "docs"), true, "another program's"),
            ("docs-20260101000000-00002-a.warc.gz", info("Dragline/0.1", "docs2"), true, "another crawl's"),
            ("docs-20260101000000-00003-a.warc.gz", b"docs".to_vec(), true, "no WARC file"),
            ("docs-old-20260101000000-00000-a.warc.gz", info("Dragline/0.1", "docs-old"), true, "another crawl"),
            ("docs-copy.warc.gz", info("Dragline/0.1", "docs"), true, "renamed by somebody"),
            ("docs-20260102000000-00000-localhost.warc.gz", info("Dragline/0.1", "docs"), true, "just written"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            let written = HashSet::from([folder.path().join("docs-20260102000000-00000-localhost.warc.gz")]);
            remove_earlier(folder.path(), &crawl, &written).unwrap();
            assert_eq!(path.exists(), stays, "{name}: {why}");
        }
    }

    #[test]
    fn incomplete_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Folder { folder: folder.path(), open: None, whole: Vec::new() };
        for name in ["a.warc.gz", "b.warc.gz"] {
            files.begin(name).unwrap();
            files.write(b"some").unwrap();
        }
        let left = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<HashSet<_>>();
        assert!(!left().contains(&folder.path().join("a.warc.gz")), "the other is not whole");
        drop(files);
        assert_eq!(left(), HashSet::new());
        let mut files = Folder { folder: folder.path(), open: None, whole: Vec::new() };
        files.begin("a.warc.gz").unwrap();
        files.write(b"some").unwrap();
        let written = files.finish().unwrap();
        assert_eq!((left(), fs::read(folder.path().join("a.warc.gz")).unwrap()), (written, b"some".to_vec()));
    }
}
