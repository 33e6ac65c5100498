//! Decoding complete bodies.

use std::borrow::Cow;
use std::io::{self, Read as _};

use sha1::{Digest, Sha1};

use super::codings::{ContentCoding, ContentCodings};
use super::decoder::{DecodeError, DecodeFault, Decoder, Progress};
use super::inflate::gunzip_at_once;
use crate::blob::Blob;
use crate::warc::{Sha1Digest, Sha1Hasher};

/// A decoded body, or as much of it as could be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedBody<'a> {
    /// The decoded bytes; borrowed if nothing had to be decoded.
    ///
    /// Servers do name codings that they did not apply. So a coding that the body is not in is passed over. If
    /// none is left, this is the body as received, up to the limit.
    pub bytes: Cow<'a, [u8]>,
    /// Why `bytes` is not the whole body; `None` if it is.
    pub cut: Option<Cut>,
}

impl DecodedBody<'_> {
    /// Whether the body is in none of the codings that were named, and not plain text either: perhaps it is in
    /// another one. As text it would be garbage.
    #[must_use]
    pub fn is_garbled(&self) -> bool {
        self.cut.is_some_and(Cut::is_of_name) && is_binary(&self.bytes)
    }
}

/// How much of a body that is not in memory is read at once.
const WINDOW_BYTES: usize = 64 << 10;

/// How much of a body is examined: as much as browsers examine (WHATWG MIME Sniffing, section 5.2).
const EXAMINED_BYTES: usize = 1445;

/// Whether bytes are no text, by the binary data bytes among the first of them (WHATWG MIME Sniffing, section 3).
/// Text in UTF-16 has them too, and begins with its mark.
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    let is_data = |byte: &u8| matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    let has_mark = bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe");
    !has_mark && bytes.iter().take(EXAMINED_BYTES).any(is_data)
}

/// Why a body was not decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// It is longer than the limit.
    #[error("the decoded body is longer than its limit")]
    Limit,
    /// It could not be decoded further.
    #[error(transparent)]
    Failed(#[from] DecodeError),
}

impl Cut {
    /// Whether the body is in none of the codings that were named: it is returned as received.
    #[must_use]
    pub const fn is_of_name(self) -> bool {
        matches!(self, Self::Failed(DecodeError { fault: DecodeFault::NotInCoding, .. }))
    }
}

/// The digest of a decoded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedDigest {
    /// SHA-1 over the bytes that [`decode_all`] would return.
    pub sha1: Sha1Digest,
    /// The number of these bytes.
    pub decoded_bytes: u64,
    /// Why they are not the whole body; `None` if they are.
    pub cut: Option<Cut>,
}

/// Decodes a body, up to `limit_bytes` decoded bytes.
#[must_use]
pub fn decode_all<'a>(codings: &ContentCodings, body: &'a [u8], limit_bytes: u64) -> DecodedBody<'a> {
    if codings.is_identity() {
        let bytes = up_to(body, limit_bytes);
        let cut = (bytes.len() < body.len()).then_some(Cut::Limit);
        return DecodedBody { bytes: Cow::Borrowed(bytes), cut };
    }
    if let Some(bytes) = at_once(codings, body, limit_bytes) {
        return DecodedBody { bytes: Cow::Owned(bytes), cut: None };
    }
    let mut bytes = Vec::new();
    let cut = decode_into(codings, body, limit_bytes, &mut |out| bytes.extend_from_slice(out));
    let bytes =
        if cut.is_some_and(Cut::is_of_name) { Cow::Borrowed(up_to(body, limit_bytes)) } else { Cow::Owned(bytes) };
    DecodedBody { bytes, cut }
}

/// Computes the digest of a decoded body without holding it in memory, unless it is short.
///
/// Two captures of one page in different codings have different payload digests, but the same decoded one.
#[must_use]
pub fn decoded_sha1(codings: &ContentCodings, body: &[u8], limit_bytes: u64) -> DecodedDigest {
    if let Some(bytes) = at_once(codings, body, limit_bytes) {
        return DecodedDigest { sha1: Sha1Digest::of(&bytes), decoded_bytes: bytes.len() as u64, cut: None };
    }
    let (mut sha1, mut decoded_bytes) = (Sha1::new(), 0);
    let cut = decode_into(codings, body, limit_bytes, &mut |out| {
        sha1.update(out);
        decoded_bytes += out.len() as u64;
    });
    if cut.is_some_and(Cut::is_of_name) {
        let plain = up_to(body, limit_bytes);
        sha1.update(plain);
        decoded_bytes = plain.len() as u64;
    }
    DecodedDigest { sha1: Sha1Digest::from(<[u8; 20]>::from(sha1.finalize())), decoded_bytes, cut }
}

/// Computes the digest of a decoded body that may be in a file, window by window.
///
/// # Errors
/// The file cannot be read.
pub fn decoded_sha1_of(codings: &ContentCodings, body: &Blob, limit_bytes: u64) -> io::Result<DecodedDigest> {
    if let Some(body) = body.in_memory() {
        return Ok(decoded_sha1(codings, body, limit_bytes));
    }
    let (mut sum, mut decoded_bytes) = (Sha1Hasher::new(), 0);
    let cut = decode_blob(codings, body, limit_bytes, &mut |out| {
        sum.update(out);
        decoded_bytes += out.len() as u64;
    })?;
    match cut {
        // It is in none of them, but perhaps in those that are left without the one that it is not in.
        Some(Cut::Failed(DecodeError { coding, fault: DecodeFault::NotInCoding })) if decoded_bytes == 0 => {
            match codings.without(coding) {
                fewer if fewer.is_identity() => {
                    let plain = body.part(0..limit_bytes);
                    Ok(DecodedDigest { sha1: Sha1Digest::of_blob(&plain)?, decoded_bytes: plain.len_bytes(), cut })
                }
                fewer => decoded_sha1_of(&fewer, body, limit_bytes),
            }
        }
        Some(Cut::Failed(error)) if decoded_bytes > 0 => {
            Ok(DecodedDigest { sha1: sum.finish(), decoded_bytes, cut: Some(Cut::Failed(error.after_output())) })
        }
        cut => Ok(DecodedDigest { sha1: sum.finish(), decoded_bytes, cut }),
    }
}

fn decode_blob(
    codings: &ContentCodings,
    body: &Blob,
    limit_bytes: u64,
    sink: &mut dyn FnMut(&[u8]),
) -> io::Result<Option<Cut>> {
    let mut decoder = Decoder::new(codings, limit_bytes);
    let (mut reader, mut window) = (body.reader(), vec![0; WINDOW_BYTES]);
    loop {
        let bytes = reader.read(&mut window)?;
        if bytes == 0 {
            break;
        }
        match decoder.push(&window[..bytes], sink) {
            Ok(Progress::More) => {}
            Ok(Progress::LimitReached) => return Ok(Some(Cut::Limit)),
            Err(_) => break,
        }
    }
    Ok(match decoder.finish(sink) {
        Ok(Progress::More) => None,
        Ok(Progress::LimitReached) => Some(Cut::Limit),
        Err(error) => Some(Cut::Failed(error)),
    })
}

/// Decodes a body as most are: in gzip, and short. `None` if it has to be decoded step by step.
fn at_once(codings: &ContentCodings, body: &[u8], limit_bytes: u64) -> Option<Vec<u8>> {
    matches!(codings.as_slice(), [ContentCoding::Gzip]).then(|| gunzip_at_once(body, limit_bytes)).flatten()
}

/// Decodes a body in the codings that it is in, of those that are named. Recurses once per coding, at most
/// [`super::CODINGS_MAX`] times.
fn decode_into(codings: &ContentCodings, body: &[u8], limit_bytes: u64, sink: &mut dyn FnMut(&[u8])) -> Option<Cut> {
    let mut given_bytes = 0;
    let cut = decode_as_named(codings, body, limit_bytes, &mut |out| {
        given_bytes += out.len();
        sink(out);
    });
    match cut {
        Some(Cut::Failed(DecodeError { coding, fault: DecodeFault::NotInCoding })) if given_bytes == 0 => {
            match codings.without(coding) {
                fewer if fewer.is_identity() => cut,
                fewer => decode_into(&fewer, body, limit_bytes, sink),
            }
        }
        Some(Cut::Failed(error)) if given_bytes > 0 => Some(Cut::Failed(error.after_output())),
        cut => cut,
    }
}

fn decode_as_named(
    codings: &ContentCodings,
    body: &[u8],
    limit_bytes: u64,
    sink: &mut dyn FnMut(&[u8]),
) -> Option<Cut> {
    let mut decoder = Decoder::new(codings, limit_bytes);
    let decoded = match decoder.push(body, sink) {
        Ok(Progress::More) | Err(_) => decoder.finish(sink),
        Ok(Progress::LimitReached) => Ok(Progress::LimitReached),
    };
    match decoded {
        Ok(Progress::More) => None,
        Ok(Progress::LimitReached) => Some(Cut::Limit),
        Err(error) => Some(Cut::Failed(error)),
    }
}

fn up_to(body: &[u8], limit_bytes: u64) -> &[u8] {
    &body[..usize::try_from(limit_bytes).unwrap_or(usize::MAX).min(body.len())]
}
