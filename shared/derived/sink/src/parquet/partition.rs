//! One partition: a folder with parts, which get their names once all of them are written.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use dragline_ports::row::{Cell, Column, ColumnKind};

use super::rows::RowsParquet;
use crate::error::SinkError;

/// The number of rows of a part. It must not depend on anything but the rows: an iteration that is
/// written again has the same parts.
const PART_ROWS: u64 = 100_000;

/// What the names of unfinished parts begin with. Programs that read partitions skip such files.
const UNFINISHED: &str = ".part-";

/// What the names of parts begin with.
const PART: &str = "part-";

/// The columns that are not in the files, as the names of their folders say them.
const IN_FOLDERS: [&str; 2] = ["crawl", "iteration"];

/// A partition that is being written.
pub(super) struct Partition {
    folder: PathBuf,
    columns: Vec<(String, ColumnKind)>,
    /// The places of the columns in a row.
    places: Vec<usize>,
    parts: u32,
    open: Option<Part>,
    rows: u64,
}

struct Part {
    file: RowsParquet<BufWriter<File>>,
    rows: u64,
}

impl Partition {
    /// Begins to write a partition of rows with these columns. Readers see nothing of it before
    /// [`publish`](Self::publish).
    pub(super) fn begin(folder: PathBuf, columns: &[Column<'_>]) -> Result<Self, SinkError> {
        fs::create_dir_all(&folder).map_err(SinkError::file(&folder))?;
        for name in names(&folder)?.iter().filter(|name| name.starts_with(UNFINISHED)) {
            remove(&folder.join(name))?;
        }
        let kept = columns.iter().enumerate().filter(|(_, (name, _))| !IN_FOLDERS.contains(name));
        let (places, columns) = kept.map(|(place, (name, kind))| (place, ((*name).to_owned(), *kind))).unzip();
        Ok(Self { folder, columns, places, parts: 0, open: None, rows: 0 })
    }

    /// Adds a row with a cell for each column.
    pub(super) fn write(&mut self, mut cells: Vec<Option<Cell>>) -> Result<(), SinkError> {
        let part = match &mut self.open {
            Some(part) => part,
            none => {
                let path = self.folder.join(unfinished(self.parts));
                let file = File::create(&path).map_err(SinkError::file(&path))?;
                let columns: Vec<Column<'_>> = self.columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
                none.insert(Part { file: RowsParquet::new(BufWriter::new(file), "row", &columns)?, rows: 0 })
            }
        };
        part.file.write(self.places.iter().map(|place| cells[*place].take()).collect())?;
        part.rows += 1;
        self.rows += 1;
        if part.rows >= PART_ROWS { self.end_part() } else { Ok(()) }
    }

    /// Returns how many rows were written.
    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns how many bytes of text are buffered.
    pub(super) fn buffered_bytes(&self) -> usize {
        self.open.as_ref().map_or(0, |part| part.file.buffered_bytes())
    }

    /// Writes what is buffered.
    pub(super) fn flush(&mut self) -> Result<(), SinkError> {
        match &mut self.open {
            Some(part) => Ok(part.file.write_group()?),
            None => Ok(()),
        }
    }

    /// Ends the last part. All rows are on the disk then.
    pub(super) fn end_part(&mut self) -> Result<(), SinkError> {
        let Some(part) = self.open.take() else { return Ok(()) };
        let path = self.folder.join(unfinished(self.parts));
        let failed = SinkError::file(&path);
        let file = part.file.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(|file| file.sync_all()).map_err(failed)?;
        self.parts += 1;
        Ok(())
    }

    /// Gives the parts their names, in place of those that were there before.
    pub(super) fn publish(mut self) -> Result<(), SinkError> {
        self.end_part()?;
        for part in 0..self.parts {
            let path = self.folder.join(format!("{PART}{part:05}.parquet"));
            fs::rename(self.folder.join(unfinished(part)), &path).map_err(SinkError::file(&path))?;
        }
        clear_from(&self.folder, self.parts)
    }
}

/// Removes all parts of a partition, and its folder if nothing else is in it.
pub(super) fn remove_partition(folder: &Path) -> Result<(), SinkError> {
    clear_from(folder, 0)
}

/// Removes the parts from a number on, and the folder if nothing is left in it.
fn clear_from(folder: &Path, first: u32) -> Result<(), SinkError> {
    for name in names(folder)? {
        let number = name.strip_prefix(PART).and_then(|name| name.strip_suffix(".parquet"));
        let is_later = number.is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number >= first));
        if is_later || name.starts_with(UNFINISHED) {
            remove(&folder.join(name))?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(SinkError::file(folder)(error)),
        _ => Ok(()),
    }
}

fn unfinished(part: u32) -> String {
    format!("{UNFINISHED}{part:05}.parquet")
}

/// Returns the names of the files of a folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, SinkError> {
    let read = || {
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        fs::read_dir(folder)?.map(|entry| entry.map(name)).collect::<io::Result<Vec<_>>>()
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(SinkError::file(folder)),
    }
}

fn remove(path: &Path) -> Result<(), SinkError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SinkError::file(path)(error)),
        _ => Ok(()),
    }
}
