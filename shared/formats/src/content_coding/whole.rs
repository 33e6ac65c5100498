//! Decoding complete bodies.

use std::borrow::Cow;

use sha1::{Digest, Sha1};

use super::codings::{ContentCoding, ContentCodings};
use super::decoder::{DecodeError, DecodeFault, Decoder, Progress};
use super::inflate::gunzip_at_once;
use crate::warc::Sha1Digest;

/// A decoded body, or as much of it as could be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedBody<'a> {
    /// The decoded bytes; borrowed if nothing had to be decoded.
    ///
    /// Servers do name codings that they did not apply. So if a body with a single coding fails with [`DecodeFault::NotInCoding`] before it yields a
    /// byte, this is the body as received, up to the limit.
    pub bytes: Cow<'a, [u8]>,
    /// Why `bytes` is not the whole body; `None` if it is.
    pub cut: Option<Cut>,
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
    let bytes = if bytes.is_empty() && is_plain_after_all(codings, cut) {
        Cow::Borrowed(up_to(body, limit_bytes))
    } else {
        Cow::Owned(bytes)
    };
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
    if decoded_bytes == 0 && is_plain_after_all(codings, cut) {
        let plain = up_to(body, limit_bytes);
        sha1.update(plain);
        decoded_bytes = plain.len() as u64;
    }
    DecodedDigest { sha1: Sha1Digest::from(<[u8; 20]>::from(sha1.finalize())), decoded_bytes, cut }
}

/// Decodes a body as most are: in gzip, and short. `None` if it has to be decoded step by step.
fn at_once(codings: &ContentCodings, body: &[u8], limit_bytes: u64) -> Option<Vec<u8>> {
    matches!(codings.as_slice(), [ContentCoding::Gzip]).then(|| gunzip_at_once(body, limit_bytes)).flatten()
}

fn decode_into(codings: &ContentCodings, body: &[u8], limit_bytes: u64, sink: &mut dyn FnMut(&[u8])) -> Option<Cut> {
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

fn is_plain_after_all(codings: &ContentCodings, cut: Option<Cut>) -> bool {
    codings.as_slice().len() == 1
        && matches!(cut, Some(Cut::Failed(DecodeError { fault: DecodeFault::NotInCoding, .. })))
}

fn up_to(body: &[u8], limit_bytes: u64) -> &[u8] {
    &body[..usize::try_from(limit_bytes).unwrap_or(usize::MAX).min(body.len())]
}
