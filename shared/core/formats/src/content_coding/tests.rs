use std::io::{self, Read, Write};
use std::slice;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::ContentCoding::{Brotli, Deflate, Gzip, Zstd};
use super::DecodeFault::{Damaged, NotInCoding, Truncated, WindowTooLarge};
use super::*;
use crate::warc::Sha1Digest;

const MANY: u64 = 1 << 40;

fn codings(list: &[ContentCoding]) -> ContentCodings {
    list.iter().copied().collect()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn bare_deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn brotli(body: &[u8]) -> Vec<u8> {
    let mut encoder = ::brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    encoder.write_all(body).unwrap();
    encoder.into_inner()
}

fn zstd(body: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
}

fn encode(body: &[u8], list: &[ContentCoding]) -> Vec<u8> {
    list.iter().fold(body.to_vec(), |body, coding| match coding {
        Gzip => gzip(&body),
        Deflate => zlib(&body),
        Brotli => brotli(&body),
        Zstd => zstd(&body),
    })
}

/// Lines that are similar but not the same, so that every coding has matches and literals.
fn bottles(lines: usize) -> Vec<u8> {
    let line = |i| format!("{i} bottles of beer on the wall, take {} down\n", i * 7919 % 1000);
    (0..lines).map(line).collect::<String>().into_bytes()
}

/// A body that arrives in chunks of this size.
struct Chunks<'a> {
    body: &'a [u8],
    chunk_bytes: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let room = out.len().min(self.chunk_bytes);
        self.body.read(&mut out[..room])
    }
}

fn decode_chunks(list: &[ContentCoding], body: &[u8], chunk_bytes: usize, limit_bytes: u64) -> (Vec<u8>, Option<Cut>) {
    let mut text = Vec::new();
    let decoded = decode(&codings(list), Chunks { body, chunk_bytes }, limit_bytes, &mut text);
    let (decoded_bytes, cut) = decoded.unwrap();
    assert_eq!(decoded_bytes, text.len() as u64);
    (text, cut)
}

fn digest(list: &[ContentCoding], body: &[u8], limit_bytes: u64) -> DecodedDigest {
    decoded_sha1(&codings(list), &body.to_vec().into(), limit_bytes).unwrap()
}

#[test]
fn any_chunks_give_the_same_text() {
    let lists: [&[ContentCoding]; 9] = [
        &[],
        &[Gzip],
        &[Deflate],
        &[Brotli],
        &[Zstd],
        &[Gzip, Brotli],
        &[Zstd, Gzip],
        &[Zstd, Zstd],
        &[Brotli, Deflate, Zstd],
    ];
    for body in [Vec::new(), b"x".to_vec(), bottles(100), bottles(12_000)] {
        for list in lists {
            let encoded = encode(&body, list);
            for chunk_bytes in [1, 2, 3, 7, 1_000, usize::MAX] {
                let (text, end) = decode_chunks(list, &encoded, chunk_bytes, MANY);
                assert_eq!(end, None, "{list:?} by {chunk_bytes}");
                assert!(text == body, "{list:?} by {chunk_bytes}: another text");
            }
        }
    }
}

#[test]
fn what_others_encoded_is_read() {
    let text = bottles(100);
    let twice = [text.as_slice(), &text].concat();
    let skippable = [b"\x53\x2a\x4d\x18\x05\0\0\0notes".as_slice(), &zstd(&text)].concat();
    let table: [(ContentCoding, Vec<u8>, &[u8], &str); 14] = [
        (Zstd, include_bytes!("fixtures/bottles.zst").to_vec(), &text, "the reference encoder, with a checksum"),
        (Brotli, include_bytes!("fixtures/bottles.br").to_vec(), &text, "the reference encoder, with its dictionary"),
        (Deflate, bare_deflate(&text), &text, "deflate without zlib's wrapping"),
        (Gzip, [gzip(&text), gzip(&text)].concat(), &twice, "two members"),
        (Zstd, [zstd(&text), zstd(&text)].concat(), &twice, "two frames"),
        (Zstd, skippable, &text, "a frame to be skipped"),
        (Gzip, [gzip(&text), vec![0; 512]].concat(), &text, "padding after gzip"),
        (Gzip, [gzip(&text), b"<!-- -->".to_vec()].concat(), &text, "text after gzip"),
        (Gzip, [gzip(&text), b"\x1f\x8b\xff\xff".to_vec()].concat(), &text, "a method that is none is no member"),
        (Zstd, [zstd(&text), b"<!-- -->".to_vec()].concat(), &text, "text after zstd"),
        (Zstd, [zstd(&text), b"\n".to_vec()].concat(), &text, "less after zstd than a frame's mark"),
        (Brotli, [brotli(&text), b"<!-- -->".to_vec()].concat(), &text, "text after brotli"),
        (Deflate, [zlib(&text), b"<!-- -->".to_vec()].concat(), &text, "text after deflate"),
        (Brotli, Vec::new(), b"", "a body of length 0 is in any coding"),
    ];
    for (coding, encoded, expected, why) in table {
        for chunk_bytes in [1, usize::MAX] {
            let (text, end) = decode_chunks(&[coding], &encoded, chunk_bytes, MANY);
            assert_eq!((text == expected, end), (true, None), "{coding}: {why}");
        }
    }
}

#[test]
fn headers_of_zstd_are_read_whatever_they_hold() {
    // All except the reserved bit and checksums; the fixture covers those.
    for descriptor in (0..=u8::MAX).filter(|descriptor| descriptor & 0b1100 == 0) {
        let is_single_segment = descriptor & 0b10_0000 != 0;
        let size_bytes = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            flag => 1 << flag,
        };
        let (length, size) = match size_bytes {
            1 => (200, 200_u64),
            // Two bytes count from 256.
            2 => (300, 44),
            _ => (300, 300),
        };
        let text = vec![b'x'; length];
        let window = if is_single_segment { [].as_slice() } else { &[0x58] };
        let dictionary = &[0; 4][..[0, 1, 2, 4][usize::from(descriptor & 0b11)]];
        let block = u32::try_from(text.len()).unwrap() << 3 | 1;
        let (size, block) = (size.to_le_bytes(), block.to_le_bytes());
        let header =
            [b"\x28\xb5\x2f\xfd", slice::from_ref(&descriptor), window, dictionary, &size[..size_bytes]].concat();
        let frame = [&header, &block[..3], &text].concat();
        for chunk_bytes in [1, usize::MAX] {
            let (decoded, end) = decode_chunks(&[Zstd], &frame, chunk_bytes, MANY);
            assert_eq!((decoded == text, end), (true, None), "{descriptor:#b}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let text = bottles(100);
    let html = b"<!doctype html><p>Plain text.";
    let cut = |encoded: Vec<u8>| encoded[..encoded.len() / 2].to_vec();
    let flipped = |mut encoded: Vec<u8>, from_end: usize| {
        let at = encoded.len() - from_end;
        encoded[at] ^= 0xff;
        encoded
    };
    let checked = include_bytes!("fixtures/bottles.zst").to_vec();
    let window_of_16_mib = b"\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00".to_vec();
    let block_too_long = b"\x28\xb5\x2f\xfd\x00\x58\xff\xff\xff".to_vec();
    let with_dictionary = b"\x28\xb5\x2f\xfd\x01\x58\x07\x01\x00\x00".to_vec();
    let table: [(ContentCoding, Vec<u8>, DecodeFault, &str); 22] = [
        (Gzip, html.to_vec(), NotInCoding, "not gzip at all"),
        (Deflate, html.to_vec(), NotInCoding, "not deflate at all"),
        (Brotli, html.to_vec(), NotInCoding, "not brotli at all"),
        (Zstd, html.to_vec(), NotInCoding, "not zstd at all"),
        (Gzip, cut(gzip(&text)), Truncated, "half of it"),
        (Deflate, cut(zlib(&text)), Truncated, "half of it"),
        (Brotli, cut(brotli(&text)), Truncated, "half of it"),
        (Zstd, cut(zstd(&text)), Truncated, "half of it"),
        (Gzip, b"\x1f".to_vec(), Truncated, "a byte of it"),
        (Gzip, flipped(gzip(&text), 5), Damaged, "a wrong checksum"),
        (Deflate, flipped(zlib(&text), 1), Damaged, "a wrong checksum"),
        (Zstd, flipped(checked, 1), Damaged, "a wrong checksum"),
        (Gzip, [gzip(&text), b"\x1f\x8b\x08\xff".to_vec()].concat(), Damaged, "a second member in name only"),
        (Gzip, [gzip(&text), b"\x1f\x8b".to_vec()].concat(), Truncated, "the mark of a second member"),
        (Zstd, window_of_16_mib, WindowTooLarge, "RFC 9659 allows 8 MiB"),
        (Zstd, block_too_long, Damaged, "RFC 8878 allows 128 KiB"),
        (Zstd, with_dictionary, Damaged, "a dictionary that we do not have"),
        (Zstd, zstd(&text)[..4].to_vec(), Truncated, "its mark alone"),
        (Zstd, zstd(&text)[..6].to_vec(), Truncated, "half a header"),
        (Zstd, b"\x53\x2a\x4d\x18\x05\0".to_vec(), Truncated, "half a header of a frame to be skipped"),
        (Zstd, b"\x53\x2a\x4d\x18\x05\0\0\0note".to_vec(), Truncated, "most of a frame to be skipped"),
        (Zstd, [zstd(&text), zstd(&text)[..6].to_vec()].concat(), Truncated, "half a second header"),
    ];
    for (coding, encoded, fault, why) in table {
        for chunk_bytes in [1, usize::MAX] {
            let (_, end) = decode_chunks(&[coding], &encoded, chunk_bytes, MANY);
            assert_eq!(end, Some(Cut::Failed(DecodeError { coding, fault })), "{coding} by {chunk_bytes}: {why}");
        }
    }
}

#[test]
fn a_body_cut_short_still_gives_its_beginning() {
    let text = bottles(20_000);
    for coding in [Gzip, Deflate, Brotli, Zstd] {
        let encoded = encode(&text, &[coding]);
        let (decoded, end) = decode_chunks(&[coding], &encoded[..encoded.len() - 20], 1_000, MANY);
        assert_eq!(end, Some(Cut::Failed(DecodeError { coding, fault: Truncated })), "{coding}");
        assert!(decoded.len() > text.len() / 2 && text.starts_with(&decoded), "{coding}: {}", decoded.len());
    }
}

#[test]
fn a_bomb_is_cut_at_the_limit() {
    const LIMIT: u64 = 1_000_000;
    let zeros = vec![0; 100_000_000];
    let lists: [&[ContentCoding]; 6] = [&[Gzip], &[Deflate], &[Brotli], &[Zstd], &[Gzip, Gzip], &[Gzip, Brotli, Zstd]];
    for list in lists {
        let bomb = encode(&zeros, list);
        let mut measure = Measure { bytes: 0, largest_bytes: 0 };
        let ended = decode(&codings(list), bomb.as_slice(), LIMIT, &mut measure);
        assert_eq!(ended.unwrap(), (LIMIT, Some(Cut::Limit)), "{list:?}");
        assert_eq!(measure.bytes, LIMIT, "{list:?}");
        assert!(measure.largest_bytes <= 16 * 1024, "{list:?}: {}", measure.largest_bytes);
    }
}

/// How much is written in all, and at once.
struct Measure {
    bytes: u64,
    largest_bytes: usize,
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.largest_bytes = self.largest_bytes.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_limit_holds_between_codings_too() {
    // The outer coding yields far more than the inner one: padding that gzip ignores.
    let padded = [gzip(b"small"), vec![0; 10_000_000]].concat();
    let (text, end) = decode_chunks(&[Gzip, Brotli], &brotli(&padded), usize::MAX, 1_000);
    assert_eq!((text.as_slice(), end), (b"small".as_slice(), Some(Cut::Limit)));
}

#[test]
fn the_limit_itself_is_allowed() {
    let text = bottles(3_000);
    let length = text.len() as u64;
    for list in [&[][..], &[Gzip], &[Deflate], &[Brotli], &[Zstd]] {
        let encoded = encode(&text, list);
        for (limit, cut) in [(length, None), (length - 1, Some(Cut::Limit)), (0, Some(Cut::Limit))] {
            let decoded = decode_all(&codings(list), &encoded, limit);
            assert_eq!(decoded.cut, cut, "{list:?} to {limit}");
            assert!(*decoded.bytes == text[..usize::try_from(limit).unwrap()], "{list:?} to {limit}");
        }
    }
}

#[test]
fn plain_text_under_a_wrong_name_is_kept() {
    let html = b"<!doctype html><p>Plain text.";
    for coding in [Gzip, Deflate, Brotli, Zstd] {
        let decoded = decode_all(&codings(&[coding]), html, 20);
        assert_eq!(&*decoded.bytes, &html[..20], "{coding}");
        assert_eq!(decoded.cut, Some(Cut::Failed(DecodeError { coding, fault: NotInCoding })), "{coding}");
    }
}

#[test]
fn a_coding_that_was_not_applied_is_passed_over() {
    let html = bottles(40);
    type Row = (&'static [ContentCoding], &'static [ContentCoding], &'static str);
    let table: [Row; 7] = [
        (&[Gzip, Gzip], &[Gzip], "named twice"),
        (&[Gzip, Brotli], &[Gzip], "the last one was not applied"),
        (&[Gzip, Brotli], &[Brotli], "the first one was not applied"),
        (&[Deflate, Gzip], &[Deflate], "nor here"),
        (&[Zstd, Gzip, Brotli], &[Gzip], "two of three were not applied"),
        (&[Gzip, Brotli, Gzip], &[Gzip, Gzip], "the one in the middle was not applied"),
        (&[Gzip, Zstd], &[], "none was applied"),
    ];
    for (named, applied, why) in table {
        let encoded = encode(&html, applied);
        let decoded = decode_all(&codings(named), &encoded, MANY);
        assert!(*decoded.bytes == html, "{why}: {named:?}");
        assert_eq!(decoded.cut.is_some(), applied.is_empty(), "{why}: {:?}", decoded.cut);
        let digest = digest(named, &encoded, MANY);
        assert_eq!((digest.sha1, digest.cut), (Sha1Digest::compute(&html), decoded.cut), "{why}: {named:?}");
    }
}

#[test]
fn another_coding_than_named_is_no_text() {
    let html = bottles(40);
    let table: [(ContentCoding, Vec<u8>, bool, &str); 6] = [
        (Gzip, brotli(&html), true, "brotli as gzip"),
        (Brotli, gzip(&html), true, "gzip as brotli"),
        (Zstd, zlib(&html), true, "deflate as zstd"),
        (Gzip, html.clone(), false, "plain text"),
        (Gzip, b"\xff\xfe<\0p\0".to_vec(), false, "plain text in UTF-16"),
        (Gzip, gzip(&html), false, "as named"),
    ];
    for (named, encoded, expected, why) in table {
        assert_eq!(decode_all(&codings(&[named]), &encoded, MANY).is_garbled(), expected, "{why}");
    }
}

/// As `gzip_in_one_go_is_as_in_steps` found: two empty members have the length of none at their
/// end.
#[test]
fn a_second_member_that_is_damaged_ends_in_the_same_way_in_one_go_as_in_steps() {
    let text = bottles(3);
    for (member, why) in [(gzip(b""), "its length is that of the first"), (gzip(&text), "it has another length")] {
        for bit in 0..8 * 4 {
            let mut second = member.clone();
            second[bit / 8] ^= 1 << (bit % 8);
            let encoded = [member.clone(), second].concat();
            let whole = decode_all(&codings(&[Gzip]), &encoded, MANY);
            let (text, end) = decode_chunks(&[Gzip], &encoded, 7, MANY);
            assert_eq!((&*whole.bytes, whole.cut), (&*text, end), "bit {bit}, {why}");
        }
    }
}

fn any_coding() -> impl Strategy<Value = ContentCoding> {
    prop_oneof![Just(Gzip), Just(Deflate), Just(Brotli), Just(Zstd)]
}

proptest! {
    #[test]
    fn what_was_encoded_comes_back(
        body in prop::collection::vec(0..4_u8, 0..5_000),
        list in prop::collection::vec(any_coding(), 0..=CODINGS_MAX),
        chunk_bytes in 1..500_usize,
    ) {
        let encoded = encode(&body, &list);
        let (text, end) = decode_chunks(&list, &encoded, chunk_bytes, MANY);
        prop_assert_eq!((text, end), (body.clone(), None));
        let digest = digest(&list, &encoded, MANY);
        prop_assert_eq!(digest.sha1, Sha1Digest::compute(&body));
        prop_assert_eq!((digest.decoded_bytes, digest.cut), (body.len() as u64, None));
    }

    /// One go is a shortcut: it must give what step by step gives, of one member, several, their
    /// copies, parts of them, and what follows them.
    #[test]
    fn gzip_in_one_go_is_as_in_steps(
        members in prop::collection::vec(prop::sample::select(vec![0_usize, 1, 3, 3, 40]), 1..4),
        behind in prop::collection::vec(any::<u8>(), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
        flip in prop::option::of((any::<prop::sample::Index>(), 1..=u8::MAX)),
        short_of in prop::option::of(0..3_u64),
        chunk_bytes in 1..500_usize,
    ) {
        let plain: Vec<u8> = members.iter().flat_map(|&lines| bottles(lines)).collect();
        let mut encoded: Vec<u8> = members.iter().flat_map(|&lines| gzip(&bottles(lines))).chain(behind).collect();
        encoded.truncate(cut.map_or(encoded.len(), |cut| cut.index(encoded.len())));
        if let Some((at, flip)) = flip.filter(|_| !encoded.is_empty()) {
            let at = at.index(encoded.len());
            encoded[at] ^= flip;
        }
        let limit_bytes = short_of.map_or(MANY, |bytes| (plain.len() as u64).saturating_sub(bytes));
        let list = codings(&[Gzip]);
        let (mut text, end) = decode_chunks(&[Gzip], &encoded, chunk_bytes, limit_bytes);
        if end.is_some_and(Cut::is_of_name) {
            text = encoded[..encoded.len().min(usize::try_from(limit_bytes).unwrap_or(usize::MAX))].to_vec();
        }
        let whole = decode_all(&list, &encoded, limit_bytes);
        prop_assert_eq!(&*whole.bytes, &text[..]);
        prop_assert_eq!(whole.cut, end);
        let digest = digest(&[Gzip], &encoded, limit_bytes);
        prop_assert_eq!((digest.sha1, digest.decoded_bytes), (Sha1Digest::compute(&text), text.len() as u64));
    }

    #[test]
    fn damage_ends_in_the_same_way_however_it_comes(
        at in any::<prop::sample::Index>(),
        flip in 1..=u8::MAX,
        coding in any_coding(),
        chunk_bytes in 1..500_usize,
    ) {
        let mut encoded = encode(&bottles(200), &[coding]);
        let at = at.index(encoded.len());
        encoded[at] ^= flip;
        let whole = decode_chunks(&[coding], &encoded, usize::MAX, 100_000);
        prop_assert!(whole.0.len() <= 100_000);
        let in_chunks = decode_chunks(&[coding], &encoded, chunk_bytes, 100_000);
        prop_assert_eq!(whole.1, in_chunks.1);
        // Brotli keeps what it decoded of the piece that fails.
        prop_assert!(whole.0 == in_chunks.0 || coding == Brotli && in_chunks.0.starts_with(&whole.0));
    }

    #[test]
    fn junk_never_panics(junk in prop::collection::vec(any::<u8>(), 0..2_000), coding in any_coding()) {
        let magic: &[u8] = match coding {
            Gzip => &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0],
            Deflate => &[0x78, 0x9c],
            Brotli => &[],
            Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
        };
        let junk = [magic, &junk].concat();
        let decoded = decode_all(&codings(&[coding]), &junk, 100_000);
        let digest = digest(&[coding], &junk, 100_000);
        prop_assert_eq!(digest.sha1, Sha1Digest::compute(&decoded.bytes));
    }
}
