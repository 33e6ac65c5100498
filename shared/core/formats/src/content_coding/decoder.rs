//! The chain of codings that a body is pushed through, and the limit at its end.

use serde::{Deserialize, Serialize};

use super::brotli::Brotli;
use super::codings::{ContentCoding, ContentCodings};
use super::inflate::Inflate;
use super::zstd::Zstd;

/// How many bytes a coding passes on at once.
pub(super) const OUT_BYTES: usize = 16 * 1024;

/// Whether a decoder accepts more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// Everything so far went to the sink.
    More,
    /// The body is longer than the limit: the sink has the bytes up to it, and will get no more.
    LimitReached,
}

/// Why a body could not be decoded to its end. What the sink got before is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[error("{fault} (content coding {coding})")]
pub struct DecodeError {
    /// The coding that failed.
    pub coding: ContentCoding,
    /// What was wrong.
    pub fault: DecodeFault,
}

impl DecodeError {
    /// Returns the error of a body that gave output before it failed: it was in its coding, or was taken for it.
    #[must_use]
    pub const fn after_output(self) -> Self {
        match self.fault {
            DecodeFault::NotInCoding => Self { fault: DecodeFault::Damaged, ..self },
            _ => self,
        }
    }
}

/// What was wrong with an encoded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum DecodeFault {
    /// It does not begin like that coding: most likely the server named a coding that it did not apply.
    #[error("the body is not in the coding that its header names")]
    NotInCoding,
    /// It starts correctly but fails later, or a checksum is wrong.
    #[error("the encoded body is damaged")]
    Damaged,
    /// It ends too early.
    #[error("the encoded body ends too early")]
    Truncated,
    /// It asks for a window larger than RFC 9659 allows.
    #[error("the encoded body asks for too large a window")]
    WindowTooLarge,
}

/// Why a chain stops before its input is used up.
pub(super) enum Stop {
    Limit,
    Failed(DecodeError),
}

impl Stop {
    pub(super) fn fault(coding: ContentCoding, fault: DecodeFault) -> Self {
        Self::Failed(DecodeError { coding, fault })
    }
}

/// Where a coding puts its output.
pub(super) type Out<'a> = dyn FnMut(&[u8]) -> Result<(), Stop> + 'a;

/// One coding, undone step by step. Bytes after its end are ignored, as browsers do.
pub(super) trait Codec: Send {
    /// Decodes all of `input`.
    fn push(&mut self, input: &[u8], out: &mut Out<'_>) -> Result<(), Stop>;

    /// Passes on what is held back, then says whether the input was complete. No input at all is complete: servers send a body of length 0 with any
    /// `Content-Encoding`.
    fn finish(&mut self, out: &mut Out<'_>) -> Result<(), Stop>;
}

/// Decodes a body chunk by chunk, up to a limit.
///
/// ```
/// use dragline_formats::content_coding::{ContentCodings, Decoder, Progress};
/// let mut text = Vec::new();
/// let mut decoder = Decoder::new(&ContentCodings::IDENTITY, 4);
/// assert_eq!(decoder.push(b"abc", &mut |bytes| text.extend_from_slice(bytes)), Ok(Progress::More));
/// assert_eq!(decoder.push(b"def", &mut |bytes| text.extend_from_slice(bytes)), Ok(Progress::LimitReached));
/// assert_eq!(text, b"abcd");
/// ```
pub struct Decoder {
    /// The coding that was applied last comes first.
    stages: Vec<Stage>,
    left_bytes: u64,
    /// Set once nothing more can follow; later calls only repeat it.
    verdict: Option<Result<Progress, DecodeError>>,
}

struct Stage {
    codec: Box<dyn Codec>,
    left_bytes: u64,
}

impl Decoder {
    /// Creates a decoder for a body in these codings, which yields at most `limit_bytes` decoded bytes.
    ///
    /// With several codings, the limit applies to what each of them yields, not only to the last.
    #[must_use]
    pub fn new(codings: &ContentCodings, limit_bytes: u64) -> Self {
        let stage = |coding: &ContentCoding| {
            let codec: Box<dyn Codec> = match coding {
                ContentCoding::Gzip => Box::new(Inflate::gzip()),
                ContentCoding::Deflate => Box::new(Inflate::deflate()),
                ContentCoding::Brotli => Box::new(Brotli::new()),
                ContentCoding::Zstd => Box::new(Zstd::new()),
            };
            Stage { codec, left_bytes: limit_bytes }
        };
        Self { stages: codings.as_slice().iter().rev().map(stage).collect(), left_bytes: limit_bytes, verdict: None }
    }

    /// Decodes one more chunk. The sink is called any number of times, with at most 16 KiB at a time unless the body
    /// has no coding.
    ///
    /// # Errors
    ///
    /// If the body is not in its coding, or is damaged; later calls return the same error.
    pub fn push(&mut self, chunk: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<Progress, DecodeError> {
        if let Some(verdict) = self.verdict {
            return verdict;
        }
        self.verdict = verdict_of(&pass(&mut self.stages, &mut self.left_bytes, chunk, sink));
        self.verdict.unwrap_or(Ok(Progress::More))
    }

    /// Ends the body, complete or not; the sink gets what was still held back, even after an error.
    ///
    /// # Errors
    ///
    /// Those of [`Decoder::push`], and if the body ended before its coding did.
    pub fn finish(mut self, sink: &mut dyn FnMut(&[u8])) -> Result<Progress, DecodeError> {
        let mut stages = self.stages.as_mut_slice();
        // Each coding is finished even if one before it failed, so that all that can be decoded reaches the sink.
        while let Some((stage, rest)) = stages.split_first_mut() {
            if self.verdict == Some(Ok(Progress::LimitReached)) {
                break;
            }
            let left_bytes = &mut self.left_bytes;
            let finished = stage.finish(&mut |out| pass(rest, left_bytes, out, sink));
            self.verdict = self.verdict.or(verdict_of(&finished));
            stages = rest;
        }
        self.verdict.unwrap_or(Ok(Progress::More))
    }
}

fn verdict_of(passed: &Result<(), Stop>) -> Option<Result<Progress, DecodeError>> {
    match passed {
        Ok(()) => None,
        Err(Stop::Limit) => Some(Ok(Progress::LimitReached)),
        Err(Stop::Failed(error)) => Some(Err(*error)),
    }
}

impl Stage {
    fn push(&mut self, chunk: &[u8], next: &mut Out<'_>) -> Result<(), Stop> {
        let Self { codec, left_bytes } = self;
        codec.push(chunk, &mut |out| within(left_bytes, out, next))
    }

    fn finish(&mut self, next: &mut Out<'_>) -> Result<(), Stop> {
        let Self { codec, left_bytes } = self;
        codec.finish(&mut |out| within(left_bytes, out, next))
    }
}

/// Sends a chunk through the stages to the sink. Recurses once per stage, at most [`super::CODINGS_MAX`] times.
fn pass(stages: &mut [Stage], left_bytes: &mut u64, chunk: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<(), Stop> {
    match stages.split_first_mut() {
        Some((stage, rest)) => stage.push(chunk, &mut |out| pass(rest, left_bytes, out, sink)),
        None => within(left_bytes, chunk, &mut |out| {
            sink(out);
            Ok(())
        }),
    }
}

/// Passes on as much of a chunk as the limit allows.
fn within(left_bytes: &mut u64, chunk: &[u8], next: &mut Out<'_>) -> Result<(), Stop> {
    let room = usize::try_from(*left_bytes).unwrap_or(usize::MAX).min(chunk.len());
    *left_bytes -= room as u64;
    if room > 0 {
        next(&chunk[..room])?;
    }
    if room < chunk.len() { Err(Stop::Limit) } else { Ok(()) }
}
