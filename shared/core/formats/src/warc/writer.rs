//! Writes records to a file.

use std::cell::RefCell;
use std::io::{self, Write as _};

use bytes::Bytes;
use libdeflater::{CompressionLvl, Compressor};

use super::member::{Packing, write_member};
use super::record::Record;
use crate::blob::{Blob, Spool, SpoolWriter};

/// The limit on memory that is kept from one record to the next, in bytes.
const RAW_KEPT_BYTES_MAX: usize = 1 << 20;

/// libdeflate's fastest level that compresses: less than half the time of level 3, at 1.07 times
/// its size (docs/measurements/performance.md).
const LEVEL: i32 = 1;

/// libdeflate's level without compression.
const LEVEL_STORED: i32 = 0;

/// flate2's level for bodies that are not in memory.
pub(super) const LEVEL_STREAMED: u32 = 1;

/// The size of the sample, from the middle of a body, that decides whether it can be compressed. A
/// shorter body is compressed in any case.
const SAMPLE_BYTES: usize = 1 << 10;

/// The most pairs of equal octets in a sample of incompressible data, both orders counted: random
/// octets have 4,092 on average, with a standard deviation of 90. Letters alone have ten times as
/// many.
const PAIRS_MAX: usize = 5_000;

thread_local! {
    /// Its tables are larger than most pages, and there are more open files than threads.
    static COMPRESSORS: RefCell<Compressors> = RefCell::new(Compressors::new());
}

struct Compressors {
    fast: Compressor,
    stored: Compressor,
    /// The record before compression.
    raw: Vec<u8>,
}

impl Compressors {
    fn new() -> Self {
        let of_level = |level| Compressor::new(CompressionLvl::new(level).expect("one of libdeflate's levels"));
        Self { fast: of_level(LEVEL), stored: of_level(LEVEL_STORED), raw: Vec::new() }
    }

    /// Appends a record with this body as a gzip member.
    fn push(&mut self, record: &Record, body: &[u8], file: &mut Vec<u8>) {
        self.raw.clear();
        record.push_to(body, &mut self.raw);
        let compressor = if is_dense(body) { &mut self.stored } else { &mut self.fast };
        let offset = file.len();
        file.resize(offset + compressor.gzip_compress_bound(self.raw.len()), 0);
        let length = compressor
            .gzip_compress(&self.raw, &mut file[offset..])
            .expect("the room is what libdeflate states as enough");
        file.truncate(offset + length);
        self.raw.shrink_to(RAW_KEPT_BYTES_MAX);
    }
}

/// Whether a body is already compressed or encrypted: then compressing it again takes time and
/// saves nothing.
fn is_dense(body: &[u8]) -> bool {
    let start = body.len().saturating_sub(SAMPLE_BYTES) / 2;
    let Some(sample) = body.get(start..start + SAMPLE_BYTES) else { return false };
    let mut counts = [0_usize; 256];
    for octet in sample {
        counts[usize::from(*octet)] += 1;
    }
    counts.iter().map(|count| count * count.saturating_sub(1)).sum::<usize>() <= PAIRS_MAX
}

/// The place of a record in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordSpan {
    /// The offset of the record's gzip member, in bytes.
    pub offset: u64,
    /// The length of the member, in bytes.
    pub length: u64,
}

/// Whether a body that is not in memory is already compressed.
fn is_dense_blob(body: &Blob) -> io::Result<bool> {
    let start = body.len_bytes().saturating_sub(SAMPLE_BYTES as u64) / 2;
    Ok(is_dense(&body.part(start..start + SAMPLE_BYTES as u64).bytes()?))
}

/// A writer of `.warc.gz` files, one after the other, with one gzip member per record.
///
/// A file contains some tens of pages and is stored in one piece, so the caller takes it when it is
/// done. It is in memory unless one of its bodies is not; then it is in a spool, too.
///
/// ```
/// use dragline_formats::warc::{ReadLimits, Record, RecordId, WarcInfo, WarcWriter, read_record};
/// let record = Record::warcinfo(RecordId::from_bits(1), jiff::Timestamp::UNIX_EPOCH, &WarcInfo::default());
/// let mut writer = WarcWriter::new();
/// let span = writer.write(&record);
/// let file = writer.take_file().unwrap().bytes().unwrap();
/// assert_eq!((span.offset, span.length), (0, file.len() as u64));
/// let stored = read_record(&file, ReadLimits::default()).unwrap();
/// assert_eq!(stored.id(), Some(record.id()));
/// ```
#[derive(Debug, Default)]
pub struct WarcWriter {
    spool: Spool,
    /// The part in memory: all of the file, or the part after the one in the spool.
    file: Vec<u8>,
    spooled: Option<SpoolWriter>,
    /// The error that makes the file incomplete.
    failed: Option<io::Error>,
}

impl WarcWriter {
    /// Creates a writer at the beginning of a file, with a spool in the machine's folder for
    /// temporary files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the writer with this spool for large data from now on.
    #[must_use]
    pub fn with_spool(self, spool: Spool) -> Self {
        Self { spool, ..self }
    }

    /// Appends a record and returns its place. If its body cannot be read, or the spool has no
    /// room, [`Self::take_file`] returns the error, and the file is lost.
    pub fn write(&mut self, record: &Record) -> RecordSpan {
        let offset = self.len_bytes();
        match record.body().in_memory() {
            Some(body) => COMPRESSORS.with_borrow_mut(|compressors| compressors.push(record, body, &mut self.file)),
            None if self.failed.is_none() => self.failed = self.stream(record).err(),
            None => {}
        }
        RecordSpan { offset, length: self.len_bytes() - offset }
    }

    /// Appends a record whose body is not in memory.
    fn stream(&mut self, record: &Record) -> io::Result<()> {
        let spooled = self.spooled.get_or_insert_with(|| self.spool.begin());
        spooled.write_all(&self.file)?;
        self.file.clear();
        let packing = if is_dense_blob(record.body())? { Packing::Stored } else { Packing::Deflated(LEVEL_STREAMED) };
        write_member(packing, spooled, |to| record.write_to(to))
    }

    /// Returns the length of the file so far, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.memory_bytes() + self.spooled.as_ref().map_or(0, SpoolWriter::len_bytes)
    }

    /// Returns how much of the file is in memory, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.file.len() as u64
    }

    /// Returns the file; the next record begins another one.
    ///
    /// # Errors
    /// The spool's error, or that of a body, if a record could not be written.
    pub fn take_file(&mut self) -> io::Result<Blob> {
        let (file, spooled) = (std::mem::take(&mut self.file), self.spooled.take());
        match (self.failed.take(), spooled) {
            (Some(error), _) => Err(error),
            (None, None) => Ok(Bytes::from(file).into()),
            (None, Some(mut spooled)) => {
                spooled.write_all(&file)?;
                spooled.finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use libdeflater::Decompressor;

    use super::*;

    #[test]
    fn compressed_bodies_are_not_compressed_again() {
        let text = "Every page of a site says something else, in much the same words. ".repeat(400);
        let mut zipped = vec![0; text.len()];
        let mut seeded: Vec<u8> = Vec::new();
        let mut state = 1_u64;
        while seeded.len() < 30_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seeded.push((state >> 56) as u8);
        }
        let length = Compressor::new(CompressionLvl::best()).gzip_compress(&seeded, &mut [0; 40_000]).unwrap();
        assert!(length > seeded.len(), "it cannot be compressed");
        let zipped_bytes = Compressor::new(CompressionLvl::best()).gzip_compress(text.as_bytes(), &mut zipped).unwrap();
        zipped.truncate(zipped_bytes);
        let base64 = data_encoding::BASE64.encode(&seeded);
        let greek = "Κάθε σελίδα λέει κάτι άλλο. ".repeat(100);
        let chinese: String = ('\u{4e00}'..).take(2_000).collect();
        for (body, expected, why) in [
            (&seeded[..], true, "noise: an image, an archive, a body in a content coding"),
            (&seeded[..SAMPLE_BYTES], true, "as much of it as is looked at"),
            (&seeded[..SAMPLE_BYTES - 1], false, "too little to tell"),
            (text.as_bytes(), false, "text"),
            (greek.as_bytes(), false, "text of two octets a letter"),
            (chinese.as_bytes(), false, "text of three octets a letter, no letter twice"),
            (base64.as_bytes(), false, "noise in letters: a quarter of it can be saved"),
            (&zipped[..], false, "compressed text, too short to tell"),
            (b"", false, "nothing"),
        ] {
            assert_eq!(is_dense(body), expected, "{why}");
        }
        assert!(Decompressor::new().gzip_decompress(&zipped, &mut vec![0; text.len()]).is_ok());
    }
}
