//! A body that is too long for memory, piece by piece.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::thread;

use dragline_domain::definition::limits;
use dragline_formats::content_coding::{ContentCodings, decode};
use dragline_formats::warc::{DigestCheck, ReadLimits, Sha1Hasher, WarcError, WarcFault, read_record_into};

use super::record::{Damage, LoadedRecord};

/// The maximum size of a decoded body: the largest uncompressed body that is ever stored.
const DECODED_BYTES_MAX: u64 = *limits::FILE_BYTES.end();

/// The second reading keeps nothing in memory.
const NOTHING_HELD: ReadLimits = ReadLimits { held_bytes_max: 0, ..ReadLimits::holding(0) };

/// Compares a body with the digest in its record, piece by piece.
///
/// # Errors
/// The record cannot be read.
fn verify(loaded: &LoadedRecord, head_bytes: u64) -> Result<DigestCheck, WarcError> {
    let Some(stated) = loaded.record.payload_digest() else { return Ok(DigestCheck::NotStated) };
    let mut sum = Sha1Hasher::new();
    read_record_into(loaded.member.reader(), NOTHING_HELD, &mut HeadSkipper { skip_bytes: head_bytes, to: &mut sum })?;
    let computed = sum.finish();
    Ok(if computed == stated { DigestCheck::Match } else { DigestCheck::Mismatch { stated, computed } })
}

/// Writes a body with these codings undone. A body that does not have them is copied.
///
/// # Errors
/// The record cannot be read, or `out` cannot be written.
pub fn write_body(
    loaded: &LoadedRecord,
    head_bytes: u64,
    codings: &ContentCodings,
    out: &mut impl Write,
) -> io::Result<()> {
    if !codings.is_identity() {
        let (mut body, mut to) = io::pipe()?;
        let (decoded, read) = thread::scope(|scope| {
            let reading = scope.spawn(move || copy(loaded, head_bytes, &mut to));
            let decoded = decode(codings, &mut body, DECODED_BYTES_MAX, out);
            // As far as possible: input beyond damage or the limit is ignored.
            let decoded = decoded.and_then(|decoded| io::copy(&mut body, &mut io::sink()).map(|_| decoded));
            drop(body);
            (decoded, reading.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (decoded_bytes, cut) = decoded?;
        read?;
        if cut.is_none() || decoded_bytes > 0 {
            return Ok(());
        }
    }
    copy(loaded, head_bytes, out)
}

fn copy(loaded: &LoadedRecord, head_bytes: u64, to: &mut dyn Write) -> io::Result<()> {
    match read_record_into(loaded.member.reader(), NOTHING_HELD, &mut HeadSkipper { skip_bytes: head_bytes, to }) {
        Ok(_) => Ok(()),
        Err(WarcError { fault: WarcFault::Io(error), .. }) => Err(error),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Copies a block without its head.
struct HeadSkipper<'w> {
    skip_bytes: u64,
    to: &'w mut dyn Write,
}

impl Write for HeadSkipper<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = usize::try_from(self.skip_bytes).unwrap_or(usize::MAX).min(bytes.len());
        self.skip_bytes -= skipped as u64;
        self.to.write_all(&bytes[skipped..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl LoadedRecord {
    /// Returns an error unless the body matches the digest that it states.
    pub(super) fn check_long(&self, head_bytes: u64) -> Result<(), Damage> {
        match verify(self, head_bytes).map_err(|error| error.fault)? {
            DigestCheck::Match => Ok(()),
            _ => Err(Damage::Digest("body")),
        }
    }
}
