//! Zstandard, by ruzstd.
//!
//! ruzstd pulls its input from a reader and fails for good when that runs dry. So the frame is cut into its parts here
//! (RFC 8878 §3.1), and ruzstd is given one part at a time, once it is whole: a header of at most 18 bytes, or a block of
//! at most 128 KiB.

use std::io::Read;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::codings::ContentCoding;
use super::decoder::{Codec, DecodeFault, OUT_BYTES, Out, Stop};

/// RFC 9659 §3: the largest window of the content coding.
const WINDOW_BYTES_MAX: u64 = 8 << 20;
/// RFC 8878 §3.1.1.2.4.
const BLOCK_BYTES_MAX: usize = 128 << 10;
const MAGIC: u32 = 0xFD2F_B528;
const SKIPPABLE_MAGIC: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
const BLOCK_HEADER_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;
/// A block that is last, raw and empty.
const EMPTY_LAST_BLOCK: [u8; BLOCK_HEADER_BYTES] = [1, 0, 0];

/// The part of the format that is being collected.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The four bytes that begin a frame.
    Magic,
    /// The byte after them, which tells how long the header is.
    Descriptor,
    Header,
    BlockHeader,
    Block,
    SkippableLength,
    Skipped {
        left_bytes: u32,
    },
    /// Bytes after the last frame.
    Done,
}

/// Undoes zstd, frame by frame.
pub(super) struct Zstd {
    frames: FrameDecoder,
    part: Part,
    /// What was collected of the part, and how much it needs.
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
            part: Part::Magic,
            collected: Vec::new(),
            needed_bytes: 4,
            has_checksum: false,
            is_first_frame: true,
            out: vec![0; OUT_BYTES].into_boxed_slice(),
        }
    }

    /// Goes on to collect another part; what was collected stays if the part only grows.
    fn collect(&mut self, part: Part, needed_bytes: usize) {
        (self.part, self.needed_bytes) = (part, needed_bytes);
    }

    fn collect_anew(&mut self, part: Part, needed_bytes: usize) {
        self.collected.clear();
        self.collect(part, needed_bytes);
    }

    /// Handles a part that is whole.
    fn step(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        match self.part {
            Part::Magic => match little_endian(&self.collected) {
                MAGIC => self.collect(Part::Descriptor, 5),
                magic if SKIPPABLE_MAGIC.contains(&magic) => self.collect_anew(Part::SkippableLength, 4),
                _ if self.is_first_frame => return Err(stop(DecodeFault::NotInCoding)),
                _ => self.collect_anew(Part::Done, 0),
            },
            Part::Descriptor => {
                let descriptor = self.collected[4];
                self.has_checksum = descriptor & 0b100 != 0;
                self.collect(Part::Header, 5 + header_rest_bytes(descriptor));
            }
            Part::Header => {
                self.frames.reset(self.collected.as_slice()).map_err(|error| stop(fault_of(&error)))?;
                self.collect_anew(Part::BlockHeader, BLOCK_HEADER_BYTES);
            }
            Part::BlockHeader => {
                let size = self.block_bytes()?;
                self.collect(Part::Block, BLOCK_HEADER_BYTES + size);
                if self.collected.len() == self.needed_bytes {
                    self.block(out)?;
                }
            }
            Part::Block => self.block(out)?,
            Part::SkippableLength => {
                self.is_first_frame = false;
                match little_endian(&self.collected) {
                    0 => self.collect_anew(Part::Magic, 4),
                    left_bytes => self.collect_anew(Part::Skipped { left_bytes }, 0),
                }
            }
            Part::Skipped { .. } | Part::Done => {}
        }
        Ok(())
    }

    /// The length of a block after its header, by RFC 8878 §3.1.1.2, with the frame's checksum if it is the last.
    fn block_bytes(&self) -> Result<usize, Stop> {
        const TYPE_RLE: u32 = 1;
        let header = little_endian(&self.collected);
        let (is_last, block_type, size) = (header & 1 != 0, (header >> 1) & 3, (header >> 3) as usize);
        if size > BLOCK_BYTES_MAX {
            return Err(stop(DecodeFault::Damaged));
        }
        let content = if block_type == TYPE_RLE { 1 } else { size };
        Ok(content + if is_last && self.has_checksum { CHECKSUM_BYTES } else { 0 })
    }

    fn block(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        let strategy = BlockDecodingStrategy::UptoBlocks(1);
        let is_last =
            self.frames.decode_blocks(self.collected.as_slice(), strategy).map_err(|error| stop(fault_of(&error)))?;
        self.drain(out)?;
        if !is_last {
            self.collect_anew(Part::BlockHeader, BLOCK_HEADER_BYTES);
            return Ok(());
        }
        if self.has_checksum && self.frames.get_checksum_from_data() != self.frames.get_calculated_checksum() {
            return Err(stop(DecodeFault::Damaged));
        }
        self.is_first_frame = false;
        self.collect_anew(Part::Magic, 4);
        Ok(())
    }

    /// Hands on what ruzstd no longer needs: all but the window, and all at a frame's end.
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

fn fault_of(error: &FrameDecoderError) -> DecodeFault {
    match error {
        FrameDecoderError::WindowSizeTooBig { .. } => DecodeFault::WindowTooLarge,
        _ => DecodeFault::Damaged,
    }
}

/// At most four bytes as a number.
fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// RFC 8878 §3.1.1.1: the length of window descriptor, dictionary id and content size.
fn header_rest_bytes(descriptor: u8) -> usize {
    let is_single_segment = descriptor & 0b10_0000 != 0;
    let window = usize::from(!is_single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 0b11)];
    let content_size = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        flag => 1 << flag,
    };
    window + dictionary + content_size
}

impl Codec for Zstd {
    fn push(&mut self, mut input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        while !input.is_empty() {
            match self.part {
                Part::Done => return Ok(()),
                Part::Skipped { left_bytes } => {
                    let skipped = usize::try_from(left_bytes).unwrap_or(usize::MAX).min(input.len());
                    input = &input[skipped..];
                    match left_bytes - u32::try_from(skipped).unwrap_or(left_bytes) {
                        0 => self.collect_anew(Part::Magic, 4),
                        left_bytes => self.part = Part::Skipped { left_bytes },
                    }
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
            Part::Magic if !self.is_first_frame || self.collected.is_empty() => return Ok(()),
            Part::BlockHeader | Part::Block => {
                // The window was held back for blocks that will not come: an end of our own makes ruzstd give it.
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
