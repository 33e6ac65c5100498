//! The length of a body without its content coding, and its digest. These are compared between
//! visits, as servers may compress the same page differently every day.

use std::io::{self, PipeWriter, Write as _};
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use dragline_formats::blob::Blob;
use dragline_formats::content_coding::{ContentCodings, Cut, DecodedDigest, decode, decoded_sha1};
use dragline_formats::warc::{Sha1Digest, Sha1Hasher};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// Whether a decoded body is within its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitCheck {
    Within,
    Over,
}

/// The measure of a body, as far as it could be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) sha1: [u8; 20],
    pub(crate) bytes: u64,
}

/// The longest body, as received, that is decoded only when it is complete: in one go that takes
/// half the time. What such a body can decode to is still checked against the limit.
const WHOLE_BYTES_MAX: usize = 64 << 10;

/// Decodes a body and keeps only its length and digest: a short one at its end, a longer one as it
/// arrives.
pub(crate) struct DecodedMeter {
    codings: ContentCodings,
    bytes_max: u64,
    /// How much of the body is being measured.
    taken: usize,
    long: Option<Long>,
}

/// A long body on its way.
enum Long {
    Plain {
        sum: Sha1Hasher,
        bytes: u64,
    },
    /// In a content coding. `None` if no thread can be had: then it is measured at its end.
    Coded(Option<Decoding>),
}

/// A body that a thread decodes as it arrives.
struct Decoding {
    body: PipeWriter,
    thread: JoinHandle<io::Result<DecodedDigest>>,
}

impl Decoding {
    fn begin(codings: ContentCodings, bytes_max: u64) -> io::Result<Self> {
        let (mut received, body) = io::pipe()?;
        let decode = move || {
            let mut sum = Sha1Hasher::new();
            let (decoded_bytes, cut) = decode(&codings, &mut received, bytes_max, &mut sum)?;
            if cut != Some(Cut::Limit) {
                // A body that cannot be decoded is received to its end.
                io::copy(&mut received, &mut io::sink())?;
            }
            Ok(DecodedDigest { sha1: sum.finish(), decoded_bytes, cut })
        };
        let thread = thread::Builder::new().name("dragline-decode".to_owned()).spawn(decode)?;
        Ok(Self { body, thread })
    }

    fn finish(self) -> io::Result<DecodedDigest> {
        drop(self.body);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Long {
    fn begin(codings: &ContentCodings, bytes_max: u64) -> Self {
        if codings.is_identity() {
            return Self::Plain { sum: Sha1Hasher::new(), bytes: 0 };
        }
        Self::Coded(Decoding::begin(codings.clone(), bytes_max).ok())
    }

    fn push(&mut self, chunk: &[u8], bytes_max: u64) -> LimitCheck {
        let is_within = match self {
            Self::Plain { sum, bytes } => {
                let room = usize::try_from(bytes_max - *bytes).unwrap_or(usize::MAX).min(chunk.len());
                sum.update(&chunk[..room]);
                *bytes += room as u64;
                room == chunk.len()
            }
            // The thread reads on unless the limit is reached.
            Self::Coded(decoding) => decoding.as_mut().is_none_or(|decoding| decoding.body.write_all(chunk).is_ok()),
        };
        if is_within { LimitCheck::Within } else { LimitCheck::Over }
    }
}

impl DecodedMeter {
    /// Returns the meter for a body with these response fields. A body in an unknown coding is
    /// measured as received.
    pub(crate) fn new(headers: &HeaderMap, bytes_max: u64) -> Self {
        let names = headers.get_all(CONTENT_ENCODING).iter().map(http::HeaderValue::as_bytes);
        let codings = ContentCodings::parse(names).unwrap_or(ContentCodings::IDENTITY);
        Self { codings, bytes_max, taken: 0, long: None }
    }

    /// Takes the body as far as it was received. One that is not in its stated coding is within
    /// every limit: it is received to its end and kept as it is.
    pub(crate) fn push(&mut self, received: &[u8]) -> LimitCheck {
        if received.len() <= WHOLE_BYTES_MAX {
            return LimitCheck::Within;
        }
        self.push_chunk(&received[self.taken..])
    }

    /// Takes more of a body that is not in memory.
    pub(crate) fn push_chunk(&mut self, chunk: &[u8]) -> LimitCheck {
        self.taken += chunk.len();
        self.long.get_or_insert_with(|| Long::begin(&self.codings, self.bytes_max)).push(chunk, self.bytes_max)
    }

    /// Whether the body is in a content coding, according to its header.
    pub(crate) fn is_coded(&self) -> bool {
        !self.codings.is_identity()
    }

    /// Finishes the body. Also returns why it was not decoded to its end; `None` if it was.
    pub(crate) fn finish(self, received: &Blob) -> (Decoded, Option<Cut>) {
        let arrived = match self.long {
            // What is over the limit was cut when it came.
            Some(Long::Plain { sum, bytes }) => {
                let cut = (bytes < self.taken as u64).then_some(Cut::Limit);
                Some(DecodedDigest { sha1: sum.finish(), decoded_bytes: bytes, cut })
            }
            Some(Long::Coded(decoding)) => decoding.and_then(|decoding| decoding.finish().ok()),
            None => None,
        };
        let digest = match arrived {
            Some(digest) if digest.cut.is_none() || digest.decoded_bytes > 0 => Ok(digest),
            // Perhaps it is not encoded after all; `dragline-formats` decides what counts then.
            _ => decoded_sha1(&self.codings, received, self.bytes_max),
        };
        let nothing = DecodedDigest { sha1: Sha1Digest::from([0; 20]), decoded_bytes: 0, cut: None };
        let DecodedDigest { sha1, decoded_bytes, cut } = digest.unwrap_or(nothing);
        (Decoded { sha1: *sha1.as_bytes(), bytes: decoded_bytes }, cut)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::HeaderValue;
    use proptest::prelude::*;
    use sha1::{Digest as _, Sha1};

    use super::*;

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn measure(coding: &'static str, chunks: &[&[u8]], bytes_max: u64) -> (Decoded, LimitCheck) {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
        let mut meter = DecodedMeter::new(&headers, bytes_max);
        let mut received = Vec::new();
        for chunk in chunks {
            received.extend_from_slice(chunk);
            if meter.push(&received) == LimitCheck::Over {
                return (meter.finish(&received.into()).0, LimitCheck::Over);
            }
        }
        let (decoded, cut) = meter.finish(&received.into());
        (decoded, if cut == Some(Cut::Limit) { LimitCheck::Over } else { LimitCheck::Within })
    }

    #[test]
    fn bodies_are_measured_without_their_coding() {
        let page = b"the same page".as_slice();
        let zipped = gzip(page);
        // Coding, body and limit; the counted part and whether that is complete; the reason.
        type Case<'a> = (&'static str, &'a [u8], u64, &'a [u8], LimitCheck, &'static str);
        let cases: [Case<'_>; 8] = [
            ("identity", page, 13, page, LimitCheck::Within, "exactly at the limit"),
            ("identity", page, 12, &page[..12], LimitCheck::Over, "one byte over it"),
            ("gzip", &zipped, 13, page, LimitCheck::Within, "undone"),
            ("gzip", &zipped, 12, &page[..12], LimitCheck::Over, "the limit is on what comes out"),
            ("gzip", page, 100, page, LimitCheck::Within, "named but not applied, as servers do"),
            ("gzip", b"", 100, b"", LimitCheck::Within, "an empty body is in any coding"),
            ("x-rot13", page, 100, page, LimitCheck::Within, "an unknown coding"),
            ("gzip", &zipped[..11], 100, b"", LimitCheck::Within, "cut off before its first byte"),
        ];
        for (coding, body, bytes_max, counted, expected, why) in cases {
            let (decoded, measured) = measure(coding, &[body], bytes_max);
            assert_eq!((decoded.bytes, measured), (counted.len() as u64, expected), "{why}");
            assert_eq!(decoded.sha1, <[u8; 20]>::from(Sha1::digest(counted)), "{why}");
        }
    }

    // Without brotli: its decoder returns more or less of a damaged stream, depending on where the
    // chunks end.
    proptest! {
        #[test]
        fn however_a_body_is_cut_into_chunks_it_measures_as_the_whole(
            body in prop_oneof![
                4 => proptest::collection::vec(any::<u8>(), 0..2000),
                1 => proptest::collection::vec(any::<u8>(), WHOLE_BYTES_MAX - 100..WHOLE_BYTES_MAX + 2000),
            ],
            chunk_bytes in 1_usize..1000,
            named in proptest::sample::select(vec!["gzip", "deflate", "zstd", "identity"]),
            bytes_max in prop_oneof![0_u64..3000, 60_000_u64..80_000],
        ) {
            for received in [gzip(&body), body] {
                let codings = ContentCodings::parse([named.as_bytes()]).unwrap();
                let whole = decoded_sha1(&codings, &received.clone().into(), bytes_max).unwrap();
                let chunks: Vec<&[u8]> = received.chunks(chunk_bytes).collect();
                let (decoded, _) = measure(named, &chunks, bytes_max);
                prop_assert_eq!((decoded.sha1, decoded.bytes), (*whole.sha1.as_bytes(), whole.decoded_bytes));
            }
        }
    }
}
