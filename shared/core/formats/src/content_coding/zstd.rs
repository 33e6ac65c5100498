//! Zstandard, by ruzstd.
//!
//! ruzstd pulls its input from a reader, and its state is lost if the input ends inside a block. So blocks are split here (RFC 8878 §3.1.1.2), and
//! each is decoded once it is complete: at most 128 KiB. A header is tried with one more byte until it is complete, which is harmless; it has at most
//! 18. ruzstd's own interface for chunks (`decode_from_to`) is no alternative: it decodes all blocks of a chunk before it returns any, and four bytes
//! can be a block of 128 KiB.

use std::io::Read;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::codings::ContentCoding;
use super::decoder::{Codec, DecodeFault, OUT_BYTES, Out, Stop};

/// RFC 9659 §3: the largest window of the content coding.
const WINDOW_BYTES_MAX: u64 = 8 << 20;
/// RFC 8878 §3.1.1.2.4.
const BLOCK_BYTES_MAX: usize = 128 << 10;
const MAGIC_BYTES: usize = 4;
const BLOCK_HEADER_BYTES: usize = 3;
/// Of the byte that follows the magic number, RFC 8878 §3.1.1.1.1.
const CHECKSUM_FLAG: u8 = 0b100;
const CHECKSUM_BYTES: usize = 4;
/// An empty raw block that is the last one.
const EMPTY_LAST_BLOCK: [u8; BLOCK_HEADER_BYTES] = [1, 0, 0];

/// The part of the format that is being collected.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The header of a frame, also of one to be skipped, as far as it has arrived.
    Header,
    /// A block, starting with its header; the last one with the checksum after it.
    Block,
    /// The content of a frame to be skipped.
    Skipped { left_bytes: usize },
    /// Bytes after the last frame.
    Done,
}

/// Undoes zstd, frame by frame.
pub(super) struct Zstd {
    frames: FrameDecoder,
    part: Part,
    /// The bytes collected for the part, and how many it needs.
    collected: Vec<u8>,
    needed_bytes: usize,
    has_checksum: bool,
    is_first_frame: bool,
    out: Box<[u8]>,
}

impl Zstd {
    pub(super) fn new() -> Self {
        let mut frames = FrameDecoder::new();
        frames.set_max_window_size(WINDOW_BYTES_MAX);
        Self {
            frames,
            part: Part::Header,
            collected: Vec::new(),
            needed_bytes: MAGIC_BYTES,
            has_checksum: false,
            is_first_frame: true,
            out: vec![0; OUT_BYTES].into_boxed_slice(),
        }
    }

    fn collect(&mut self, part: Part, needed_bytes: usize) {
        self.collected.clear();
        (self.part, self.needed_bytes) = (part, needed_bytes);
    }

    /// Handles a part that is complete, or finds out how much more it needs.
    fn step(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        match self.part {
            Part::Header => self.header(),
            Part::Block => match self.block_bytes()? {
                bytes if bytes > self.collected.len() => {
                    self.needed_bytes = bytes;
                    Ok(())
                }
                _ => self.block(out),
            },
            Part::Skipped { .. } | Part::Done => Ok(()),
        }
    }

    /// Begins a frame if its header is complete.
    fn header(&mut self) -> Result<(), Stop> {
        use ReadFrameHeaderError::{BadMagicNumber, InvalidFrameDescriptor, SkipFrame};
        match self.frames.reset(self.collected.as_slice()) {
            Ok(()) => {
                self.has_checksum = self.collected[MAGIC_BYTES] & CHECKSUM_FLAG != 0;
                self.collect(Part::Block, BLOCK_HEADER_BYTES);
            }
            Err(FrameDecoderError::ReadFrameHeaderError(error)) => match error {
                BadMagicNumber(_) if self.is_first_frame => return Err(stop(DecodeFault::NotInCoding)),
                BadMagicNumber(_) => self.collect(Part::Done, 0),
                SkipFrame { length, .. } => self.skip(usize::try_from(length).unwrap_or(usize::MAX)),
                InvalidFrameDescriptor(_) => return Err(stop(DecodeFault::Damaged)),
                // Any other failure means that bytes are missing.
                _ => self.needed_bytes += 1,
            },
            Err(FrameDecoderError::WindowSizeTooBig { .. }) => return Err(stop(DecodeFault::WindowTooLarge)),
            Err(_) => return Err(stop(DecodeFault::Damaged)),
        }
        Ok(())
    }

    /// Skips this many bytes.
    fn skip(&mut self, left_bytes: usize) {
        self.is_first_frame = false;
        match left_bytes {
            0 => self.collect(Part::Header, MAGIC_BYTES),
            left_bytes => self.collect(Part::Skipped { left_bytes }, 0),
        }
    }

    /// Returns the length of a block from its header, RFC 8878 §3.1.1.2, including the frame's checksum if it is the last.
    fn block_bytes(&self) -> Result<usize, Stop> {
        const TYPE_RLE: u32 = 1;
        let header = u32::from_le_bytes([self.collected[0], self.collected[1], self.collected[2], 0]);
        let (is_last, block_type, size) = (header & 1 != 0, (header >> 1) & 3, (header >> 3) as usize);
        if size > BLOCK_BYTES_MAX {
            return Err(stop(DecodeFault::Damaged));
        }
        let content = if block_type == TYPE_RLE { 1 } else { size };
        let checksum = if is_last && self.has_checksum { CHECKSUM_BYTES } else { 0 };
        Ok(BLOCK_HEADER_BYTES + content + checksum)
    }

    fn block(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        let strategy = BlockDecodingStrategy::UptoBlocks(1);
        let decoded = self.frames.decode_blocks(self.collected.as_slice(), strategy);
        let is_last = decoded.map_err(|_| stop(DecodeFault::Damaged))?;
        self.drain(out)?;
        if !is_last {
            self.collect(Part::Block, BLOCK_HEADER_BYTES);
            return Ok(());
        }
        if self.has_checksum && self.frames.get_checksum_from_data() != self.frames.get_calculated_checksum() {
            return Err(stop(DecodeFault::Damaged));
        }
        self.skip(0);
        Ok(())
    }

    /// Passes on what ruzstd no longer needs: all but the window, and everything at a frame's end.
    fn drain(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        loop {
            let given = self.frames.read(&mut self.out).map_err(|_| stop(DecodeFault::Damaged))?;
            if given == 0 {
                return Ok(());
            }
            out(&self.out[..given])?;
        }
    }
}

fn stop(fault: DecodeFault) -> Stop {
    Stop::fault(ContentCoding::Zstd, fault)
}

impl Codec for Zstd {
    fn push(&mut self, mut input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        while !input.is_empty() {
            match self.part {
                Part::Done => return Ok(()),
                Part::Skipped { left_bytes } => {
                    let skipped = left_bytes.min(input.len());
                    input = &input[skipped..];
                    self.skip(left_bytes - skipped);
                }
                _ => {
                    let (taken, after) = input.split_at((self.needed_bytes - self.collected.len()).min(input.len()));
                    self.collected.extend_from_slice(taken);
                    input = after;
                    if self.collected.len() == self.needed_bytes {
                        self.step(out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        match self.part {
            Part::Done => return Ok(()),
            Part::Header if self.collected.is_empty() => return Ok(()),
            // Too little after a frame to be another.
            Part::Header if self.collected.len() < MAGIC_BYTES && !self.is_first_frame => return Ok(()),
            Part::Block => {
                // The window was held back for blocks that will not come: an artificial end makes ruzstd return it.
                let end = [EMPTY_LAST_BLOCK.as_slice(), &[0; CHECKSUM_BYTES]].concat();
                if self.frames.decode_blocks(end.as_slice(), BlockDecodingStrategy::UptoBlocks(1)).is_ok() {
                    self.drain(out)?;
                }
            }
            _ => {}
        }
        Err(stop(DecodeFault::Truncated))
    }
}
