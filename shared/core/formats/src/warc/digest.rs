//! Labelled digests in WARC.

use std::str::FromStr;
use std::{fmt, io};

use data_encoding::{BASE32, HEXLOWER, HEXLOWER_PERMISSIVE};
use sha1::{Digest, Sha1};

use crate::blob::Blob;

/// A SHA-1 digest, written `sha1:` and base32 in capitals (RFC 4648 §6), as in web archives.
///
/// It identifies equal payloads; it does not protect against a server that creates collisions on
/// purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha1Digest([u8; 20]);

/// The reason why a text is not a [`Sha1Digest`]: it has another algorithm, or is not 20 bytes in
/// base32 or base16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-1 digest; write `sha1:` and 32 characters of base32")]
pub struct Sha1DigestError;

impl Sha1Digest {
    /// Computes the digest of these bytes.
    #[must_use]
    pub fn compute(bytes: &[u8]) -> Self {
        Self(Sha1::digest(bytes).into())
    }

    /// Computes the digest of bytes that may be in a file.
    ///
    /// # Errors
    /// Returns the file's error.
    pub fn compute_blob(blob: &Blob) -> io::Result<Self> {
        let mut sum = Sha1Hasher::new();
        blob.copy_to(&mut sum)?;
        Ok(sum.finish())
    }

    /// Returns the 20 bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Returns the digest in hexadecimal, in lower case.
    #[must_use]
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

/// A hasher that computes a [`Sha1Digest`] of the bytes written to it.
#[derive(Clone, Debug, Default)]
pub struct Sha1Hasher(Sha1);

impl Sha1Hasher {
    /// Creates a hasher without any bytes so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest.
    #[must_use]
    pub fn finish(self) -> Sha1Digest {
        Sha1Digest(self.0.finalize().into())
    }
}

impl io::Write for Sha1Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<[u8; 20]> for Sha1Digest {
    fn from(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", BASE32.encode(&self.0))
    }
}

impl FromStr for Sha1Digest {
    type Err = Sha1DigestError;

    /// Also accepts the spellings of other archives: any letter case, the label `sha-1`, and
    /// base16.
    fn from_str(text: &str) -> Result<Self, Sha1DigestError> {
        let (label, value) = text.split_once(':').ok_or(Sha1DigestError)?;
        if !label.eq_ignore_ascii_case("sha1") && !label.eq_ignore_ascii_case("sha-1") {
            return Err(Sha1DigestError);
        }
        let bytes = match value.len() {
            32 => BASE32.decode(value.to_ascii_uppercase().as_bytes()),
            _ => HEXLOWER_PERMISSIVE.decode(value.get(..40).unwrap_or_default().as_bytes()),
        };
        bytes
            .ok()
            .filter(|_| matches!(value.len(), 32 | 40))
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or(Sha1DigestError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read() {
        // The digest of zero bytes, from FIPS 180-4's published vectors.
        let empty = Ok(Sha1Digest::compute(b""));
        let table = [
            ("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", empty, "as we write it"),
            ("SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj", empty, "another label, another case"),
            ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", empty, "base16"),
            ("sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709", empty, "base16 in capitals"),
            ("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", Err(Sha1DigestError), "no label"),
            ("sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", Err(Sha1DigestError), "another algorithm"),
            ("sha1:3I42", Err(Sha1DigestError), "too short"),
            ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd8070900", Err(Sha1DigestError), "too long"),
            ("sha1:1I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", Err(Sha1DigestError), "1 is not in the alphabet"),
            ("sha1:\u{e9}\u{e9}\u{e9}\u{e9}", Err(Sha1DigestError), "not even ASCII"),
            ("", Err(Sha1DigestError), "nothing"),
        ];
        for (text, expected, why) in table {
            assert_eq!(text.parse(), expected, "{text}: {why}");
        }
        assert_eq!(Sha1Digest::compute(b"").to_string(), table[0].0);
    }
}
