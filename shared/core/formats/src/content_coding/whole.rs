//! Decoding complete bodies, in the codings that they are in of those that are named.

use std::borrow::Cow;
use std::io::{self, Read};

use super::codings::{ContentCoding, ContentCodings};
use super::decode::{Cut, DecodeError, DecodeFault, decode};
use super::inflate::gunzip_at_once;
use crate::blob::Blob;
use crate::warc::{Sha1Digest, Sha1Hasher};

/// A decoded body, or as much of it as could be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedBody<'a> {
    /// The decoded bytes; borrowed if no coding was named.
    ///
    /// Servers do name codings that they did not apply. So a coding that the body is not in is
    /// passed over. If none is left, this is the body as received, up to the limit.
    pub bytes: Cow<'a, [u8]>,
    /// Why `bytes` is not the whole body; `None` if it is.
    pub cut: Option<Cut>,
}

impl DecodedBody<'_> {
    /// Whether the body is in none of the codings that were named, and not plain text either:
    /// perhaps it is in another one. As text it would be garbage.
    #[must_use]
    pub fn is_garbled(&self) -> bool {
        self.cut.is_some_and(Cut::is_of_name) && is_binary(&self.bytes)
    }
}

/// How much of a body is examined: as much as browsers examine (WHATWG MIME Sniffing, section 5.2).
const EXAMINED_BYTES: usize = 1445;

/// Whether bytes are no text, by the binary data bytes among the first of them (WHATWG MIME
/// Sniffing, section 3). Text in UTF-16 has them too, and begins with its mark.
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    let is_data = |byte: &u8| matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    let has_mark = bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe");
    !has_mark && bytes.iter().take(EXAMINED_BYTES).any(is_data)
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
        let bytes = &body[..usize::try_from(limit_bytes).unwrap_or(usize::MAX).min(body.len())];
        let cut = (bytes.len() < body.len()).then_some(Cut::Limit);
        return DecodedBody { bytes: Cow::Borrowed(bytes), cut };
    }
    if let Some(bytes) = decode_at_once(codings, body, limit_bytes) {
        return DecodedBody { bytes: Cow::Owned(bytes), cut: None };
    }
    let mut bytes = Vec::new();
    let decoded = decode_applied(codings, || body, limit_bytes, &mut bytes);
    let (_, cut) = decoded.expect("memory is read and written");
    DecodedBody { bytes: Cow::Owned(bytes), cut }
}

/// Computes the digest of a decoded body without holding it in memory, unless it is short.
///
/// Two captures of one page in different codings have different payload digests, but the same
/// decoded one.
///
/// # Errors
/// The file that the body is in cannot be read.
pub fn decoded_sha1(codings: &ContentCodings, body: &Blob, limit_bytes: u64) -> io::Result<DecodedDigest> {
    if let Some(bytes) = body.in_memory().and_then(|body| decode_at_once(codings, body, limit_bytes)) {
        return Ok(DecodedDigest { sha1: Sha1Digest::compute(&bytes), decoded_bytes: bytes.len() as u64, cut: None });
    }
    let mut sum = Sha1Hasher::new();
    let (decoded_bytes, cut) = decode_applied(codings, || body.reader(), limit_bytes, &mut sum)?;
    Ok(DecodedDigest { sha1: sum.finish(), decoded_bytes, cut })
}

/// Decodes a body as most are: in gzip, and short. `None` if it has to be decoded step by step.
fn decode_at_once(codings: &ContentCodings, body: &[u8], limit_bytes: u64) -> Option<Vec<u8>> {
    matches!(codings.as_slice(), [ContentCoding::Gzip]).then(|| gunzip_at_once(body, limit_bytes)).flatten()
}

/// Decodes a body that may be read again without the codings that it turns out not to be in.
/// Nothing was written until then.
fn decode_applied<R: Read>(
    codings: &ContentCodings,
    body: impl Fn() -> R,
    limit_bytes: u64,
    out: &mut dyn io::Write,
) -> io::Result<(u64, Option<Cut>)> {
    let mut applied = codings.clone();
    loop {
        let (decoded_bytes, cut) = decode(&applied, body(), limit_bytes, out)?;
        let Some(Cut::Failed(DecodeError { coding, fault: DecodeFault::NotInCoding })) = cut else {
            return Ok((decoded_bytes, cut));
        };
        applied = applied.without(coding);
        if applied.is_identity() {
            let (decoded_bytes, _) = decode(&applied, body(), limit_bytes, out)?;
            return Ok((decoded_bytes, cut));
        }
    }
}
