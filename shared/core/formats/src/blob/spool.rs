//! Where bytes wait that outgrow memory while they arrive.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Blob;

/// The most bytes of a blob that is made while they arrive that stay in memory, and the most of one in a file that wait to be written.
pub const MEMORY_BYTES_MAX: usize = 1 << 20;

/// A folder for bytes that outgrow memory. Each blob is in a file of its own, which has no name, so nothing is left of it when the process ends
/// however it ends. Clones share its room.
#[derive(Clone, Debug)]
pub struct Spool {
    folder: Arc<Path>,
    bytes_max: u64,
    used: Arc<AtomicU64>,
}

impl Spool {
    /// Returns a spool in this folder, which is made when it is needed, for at most this many bytes at once.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, bytes_max: u64) -> Self {
        Self { folder: folder.into().into(), bytes_max, used: Arc::default() }
    }

    /// Returns the same spool for bytes that can wait elsewhere: they find room while all of it holds less than this many
    /// bytes. What is put through the spool itself takes of the same room.
    #[must_use]
    pub fn limited_to(&self, bytes_max: u64) -> Self {
        Self { bytes_max, ..self.clone() }
    }

    /// Begins a blob.
    #[must_use]
    pub fn begin(&self) -> SpoolWriter {
        SpoolWriter { spool: self.clone(), waiting: Vec::new(), file: None }
    }

    fn file(&self) -> io::Result<File> {
        fs::create_dir_all(&self.folder)?;
        tempfile::tempfile_in(&self.folder)
    }
}

impl Default for Spool {
    /// In the machine's folder for temporary files, without a limit of its own.
    fn default() -> Self {
        Self::new(std::env::temp_dir(), u64::MAX)
    }
}

/// What a blob takes of its spool's room, given back when dropped.
#[derive(Debug)]
pub(super) struct Room {
    spool: Spool,
    bytes: u64,
}

impl Room {
    /// Takes as much in total.
    fn grow_to(&mut self, total: u64) -> io::Result<()> {
        let bytes = total.saturating_sub(self.bytes);
        let (before, bytes_max) = (self.spool.used.fetch_add(bytes, Ordering::Relaxed), self.spool.bytes_max);
        if before.saturating_add(bytes) > bytes_max {
            self.spool.used.fetch_sub(bytes, Ordering::Relaxed);
            let why = format!("no room in {}: {bytes_max} bytes are for all of it", self.spool.folder.display());
            return Err(io::Error::new(ErrorKind::QuotaExceeded, why));
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.spool.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A blob that is being made. It is dropped without a trace unless it is finished.
#[derive(Debug)]
pub struct SpoolWriter {
    spool: Spool,
    /// What is not in the file.
    waiting: Vec<u8>,
    /// `None` while all of it is in memory.
    file: Option<Spooled>,
}

#[derive(Debug)]
struct Spooled {
    file: File,
    bytes: u64,
    room: Room,
}

impl SpoolWriter {
    /// Returns its length so far, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.waiting.len() as u64 + self.file.as_ref().map_or(0, |spooled| spooled.bytes)
    }

    /// Whether writing this many bytes more writes to the disk, for which callers must not wait that may not block.
    #[must_use]
    pub const fn spills(&self, bytes: usize) -> bool {
        self.waiting.len() + bytes > MEMORY_BYTES_MAX
    }

    /// Returns what of it is in memory.
    #[must_use]
    pub const fn memory_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// Moves all of it to the file.
    fn spill(&mut self) -> io::Result<()> {
        let spooled = match &mut self.file {
            Some(spooled) => spooled,
            none => {
                let room = Room { spool: self.spool.clone(), bytes: 0 };
                none.insert(Spooled { file: self.spool.file()?, bytes: 0, room })
            }
        };
        let end = spooled.bytes + self.waiting.len() as u64;
        spooled.room.grow_to(end)?;
        // A write that failed may have left something behind the end.
        spooled.file.seek(SeekFrom::Start(spooled.bytes))?;
        spooled.file.write_all(&self.waiting)?;
        spooled.bytes = end;
        self.waiting.clear();
        Ok(())
    }

    /// Ends it with what found room: all of it, unless a write failed.
    #[must_use]
    pub fn finish_with_what_fits(mut self) -> Blob {
        if self.file.is_some() && self.spill().is_err() {
            // What is in memory stays there if nothing is in the file.
            match &self.file {
                Some(spooled) if spooled.bytes > 0 => self.waiting.clear(),
                Some(_) | None => self.file = None,
            }
        }
        match self.file {
            Some(Spooled { file, bytes, room }) => Blob::in_file(file, bytes, Some(room)),
            None => self.waiting.into(),
        }
    }

    /// Ends it.
    ///
    /// # Errors
    /// Returns the file's error, which is of kind `QuotaExceeded` if the spool has no room.
    pub fn finish(mut self) -> io::Result<Blob> {
        if self.file.is_some() {
            self.spill()?;
        }
        Ok(match self.file {
            Some(Spooled { file, bytes, room }) => Blob::in_file(file, bytes, Some(room)),
            None => {
                self.waiting.shrink_to_fit();
                self.waiting.into()
            }
        })
    }
}

impl Write for SpoolWriter {
    /// Takes all bytes. One that failed has taken none of them, and may be tried again if it was for lack of room.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.spills(bytes.len()) {
            self.spill()?;
        }
        let taken = &bytes[..bytes.len().min(MEMORY_BYTES_MAX)];
        self.waiting.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
