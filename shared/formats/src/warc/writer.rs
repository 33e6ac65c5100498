//! Writing records to a file.

use libdeflater::{CompressionLvl, Compressor};

use super::record::Record;

/// The most memory kept from one record to the next.
const RAW_KEPT_BYTES_MAX: usize = 1 << 20;

/// libdeflate's level: nearly as small as its default, at 1.4 times its speed on web pages (`deflated.rs` compares it with flate2).
const LEVEL: i32 = 3;

/// Where a record is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordSpan {
    /// The offset of the record's gzip member, in bytes.
    pub offset: u64,
    /// The length of the member, in bytes.
    pub length: u64,
}

/// Writes `.warc.gz` files in memory, one after the other, with one gzip member per record.
///
/// A file holds some tens of pages and is stored in one piece, so the caller takes it when it is done.
///
/// ```
/// use dragline_formats::warc::{ReadLimits, Record, RecordId, WarcInfo, WarcWriter, read_record};
/// let record = Record::warcinfo(RecordId::from_bits(1), jiff::Timestamp::UNIX_EPOCH, &WarcInfo::default());
/// let mut writer = WarcWriter::new();
/// let span = writer.write(&record);
/// let file = writer.take_file();
/// assert_eq!((span.offset, span.length), (0, file.len() as u64));
/// let stored = read_record(&file, ReadLimits::default()).unwrap();
/// assert_eq!(stored.id(), Some(record.id()));
/// ```
pub struct WarcWriter {
    compressor: Compressor,
    raw: Vec<u8>,
    file: Vec<u8>,
}

impl WarcWriter {
    /// Creates a writer at the beginning of a file.
    #[must_use]
    pub fn new() -> Self {
        let level = CompressionLvl::new(LEVEL).expect("3 is one of libdeflate's levels");
        Self { compressor: Compressor::new(level), raw: Vec::new(), file: Vec::new() }
    }

    /// Appends a record and returns where it is.
    pub fn write(&mut self, record: &Record) -> RecordSpan {
        self.raw.clear();
        record.push_to(&mut self.raw);
        let offset = self.file.len();
        self.file.resize(offset + self.compressor.gzip_compress_bound(self.raw.len()), 0);
        let length = self
            .compressor
            .gzip_compress(&self.raw, &mut self.file[offset..])
            .expect("the room is what libdeflate states as enough");
        self.file.truncate(offset + length);
        self.raw.shrink_to(RAW_KEPT_BYTES_MAX);
        RecordSpan { offset: offset as u64, length: length as u64 }
    }

    /// Returns the length of the file so far, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.file.len() as u64
    }

    /// Returns the file; the next record begins another.
    #[must_use = "the file is nowhere else"]
    pub fn take_file(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.file)
    }
}

impl Default for WarcWriter {
    fn default() -> Self {
        Self::new()
    }
}
