use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const LIMITS: ReadLimits =
    ReadLimits { header_bytes_max: 8 << 10, block_bytes_max: 64 << 10, held_bytes_max: 64 << 10 };

fn text(version: &str, block: &[u8]) -> Vec<u8> {
    let header = format!("WARC/{version}\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n", block.len());
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn member(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Returns the contents of a file: each record's block and its missing part, or the fault in its
/// place.
fn read(file: Vec<u8>) -> Vec<String> {
    let records = OthersReader::new(Cursor::new(file), LIMITS);
    let shown = |read| match read {
        Ok(OthersRecord { record, extent: Extent::Whole, .. }) => String::from_utf8_lossy(&record.block).into_owned(),
        Ok(OthersRecord { record, extent: Extent::CutShort { missing_bytes }, .. }) => {
            format!("{} -{missing_bytes}", String::from_utf8_lossy(&record.block))
        }
        Ok(OthersRecord { record, extent: Extent::OverLimit { left_out_bytes }, .. }) => {
            format!("{} bytes and {left_out_bytes} more", record.block.len())
        }
        Err(WarcError { fault, .. }) => format!("{fault:?}"),
    };
    records.take(10).map(shown).collect()
}

#[test]
fn files_of_other_programs_are_read() {
    let (a, b) = (text("1.0", b"a"), text("1.1", b"b"));
    let cut = |bytes: &[u8], by: usize| bytes[..bytes.len() - by].to_vec();
    let pair = [a.clone(), b.clone()].concat();
    let lf = String::from_utf8(pair.clone()).unwrap().replace("\r\n", "\n").into_bytes();
    let lies = |length: &str| {
        let header = format!("WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: {length}\r\n\r\n");
        [header.as_bytes(), b"block\r\n\r\n", &b].concat()
    };
    let large = text("1.1", &vec![b'x'; (64 << 10) + 1]);
    let bomb = text("1.1", &vec![0; 2 << 20]);
    let endless = [b"WARC/1.1\r\nWARC-Type: ".as_slice(), &[b'x'; 9_000], b"\r\n\r\n", &b].concat();
    let noise: Vec<u8> = (0..2_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    let mut incompressible = member(&[a.clone(), text("1.1", &noise)].concat());
    incompressible.truncate(incompressible.len() - 1_000);
    let mut damaged = member(&a);
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    let table: [(Vec<u8>, &[&str], &str); 18] = [
        (pair.clone(), &["a", "b"], "not compressed"),
        ([member(&a), member(&b)].concat(), &["a", "b"], "a member for each record"),
        (member(&pair), &["a", "b"], "a member for all of them"),
        (lf, &["a", "b"], "LF alone"),
        ([b"\r\n\r\n".as_slice(), &pair].concat(), &["a", "b"], "empty lines in front"),
        (cut(&pair, 4), &["a", "b"], "the last line ends are missing"),
        (cut(&pair, 5), &["a", " -1"], "the last block is cut short"),
        (cut(&pair, 12), &["a", "NotWarc"], "the last header is cut short"),
        (cut(&[member(&a), member(&b)].concat(), 8), &["a", "b"], "the last checksum is missing"),
        (lies("4"), &["WrongLength"], "a length that is one too short"),
        (
            lies("60000"),
            &["block\r\n\r\nWARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 1\r\n\r\nb\r\n\r\n -59934"],
            "a length that is too long",
        ),
        ([large, b.clone()].concat(), &["65536 bytes and 1 more", "b"], "one record is over the limit"),
        (member(&[bomb.clone(), b.clone()].concat()), &["65536 bytes and 2031616 more", "b"], "and compressed"),
        (
            member(&[bomb.clone(), bomb.clone(), bomb, b.clone()].concat()),
            &["65536 bytes and 2031616 more", "65536 bytes and 2031616 more", "NotOneRecord"],
            "a member for so many that the last ones cannot be read alone",
        ),
        ([member(&a), damaged, member(&b)].concat(), &["a", "NotGzip"], "a checksum is wrong"),
        ([member(&a), b.clone()].concat(), &["a", "NotGzip"], "no member follows"),
        (endless, &["NotWarc"], "a header over the limit has no known end"),
        (Vec::new(), &[], "nothing"),
    ];
    for (file, expected, why) in table {
        assert_eq!(read(file), expected, "{why}");
    }
    let cut_within = read(incompressible);
    assert_eq!(cut_within.len(), 2, "what was inflated before the file broke off is kept");
    assert!(cut_within[1].contains(" -"), "{cut_within:?}");
}

#[test]
fn each_record_is_read_again_at_its_place() {
    let [a, b, c] = ["a", "b", "c"].map(|block| text("1.1", block.as_bytes()));
    let pair = [a.clone(), b.clone()].concat();
    for (file, why) in [
        ([pair.as_slice(), &c].concat(), "not compressed"),
        ([member(&a), member(&b), member(&c)].concat(), "a member for each"),
        ([member(&pair), member(&c)].concat(), "a member for two"),
    ] {
        let records: Vec<_> = OthersReader::new(&file[..], LIMITS).map(Result::unwrap).collect();
        assert_eq!(records.len(), 3, "{why}");
        for record in records {
            let from_offset = &file[usize::try_from(record.place.offset).unwrap()..];
            let again = read_others_record(from_offset, record.place, LIMITS).unwrap();
            assert_eq!((again.record.block, again.place), (record.record.block, record.place), "{why}");
        }
    }
    let gone = RecordPlace { offset: 0, skip_bytes: 1_000 };
    assert!(read_others_record(&member(&a)[..], gone, LIMITS).is_err(), "the file has changed");
}

/// Creates a stored response with this head after the status line and this body.
fn response(status: &str, fields: &str, body: &[u8], digest: Option<&str>) -> StoredRecord {
    let mut headers: Headers<String> = Headers::default();
    if let Some(digest) = digest {
        headers.push("WARC-Payload-Digest", digest);
    }
    let block = [status.as_bytes(), b"\r\n", fields.as_bytes(), b"\r\n", body].concat();
    let span = RecordSpan { offset: 0, length: block.len() as u64 };
    let block_bytes = block.len() as u64;
    StoredRecord { record_type: RecordType::Response, fields: headers, block, block_bytes, span }
}

#[test]
fn a_remaining_transfer_coding_is_removed() {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    let table: [(&str, &[u8], &[u8], &str); 13] = [
        (CHUNKED, b"2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", b"abc", "chunks, one with an extension"),
        ("transfer-encoding: gzip, Chunked\r\n", b"1\r\na\r\n0\r\n\r\n", b"a", "the last coding counts"),
        (
            "Transfer-Encoding: chunked, gzip\r\n",
            b"1\r\na\r\n0\r\n\r\n",
            b"1\r\na\r\n0\r\n\r\n",
            "chunks are not outermost",
        ),
        ("", b"1\r\na\r\n0\r\n\r\n", b"1\r\na\r\n0\r\n\r\n", "no field names the coding"),
        (CHUNKED, b"<p>abc", b"<p>abc", "a library has undone it"),
        (CHUNKED, b"bad idea\r\nabc", b"bad idea\r\nabc", "text that begins with hexadecimal digits"),
        (CHUNKED, b"2\r\nabc", b"2\r\nabc", "a number on a line of its own, and no chunk"),
        (CHUNKED, b"5\r\nabc", b"abc", "the first chunk breaks off"),
        (CHUNKED, b"1\r\na\r\n5\r\nbc", b"abc", "a later chunk breaks off"),
        (CHUNKED, b"1\r\na\r\n0\r\nTrailer: x\r\n\r\n", b"a", "trailers are not part of the body"),
        (CHUNKED, b"ffffffffffffffff\r\na", b"a", "a size that no memory holds"),
        (CHUNKED, b"fffffffffffffffff\r\na", b"fffffffffffffffff\r\na", "a size that no number holds"),
        (CHUNKED, b"", b"", "no body"),
    ];
    for (fields, body, expected, why) in table {
        let record = response("HTTP/1.1 200 OK", fields, body, None);
        assert_eq!(read_others_response(&record).unwrap().body, expected, "{why}");
    }
}

#[test]
fn digests_of_other_programs_are_verified() {
    const FIELDS: &str = "Transfer-Encoding: chunked\r\n";
    const BODY: &[u8] = b"1\r\na\r\n0\r\n\r\n";
    let with = format!("sha1:{}", Sha1Digest::compute(BODY).to_hex());
    let without = Sha1Digest::compute(b"a").to_string();
    let other = Sha1Digest::compute(b"b").to_string();
    for (digest, expected, why) in [
        (Some(with.as_str()), "Match", "with the transfer coding, in hexadecimal"),
        (Some(without.as_str()), "Match", "without it, in base32"),
        (Some(other.as_str()), "Mismatch", "of something else"),
        (Some("sha256:00"), "NotStated", "another algorithm"),
        (None, "NotStated", "none"),
    ] {
        let record = response("HTTP/2 200", FIELDS, BODY, digest);
        let read = read_others_response(&record).unwrap();
        assert_eq!(read.message.status, 200);
        assert!(format!("{:?}", read.digest).starts_with(expected), "{why}: {:?}", read.digest);
    }
    let revisit = StoredRecord { record_type: RecordType::Revisit, ..response("HTTP/1.1 200", "", b"", Some(&other)) };
    assert_eq!(read_others_response(&revisit).unwrap().digest, DigestCheck::NotHere, "a revisit has no body");
}

#[test]
fn profiles_of_both_versions_are_known() {
    for (profile, expected) in [
        ("http://netpreserve.org/warc/1.0/revisit/identical-payload-digest", Some(RevisitProfile::IdenticalPayload)),
        ("http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", Some(RevisitProfile::IdenticalPayload)),
        ("http://netpreserve.org/warc/1.0/revisit/server-not-modified", Some(RevisitProfile::ServerNotModified)),
        ("http://netpreserve.org/warc/2.0/revisit/server-not-modified", None),
    ] {
        let mut record = response("HTTP/1.1 200", "", b"", None);
        record.fields.push("WARC-Profile", profile);
        assert_eq!(record.profile(), expected, "{profile}");
    }
}
