//! Brotli, by brotli-decompressor.

use std::io::{self, BufRead as _, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::codings::ContentCoding;
use super::decode::{DecodeFault, START_BYTES, Source, pass_over};

/// If a piece fails, the decoder does not return what it decoded of it, so pieces are small.
const PIECE_BYTES: usize = 4 << 10;

/// Undoes brotli. Windows are at most 16 MiB, as `new_strict` refuses the "large window" extension,
/// which the crate's own reader allows.
pub(super) struct Brotli<'a> {
    source: Source<'a>,
    stream: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    taken_bytes: usize,
    is_done: bool,
}

impl<'a> Brotli<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        let stream =
            BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
        Self { source, stream, taken_bytes: 0, is_done: false }
    }
}

impl Read for Brotli<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.is_done {
            let input = self.source.fill_buf()?;
            let piece = &input[..PIECE_BYTES.min(input.len())];
            let (mut in_left, mut in_at, mut out_left, mut out_at) = (piece.len(), 0, out.len(), 0);
            let result = BrotliDecompressStream(
                &mut in_left,
                &mut in_at,
                piece,
                &mut out_left,
                &mut out_at,
                out,
                &mut 0,
                &mut self.stream,
            );
            let (is_at_start, is_at_end) = (self.taken_bytes < START_BYTES, piece.is_empty());
            self.source.consume(in_at);
            self.taken_bytes = self.taken_bytes.saturating_add(in_at);
            self.is_done = matches!(result, BrotliResult::ResultSuccess);
            if out_at > 0 {
                // The next call repeats the result.
                return Ok(out_at);
            }
            let fault = match result {
                BrotliResult::ResultFailure if is_at_start => DecodeFault::NotInCoding,
                BrotliResult::ResultFailure => DecodeFault::Damaged,
                BrotliResult::NeedsMoreInput if is_at_end => DecodeFault::Truncated,
                _ => continue,
            };
            return Err(fault.in_coding(ContentCoding::Brotli));
        }
        pass_over(&mut self.source)
    }
}
