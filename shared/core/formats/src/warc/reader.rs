//! Reads records from a file.
//!
//! Uses flate2, as gzip members are streams: only bytes within the limits are inflated, whatever a
//! member says about itself.

use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::bufread::GzDecoder;

use super::fields::parse_fields;
use super::ids::RecordType;
use super::limits::{BLOCK_BYTES_MAX, HEAD_BYTES_MAX, HEADER_BYTES_MAX, HELD_BYTES_MAX};
use super::stored::StoredRecord;
use super::writer::RecordSpan;
use crate::http_fields::Headers;

pub(super) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Limits on the size of one record, and on the part of it that is held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The limit on a record's header, in bytes.
    pub header_bytes_max: u64,
    /// The limit on a record's block, in bytes.
    pub block_bytes_max: u64,
    /// The limit on the part of the block that is held, in bytes: the beginning of a longer one.
    pub held_bytes_max: u64,
}

impl ReadLimits {
    /// Returns the limits of [`Self::default`], but holds only the heads of responses and at most
    /// this much of their bodies.
    #[must_use]
    pub const fn holding(body_bytes_max: u64) -> Self {
        Self {
            header_bytes_max: HEADER_BYTES_MAX as u64,
            block_bytes_max: BLOCK_BYTES_MAX,
            held_bytes_max: (HEAD_BYTES_MAX as u64).saturating_add(body_bytes_max),
        }
    }
}

impl Default for ReadLimits {
    /// Returns exactly the limits of our own writer: [`HEADER_BYTES_MAX`] and [`BLOCK_BYTES_MAX`].
    /// [`HELD_BYTES_MAX`] of the block are held.
    fn default() -> Self {
        Self { held_bytes_max: HELD_BYTES_MAX, ..Self::holding(0) }
    }
}

/// The reason why a record cannot be read, and its place.
#[derive(Debug, thiserror::Error)]
#[error("no readable record at byte {offset}: {fault}")]
pub struct WarcError {
    /// The byte offset in the file at which the record should begin.
    pub offset: u64,
    /// The fault there.
    #[source]
    pub fault: WarcFault,
}

/// The fault of a record.
#[derive(Debug, thiserror::Error)]
pub enum WarcFault {
    /// The bytes are not a gzip member, or are a damaged one.
    #[error("not a gzip member, or a damaged one")]
    NotGzip,
    /// The file ends within the member.
    #[error("the file ends within the record")]
    Truncated,
    /// The member does not begin with `WARC/1.` and fields with a type, a length and an end.
    #[error("the gzip member holds no WARC 1 header")]
    NotWarc,
    /// The header or the block is larger than [`ReadLimits`] allow.
    #[error("the record is larger than the limit")]
    TooLarge,
    /// The block is not as long as `Content-Length` says.
    #[error("the block is not as long as its Content-Length says")]
    WrongLength,
    /// The member continues after the record, or the range contains more than the record.
    #[error("more than one record where one was expected")]
    NotOneRecord,
    /// The file could not be read.
    #[error("the file could not be read")]
    Io(#[from] io::Error),
}

/// A reader of a file, record by record. Each must be a gzip member of its own, as in every file
/// that we write.
///
/// After an error it yields nothing more, as the start of the next member is unknown.
pub struct WarcReader<R> {
    source: CountingReader<BufReader<R>>,
    limits: ReadLimits,
    has_ended: bool,
}

impl<R: Read> WarcReader<R> {
    /// Creates a reader at the beginning of a file.
    pub fn new(file: R, limits: ReadLimits) -> Self {
        Self { source: CountingReader::new(BufReader::new(file)), limits, has_ended: false }
    }

    fn at_end(&mut self) -> Result<bool, WarcFault> {
        Ok(self.source.fill_buf()?.is_empty())
    }

    fn read(&mut self, block: &mut dyn Write) -> Result<Option<StoredRecord>, WarcFault> {
        if self.at_end()? {
            return Ok(None);
        }
        // flate2 calls any input too short for a gzip header truncated, whatever it is.
        if !self.source.fill_buf()?.iter().zip(GZIP_MAGIC).all(|(byte, magic)| *byte == magic) {
            return Err(WarcFault::NotGzip);
        }
        let offset = self.source.bytes;
        let Content { record_type, fields, block, block_bytes } = read_member(&mut self.source, self.limits, block)?;
        let span = RecordSpan { offset, length: self.source.bytes - offset };
        Ok(Some(StoredRecord { record_type, fields, block, block_bytes, span }))
    }

    /// Reads the only record, and writes all of its block.
    fn read_alone(&mut self, block: &mut dyn Write) -> Result<StoredRecord, WarcFault> {
        match self.read(block)? {
            Some(record) if self.at_end().unwrap_or(false) => Ok(record),
            Some(_) => Err(WarcFault::NotOneRecord),
            None => Err(WarcFault::Truncated),
        }
    }
}

impl<R: Read> Iterator for WarcReader<R> {
    type Item = Result<StoredRecord, WarcError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let offset = self.source.bytes;
        let record = self.read(&mut io::sink()).map_err(|fault| WarcError { offset, fault }).transpose();
        self.has_ended = !matches!(record, Some(Ok(_)));
        record
    }
}

/// Reads the only record of a range given by a [`RecordSpan`].
///
/// # Errors
///
/// Fails if the range is not exactly one record. Offsets in the error and in the record's span
/// count from the start of the range.
pub fn read_record(member: &[u8], limits: ReadLimits) -> Result<StoredRecord, WarcError> {
    read_record_into(member, limits, &mut io::sink())
}

/// Reads the only record of a range, like [`read_record`], and writes all of its block, however
/// little of that is held.
///
/// # Errors
///
/// As [`read_record`]; the written bytes cannot be trusted then. A failure to write the block is
/// [`WarcFault::Io`].
pub fn read_record_into(
    member: impl Read,
    limits: ReadLimits,
    block: &mut dyn Write,
) -> Result<StoredRecord, WarcError> {
    WarcReader::new(member, limits).read_alone(block).map_err(|fault| WarcError { offset: 0, fault })
}

/// The content of one member.
struct Content {
    record_type: RecordType,
    fields: Headers<String>,
    block: Vec<u8>,
    block_bytes: u64,
}

fn read_member(source: &mut impl BufRead, limits: ReadLimits, block: &mut dyn Write) -> Result<Content, WarcFault> {
    // No compressor doubles a record's length, but a member may be endless and yield nothing.
    let compressed_max = limits.header_bytes_max.saturating_add(limits.block_bytes_max).saturating_mul(2);
    let mut compressed = source.take(compressed_max);
    let content = read_text(&mut BufReader::new(GzDecoder::new(&mut compressed)), limits, block);
    if content.is_err() && compressed.limit() == 0 { Err(WarcFault::TooLarge) } else { content }
}

fn read_text(text: &mut impl BufRead, limits: ReadLimits, to: &mut dyn Write) -> Result<Content, WarcFault> {
    const RECORD_END: &[u8] = b"\r\n\r\n";
    let header = read_header(text, limits.header_bytes_max)?;
    let fields = parse_fields(&header);
    let record_type = RecordType::from_name(fields.get("WARC-Type").ok_or(WarcFault::NotWarc)?);
    let length = fields.get("Content-Length").and_then(parse_length).ok_or(WarcFault::NotWarc)?;
    if length > limits.block_bytes_max {
        return Err(WarcFault::TooLarge);
    }
    // The block grows as its bytes arrive, so a false length reserves no memory.
    let mut block = Vec::new();
    text.take(length.min(limits.held_bytes_max)).read_to_end(&mut block).map_err(to_fault)?;
    to.write_all(&block)?;
    let further = pass_on(&mut text.take(length - block.len() as u64), to)?;
    let mut end = Vec::new();
    text.take(RECORD_END.len() as u64).read_to_end(&mut end).map_err(to_fault)?;
    if block.len() as u64 + further != length || end != RECORD_END {
        return Err(WarcFault::WrongLength);
    }
    // Reading to the member's end also verifies its checksum.
    if text.fill_buf().map_err(to_fault)?.is_empty() {
        Ok(Content { record_type, fields, block, block_bytes: length })
    } else {
        Err(WarcFault::NotOneRecord)
    }
}

/// Writes the rest. Returns the number of bytes.
pub(super) fn pass_on(text: &mut impl BufRead, to: &mut dyn Write) -> Result<u64, WarcFault> {
    let mut passed = 0;
    loop {
        let bytes = text.fill_buf().map_err(to_fault)?;
        if bytes.is_empty() {
            return Ok(passed);
        }
        // The writer's errors are unrelated to the record.
        to.write_all(bytes)?;
        let length = bytes.len();
        text.consume(length);
        passed += length as u64;
    }
}

/// Reads the header up to its empty line, and returns its fields without the version.
pub(super) fn read_header(text: &mut impl BufRead, header_bytes_max: u64) -> Result<Vec<u8>, WarcFault> {
    let mut text = text.take(header_bytes_max);
    let mut header = Vec::new();
    text.read_until(b'\n', &mut header).map_err(to_fault)?;
    if !header.starts_with(b"WARC/1.") {
        return Err(WarcFault::NotWarc);
    }
    header.clear();
    loop {
        let line_start = header.len();
        text.read_until(b'\n', &mut header).map_err(to_fault)?;
        match &header[line_start..] {
            b"\r\n" | b"\n" => return Ok(header),
            line if line.ends_with(b"\n") => {}
            _ if text.limit() == 0 => return Err(WarcFault::TooLarge),
            _ => return Err(WarcFault::NotWarc),
        }
    }
}

/// `1*DIGIT`: no sign, no spaces.
pub(super) fn parse_length(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Distinguishes bad data from failures of the file, both of which flate2 reports as I/O errors.
pub(super) fn to_fault(error: io::Error) -> WarcFault {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => WarcFault::Truncated,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => WarcFault::NotGzip,
        _ => WarcFault::Io(error),
    }
}

/// A reader that counts the bytes taken from it.
pub(super) struct CountingReader<B> {
    pub(super) inner: B,
    bytes: u64,
}

impl<B> CountingReader<B> {
    pub(super) const fn new(inner: B) -> Self {
        Self { inner, bytes: 0 }
    }

    pub(super) const fn taken_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<B: BufRead> Read for CountingReader<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.inner.read(buffer)?;
        self.bytes += taken as u64;
        Ok(taken)
    }
}

impl<B: BufRead> BufRead for CountingReader<B> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes += amount as u64;
        self.inner.consume(amount);
    }
}
