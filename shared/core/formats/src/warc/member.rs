//! Gzip members that are written piece by piece (RFC 1952), as their content is too large for
//! memory.
//!
//! Content that fits into memory is compressed by libdeflate, at once; this uses flate2, or no
//! compression at all.

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// A minimal gzip header.
pub(super) const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// The limit on a stored block, in bytes (RFC 1951 §3.2.4).
const STORED_BYTES_MAX: usize = 0xffff;

/// How bytes are packed into a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Uncompressed, in blocks of the largest size: the resulting length depends only on their
    /// number.
    Stored,
    /// Compressed, at this level of flate2.
    Deflated(u32),
}

/// Writes a gzip member with the output of `content`.
pub(super) fn write_member(
    packing: Packing,
    to: &mut impl Write,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    to.write_all(&HEAD)?;
    let sum = write_deflated(packing, to, content)?;
    to.write_all(&tail(&sum))
}

/// Returns the end of a member: the checksum and the length of its content.
pub(super) fn tail(sum: &Crc) -> [u8; 8] {
    let [a, b, c, d] = sum.sum().to_le_bytes();
    let [e, f, g, h] = sum.amount().to_le_bytes();
    [a, b, c, d, e, f, g, h]
}

/// Writes the output of `content` in the form of RFC 1951, and returns its checksum.
pub(super) fn write_deflated(
    packing: Packing,
    to: &mut impl Write,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Crc> {
    match packing {
        Packing::Stored => {
            let blocks = StoredBlocks { to, block: Vec::with_capacity(STORED_BYTES_MAX) };
            let mut summed = ChecksumWriter { to: blocks, sum: Crc::new() };
            content(&mut summed)?;
            summed.to.put(Last::Yes)?;
            Ok(summed.sum)
        }
        Packing::Deflated(level) => {
            let encoder = DeflateEncoder::new(to, Compression::new(level));
            let mut summed = ChecksumWriter { to: encoder, sum: Crc::new() };
            content(&mut summed)?;
            summed.to.finish()?;
            Ok(summed.sum)
        }
    }
}

/// A writer that computes the checksum of its input.
struct ChecksumWriter<W> {
    to: W,
    sum: Crc,
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes stored blocks, all of the largest size but the last.
struct StoredBlocks<'w, W> {
    to: &'w mut W,
    block: Vec<u8>,
}

/// Whether a block is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

impl<W: Write> StoredBlocks<'_, W> {
    fn put(&mut self, last: Last) -> io::Result<()> {
        let length = u16::try_from(self.block.len()).map_err(io::Error::other)?;
        let [low, high] = length.to_le_bytes();
        self.to.write_all(&[u8::from(last == Last::Yes), low, high, !low, !high])?;
        self.to.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }
}

impl<W: Write> Write for StoredBlocks<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.len() == STORED_BYTES_MAX {
            self.put(Last::No)?;
        }
        let taken = &bytes[..bytes.len().min(STORED_BYTES_MAX - self.block.len())];
        self.block.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use libdeflater::Decompressor;

    use super::*;

    #[test]
    fn members_contain_what_was_written_in_any_pieces() {
        for (bytes, why) in [
            (0, "nothing"),
            (1, "a byte"),
            (STORED_BYTES_MAX, "a block"),
            (STORED_BYTES_MAX + 1, "a byte more"),
            (3 * STORED_BYTES_MAX + 7, "several blocks"),
        ] {
            let content: Vec<u8> = (0..=250).cycle().take(bytes).collect();
            for packing in [Packing::Stored, Packing::Deflated(1)] {
                for chunk_bytes in [1_000, 1 << 20] {
                    let mut member = Vec::new();
                    let write =
                        |to: &mut dyn Write| content.chunks(chunk_bytes).try_for_each(|chunk| to.write_all(chunk));
                    write_member(packing, &mut member, write).unwrap();
                    let mut inflated = vec![0; bytes];
                    let length = Decompressor::new().gzip_decompress(&member, &mut inflated).unwrap();
                    assert!(length == bytes && inflated == content, "{why}: {packing:?}");
                    let blocks = bytes.div_ceil(STORED_BYTES_MAX).max(1);
                    let stored_bytes = HEAD.len() + 5 * blocks + bytes + 8;
                    assert!(packing != Packing::Stored || member.len() == stored_bytes, "{why}: {}", member.len());
                }
            }
        }
    }
}
