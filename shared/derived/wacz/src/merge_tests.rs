use dragline_domain::ids::CrawlId;
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{
    CaptureEvent, Record, RecordId, RefersTo, Revisit, RevisitProfile, Sha1Digest, TargetUri, http_response_head,
    http_revisit_head,
};
use jiff::Timestamp;

use super::*;

const PAGE: &str = "https://example.org/a";

/// Files in memory.
#[derive(Default)]
struct Memory(Vec<Vec<u8>>);

impl Files for Memory {
    fn begin(&mut self, _: &str) -> Result<(), ArchiveError> {
        self.0.push(Vec::new());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.0.last_mut().unwrap().extend_from_slice(bytes);
        Ok(())
    }
}

fn day(number: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + number * 86_400).unwrap()
}

fn event(url: &str, at: i64) -> CaptureEvent {
    CaptureEvent { date: day(at), target_uri: TargetUri::new(url), ip_address: None, protocol: None, warcinfo_id: None }
}

fn id(number: i64) -> RecordId {
    RecordId::from_bits(u128::from(number.unsigned_abs()))
}

fn headers(fields: &[(&str, &str)]) -> Headers {
    let mut headers = Headers::default();
    for (name, value) in fields {
        headers.push((*name).to_owned(), value.as_bytes());
    }
    headers
}

fn page(url: &str, at: i64, body: &'static str) -> Record {
    let fields = headers(&[("Content-Type", "text/html"), ("ETag", "\"1\"")]);
    let head = http_response_head(200, "OK", &fields, body.len() as u64);
    Record::response(id(at), &event(url, at), head, body.into(), Sha1Digest::compute(body.as_bytes()))
}

fn refers_to(url: &str, at: i64) -> Option<RefersTo> {
    Some(RefersTo { target_uri: TargetUri::new(url), date: day(at) })
}

/// Returns a 304 that confirms the answer of day `since`.
fn confirmed(url: &str, at: i64, since: i64, body: &str) -> Record {
    let head = http_revisit_head(304, "Not Modified", &headers(&[("ETag", "W/\"2\""), ("X-Cache", "hit")]));
    let revisit = Revisit::ServerNotModified { payload_digest: Some(Sha1Digest::compute(body.as_bytes())) };
    Record::revisit(id(at), &event(url, at), head, &revisit, refers_to(url, since))
}

/// Returns a 200 with the same body again.
fn repeated(url: &str, at: i64, since: i64, body: &str) -> Record {
    let head = http_revisit_head(200, "OK", &headers(&[("Content-Type", "text/html"), ("Date", "later")]));
    let revisit = Revisit::IdenticalPayload { payload_digest: Sha1Digest::compute(body.as_bytes()) };
    Record::revisit(id(at), &event(url, at), head, &revisit, refers_to(url, since))
}

/// Writes objects with one record each, and returns the records of the archive and its index.
fn archived(records: &[Record]) -> (Vec<StoredRecord>, Vec<String>) {
    let (captures, mut memory, name) = (Captures::new().unwrap(), Memory::default(), CrawlId::try_from("c".to_owned()));
    let objects: Vec<Blob> = records.iter().map(|record| to_member(record).unwrap()).collect();
    let name = name.unwrap();
    let about = About { crawl: &name, created: day(9), software: "Dragline/1" };
    let plan = Plan { about, selection: Selection::default(), file_bytes_max: 1 << 20 };
    let mut copying = Copier::new(&plan, &captures, None, &mut memory);
    for (number, object) in objects.iter().enumerate() {
        copying.object(&number.to_string(), object).unwrap();
    }
    let mut last = 0;
    while let Some((number, object, span)) = captures.postponed_after(last).unwrap() {
        let stored = &objects[object.parse::<usize>().unwrap()];
        copying.write_postponed(&object, &stored.part(span.offset..span.offset + span.length)).unwrap();
        last = number;
    }
    let mut lines = Vec::new();
    captures
        .each_line(|key, json| {
            lines.push(format!("{key} {json}"));
            Ok(())
        })
        .unwrap();
    let records = memory.0.iter().flat_map(|file| WarcReader::new(file.as_slice(), ReadLimits::default()));
    (records.map(Result::unwrap).collect(), lines)
}

/// Returns how a visit is replayed: the served status and type, and the record with the body.
fn replayed(records: &[StoredRecord], at: i64) -> Option<(u16, String, String)> {
    let is_answer = |record: &&StoredRecord| {
        record.date() == Some(day(at)) && matches!(record.record_type, RecordType::Response | RecordType::Revisit)
    };
    let record = records.iter().find(is_answer)?;
    let response = parse_http_response(&record.block).unwrap();
    let content_type = String::from_utf8_lossy(response.headers.get("content-type").unwrap_or_default()).into_owned();
    let body_in = match record.record_type {
        RecordType::Response => record,
        _ => {
            assert_eq!(record.profile(), Some(RevisitProfile::IdenticalPayload));
            let meant: Vec<_> = records.iter().filter(|meant| meant.id() == record.refers_to()).collect();
            let [meant] = meant[..] else { panic!("one record is meant, not {}", meant.len()) };
            assert_eq!(record.refers_to_date(), meant.date());
            assert_eq!(record.refers_to_target_uri(), meant.target_uri());
            assert_eq!(record.payload_digest(), meant.payload_digest());
            assert_eq!(meant.record_type, RecordType::Response, "never another revisit");
            meant
        }
    };
    let body = parse_http_response(&body_in.block).unwrap().body;
    Some((response.status, content_type, String::from_utf8_lossy(body).into_owned()))
}

/// The records of a crawl, the bodies that are replayed on some days, and what happened.
type Row = (Vec<Record>, &'static [(i64, &'static str)], &'static str);

#[test]
fn an_unchanged_visit_is_replayed_as_the_confirmed_answer() {
    let other = "https://example.org/b";
    let rows: [Row; 9] = [
        (vec![page(PAGE, 1, "one"), confirmed(PAGE, 2, 1, "one")], &[(1, "one"), (2, "one")], "304"),
        (
            vec![page(PAGE, 1, "one"), confirmed(PAGE, 2, 1, "one"), confirmed(PAGE, 3, 1, "one")],
            &[(2, "one"), (3, "one")],
            "304 twice",
        ),
        (
            vec![page(PAGE, 1, "one"), confirmed(PAGE, 2, 1, "one"), confirmed(PAGE, 3, 2, "one")],
            &[(2, "one"), (3, "one")],
            "304 that names a 304",
        ),
        (
            vec![page(PAGE, 1, "one"), repeated(PAGE, 2, 1, "one"), confirmed(PAGE, 3, 2, "one")],
            &[(2, "one"), (3, "one")],
            "the same body again, then 304",
        ),
        (
            vec![
                page(other, 1, "one"),
                page(PAGE, 2, "one"),
                confirmed(PAGE, 3, 2, "one"),
                repeated(PAGE, 4, 2, "one"),
            ],
            &[(2, "one"), (3, "one"), (4, "one")],
            "the body is in the record of another URL",
        ),
        (
            vec![page(PAGE, 1, "one"), page(PAGE, 2, "two"), confirmed(PAGE, 3, 2, "two"), page(PAGE, 4, "one")],
            &[(1, "one"), (2, "two"), (3, "two"), (4, "one")],
            "it changed in between, and back",
        ),
        (vec![confirmed(PAGE, 2, 1, "one"), page(PAGE, 1, "one")], &[(1, "one"), (2, "one")], "the 304 is read first"),
        (vec![page(PAGE, 1, ""), confirmed(PAGE, 2, 1, "")], &[(1, ""), (2, "")], "a body of no bytes"),
        (vec![repeated(other, 2, 1, "one"), page(other, 1, "one")], &[(2, "one")], "another URL, read first"),
    ];
    for (records, expected, why) in rows {
        let (archived, index) = archived(&records);
        for (at, body) in expected {
            let served = Some((200, "text/html".to_owned(), (*body).to_owned()));
            assert_eq!(replayed(&archived, *at), served, "{why}: day {at}");
        }
        assert_eq!(index.len(), records.len(), "{why}: {index:?}");
        assert!(index.iter().all(|line| line.contains(r#""status":"200""#)), "{why}: {index:?}");
        for record in &archived {
            assert!(!matches!(record.verify_block_digest(), dragline_formats::warc::DigestCheck::Mismatch { .. }));
        }
    }
}

#[test]
fn headers_of_a_304_are_kept() {
    let (archived, _) = archived(&[page(PAGE, 1, "one"), confirmed(PAGE, 2, 1, "one")]);
    let kept: Vec<_> = archived.iter().filter(|record| record.record_type == RecordType::Metadata).collect();
    let [kept] = kept[..] else { panic!("one record") };
    assert_eq!((kept.refers_to(), kept.concurrent_to().next()), (Some(id(2)), Some(id(2))));
    assert_ne!(kept.id(), Some(id(2)));
    assert_eq!(kept.date(), Some(day(2)));
    assert_eq!(kept.fields.get("Content-Type"), Some("application/warc-fields"), "indexers take no other for metadata");
    let block = String::from_utf8_lossy(&kept.block);
    let expected =
        "http-status: 304\r\nhttp-reason: Not Modified\r\nhttp-header-ETag: W/\"2\"\r\nhttp-header-X-Cache: hit\r\n";
    assert_eq!(block, expected);
}

#[test]
fn a_304_without_a_stored_body_is_not_replayed() {
    for (records, why) in [
        (vec![confirmed(PAGE, 2, 1, "one")], "the answer is gone"),
        (vec![page("https://example.org/b", 1, "one"), confirmed(PAGE, 2, 1, "one")], "only another URL's is there"),
        (vec![page(PAGE, 1, "other"), confirmed(PAGE, 2, 1, "one")], "it had another body"),
    ] {
        let (archived, index) = archived(&records);
        assert_eq!(replayed(&archived, 2), None, "{why}");
        assert_eq!(index.len(), records.len() - 1, "{why}: {index:?}");
        let kept = archived.iter().find(|record| record.id() == Some(id(2))).unwrap();
        assert_eq!(kept.record_type, RecordType::Metadata, "{why}");
        assert!(kept.block.starts_with(b"http-status: 304\r\n"), "{why}");
    }
}
