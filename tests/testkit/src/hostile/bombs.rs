//! Bodies that are small on the wire and 10 GiB when decoded. They are never held in memory: one
//! compressed piece is sent repeatedly.

use std::io::Write;

use bytes::{BufMut, Bytes, BytesMut};
use flate2::{Compress, Compression, FlushCompress};

use super::Step;

/// The decoded size of each: this many zero bytes.
pub const DECODED_BYTES: u64 = 10 << 30;

const PIECE_BYTES: usize = 1 << 20;

/// How many pieces are sent at once.
const PIECES_A_PART: usize = 16;

/// A practically endless compressed stream: its beginning, and a piece that decodes to one more MiB
/// of zeros.
#[derive(Clone, Debug)]
pub struct Bomb {
    beginning: Bytes,
    piece: Bytes,
}

impl Bomb {
    /// The parts of the compressed body, without its end, as no reader may get that far.
    pub fn parts(&self) -> impl Iterator<Item = Bytes> + Send + use<> {
        let parts = usize::try_from(DECODED_BYTES).unwrap() / PIECE_BYTES / PIECES_A_PART;
        let part = Bytes::from(self.piece.repeat(PIECES_A_PART));
        std::iter::once(self.beginning.clone()).chain(std::iter::repeat_n(part, parts))
    }

    /// The body in this coding.
    #[must_use]
    pub fn step(self) -> Step {
        Step::stream(move || self.parts())
    }

    /// `gzip` (RFC 1952): a header, then blocks after each of which the compressor's state was
    /// reset.
    #[must_use]
    pub fn gzip() -> Self {
        let mut deflate = Compress::new(Compression::best(), false);
        let mut piece = Vec::with_capacity(64 << 10);
        deflate.compress_vec(&vec![0; PIECE_BYTES], &mut piece, FlushCompress::Full).unwrap();
        Self { beginning: Bytes::from_static(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]), piece: piece.into() }
    }

    /// `br` (RFC 7932): once the encoder has seen zeros, each flush leaves it in the same state.
    #[must_use]
    pub fn brotli() -> Self {
        let zeros = vec![0; PIECE_BYTES];
        let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 18);
        let mut pieces = [0; 2].map(|_| {
            encoder.write_all(&zeros).unwrap();
            encoder.flush().unwrap();
            encoder.get_ref().len()
        });
        pieces[1] -= pieces[0];
        let stream = Bytes::copy_from_slice(&encoder.get_ref()[..pieces[0] + pieces[1]]);
        Self { beginning: stream.slice(..pieces[0]), piece: stream.slice(pieces[0]..) }
    }

    /// `zstd` (RFC 8878): blocks that repeat one byte 128 Ki times.
    #[must_use]
    pub fn zstd() -> Self {
        const BLOCK_BYTES: u32 = 128 << 10;
        const REPEATED: u32 = 1;
        const WINDOW_OF_1_MIB: u8 = 10 << 3;
        let mut beginning = BytesMut::new();
        beginning.put_u32_le(0xFD2F_B528);
        beginning.put_slice(&[0, WINDOW_OF_1_MIB]);
        let block = ((BLOCK_BYTES << 3) | (REPEATED << 1)).to_le_bytes();
        let piece = [block[0], block[1], block[2], 0].repeat(PIECE_BYTES / BLOCK_BYTES as usize);
        Self { beginning: beginning.freeze(), piece: piece.into() }
    }
}

#[cfg(test)]
mod tests {
    use dragline_formats::content_coding::{ContentCodings, Cut, decode};

    use super::*;

    #[test]
    fn a_bomb_is_small_and_decodes_to_zeros_as_far_as_one_reads() {
        const READ_BYTES: u64 = 40 << 20;
        for (coding, bomb) in [("gzip", Bomb::gzip()), ("br", Bomb::brotli()), ("zstd", Bomb::zstd())] {
            let codings = ContentCodings::parse([coding.as_bytes()]).unwrap();
            let body: Vec<u8> = bomb.parts().take(4).flatten().collect();
            let mut decoded = Vec::new();
            let ended = decode(&codings, body.as_slice(), READ_BYTES, &mut decoded);
            assert_eq!(ended.unwrap(), (READ_BYTES, Some(Cut::Limit)), "{coding}");
            assert!(decoded.iter().all(|byte| *byte == 0), "{coding}");
            assert!(body.len() * 100 < decoded.len(), "{coding}: {} bytes on the wire", body.len());
        }
    }
}
