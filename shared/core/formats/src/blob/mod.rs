//! Bytes that may not fit into memory: bodies, and the objects that contain them.
//!
//! A short [`Blob`] is in memory, a long one in a file. A [`Spool`] buffers arriving bytes that
//! outgrow memory.

mod spool;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use self::spool::Room;
pub use self::spool::{MEMORY_BYTES_MAX, Spool, SpoolWriter};

/// How much of a file is copied at once.
const WINDOW_BYTES: usize = 256 << 10;

/// Immutable bytes in memory or in a file. Clones share them.
///
/// ```
/// use dragline_formats::blob::Blob;
/// let blob = Blob::from(&b"0123456789"[..]);
/// assert_eq!(blob.part(2..5).bytes().unwrap(), "234");
/// assert_eq!(blob.part(8..99).len_bytes(), 2);
/// ```
#[derive(Clone)]
pub struct Blob(Storage);

#[derive(Clone)]
enum Storage {
    Memory(Bytes),
    File(FilePart),
}

/// Part of a file.
#[derive(Clone)]
struct FilePart {
    file: Arc<SharedFile>,
    start: u64,
    bytes: u64,
}

/// A file that is read from several places.
struct SharedFile {
    file: Mutex<File>,
    /// Its share of a spool's room; `None` if it is not spooled.
    _room: Option<Room>,
}

impl Blob {
    /// Wraps the current content of a file. The file may lose its name, but must not be written to.
    ///
    /// # Errors
    /// Fails if its length cannot be read.
    pub fn from_file(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self::in_file(file, bytes, None))
    }

    fn in_file(file: File, bytes: u64, room: Option<Room>) -> Self {
        let file = Arc::new(SharedFile { file: Mutex::new(file), _room: room });
        Self(Storage::File(FilePart { file, start: 0, bytes }))
    }

    /// Returns its length, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        match &self.0 {
            Storage::Memory(bytes) => bytes.len() as u64,
            Storage::File(part) => part.bytes,
        }
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len_bytes() == 0
    }

    /// Returns its bytes if they are in memory; `None` if they are in a file.
    #[must_use]
    pub const fn in_memory(&self) -> Option<&Bytes> {
        match &self.0 {
            Storage::Memory(bytes) => Some(bytes),
            Storage::File(_) => None,
        }
    }

    /// Returns part of it, clipped at its end.
    #[must_use]
    pub fn part(&self, range: Range<u64>) -> Self {
        let end = range.end.min(self.len_bytes());
        let start = range.start.min(end);
        match &self.0 {
            Storage::Memory(bytes) => {
                // Both are within the bytes.
                let at = |place: u64| usize::try_from(place).unwrap_or(bytes.len());
                Self(Storage::Memory(bytes.slice(at(start)..at(end))))
            }
            Storage::File(part) => Self(Storage::File(FilePart {
                file: Arc::clone(&part.file),
                start: part.start + start,
                bytes: end - start,
            })),
        }
    }

    /// Returns all of its bytes in memory. The caller limits their number.
    ///
    /// # Errors
    /// Returns the file's error.
    pub fn bytes(&self) -> io::Result<Bytes> {
        match &self.0 {
            Storage::Memory(bytes) => Ok(bytes.clone()),
            Storage::File(part) => {
                let mut bytes = Vec::with_capacity(usize::try_from(part.bytes).map_err(io::Error::other)?);
                self.reader().read_to_end(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }

    /// Returns its first bytes in memory, at most this many.
    ///
    /// # Errors
    /// Returns the file's error.
    pub fn beginning(&self, bytes_max: u64) -> io::Result<Bytes> {
        self.part(0..bytes_max).bytes()
    }

    /// Returns a reader of its bytes, which ignores anything after them in the file.
    #[must_use]
    pub fn reader(&self) -> BlobReader {
        BlobReader { blob: self.clone(), at: 0 }
    }

    /// Writes all of it, and returns the number of bytes.
    ///
    /// # Errors
    /// Returns the file's error, or the writer's. A file that has become shorter is an error.
    pub fn copy_to(&self, to: &mut (impl Write + ?Sized)) -> io::Result<u64> {
        match &self.0 {
            Storage::Memory(bytes) => to.write_all(bytes)?,
            Storage::File(part) => {
                let mut reader = self.reader();
                let mut window = vec![0; WINDOW_BYTES];
                let mut left = part.bytes;
                while left > 0 {
                    let read = reader.read(&mut window)?;
                    if read == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    to.write_all(&window[..read])?;
                    left -= read as u64;
                }
            }
        }
        Ok(self.len_bytes())
    }
}

impl Default for Blob {
    /// Creates an empty blob.
    fn default() -> Self {
        Self::from(Bytes::new())
    }
}

impl From<Bytes> for Blob {
    fn from(bytes: Bytes) -> Self {
        Self(Storage::Memory(bytes))
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<&'static [u8]> for Blob {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<&'static str> for Blob {
    fn from(text: &'static str) -> Self {
        text.as_bytes().into()
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.in_memory().is_some() { "memory" } else { "a file" };
        write!(f, "Blob({} bytes in {place})", self.len_bytes())
    }
}

/// A reader of a [`Blob`], from its beginning or from where it was moved to.
#[derive(Clone, Debug)]
pub struct BlobReader {
    blob: Blob,
    at: u64,
}

impl BlobReader {
    /// Moves to this byte; past the end, nothing is read.
    pub const fn move_to(&mut self, at: u64) {
        self.at = at;
    }
}

impl Read for BlobReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.blob.len_bytes().saturating_sub(self.at);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(into.len());
        let into = &mut into[..wanted];
        let read = match &self.blob.0 {
            Storage::Memory(bytes) => {
                let at = usize::try_from(self.at).unwrap_or(bytes.len()).min(bytes.len());
                into.copy_from_slice(&bytes[at..at + wanted]);
                wanted
            }
            Storage::File(part) => {
                let mut file = part.file.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(part.start + self.at))?;
                file.read(into)?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}
