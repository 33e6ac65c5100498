//! Deflating bytes to be stored: without a header (RFC 1951), their length stored beside them, or
//! as a gzip member (RFC 1952).
//!
//! Whole buffers, here and in the WARC writer, are compressed by libdeflate. For a record of 24 KB
//! and the same result, zlib-rs (which flate2 uses for streams) takes 1.17 times its CPU time, and
//! for inflating one of known length 2.3 times.

use libdeflater::{CompressionLvl, Compressor, Decompressor};

/// How a gzip member begins: its magic number, and the only method there is (RFC 1952, section
/// 2.3.1).
pub const GZIP_MEMBER_START: [u8; 3] = [0x1f, 0x8b, 8];

/// What deflating should save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionGoal {
    /// Time, for what is kept on a local disk.
    Time,
    /// Bytes, for what is billed by the kilobyte.
    Bytes,
}

fn compressor(goal: CompressionGoal) -> Compressor {
    Compressor::new(match goal {
        CompressionGoal::Time => CompressionLvl::fastest(),
        CompressionGoal::Bytes => CompressionLvl::default(),
    })
}

/// Returns bytes as one gzip member. Members may follow each other: together they are what they
/// hold, one after the other.
#[must_use]
pub fn gzip(bytes: &[u8], goal: CompressionGoal) -> Vec<u8> {
    let mut compressor = compressor(goal);
    let mut member = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut member).expect("the bound is one");
    member.truncate(length);
    member
}

/// Deflates bytes.
#[must_use]
pub fn deflate(bytes: &[u8], goal: CompressionGoal) -> Vec<u8> {
    let mut compressor = compressor(goal);
    let mut deflated = vec![0; compressor.deflate_compress_bound(bytes.len())];
    let length = compressor.deflate_compress(bytes, &mut deflated).expect("the bound is one");
    deflated.truncate(length);
    deflated
}

/// Restores deflated bytes of this number; `None` if they are damaged. The caller limits the
/// number, as memory is reserved for it.
#[must_use]
pub fn inflate(deflated: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let mut inflated = vec![0; bytes];
    let length = Decompressor::new().deflate_decompress(deflated, &mut inflated).ok()?;
    (length == bytes).then_some(inflated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_deflated_comes_back_and_damage_is_noticed() {
        let bytes = br#"[{"u":"/a"},{"u":"/b"}]"#;
        for goal in [CompressionGoal::Time, CompressionGoal::Bytes] {
            let deflated = deflate(bytes, goal);
            assert_eq!(inflate(&deflated, bytes.len()).unwrap(), bytes, "{goal:?}");
            for (damaged, length, why) in [
                (&deflated[..], bytes.len() + 1, "longer than what is there"),
                (&deflated[..], bytes.len() - 1, "shorter than what is there"),
                (&deflated[..deflated.len() - 1], bytes.len(), "cut"),
                (&[][..], bytes.len(), "nothing"),
            ] {
                assert_eq!(inflate(damaged, length), None, "{goal:?}, {why}");
            }
        }
    }
}
