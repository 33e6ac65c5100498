//! gzip and deflate. flate2 takes bodies in chunks, and need not know their length; a short body in gzip is inflated by libdeflate in one go, in half
//! the time.

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;

use super::codings::ContentCoding;
use super::decoder::{Codec, DecodeFault, OUT_BYTES, Out, Stop};
use crate::deflated::GZIP_MEMBER_START;

const GZIP_MAGIC: [u8; 2] = [GZIP_MEMBER_START[0], GZIP_MEMBER_START[1]];
const WINDOW_BITS: u8 = 15;

/// The most bytes that are inflated in one go.
const AT_ONCE_BYTES_MAX: u64 = 1 << 20;

/// Inflates a body of one member of gzip, which says at its end how long it is (RFC 1952, section 2.3.1). `None` if that is more than the limit or a
/// megabyte, or if the body is anything else: damaged, longer than its member, or possibly of several.
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

/// The first two bytes say what follows: they are held back until both have arrived.
#[derive(Default)]
struct Start {
    bytes: [u8; 2],
    len: usize,
}

enum State {
    /// Before the first member.
    Start(Start),
    Member(Decompress),
    /// After a member of gzip: another may follow.
    Between(Start),
    Done,
}

/// Decodes gzip, member by member, or deflate with or without its zlib wrapper.
pub(super) struct Inflate {
    coding: ContentCoding,
    state: State,
    out: Box<[u8]>,
    gave_output: bool,
}

impl Inflate {
    pub(super) fn gzip() -> Self {
        Self::new(ContentCoding::Gzip)
    }

    pub(super) fn deflate() -> Self {
        Self::new(ContentCoding::Deflate)
    }

    fn new(coding: ContentCoding) -> Self {
        let out = vec![0; OUT_BYTES].into_boxed_slice();
        Self { coding, state: State::Start(Start::default()), out, gave_output: false }
    }

    fn stop(&self, fault: DecodeFault) -> Stop {
        Stop::fault(self.coding, fault)
    }

    /// Decodes into `out` until the input is used up or the member ends; returns what is left of the input.
    fn inflate<'i>(&mut self, mut input: &'i [u8], out: &mut Out<'_>) -> Result<&'i [u8], Stop> {
        loop {
            let State::Member(member) = &mut self.state else { return Ok(input) };
            let (in_before, out_before) = (member.total_in(), member.total_out());
            let status = member.decompress(input, &mut self.out, FlushDecompress::None);
            let taken = usize::try_from(member.total_in() - in_before).unwrap_or(usize::MAX);
            let given = usize::try_from(member.total_out() - out_before).unwrap_or(usize::MAX);
            input = &input[taken.min(input.len())..];
            if given > 0 {
                self.gave_output = true;
                out(&self.out[..given])?;
            }
            match status {
                Err(_) if self.coding == ContentCoding::Deflate && !self.gave_output => {
                    // Raw deflate has no magic number, so plain text is only recognised here.
                    return Err(self.stop(DecodeFault::NotInCoding));
                }
                Err(_) => return Err(self.stop(DecodeFault::Damaged)),
                Ok(Status::StreamEnd) => {
                    self.state = match self.coding {
                        ContentCoding::Gzip => State::Between(Start::default()),
                        _ => State::Done,
                    };
                    return Ok(input);
                }
                Ok(Status::Ok | Status::BufError) if taken == 0 && given == 0 => return Ok(input),
                Ok(Status::Ok | Status::BufError) => {}
            }
        }
    }

    /// Chooses what follows the two bytes at a start, and decodes them.
    fn begin(&mut self, first: [u8; 2], is_first_member: bool, out: &mut Out<'_>) -> Result<(), Stop> {
        let member = match self.coding {
            ContentCoding::Gzip if first == GZIP_MAGIC => Decompress::new_gzip(WINDOW_BITS),
            ContentCoding::Gzip if is_first_member => return Err(self.stop(DecodeFault::NotInCoding)),
            ContentCoding::Gzip => {
                self.state = State::Done;
                return Ok(());
            }
            _ => Decompress::new(is_zlib_header(first)),
        };
        self.state = State::Member(member);
        self.inflate(&first, out).map(drop)
    }
}

/// RFC 1950 §2.2: method 8, a window of at most 32 KiB, and a check value over both bytes.
fn is_zlib_header(first: [u8; 2]) -> bool {
    first[0] & 0x0f == 8 && first[0] >> 4 <= 7 && u16::from_be_bytes(first).is_multiple_of(31)
}

impl Codec for Inflate {
    fn push(&mut self, mut input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        while let Some((&byte, after)) = input.split_first() {
            let is_first_member = matches!(self.state, State::Start(_));
            match &mut self.state {
                State::Done => return Ok(()),
                State::Member(_) => input = self.inflate(input, out)?,
                State::Start(start) | State::Between(start) => {
                    start.bytes[start.len] = byte;
                    start.len += 1;
                    input = after;
                    if start.len == start.bytes.len() {
                        let first = start.bytes;
                        self.begin(first, is_first_member, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut Out<'_>) -> Result<(), Stop> {
        match &self.state {
            State::Start(Start { len: 0, .. }) | State::Between(_) | State::Done => Ok(()),
            State::Start(_) | State::Member(_) => Err(self.stop(DecodeFault::Truncated)),
        }
    }
}
