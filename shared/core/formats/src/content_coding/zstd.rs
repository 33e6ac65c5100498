//! Zstandard, by ruzstd.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::codings::ContentCoding;
use super::decode::{DecodeFault, Source, pass_over};

/// RFC 9659 §3: the largest window of the content coding.
const WINDOW_BYTES_MAX: u64 = 8 << 20;
const MAGIC_BYTES: usize = 4;
/// An empty raw block that is the last one, and a checksum.
const ARTIFICIAL_END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Undoes zstd, frame by frame; ruzstd's own reader stops after the first.
pub(super) struct Zstd<'a> {
    frames: FrameDecoder,
    source: Watched<'a>,
    place: Place,
}

enum Place {
    /// Before the first frame.
    Start,
    Frames,
    /// Behind a block that failed. What was decoded before comes first.
    Failed(io::Error),
    /// Behind the last frame.
    End,
}

impl<'a> Zstd<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        let mut frames = FrameDecoder::new();
        frames.set_max_window_size(WINDOW_BYTES_MAX);
        Self { frames, source: Watched { source, end: None }, place: Place::Start }
    }

    /// Begins the next frame, or skips it. Returns where that leads.
    fn begin_frame(&mut self, is_first: bool) -> io::Result<Place> {
        use ReadFrameHeaderError::{BadMagicNumber, SkipFrame};
        let stated = self.frames.get_checksum_from_data();
        if stated.is_some() && stated != self.frames.get_calculated_checksum() {
            return Err(error(DecodeFault::Damaged));
        }
        let mut magic = Vec::new();
        let read = self.source.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic);
        read.map_err(|_| self.source.failure())?;
        if magic.len() < MAGIC_BYTES && !is_first {
            return Ok(Place::End);
        }
        match self.frames.reset(magic.as_slice().chain(&mut self.source)) {
            Ok(()) => Ok(Place::Frames),
            Err(FrameDecoderError::ReadFrameHeaderError(BadMagicNumber(_))) if is_first => {
                Err(error(DecodeFault::NotInCoding))
            }
            Err(FrameDecoderError::ReadFrameHeaderError(BadMagicNumber(_))) => Ok(Place::End),
            Err(FrameDecoderError::ReadFrameHeaderError(SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink());
                match skipped {
                    Ok(bytes) if bytes == u64::from(length) => Ok(Place::Frames),
                    _ => Err(self.source.failure()),
                }
            }
            Err(FrameDecoderError::WindowSizeTooBig { .. }) => Err(error(DecodeFault::WindowTooLarge)),
            Err(_) => Err(self.source.failure()),
        }
    }
}

fn error(fault: DecodeFault) -> io::Error {
    fault.in_coding(ContentCoding::Zstd)
}

impl Read for Zstd<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let given = self.frames.read(out).map_err(|_| error(DecodeFault::Damaged))?;
            if given > 0 {
                return Ok(given);
            }
            let is_first = matches!(self.place, Place::Start);
            match std::mem::replace(&mut self.place, Place::End) {
                Place::Failed(error) => return Err(error),
                Place::End => return pass_over(&mut self.source.source),
                _ if self.frames.is_finished() => self.place = self.begin_frame(is_first)?,
                place => {
                    let decoded = self.frames.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                    self.place = match decoded {
                        Ok(_) => place,
                        Err(_) => {
                            // The window was held back for blocks that will not come: an artificial
                            // end makes ruzstd return it.
                            let end = ARTIFICIAL_END.as_slice();
                            drop(self.frames.decode_blocks(end, BlockDecodingStrategy::UptoBlocks(1)));
                            Place::Failed(self.source.failure())
                        }
                    };
                }
            }
        }
    }
}

/// A source that remembers why it gave no more: ruzstd does not tell that from damage.
struct Watched<'a> {
    source: Source<'a>,
    end: Option<io::Error>,
}

impl Watched<'_> {
    fn failure(&mut self) -> io::Error {
        self.end.take().unwrap_or_else(|| error(DecodeFault::Damaged))
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(out);
        match read {
            Ok(0) if !out.is_empty() => self.end = Some(error(DecodeFault::Truncated)),
            Err(failure) if failure.kind() != io::ErrorKind::Interrupted => {
                self.end = Some(failure);
                return Err(io::ErrorKind::Other.into());
            }
            _ => {}
        }
        read
    }
}
