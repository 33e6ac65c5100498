use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

const LIMITS: ReadLimits =
    ReadLimits { header_bytes_max: 8 << 10, block_bytes_max: 64 << 10, held_bytes_max: 64 << 10 };

fn member(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn record_text(length: &str, block: &[u8]) -> Vec<u8> {
    let header = format!("WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: {length}\r\n\r\n");
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn good() -> Vec<u8> {
    member(&record_text("5", b"block"))
}

#[test]
fn damage_is_an_error_with_its_place() {
    let good_bytes = good().len() as u64;
    let then = |bytes: &[u8]| [good().as_slice(), bytes].concat();
    let cut = |bytes: Vec<u8>, by: usize| bytes[..bytes.len() - by].to_vec();
    let mut flipped = good();
    let checksum_at = flipped.len() - 8;
    flipped[checksum_at] ^= 1;
    let long_header = [b"WARC/1.1\r\nWARC-Type: ".as_slice(), &[b'x'; 9_000], b"\r\n\r\n"].concat();
    let many_lines = [b"WARC/1.1\r\n".as_slice(), &b"a: b\r\n".repeat(2_000), b"\r\n"].concat();
    let two = [record_text("5", b"block"), record_text("5", b"block")].concat();
    let table: [(Vec<u8>, u64, &str, &str); 20] = [
        (cut(good(), 1), 0, "Truncated", "a byte is missing"),
        (cut(good(), good().len() - 12), 0, "Truncated", "little is left"),
        (then(&good()[..3]), good_bytes, "Truncated", "the next one has hardly begun"),
        (flipped, 0, "NotGzip", "a wrong checksum"),
        (then(b"garbage"), good_bytes, "NotGzip", "garbage between records"),
        (then(&[0; 512]), good_bytes, "NotGzip", "padding, which no WARC file has"),
        (record_text("5", b"block"), 0, "NotGzip", "not compressed"),
        (member(b""), 0, "NotWarc", "an empty member"),
        (member(b"HTTP/1.1 200 OK\r\n\r\n"), 0, "NotWarc", "something else"),
        (
            member(b"WARC/2.0\r\nWARC-Type: resource\r\nContent-Length: 0\r\n\r\n\r\n\r\n"),
            0,
            "NotWarc",
            "another version",
        ),
        (member(b"WARC/1.1\r\nWARC-Type: resource\r\n"), 0, "NotWarc", "the header never ends"),
        (member(b"WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"), 0, "NotWarc", "no type"),
        (member(b"WARC/1.1\r\nWARC-Type: resource\r\n\r\n\r\n\r\n"), 0, "NotWarc", "no length"),
        (member(&record_text("-5", b"block")), 0, "NotWarc", "not a number"),
        (member(&record_text("99999999999999999999", b"block")), 0, "NotWarc", "a number too large for a machine"),
        (member(&record_text("4", b"block")), 0, "WrongLength", "one too short"),
        (member(&record_text("9", b"block")), 0, "WrongLength", "longer by all that follows"),
        (member(&record_text("60000", b"block")), 0, "WrongLength", "far too long"),
        (member(&two), 0, "NotOneRecord", "a whole file in one member"),
        (member(&record_text("18446744073709551615", b"block")), 0, "TooLarge", "a length that no memory holds"),
    ];
    let too_large = [
        (member(&long_header), 0, "TooLarge", "a field without an end"),
        (member(&many_lines), 0, "TooLarge", "fields without an end"),
        (member(&record_text("100000000", &vec![0; 100_000_000])), 0, "TooLarge", "a bomb of zeros"),
    ];
    for (file, offset, fault, why) in table.into_iter().chain(too_large) {
        let mut reader = WarcReader::new(file.as_slice(), LIMITS);
        let error = reader.by_ref().find_map(Result::err).unwrap_or_else(|| panic!("no error: {why}"));
        assert_eq!((error.offset, format!("{:?}", error.fault).as_str()), (offset, fault), "{why}");
        assert!(reader.next().is_none(), "nothing comes after: {why}");
    }
}

#[test]
fn a_range_must_be_one_record() {
    let good = good();
    let table: [(Vec<u8>, &str, &str); 4] = [
        (Vec::new(), "Truncated", "nothing"),
        (good[..good.len() - 1].to_vec(), "Truncated", "a byte too few"),
        ([good.as_slice(), &good[..1]].concat(), "NotOneRecord", "a byte too many"),
        (good[1..].to_vec(), "NotGzip", "a byte too late"),
    ];
    for (range, fault, why) in table {
        let error = read_record(&range, LIMITS).unwrap_err();
        assert_eq!(format!("{:?}", error.fault), fault, "{why}");
    }
    assert!(read_record(&good, LIMITS).is_ok());
}

#[test]
fn files_of_other_writers_are_read() {
    let text = b"WARC/1.0\nwarc-type: Response\nWARC-Target-URI: <http://a.example/>\nWARC-Truncated: bored\n\
        WARC-Record-ID: <http://a.example/1>\ncontent-length: 19\n\nHTTP/1.0 200 OK\n\nhi\r\n\r\n";
    let record = read_record(&member(text), LIMITS).unwrap();
    assert_eq!(record.record_type, RecordType::Response);
    assert_eq!(record.target_uri(), Some("http://a.example/"));
    assert_eq!(record.truncated(), Some(Truncation::Unspecified));
    assert_eq!(record.id(), None);
    assert_eq!(record.verify_block_digest(), DigestCheck::NotStated);
    assert_eq!(parse_http_response(&record.block).unwrap().body, b"hi");
    let unknown = read_record(&good(), LIMITS).unwrap();
    assert_eq!(unknown.record_type, RecordType::Resource);
}

#[test]
fn wrong_digests_are_found() {
    let head = http_response_head(200, "OK", &html_headers(), 4);
    let record =
        Record::response(RecordId::from_bits(1), &event("/"), head, "body".into(), Sha1Digest::compute(b"other"));
    let (file, spans) = write_file(&[record]);
    let mut stored = read_record(range(&file, spans[0]), LIMITS).unwrap();
    let (stated, computed) = (Sha1Digest::compute(b"other"), Sha1Digest::compute(b"body"));
    assert_eq!(stored.verify_payload_digest(), DigestCheck::Mismatch { stated, computed });
    assert_eq!(stored.verify_block_digest(), DigestCheck::NotStated, "its payload has one");
    let (file, spans) = write_file(&[request()]);
    stored = read_record(range(&file, spans[0]), LIMITS).unwrap();
    assert_eq!(stored.verify_block_digest(), DigestCheck::Match);
    stored.block[0] ^= 1;
    assert!(matches!(stored.verify_block_digest(), DigestCheck::Mismatch { .. }));
}

#[test]
fn reading_an_endless_member_ends() {
    // A gzip header, then stored blocks of length 0 without end: input without output.
    let header: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let empty_blocks = io::repeat(0).take(u64::MAX);
    struct Blocks<R>(R, usize);
    impl<R: Read> Read for Blocks<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            for byte in &mut buffer[..read] {
                // Not the last, stored; length 0; its complement.
                *byte = [0, 0, 0, 0xff, 0xff][self.1 % 5];
                self.1 += 1;
            }
            Ok(read)
        }
    }
    let mut reader = WarcReader::new(header.chain(Blocks(empty_blocks, 0)), LIMITS);
    let error = reader.next().unwrap().unwrap_err();
    assert!(matches!(error.fault, WarcFault::TooLarge), "{error:?}");
}

#[test]
fn a_file_error_is_not_damage() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let good = good();
    let mut reader = WarcReader::new(good.as_slice().chain(Fails), LIMITS);
    assert!(reader.next().unwrap().is_ok());
    assert!(matches!(reader.next().unwrap().unwrap_err().fault, WarcFault::Io(_)));
}

proptest! {
    #[test]
    fn any_damage_is_found_or_harmless(at in any::<prop::sample::Index>(), flip in 1..=u8::MAX) {
        let (mut file, _) = write_file(&one_of_each());
        let at = at.index(file.len());
        file[at] ^= flip;
        for record in WarcReader::new(file.as_slice(), LIMITS).map_while(Result::ok) {
            let check = match record.record_type {
                RecordType::Response => record.verify_payload_digest(),
                _ => record.verify_block_digest(),
            };
            prop_assert_eq!(check, DigestCheck::Match);
        }
    }

    #[test]
    fn junk_never_panics(text in prop::collection::vec(prop::sample::select(b"WARC/1.-Type:\r\n 09".as_slice()), 0..400)) {
        let text = [b"WARC/1.1\r\nWARC-Type: a\r\nContent-Length: 9\r\n".as_slice(), &text].concat();
        let read: Vec<_> = WarcReader::new(member(&text).as_slice(), LIMITS).collect();
        prop_assert_eq!(read.len(), 1, "a record or an error");
        let _ = parse_http_response(&text);
    }
}
