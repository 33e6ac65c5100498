//! Tests over whole files.

mod damage;
mod http;
mod others;
mod round_trip;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::fields::parse_fields;
use super::*;
use crate::http_fields::Headers;

const DEPTH: ExtensionName = ExtensionName::new("Dragline-Depth").expect("letters");
const REASON: ExtensionName = ExtensionName::new("Dragline-Reason").expect("letters");

fn event(path: &str) -> CaptureEvent {
    CaptureEvent {
        date: "2026-11-21T09:48:39.123Z".parse().unwrap(),
        target_uri: TargetUri::new(&format!("https://www.example.org{path}")),
        ip_address: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))),
        protocol: Some(HttpProtocol::H2),
        warcinfo_id: Some(RecordId::from_bits(1)),
    }
}

fn html_headers() -> Headers {
    let fields: [(&str, &[u8]); 3] =
        [("content-type", b"text/html; charset=utf-8"), ("etag", b"\"v1\""), ("set-cookie", b"a=caf\xe9")];
    Headers::from_iter(fields)
}

fn warcinfo() -> Record {
    let info = WarcInfo {
        filename: Some("docs-20261127015403-00000-crawler1.warc.gz".to_owned()),
        software: "dragline/0.1.0".to_owned(),
        operator: Some("Example Library <web@example.org>".to_owned()),
        publisher: Some("Example Library".to_owned()),
        description: Some("Manuals\r\nof things".to_owned()),
        hostname: Some("crawler1".to_owned()),
        user_agent: Some("dragline/0.1.0 (+https://example.org/bot)".to_owned()),
        robots: Some("RFC 9309".to_owned()),
        is_part_of: vec!["docs iteration 3".to_owned(), "manuals".to_owned()],
    };
    Record::warcinfo(RecordId::from_bits(1), event("/").date, &info)
}

fn request() -> Record {
    let headers = Headers::from_iter([("Host", "www.example.org"), ("Accept-Encoding", "gzip, deflate, br, zstd")]);
    Record::request(RecordId::from_bits(2), &event("/a?b=c"), http_request_block("GET", "/a?b=c", &headers))
        .concurrent_to(RecordId::from_bits(3))
}

fn response() -> Record {
    let body = b"<p>A body with\r\n\r\nWARC/1.1\r\n\r\nin it.";
    let head = http_response_head(200, "OK", &html_headers(), body.len() as u64);
    Record::response(RecordId::from_bits(3), &event("/a?b=c"), head, body.as_slice().into(), Sha1Digest::compute(body))
        .extension(ExtensionField { name: DEPTH, value: "2".to_owned() })
}

fn response_cut_short() -> Record {
    let headers = Headers::from_iter([("Content-Length", "5000000"), ("Transfer-Encoding", "chunked")]);
    let event = CaptureEvent { ip_address: Some(IpAddr::V6(Ipv6Addr::LOCALHOST)), ..event("/big") };
    let head = http_response_head(200, "", &headers, 6);
    Record::response(RecordId::from_bits(4), &event, head, "so far".into(), Sha1Digest::compute(b"so far"))
        .truncated(Truncation::Disconnect)
}

fn not_modified() -> Record {
    let revisit = Revisit::ServerNotModified { payload_digest: None };
    let refers_to = RefersTo {
        target_uri: TargetUri::new("https://www.example.org/a?b=c"),
        date: "2026-11-20T09:00:00Z".parse().unwrap(),
    };
    let block = http_revisit_head(304, "Not Modified", &Headers::from_iter([("ETag", "\"v1\"")]));
    Record::revisit(RecordId::from_bits(5), &event("/a?b=c"), block, &revisit, Some(refers_to))
}

fn identical() -> Record {
    let revisit = Revisit::IdenticalPayload { payload_digest: Sha1Digest::compute(b"the same again") };
    let refers_to = RefersTo {
        target_uri: TargetUri::new("https://www.example.org/old"),
        date: "2026-11-20T09:00:00.000000001Z".parse().unwrap(),
    };
    let block =
        http_revisit_head(200, "OK", &Headers::from_iter([("Content-Length", "14"), ("Transfer-Encoding", "chunked")]));
    Record::revisit(RecordId::from_bits(6), &event("/new"), block, &revisit, Some(refers_to))
}

fn metadata() -> Record {
    let event = CaptureEvent { ip_address: None, protocol: None, ..event("/gone") };
    let metadata = Metadata {
        via: Some("https://www.example.org/\r\n\tb".to_owned()),
        fetch_time: Some(Duration::from_millis(1_500)),
    };
    Record::metadata(RecordId::from_bits(7), &event, &metadata)
}

fn one_of_each() -> Vec<Record> {
    vec![warcinfo(), request(), response(), response_cut_short(), not_modified(), identical(), metadata()]
}

fn write_file(records: &[Record]) -> (Vec<u8>, Vec<RecordSpan>) {
    let mut writer = WarcWriter::new();
    let spans = records.iter().map(|record| writer.write(record)).collect();
    (writer.take_file().unwrap().bytes().unwrap().to_vec(), spans)
}

fn range(file: &[u8], span: RecordSpan) -> &[u8] {
    let start = usize::try_from(span.offset).unwrap();
    &file[start..start + usize::try_from(span.length).unwrap()]
}

/// Returns the bytes as stored in the file before compression, with line ends made visible.
fn record_text(record: &Record) -> String {
    let mut bytes = Vec::new();
    record.write_to(&mut bytes).unwrap();
    bytes.escape_ascii().to_string().replace("\\r\\n", "␍␊\n").replace("\\\"", "\"")
}

#[test]
fn written_records_match_the_snapshot() {
    let records = [
        ("warcinfo", warcinfo()),
        ("request", request()),
        ("response", response()),
        ("response_cut_short", response_cut_short()),
        ("revisit_not_modified", not_modified()),
        ("revisit_identical", identical()),
        ("metadata", metadata()),
    ];
    for (name, record) in records {
        insta::assert_snapshot!(name, record_text(&record));
    }
}
