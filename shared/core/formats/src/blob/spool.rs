//! A buffer for arriving bytes that outgrow memory.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Blob;

/// The most bytes of an arriving blob that stay in memory, and the most bytes that wait to be
/// written to its file.
pub const MEMORY_BYTES_MAX: usize = 1 << 20;

/// A folder for bytes that outgrow memory. Each blob has a file of its own without a name, so
/// nothing is left of it however the process ends. Clones share its room.
#[derive(Clone, Debug)]
pub struct Spool {
    folder: Arc<Path>,
    bytes_max: u64,
    used: Arc<AtomicU64>,
}

impl Spool {
    /// Creates a spool in this folder, which is created when needed, with a limit on the bytes in
    /// it at once.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, bytes_max: u64) -> Self {
        Self { folder: folder.into().into(), bytes_max, used: Arc::default() }
    }

    /// Returns the same spool for bytes that can wait elsewhere: they find room while it contains
    /// less than this many bytes in total. Bytes put through the original spool use the same room.
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
    /// Creates a spool in the machine's folder for temporary files, without a limit of its own.
    fn default() -> Self {
        Self::new(std::env::temp_dir(), u64::MAX)
    }
}

/// A blob's share of its spool's room, given back when dropped.
#[derive(Debug)]
pub(super) struct Room {
    spool: Spool,
    bytes: u64,
}

impl Room {
    /// Extends the share to this total.
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

/// A blob in progress. It is dropped without a trace unless it is finished.
#[derive(Debug)]
pub struct SpoolWriter {
    spool: Spool,
    /// The bytes that are not in the file.
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

    /// Whether writing this many more bytes would write to the disk, which async callers must not
    /// wait for.
    #[must_use]
    pub const fn spills(&self, bytes: usize) -> bool {
        self.waiting.len() + bytes > MEMORY_BYTES_MAX
    }

    /// Returns the number of bytes in memory.
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
        // A failed write may have left bytes past the end.
        spooled.file.seek(SeekFrom::Start(spooled.bytes))?;
        spooled.file.write_all(&self.waiting)?;
        spooled.bytes = end;
        self.waiting.clear();
        Ok(())
    }

    /// Finishes the blob with the bytes that found room: all of them, unless a write failed.
    #[must_use]
    pub fn finish_partial(mut self) -> Blob {
        if self.file.is_some() && self.spill().is_err() {
            // Bytes in memory stay there if nothing is in the file.
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

    /// Finishes the blob.
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
    /// Takes all bytes. A failed write takes none, and may be repeated if there was no room.
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
