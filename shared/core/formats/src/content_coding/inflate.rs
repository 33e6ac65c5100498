//! gzip and deflate. flate2 reads bodies whose length is not known; a short body in gzip is
//! inflated by libdeflate in one go, in half the time.

use std::io::{self, BufRead as _, Read};

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;

use super::codings::ContentCoding;
use super::decode::{DecodeFault, Source, pass_over};
use crate::deflated::GZIP_MEMBER_START;

const GZIP_MAGIC: [u8; 2] = [GZIP_MEMBER_START[0], GZIP_MEMBER_START[1]];
const WINDOW_BITS: u8 = 15;

/// The most bytes that are inflated in one go.
const AT_ONCE_BYTES_MAX: u64 = 1 << 20;

/// Inflates a body of one member of gzip, which says at its end how long it is (RFC 1952, section
/// 2.3.1). `None` if that is more than the limit or a megabyte, or if the body is anything else:
/// damaged, longer than its member, or possibly of several.
pub(super) fn gunzip_at_once(body: &[u8], limit_bytes: u64) -> Option<Vec<u8>> {
    let behind_start = body.strip_prefix(&GZIP_MEMBER_START)?;
    let bytes = u32::from_le_bytes(*body.last_chunk()?);
    let might_have_more = || behind_start.windows(GZIP_MEMBER_START.len()).any(|bytes| bytes == GZIP_MEMBER_START);
    if u64::from(bytes) > limit_bytes.min(AT_ONCE_BYTES_MAX) || might_have_more() {
        return None;
    }
    let mut inflated = vec![0; usize::try_from(bytes).ok()?];
    let length = Decompressor::new().gzip_decompress(body, &mut inflated).ok()?;
    (length == inflated.len()).then_some(inflated)
}

/// Undoes gzip, member by member, or deflate with or without its zlib wrapper.
///
/// flate2's own readers do not serve: they keep back what they decoded of a piece that fails, take
/// the end of a cut zlib body for its own, and what follows a member of gzip for damage.
pub(super) struct Inflate<'a> {
    coding: ContentCoding,
    source: Source<'a>,
    /// `None` after the last one.
    member: Option<Decompress>,
    has_output: bool,
}

impl<'a> Inflate<'a> {
    /// Undoes a coding whose first two bytes say what follows; `None` if there are fewer.
    pub(super) fn new(coding: ContentCoding, start: Option<[u8; 2]>, source: Source<'a>) -> io::Result<Self> {
        let member = match (coding, start) {
            (_, None) => return Err(DecodeFault::Truncated.in_coding(coding)),
            (ContentCoding::Gzip, Some(GZIP_MAGIC)) => Decompress::new_gzip(WINDOW_BITS),
            (ContentCoding::Gzip, _) => return Err(DecodeFault::NotInCoding.in_coding(coding)),
            (_, Some(start)) => Decompress::new(is_zlib_header(start)),
        };
        Ok(Self { coding, source, member: Some(member), has_output: false })
    }

    /// Begins the member of gzip that follows one; `None` if anything else does: a member begins
    /// with its mark and the only method that there is (RFC 1952, section 2.3.1).
    fn next_member(&mut self) -> io::Result<Option<Decompress>> {
        let mut start = Vec::new();
        self.source.by_ref().take(GZIP_MEMBER_START.len() as u64).read_to_end(&mut start)?;
        // The mark alone is a member that is cut.
        if self.coding != ContentCoding::Gzip || start != GZIP_MEMBER_START && start != GZIP_MAGIC {
            return Ok(None);
        }
        let mut member = Decompress::new_gzip(WINDOW_BITS);
        let begun = member.decompress(&start, &mut [0], FlushDecompress::None);
        begun.map(|_| Some(member)).map_err(|_| DecodeFault::Damaged.in_coding(self.coding))
    }
}

/// RFC 1950 §2.2: method 8, a window of at most 32 KiB, and a check value over both bytes.
fn is_zlib_header(start: [u8; 2]) -> bool {
    start[0] & 0x0f == 8 && start[0] >> 4 <= 7 && u16::from_be_bytes(start).is_multiple_of(31)
}

impl Read for Inflate<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let input = self.source.fill_buf()?;
            let (is_at_end, in_before, out_before) = (input.is_empty(), member.total_in(), member.total_out());
            let status = member.decompress(input, out, FlushDecompress::None);
            let taken = usize::try_from(member.total_in() - in_before).unwrap_or(usize::MAX);
            let given = usize::try_from(member.total_out() - out_before).unwrap_or(usize::MAX);
            self.source.consume(taken);
            if given > 0 {
                // The next call repeats the status.
                self.has_output = true;
                return Ok(given);
            }
            let fault = match status {
                Ok(Status::StreamEnd) => {
                    self.member = self.next_member()?;
                    continue;
                }
                // Raw deflate has no magic number, so plain text is only recognised here.
                Err(_) if self.coding == ContentCoding::Deflate && !self.has_output => DecodeFault::NotInCoding,
                Err(_) => DecodeFault::Damaged,
                Ok(_) if is_at_end => DecodeFault::Truncated,
                Ok(_) => continue,
            };
            return Err(fault.in_coding(self.coding));
        }
        pass_over(&mut self.source)
    }
}
