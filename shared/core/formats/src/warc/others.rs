//! Files of other programs: WARC 1.0 and 1.1, compressed record by record, several records at a
//! time, or not at all.
//!
//! Unlike [`WarcReader`](super::WarcReader), which holds our own files to their layout, this reader
//! accepts the output of programs in use: LF alone at the end of lines, a last record that is cut
//! short, bodies of any length, and responses that still have their transfer coding.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::bufread::GzDecoder;

use super::Sha1Digest;
use super::fields::parse_fields;
use super::http::{self, HttpResponse, HttpResponseError, parse_http_response};
use super::ids::RecordType;
use super::reader::{
    CountingReader, GZIP_MAGIC, ReadLimits, WarcError, WarcFault, parse_length, pass_on, read_header, to_fault,
};
use super::stored::{DigestCheck, StoredRecord};
use super::writer::RecordSpan;
use crate::http_fields::Headers;

/// The limit on a chunk's size with its extensions, in bytes (RFC 9112 §7.1.1).
const CHUNK_LINE_BYTES_MAX: usize = 4 << 10;

/// The limit on the distance of a record from the beginning of its gzip member, in inflated bytes:
/// to read it alone, everything before it is inflated.
const SKIP_BYTES_MAX: u64 = 4 << 20;

/// A record of another program's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OthersRecord {
    /// The record. Its block is the available part within the limit.
    pub record: StoredRecord,
    /// Its place.
    pub place: RecordPlace,
    /// How much of it is in the block.
    pub extent: Extent,
}

/// The place of a record in its file, for [`read_others_record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordPlace {
    /// The offset in the file of the record, or of the gzip member with it.
    pub offset: u64,
    /// How many inflated bytes of that member come before it.
    pub skip_bytes: u64,
}

/// How much of a record was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The file ends within its block.
    CutShort {
        /// How many bytes are missing, by the record's `Content-Length`.
        missing_bytes: u64,
    },
    /// The block is longer than the limit, and its end was left out.
    OverLimit {
        /// How many bytes were left out.
        left_out_bytes: u64,
    },
}

/// A reader of another program's file, record by record. After an error it yields nothing more.
///
/// ```
/// use dragline_formats::warc::{OthersReader, ReadLimits};
/// let file = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n";
/// let mut records = OthersReader::new(&file[..], ReadLimits::default());
/// assert_eq!(records.next().unwrap().unwrap().record.block, b"hi");
/// assert!(records.next().is_none());
/// ```
pub struct OthersReader<R> {
    /// `None` once nothing more is yielded.
    text: Option<Text<R>>,
    limits: ReadLimits,
}

type File<R> = CountingReader<BufReader<R>>;

/// The decompressed file. Its first bytes show the compression.
enum Text<R> {
    /// The beginning of the file or of a gzip member.
    Between(File<R>),
    /// A file without compression.
    Plain(File<R>),
    /// A gzip member that begins at this byte.
    Member(Box<CountingReader<BufReader<GzDecoder<File<R>>>>>, u64),
}

impl<R: Read> OthersReader<R> {
    /// Creates a reader at the beginning of a file.
    pub fn new(file: R, limits: ReadLimits) -> Self {
        Self { text: Some(Text::Between(CountingReader::new(BufReader::new(file)))), limits }
    }

    /// Reads the next record, and writes the part of its block beyond the limit; `None` at the end
    /// of the file. An error has its place.
    fn read(&mut self, rest: &mut dyn Write) -> Result<Option<OthersRecord>, (u64, WarcFault)> {
        while let Some(text) = self.text.take() {
            let (record, offset, text) = match text {
                Text::Between(file) => match open_text(file)? {
                    None => return Ok(None),
                    Some(text) => {
                        self.text = Some(text);
                        continue;
                    }
                },
                Text::Plain(mut file) => {
                    let start = file.taken_bytes();
                    let read = read_between(&mut file, self.limits, rest).map_err(|fault| (start, fault))?;
                    let record = read.map(|(record, skip_bytes, extent)| (record, (skip_bytes, 0), extent));
                    (record, start, Text::Plain(file))
                }
                Text::Member(mut member, offset) => {
                    let read = read_between(&mut *member, self.limits, rest).map_err(|fault| (offset, fault))?;
                    let Some((record, skip_bytes, extent)) = read else {
                        // The buffers contain nothing more of the member.
                        let CountingReader { inner, .. } = *member;
                        self.text = Some(Text::Between(inner.into_inner().into_inner()));
                        continue;
                    };
                    (Some((record, (offset, skip_bytes), extent)), offset, Text::Member(member, offset))
                }
            };
            let Some((mut record, (begins_at, skip_bytes), extent)) = record else { return Ok(None) };
            if skip_bytes > SKIP_BYTES_MAX {
                return Err((offset, WarcFault::NotOneRecord));
            }
            if !matches!(extent, Extent::CutShort { .. }) {
                self.text = Some(text);
            }
            record.span.offset = begins_at;
            return Ok(Some(OthersRecord { record, place: RecordPlace { offset: begins_at, skip_bytes }, extent }));
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for OthersReader<R> {
    type Item = Result<OthersRecord, WarcError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read(&mut io::sink()).map_err(|(offset, fault)| WarcError { offset, fault }).transpose()
    }
}

/// Reads one record from the part of a file that begins at the offset of its [`RecordPlace`].
///
/// # Errors
/// Fails if there is no record at that place any more.
pub fn read_others_record(
    from_offset: impl Read,
    place: RecordPlace,
    limits: ReadLimits,
) -> Result<OthersRecord, WarcError> {
    read_others_record_into(from_offset, place, limits, &mut io::sink())
}

/// Reads one record like [`read_others_record`], and writes the part of its block beyond the limit.
///
/// # Errors
/// Fails if there is no record at that place any more, or the rest cannot be written.
pub fn read_others_record_into(
    from_offset: impl Read,
    place: RecordPlace,
    limits: ReadLimits,
    rest: &mut dyn Write,
) -> Result<OthersRecord, WarcError> {
    let failed = |fault| WarcError { offset: place.offset, fault };
    let mut reader = OthersReader::new(from_offset, limits);
    if let Some(Text::Between(file)) = reader.text.take() {
        reader.text = open_text(file).map_err(|(_, fault)| failed(fault))?;
    }
    if let Some(Text::Member(member, _)) = &mut reader.text {
        io::copy(&mut member.take(place.skip_bytes), &mut io::sink()).map_err(|error| failed(to_fault(error)))?;
    }
    match reader.read(rest) {
        Ok(Some(read)) => Ok(OthersRecord { place, ..read }),
        Ok(None) => Err(failed(WarcFault::Truncated)),
        Err((_, fault)) => Err(failed(fault)),
    }
}

/// Returns the text that begins here; `None` at the end of the file.
fn open_text<R: Read>(mut file: File<R>) -> Result<Option<Text<R>>, (u64, WarcFault)> {
    let offset = file.taken_bytes();
    let bytes = file.fill_buf().map_err(|error| (offset, error.into()))?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.starts_with(&GZIP_MAGIC) {
        return Ok(Some(Text::Member(Box::new(CountingReader::new(BufReader::new(GzDecoder::new(file)))), offset)));
    }
    // A gzip member may only be followed by another one.
    if offset == 0 { Ok(Some(Text::Plain(file))) } else { Err((offset, WarcFault::NotGzip)) }
}

/// Reads a record with the empty lines around it. Returns it with how many bytes of the text come
/// before it, and how much of it was read; `None` if nothing follows.
fn read_between<B: BufRead>(
    text: &mut CountingReader<B>,
    limits: ReadLimits,
    rest: &mut dyn Write,
) -> Result<Option<(StoredRecord, u64, Extent)>, WarcFault> {
    skip_line_ends(text)?;
    let offset = text.taken_bytes();
    match text.fill_buf().map_err(to_fault) {
        // The part that broke off between two records is the checksum of the file's last member.
        Ok([]) | Err(WarcFault::Truncated) => return Ok(None),
        Ok(_) => {}
        Err(fault) => return Err(fault),
    }
    // The end of a header that is too long is unknown, so nothing after it can be read.
    let header = read_header(text, limits.header_bytes_max).map_err(|fault| match fault {
        WarcFault::TooLarge => WarcFault::NotWarc,
        fault => fault,
    })?;
    let fields = parse_fields(&header);
    let record_type = RecordType::from_name(fields.get("WARC-Type").ok_or(WarcFault::NotWarc)?);
    let length = fields.get("Content-Length").and_then(parse_length).ok_or(WarcFault::NotWarc)?;
    let kept = length.min(limits.block_bytes_max);
    // The block grows as its bytes arrive, so a false length reserves no memory.
    let mut block = Vec::new();
    let cut_short = |read: Result<u64, WarcFault>| match read {
        Err(WarcFault::Truncated) => Ok(None),
        read => read.map(Some),
    };
    cut_short(text.by_ref().take(kept).read_to_end(&mut block).map(|bytes| bytes as u64).map_err(to_fault))?;
    let left_out_bytes = if block.len() as u64 == kept {
        cut_short(pass_on(&mut text.by_ref().take(length - kept), rest))?
    } else {
        None
    };
    let extent = match left_out_bytes {
        Some(0) if kept == length => Extent::Whole,
        Some(left_out_bytes) if left_out_bytes == length - kept => Extent::OverLimit { left_out_bytes },
        Some(_) | None => Extent::CutShort { missing_bytes: length - block.len() as u64 },
    };
    if !matches!(extent, Extent::CutShort { .. }) {
        let blank = skip_line_ends(text)?;
        match text.fill_buf().map_err(to_fault) {
            Ok([]) | Err(WarcFault::Truncated) => {}
            Ok(_) if blank > 0 => {}
            Ok(_) => return Err(WarcFault::WrongLength),
            // The member's checksum is wrong, or the following bytes are damaged: the data read
            // from it cannot be trusted.
            Err(fault) => return Err(fault),
        }
    }
    let block_bytes = block.len() as u64;
    let span = RecordSpan { offset, length: block_bytes };
    Ok(Some((StoredRecord { record_type, fields, block, block_bytes, span }, offset, extent)))
}

/// Skips line ends, and returns how many bytes they were. A file that breaks off within them has
/// lost nothing.
fn skip_line_ends(text: &mut impl BufRead) -> Result<u64, WarcFault> {
    let mut skipped = 0;
    loop {
        let bytes = match text.fill_buf().map_err(to_fault) {
            Err(WarcFault::Truncated) => return Ok(skipped),
            bytes => bytes?,
        };
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let is_done = blank == 0;
        text.consume(blank);
        skipped += blank as u64;
        if is_done {
            return Ok(skipped);
        }
    }
}
/// A request in another program's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OthersRequest {
    /// Its method, as sent.
    pub method: String,
    /// Its fields.
    pub headers: Headers,
}

/// Reads the request in a record; `None` if there is none.
#[must_use]
pub fn read_others_request(record: &StoredRecord) -> Option<OthersRequest> {
    let mut rest = record.block.as_slice();
    let line = http::next_line(&mut rest);
    let method = line.split(|&byte| byte == b' ').next().filter(|method| method.iter().all(u8::is_ascii_alphabetic))?;
    let method = str::from_utf8(method).ok().filter(|method| !method.is_empty())?.to_owned();
    Some(OthersRequest { method, headers: http::parse_fields(&record.block, &mut rest).ok()? })
}

/// A response in another program's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OthersResponse<'a> {
    /// Status and fields. Its body is as in the record, with the transfer coding if that was kept.
    pub message: HttpResponse<'a>,
    /// The body without its transfer coding, but with its content coding.
    pub body: Cow<'a, [u8]>,
    /// Whether the body matches the digest of the record's payload, which some programs compute
    /// with the transfer coding and some without.
    pub digest: DigestCheck,
}

/// Reads the response in a record, and removes the transfer coding `chunked` if it was kept.
///
/// Programs whose library removes the coding often keep the field that names it, so a body that is
/// not in chunks is used as it is. Chunks that break off yield their received part.
///
/// # Errors
///
/// Fails if there is no status line, or the head exceeds the limits.
pub fn read_others_response(record: &StoredRecord) -> Result<OthersResponse<'_>, HttpResponseError> {
    let message = parse_http_response(&record.block)?;
    let is_chunked = message.headers.all("transfer-encoding").any(|value| {
        value
            .split(|&byte| byte == b',')
            .next_back()
            .is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"))
    });
    let joined = if is_chunked { join_chunks(message.body) } else { None };
    let body = joined.map_or(Cow::Borrowed(message.body), Cow::Owned);
    let digest = match record.payload_digest() {
        None => DigestCheck::NotStated,
        Some(_) if record.record_type != RecordType::Response => DigestCheck::NotHere,
        Some(stated) => {
            let computed = Sha1Digest::compute(&body);
            match stated == computed || stated == Sha1Digest::compute(message.body) {
                true => DigestCheck::Match,
                false => DigestCheck::Mismatch { stated, computed },
            }
        }
    };
    Ok(OthersResponse { message, body, digest })
}

/// Joins the chunks of a body (RFC 9112 §7.1); `None` if it does not begin with a chunk.
fn join_chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::new();
    let mut is_first = true;
    loop {
        let Some((size, after)) = chunk_size(rest) else {
            return if is_first { None } else { Some(joined) };
        };
        let data = &after[..size.min(after.len())];
        let behind = &after[data.len()..];
        let is_closed = behind.starts_with(b"\r\n") || behind.starts_with(b"\n") || behind.is_empty();
        if is_first && !is_closed {
            return None;
        }
        joined.extend_from_slice(data);
        if size == 0 || !is_closed {
            return Some(joined);
        }
        rest = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n")).unwrap_or(behind);
        is_first = false;
    }
}

/// Reads the first line of a chunk. Returns the size of the chunk, and the bytes after the line.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().take(CHUNK_LINE_BYTES_MAX).position(|&byte| byte == b'\n')?;
    let digits = bytes[..end].split(|&byte| byte == b';').next()?.trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let size = usize::from_str_radix(str::from_utf8(digits).ok().filter(|_| is_number)?, 16).ok()?;
    Some((size, &bytes[end + 1..]))
}
