//! WARC files, and the HTTP messages in them.

use std::io::Write as _;

use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{
    CaptureEvent, DigestCheck, OthersReader, ReadLimits, Record, RecordId, RecordSpan, Sha1Digest, StoredRecord,
    TargetUri, WarcReader, WarcWriter, http_response_head, parse_http_response, read_others_record,
    read_others_request, read_others_response, read_record,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;

const LIMITS: ReadLimits =
    ReadLimits { header_bytes_max: 4 << 10, block_bytes_max: 16 << 10, held_bytes_max: 16 << 10 };

/// Input: a file; or the content of one of its gzip members; or a response that is written into
/// one.
///
/// A file is read within its limits, also as one of another program, its records without a gap, and
/// each is the same when read alone. A response comes back as written, and nothing in it can create
/// a field or a record.
///
/// # Panics
/// If one of these does not hold.
pub fn warc(data: &[u8]) {
    read(data);
    read(&compressed_member(data));
    read_others(data);
    read_others(&compressed_member(data));
    written(data);
    if let Ok(response) = parse_http_response(data) {
        assert!(response.body.len() < data.len() && response.status <= 999);
    }
}

fn read(file: &[u8]) {
    let mut end = 0;
    let mut errors = 0;
    for record in WarcReader::new(file, LIMITS) {
        let Ok(record) = record else {
            errors += 1;
            continue;
        };
        assert_eq!(record.span.offset, end, "a gap");
        assert!(record.block.len() as u64 <= LIMITS.block_bytes_max);
        let member = member(file, record.span);
        end += record.span.length;
        look_at(&record);
        let alone = read_record(member, LIMITS).expect("it was read with others");
        assert_eq!(alone, StoredRecord { span: RecordSpan { offset: 0, ..record.span }, ..record });
    }
    assert!(errors <= 1, "read on behind damage");
    assert!(errors == 1 || end == file.len() as u64, "something was left unread");
}

/// Reads a file as if another program had written it: each record is the same where it is read
/// alone.
fn read_others(file: &[u8]) {
    for read in OthersReader::new(file, LIMITS) {
        let Ok(read) = read else { continue };
        assert!(read.record.block.len() as u64 <= LIMITS.block_bytes_max);
        look_at(&read.record);
        if let Ok(response) = read_others_response(&read.record) {
            assert!(response.body.len() <= read.record.block.len());
        }
        let _ = read_others_request(&read.record);
        let from_offset = usize::try_from(read.place.offset).expect("it is in memory");
        let alone = read_others_record(&file[from_offset..], read.place, LIMITS).expect("it was read with others");
        let same = (&alone.record.block, &alone.record.fields, alone.extent);
        assert_eq!(same, (&read.record.block, &read.record.fields, read.extent));
    }
}

/// Reads everything that a record may have.
fn look_at(record: &StoredRecord) {
    let _ = (record.id(), record.date(), record.target_uri(), record.ip_address(), record.protocol());
    let _ = (record.warcinfo_id(), record.concurrent_to().count(), record.truncated(), record.profile());
    let _ = (record.refers_to_target_uri(), record.refers_to_date());
    let _ = (record.verify_block_digest(), record.verify_payload_digest());
}

/// A response of the first three lines (reason, name and value of a field) and a body, between two
/// others.
fn written(data: &[u8]) {
    let mut parts = data.splitn(4, |byte| *byte == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (reason, name, value, body) = (next(), next(), next(), next());
    let (reason, name) = (String::from_utf8_lossy(reason), String::from_utf8_lossy(name));
    let headers = Headers::from_iter([(&*name, value)]);
    let event = CaptureEvent {
        date: Timestamp::UNIX_EPOCH,
        target_uri: TargetUri::new(&reason),
        ip_address: None,
        protocol: None,
        warcinfo_id: None,
    };
    let head = http_response_head(200, &reason, &headers, body.len() as u64);
    let record =
        Record::response(RecordId::from_bits(1), &event, head, body.to_vec().into(), Sha1Digest::compute(body));
    let mut writer = WarcWriter::new();
    let spans = [writer.write(&record), writer.write(&record), writer.write(&record)];
    let file = writer.take_file().and_then(|file| file.bytes()).expect("it is in memory");

    let stored = read_record(member(&file, spans[1]), ReadLimits::default()).expect("it was just written");
    assert_eq!(stored.id(), Some(RecordId::from_bits(1)));
    assert_eq!(stored.target_uri(), Some(event.target_uri.as_str()));
    assert_eq!(stored.verify_payload_digest(), DigestCheck::Match);
    let response = parse_http_response(&stored.block).expect("it was just written");
    assert_eq!((response.status, response.body), (200, body));
    assert!((1..=2).contains(&response.headers.len()), "{:?}", response.headers);
}

fn compressed_member(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("memory takes all")
}

fn member(file: &[u8], span: RecordSpan) -> &[u8] {
    let at = |bytes: u64| usize::try_from(bytes).expect("it is in memory");
    &file[at(span.offset)..at(span.offset + span.length)]
}
