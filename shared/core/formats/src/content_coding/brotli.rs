//! Brotli, by brotli-decompressor.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::codings::ContentCoding;
use super::decoder::{Codec, DecodeFault, OUT_BYTES, Out, Stop};

/// If a piece fails, the decoder does not return what it decoded of it, so pieces are small.
const PIECE_BYTES: usize = 4 * 1024;

/// Brotli has no magic number, so plain text is only recognised by an early failure: within this many bytes.
const EARLY_BYTES: usize = 256;

enum State {
    Start,
    Stream,
    Done,
}

/// Undoes brotli. Windows are at most 16 MiB, as `new_strict` refuses the "large window" extension.
pub(super) struct Brotli {
    stream: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    state: State,
    out: Box<[u8]>,
    total_out: usize,
    /// How many bytes of input came so far, counted up to [`EARLY_BYTES`].
    early_bytes: usize,
}

impl Brotli {
    pub(super) fn new() -> Self {
        Self {
            stream: BrotliState::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ),
            state: State::Start,
            out: vec![0; OUT_BYTES].into_boxed_slice(),
            total_out: 0,
            early_bytes: 0,
        }
    }

    fn decode(&mut self, input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        let (mut input_left, mut input_at) = (input.len(), 0);
        loop {
            let (mut out_left, mut out_at) = (self.out.len(), 0);
            let result = BrotliDecompressStream(
                &mut input_left,
                &mut input_at,
                input,
                &mut out_left,
                &mut out_at,
                &mut self.out,
                &mut self.total_out,
                &mut self.stream,
            );
            if out_at > 0 {
                out(&self.out[..out_at])?;
            }
            match result {
                BrotliResult::NeedsMoreOutput => {}
                // If the output fills its buffer, it asks for input while it still holds output back.
                BrotliResult::NeedsMoreInput if out_left == 0 => {}
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::ResultSuccess => {
                    self.state = State::Done;
                    return Ok(());
                }
                BrotliResult::ResultFailure => {
                    let is_early = self.early_bytes < EARLY_BYTES;
                    let fault = if is_early { DecodeFault::NotInCoding } else { DecodeFault::Damaged };
                    return Err(Stop::fault(ContentCoding::Brotli, fault));
                }
            }
        }
    }
}

impl Codec for Brotli {
    fn push(&mut self, input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        let (early, rest) = input.split_at((EARLY_BYTES - self.early_bytes).min(input.len()));
        for piece in std::iter::once(early).chain(rest.chunks(PIECE_BYTES)).filter(|piece| !piece.is_empty()) {
            if matches!(self.state, State::Done) {
                break;
            }
            self.state = State::Stream;
            self.decode(piece, out)?;
            self.early_bytes = EARLY_BYTES.min(self.early_bytes + piece.len());
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut Out<'_>) -> Result<(), Stop> {
        match self.state {
            State::Start | State::Done => Ok(()),
            State::Stream => Err(Stop::fault(ContentCoding::Brotli, DecodeFault::Truncated)),
        }
    }
}
