//! The chain of readers that undoes the codings of a body, each within the limit.

use std::io::{self, BufReader, Chain, Cursor, Read, Write};

use serde::{Deserialize, Serialize};

use super::brotli::Brotli;
use super::codings::{ContentCoding, ContentCodings};
use super::inflate::Inflate;
use super::zstd::Zstd;

/// How many decoded bytes are passed on at once.
const OUT_BYTES: usize = 16 << 10;

/// How much of what is encoded is read at once.
const WINDOW_BYTES: usize = 64 << 10;

/// The most bytes by which a coding is known. Brotli has no magic number, so plain text is only
/// recognised by a failure among them.
pub(super) const START_BYTES: usize = 256;

/// Why a body was not decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// It is longer than the limit.
    #[error("the decoded body is longer than its limit")]
    Limit,
    /// It could not be decoded further.
    #[error(transparent)]
    Failed(#[from] DecodeError),
}

impl Cut {
    /// Whether the body is in none of the codings that were named: it is returned as received.
    #[must_use]
    pub const fn is_of_name(self) -> bool {
        matches!(self, Self::Failed(DecodeError { fault: DecodeFault::NotInCoding, .. }))
    }
}

/// Why a body could not be decoded to its end. What was decoded before is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[error("{fault} (content coding {coding})")]
pub struct DecodeError {
    /// The coding that failed.
    pub coding: ContentCoding,
    /// What was wrong.
    pub fault: DecodeFault,
}

/// What was wrong with an encoded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum DecodeFault {
    /// It does not begin like that coding: most likely the server named a coding that it did not
    /// apply.
    #[error("the body is not in the coding that its header names")]
    NotInCoding,
    /// It starts correctly but fails later, or a checksum is wrong.
    #[error("the encoded body is damaged")]
    Damaged,
    /// It ends too early.
    #[error("the encoded body ends too early")]
    Truncated,
    /// It asks for a window larger than RFC 9659 allows.
    #[error("the encoded body asks for too large a window")]
    WindowTooLarge,
}

impl DecodeFault {
    /// Returns the error of a reader that undoes this coding.
    pub(super) fn in_coding(self, coding: ContentCoding) -> io::Error {
        io::Error::other(Cut::Failed(DecodeError { coding, fault: self }))
    }
}

/// Decodes a body as it is read, up to a limit. Returns how many decoded bytes were written, and
/// why they are not the whole body; `None` if they are.
///
/// With several codings, the limit applies to what each of them yields, not only to the last. An
/// empty body is in any coding, as servers send. Bytes after the end of a coding are passed over,
/// as browsers do. The output gets at most 16 KiB at a time.
///
/// ```
/// use dragline_formats::content_coding::{ContentCodings, Cut, decode};
/// let mut text = Vec::new();
/// let ended = decode(&ContentCodings::IDENTITY, b"abcdef".as_slice(), 4, &mut text)?;
/// assert_eq!((ended, text.as_slice()), ((4, Some(Cut::Limit)), b"abcd".as_slice()));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The body cannot be read, or the output not written.
pub fn decode(
    codings: &ContentCodings,
    body: impl Read,
    limit_bytes: u64,
    out: &mut dyn Write,
) -> io::Result<(u64, Option<Cut>)> {
    let mut decoded_bytes = 0;
    let ended = undo_all(codings, body, limit_bytes).and_then(|mut reader| {
        let mut window = vec![0; OUT_BYTES];
        loop {
            match reader.read(&mut window) {
                Ok(0) => return Ok(()),
                Ok(bytes) => {
                    out.write_all(&window[..bytes])?;
                    decoded_bytes += bytes as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    });
    let cut = ended.err().map(io::Error::downcast).transpose()?.map(|cut| match cut {
        // It was in its coding, or was taken for it.
        Cut::Failed(DecodeError { coding, fault: DecodeFault::NotInCoding }) if decoded_bytes > 0 => {
            Cut::Failed(DecodeError { coding, fault: DecodeFault::Damaged })
        }
        cut => cut,
    });
    Ok((decoded_bytes, cut))
}

fn undo_all<'a>(
    codings: &ContentCodings,
    body: impl Read + 'a,
    left_bytes: u64,
) -> io::Result<Limited<Box<dyn Read + 'a>>> {
    let mut reader: Box<dyn Read + 'a> = Box::new(body);
    for coding in codings.as_slice().iter().rev() {
        reader = Box::new(Limited { reader: undo(*coding, reader)?, left_bytes });
    }
    Ok(Limited { reader, left_bytes })
}

/// Encoded bytes: the first of them, and the rest.
pub(super) type Source<'a> = Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read + 'a>>>;

fn undo<'a>(coding: ContentCoding, encoded: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    let mut encoded = BufReader::with_capacity(WINDOW_BYTES, encoded);
    let mut first = Vec::new();
    let started = encoded.by_ref().take(START_BYTES as u64).read_to_end(&mut first);
    if first.is_empty() {
        return started.map(|_| Box::new(io::empty()) as Box<dyn Read>);
    }
    let start = first.first_chunk().copied();
    let source = Cursor::new(first).chain(encoded);
    Ok(match coding {
        ContentCoding::Gzip | ContentCoding::Deflate => Box::new(Inflate::new(coding, start, source)?),
        ContentCoding::Brotli => Box::new(Brotli::new(source)),
        ContentCoding::Zstd => Box::new(Zstd::new(source)),
    })
}

/// Reads what follows the end of a coding, as the codings around it may still fail.
pub(super) fn pass_over(source: &mut impl Read) -> io::Result<usize> {
    io::copy(source, &mut io::sink()).map(|_| 0)
}

/// Fails at the first byte past the limit.
struct Limited<R> {
    reader: R,
    left_bytes: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left_bytes == 0 {
            return match self.reader.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(Cut::Limit)),
            };
        }
        let room = usize::try_from(self.left_bytes).unwrap_or(usize::MAX).min(out.len());
        let bytes = self.reader.read(&mut out[..room])?;
        self.left_bytes -= bytes as u64;
        Ok(bytes)
    }
}
