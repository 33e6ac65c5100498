//! Brotli, by brotli-decompressor.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::codings::ContentCoding;
use super::decoder::{Codec, DecodeFault, OUT_BYTES, Out, Stop};

/// The decoder never takes 4 GiB at once; a slice this long is far below it.
const IN_BYTES_MAX: usize = 1 << 20;

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
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::ResultSuccess => {
                    self.state = State::Done;
                    return Ok(());
                }
                // Brotli has no mark of its own, so plain text is found out only by failing early.
                BrotliResult::ResultFailure if self.total_out == 0 => {
                    return Err(Stop::fault(ContentCoding::Brotli, DecodeFault::NotInCoding));
                }
                BrotliResult::ResultFailure => {
                    return Err(Stop::fault(ContentCoding::Brotli, DecodeFault::Damaged));
                }
            }
        }
    }
}

impl Codec for Brotli {
    fn push(&mut self, input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        for part in input.chunks(IN_BYTES_MAX) {
            if matches!(self.state, State::Done) {
                break;
            }
            self.state = State::Stream;
            self.decode(part, out)?;
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
