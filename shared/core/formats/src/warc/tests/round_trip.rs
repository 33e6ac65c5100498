use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

const LIMITS: ReadLimits = ReadLimits { header_bytes_max: 64 << 10, block_bytes_max: 1 << 20, held_bytes_max: 1 << 20 };

fn read_all(file: &[u8]) -> Vec<StoredRecord> {
    WarcReader::new(file, LIMITS).collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_a_file_says_of_itself_is_read_back() {
    let (file, _) = write_file(&[warcinfo(), request()]);
    let mut records = WarcReader::new(&file[..], ReadLimits::default()).map(Result::unwrap);
    let info = records.next().and_then(|record| record.info()).unwrap();
    assert_eq!(info.filename.as_deref(), Some("docs-20261127015403-00000-crawler1.warc.gz"));
    assert_eq!(info.operator.as_deref(), Some("Example Library <web@example.org>"));
    assert_eq!(info.description.as_deref(), Some("Manuals  of things"), "on one line");
    assert_eq!(info.is_part_of, ["docs iteration 3", "manuals"]);
    assert_eq!(records.next().and_then(|record| record.info()), None, "only a `warcinfo` record says it");
}

/// WARC 1.1, section 5.4: a time in UTC with seconds, and a fraction of up to nine digits if there
/// is one.
#[test]
fn dates_follow_the_standard() {
    for (nanoseconds, expected) in [
        (0, "2023-11-14T22:13:20Z"),
        (500_000_000, "2023-11-14T22:13:20.5Z"),
        (7_000_000, "2023-11-14T22:13:20.007Z"),
        (1, "2023-11-14T22:13:20.000000001Z"),
    ] {
        let at = Timestamp::new(1_700_000_000, nanoseconds).unwrap();
        let record = Record::warcinfo(RecordId::from_bits(1), at, &WarcInfo::default());
        assert!(record_text(&record).contains(&format!("WARC-Date: {expected}␍␊")), "{}", record_text(&record));
        let (file, span) = write_file(&[record]);
        assert_eq!(read_record(range(&file, span[0]), ReadLimits::default()).unwrap().date(), Some(at));
    }
}

#[test]
fn each_record_is_read_by_its_span_alone() {
    let records = one_of_each();
    let (file, spans) = write_file(&records);
    let stored = read_all(&file);
    assert_eq!(stored.len(), records.len());
    for ((record, span), stored) in records.iter().zip(spans).zip(stored) {
        assert_eq!(stored.span, span);
        assert_eq!(stored.id(), Some(record.id()));
        assert_eq!(stored.block, record.block());
        let is_response = stored.record_type == RecordType::Response;
        let block_digest = if is_response { DigestCheck::NotStated } else { DigestCheck::Match };
        assert_eq!(stored.verify_block_digest(), block_digest);
        let alone = read_record(range(&file, span), LIMITS).unwrap();
        assert_eq!(alone, StoredRecord { span: RecordSpan { offset: 0, ..span }, ..stored });
    }
    assert_eq!(spans_end(&file), file.len() as u64, "the spans leave no gap");
}

fn spans_end(file: &[u8]) -> u64 {
    read_all(file).iter().fold(0, |end, record| {
        assert_eq!(record.span.offset, end);
        end + record.span.length
    })
}

#[test]
fn a_writer_begins_anew_after_each_file() {
    let mut writer = WarcWriter::new();
    let first = writer.write(&response());
    assert_eq!(writer.len_bytes(), first.length);
    let file = writer.take_file().unwrap().bytes().unwrap();
    assert_eq!(writer.len_bytes(), 0);
    assert_eq!(writer.write(&response()), first);
    assert_eq!(writer.take_file().unwrap().bytes().unwrap(), file, "the same record gives the same bytes");
}

#[test]
fn fields_come_back() {
    let (file, _) = write_file(&one_of_each());
    let stored = read_all(&file);
    let [info, request, response, cut, not_modified, identical, metadata] = stored.as_slice() else {
        panic!("seven records")
    };
    assert_eq!(info.record_type, RecordType::WarcInfo);
    assert_eq!(info.fields.get("Dragline-Format"), Some("2"));
    assert_eq!(parse_fields(&info.block).get("software"), Some("dragline/0.1.0"));
    assert_eq!((info.target_uri(), info.ip_address()), (None, None));

    assert_eq!(request.record_type, RecordType::Request);
    assert_eq!(request.concurrent_to().collect::<Vec<_>>(), [RecordId::from_bits(3)]);

    let event = event("/a?b=c");
    assert_eq!(response.record_type, RecordType::Response);
    assert_eq!(response.date(), Some(event.date));
    assert_eq!(response.target_uri(), Some("https://www.example.org/a?b=c"));
    assert_eq!((response.ip_address(), response.protocol()), (event.ip_address, event.protocol));
    assert_eq!(response.warcinfo_id(), event.warcinfo_id);
    assert_eq!((response.extension(DEPTH), response.extension(REASON)), (Some("2"), None));
    assert_eq!(response.verify_payload_digest(), DigestCheck::Match);
    assert_eq!(response.truncated(), None);

    assert_eq!(cut.truncated(), Some(Truncation::Disconnect));
    assert_eq!(cut.ip_address(), Some(IpAddr::V6(Ipv6Addr::LOCALHOST)));
    assert_eq!(cut.verify_payload_digest(), DigestCheck::Match, "of what is there");

    assert_eq!(not_modified.record_type, RecordType::Revisit);
    assert_eq!(not_modified.profile(), Some(RevisitProfile::ServerNotModified));
    assert_eq!(not_modified.refers_to_date(), Some("2026-11-20T09:00:00Z".parse().unwrap()));
    assert_eq!(not_modified.verify_payload_digest(), DigestCheck::NotStated);

    assert_eq!(identical.profile(), Some(RevisitProfile::IdenticalPayload));
    assert_eq!(identical.refers_to_target_uri(), Some("https://www.example.org/old"));
    assert_eq!(identical.refers_to_date(), Some("2026-11-20T09:00:00.000000001Z".parse().unwrap()));
    assert_eq!(identical.truncated(), Some(Truncation::Length), "WARC 1.1 §6.7.2");
    assert_eq!(identical.verify_payload_digest(), DigestCheck::NotHere);

    assert_eq!(metadata.record_type, RecordType::Metadata);
    let fields = parse_fields(&metadata.block);
    assert_eq!(fields.get("fetchTimeMs"), Some("1500"));
    assert_eq!(fields.get("via"), Some("https://www.example.org/   b"));
}

#[test]
fn what_the_standard_forbids_is_not_written() {
    assert_eq!(record_text(&warcinfo().concurrent_to(RecordId::from_bits(2))), record_text(&warcinfo()));
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z-]{1,12}", Just("Content-Length".to_owned()), Just("transfer-encoding".to_owned()), ".{0,8}"]
}

/// Generates empty fields around the allowed number, or a few fields around the allowed size.
fn many_fields() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let at_limit = |max: usize| prop_oneof![Just(max), max - 5..max + 5, 0..2 * max];
    prop_oneof![
        at_limit(FIELDS_MAX).prop_map(|count| vec![("a".to_owned(), Vec::new()); count]),
        (at_limit(HEAD_BYTES_MAX), 1..20_usize).prop_map(|(bytes, count)| vec![
            (
                "transfer-encoding".to_owned(),
                vec![b'x'; bytes / count]
            );
            count
        ]),
    ]
}

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec(prop::sample::select(b"\r\n:HTTP/1. WARC".as_slice()), 0..300),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_written_is_read_back(
        reason_bytes in prop_oneof![Just(0), Just(REASON_BYTES_MAX), Just(300_000_usize)],
        reason_char in prop::sample::select(vec!['a', 'é', '\u{fffd}']),
        headers in many_fields(),
        extensions in prop::collection::vec(prop_oneof![Just(VALUE_BYTES_MAX), 0..3 * VALUE_BYTES_MAX], 0..10),
        companions in prop_oneof![Just(0), Just(2), Just(2_000_u128)],
        uri_bytes in prop_oneof![Just(20), Just(2_048_usize), 0..20_000_usize],
        is_revisit in any::<bool>(),
    ) {
        let reason: String = std::iter::repeat_n(reason_char, reason_bytes / reason_char.len_utf8()).collect();
        let uri = TargetUri::new(&"ü".repeat(uri_bytes / 2));
        let event = CaptureEvent { target_uri: uri.clone(), ..event("/") };
        let headers: Headers = headers.into_iter().chain([("content-length".to_owned(), b"7".to_vec())]).collect();
        let digest = Sha1Digest::compute(b"body");
        let mut record = if is_revisit {
            let refers_to = RefersTo { target_uri: uri, date: event.date };
            let head = http_revisit_head(200, &reason, &headers);
            Record::revisit(RecordId::from_bits(1), &event, head, &Revisit::IdenticalPayload { payload_digest: digest }, Some(refers_to))
        } else {
            let head = http_response_head(200, &reason, &headers, 4);
            Record::response(RecordId::from_bits(1), &event, head, "body".into(), digest)
        };
        for bytes in &extensions {
            record = record.extension(ExtensionField { name: DEPTH, value: "v".repeat(*bytes) });
        }
        for bits in 0..companions {
            record = record.concurrent_to(RecordId::from_bits(bits));
        }
        let (file, spans) = write_file(&[record]);
        let stored = read_record(range(&file, spans[0]), ReadLimits::default()).unwrap();
        let check = if is_revisit { stored.verify_block_digest() } else { stored.verify_payload_digest() };
        prop_assert_eq!(check, DigestCheck::Match);
        prop_assert_eq!(stored.extension(DEPTH).is_some(), !extensions.is_empty());
        let response = parse_http_response(&stored.block).unwrap();
        prop_assert_eq!(response.body, if is_revisit { b"".as_slice() } else { b"body" });
        prop_assert!(response.reason.len() <= REASON_BYTES_MAX);
        let has_length = response.headers.all("content-length").any(|value| value == b"4");
        prop_assert!(is_revisit || has_length, "the true length is there however many fields were left out");
    }
}

proptest! {
    #[test]
    fn any_response_comes_back(
        status in 100..600_u16,
        reason in ".{0,20}",
        headers in prop::collection::vec((any_name(), prop::collection::vec(any::<u8>(), 0..40)), 0..10),
        body in any_body(),
        uri in ".{0,60}",
        date_s in 0..4_000_000_000_i64,
        date_ns in 0..1_000_000_000_i32,
        bits in any::<u128>(),
        extension in ".{0,60}",
        truncation in prop::option::of(prop::sample::select(Truncation::ALL)),
    ) {
        let event = CaptureEvent {
            date: Timestamp::new(date_s, date_ns).unwrap(),
            target_uri: TargetUri::new(&uri),
            ..event("/")
        };
        let headers: Headers = headers.into_iter().collect();
        let head = http_response_head(status, &reason, &headers, body.len() as u64);
        let mut record = Record::response(RecordId::from_bits(bits), &event, head, body.clone().into(), Sha1Digest::compute(&body))
            .extension(ExtensionField { name: DEPTH, value: extension });
        if let Some(reason) = truncation {
            record = record.truncated(reason);
        }
        let (file, spans) = write_file(&[request(), record, metadata()]);
        let stored = read_record(range(&file, spans[1]), LIMITS).unwrap();
        prop_assert_eq!(&stored.record_type, &RecordType::Response);
        prop_assert_eq!(stored.id(), Some(RecordId::from_bits(bits)));
        prop_assert_eq!(stored.date(), Some(event.date));
        prop_assert_eq!(stored.target_uri(), Some(event.target_uri.as_str()));
        prop_assert_eq!(stored.truncated(), truncation);
        prop_assert_eq!(stored.verify_payload_digest(), DigestCheck::Match);
        prop_assert_eq!(stored.fields.iter().count(), 11 + usize::from(truncation.is_some()), "none injected, none lost");

        let response = parse_http_response(&stored.block).unwrap();
        prop_assert_eq!((response.status, response.body), (status, body.as_slice()));
        let lengths: Vec<_> = response.headers.all("Content-Length").collect();
        let length = body.len().to_string();
        prop_assert!(lengths.iter().all(|value| *value == length.as_bytes()), "{:?}", lengths);
        prop_assert_eq!(response.headers.all("Transfer-Encoding").count(), 0);
        let added = usize::from(response.headers.len() > headers.len());
        prop_assert_eq!(response.headers.len(), headers.len() + added, "none injected, none lost");
        prop_assert!(added == 0 || response.headers.iter().last().unwrap().0 == "Content-Length");
    }
}

#[test]
fn a_body_in_a_file_is_written_and_read_back_and_the_file_with_it_is_in_a_spool() {
    use std::io::Write as _;

    use crate::blob::{MEMORY_BYTES_MAX, Spool};

    for (body, why) in [
        (b"0123456789".repeat(300_000), "what can be compressed"),
        ((1_u64..3 << 20).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect(), "what cannot"),
    ] {
        let mut spooled = Spool::default().begin();
        spooled.write_all(&body).unwrap();
        let head = http_response_head(200, "OK", &Headers::default(), body.len() as u64);
        let blob = spooled.finish().unwrap();
        let big = Record::response(RecordId::from_bits(9), &event("/big"), head, blob, Sha1Digest::compute(&body));
        let mut writer = WarcWriter::new();
        let spans = [response(), big, metadata()].map(|record| writer.write(&record));
        assert!(writer.memory_bytes() < 1_000, "{why}: only what follows it is in memory");
        let file = writer.take_file().unwrap();
        assert_eq!(file.in_memory().is_some(), file.len_bytes() <= MEMORY_BYTES_MAX as u64, "{why}");
        assert_eq!(file.len_bytes(), spans[2].offset + spans[2].length, "{why}");
        let limits = ReadLimits::holding(100);
        let records: Vec<StoredRecord> = WarcReader::new(file.reader(), limits).map(Result::unwrap).collect();
        assert_eq!(records.iter().map(|record| record.span).collect::<Vec<_>>(), spans, "{why}");
        assert!(records[1].block.len() as u64 == limits.held_bytes_max && !records[1].is_whole(), "{why}");
        assert_eq!(records[1].verify_payload_digest(), DigestCheck::NotHere, "{why}: not all of it is held");
        let member = file.part(spans[1].offset..spans[1].offset + spans[1].length);
        let mut block = Vec::new();
        let alone = read_record_into(member.reader(), limits, &mut block).unwrap();
        assert_eq!(alone.block_bytes, block.len() as u64, "{why}");
        assert!(parse_http_response(&block).unwrap().body == body, "{why}");
        let whole = read_record(&member.bytes().unwrap(), ReadLimits::default()).unwrap();
        assert_eq!(whole.verify_payload_digest(), DigestCheck::Match, "{why}");
    }
}

#[test]
fn a_file_that_finds_no_room_is_not_taken_for_whole() {
    use std::io::Write as _;

    use crate::blob::Spool;

    let mut spooled = Spool::default().begin();
    spooled.write_all(&[7; 2 << 20]).unwrap();
    let head = http_response_head(200, "OK", &Headers::default(), 2 << 20);
    let blob = spooled.finish().unwrap();
    let big = Record::response(RecordId::from_bits(9), &event("/"), head, blob, Sha1Digest::compute(&[7; 2 << 20]));
    // Compressible data needs no room until the end.
    let mut writer = WarcWriter::new().with_spool(Spool::new(std::env::temp_dir(), 0));
    writer.write(&warcinfo());
    writer.write(&big);
    let noise = (1_u64..2 << 20).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect::<Vec<u8>>();
    let digest = Sha1Digest::compute(&noise);
    let mut spooled = Spool::default().begin();
    spooled.write_all(&noise).unwrap();
    let head = http_response_head(200, "OK", &Headers::default(), noise.len() as u64);
    writer.write(&Record::response(RecordId::from_bits(8), &event("/"), head, spooled.finish().unwrap(), digest));
    writer.write(&metadata());
    assert_eq!(writer.take_file().unwrap_err().kind(), std::io::ErrorKind::QuotaExceeded);
    writer.write(&metadata());
    assert!(writer.take_file().is_ok(), "the next file is another");
}
