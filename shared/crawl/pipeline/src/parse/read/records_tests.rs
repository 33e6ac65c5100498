//! A parser reads what a crawler writes: at the maximum size, and after damage.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

use dragline_domain::capture::{CrawlType, Exchange, Finality, Visit};
use dragline_domain::frontier::{Demand, FieldsDigest, LastCapture, ObjectKey, ReadAs, Sighting, UrlHistory, Visits};
use dragline_domain::missing_page::{MissingSign, PagePrint};
use dragline_domain::outcome::Outcome;
use dragline_domain::simhash::Simhash;
use dragline_domain::url::CrawlUrl;
use dragline_domain::use_preferences::{Purpose, UseSource, UseStand, UseStands, UseStatement, for_visit};
use dragline_formats::blob::{Blob, Spool};
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{
    FIELDS_MAX, HttpProtocol, REASON_BYTES_MAX, ReadLimits, RecordType, Sha1Digest, StoredRecord, WarcInfo, WarcReader,
};
use jiff::Timestamp;
use proptest::prelude::*;

use super::{Bodies, ReadCaptures, captures};
use crate::crawl::SegmentRecords;
use crate::handover::Handover;
use dragline_ports::fetcher::{FetchFailure, FetchFailureKind, FetchOutcome, FetchedResponse, Truncation};

/// A URL of the maximum length, whose last part doubles in JSON.
fn longest_url(name: &str) -> CrawlUrl {
    let start = format!("https://a.example/{name}?");
    let url = format!("{start}{}", "\\".repeat(CrawlUrl::LEN_MAX - start.len()));
    CrawlUrl::try_from(url).expect("as long as may be")
}

/// The largest possible visit.
fn largest_visit() -> Visit {
    Visit {
        sighting: Sighting {
            depth: u32::MAX,
            via: Some(longest_url("via")),
            requisite_steps: u8::MAX,
            read_as: ReadAs::Sitemap,
        },
        redirects: u8::MAX,
        crawl_type: CrawlType::Recrawl,
        tries: u8::MAX,
        outcome: Outcome::FileDidNotChange,
        finality: Finality::Retried,
        detail: Some("\u{10ffff}".repeat(300)),
        exchange: Some(Box::new(Exchange {
            robots: dragline_domain::capture::RobotsStand::Approved,
            elapsed: Duration::from_millis(u64::MAX),
            resends: 0,
            first_byte_ms: Some(u64::MAX),
            remote: Some(SocketAddr::from((Ipv6Addr::from([0xffff; 8]), u16::MAX))),
            body_bytes: u64::MAX,
            decoded_sha1: Some("f".repeat(40)),
            decoded_bytes: u64::MAX,
            status: None,
            rendering: None,
        })),
        known: UrlHistory {
            last: Some(Box::new(LastCapture {
                etag: Some("\u{85}".repeat(LastCapture::ETAG_BYTES_MAX / 2)),
                last_modified: Some("\"".repeat(LastCapture::LAST_MODIFIED_BYTES_MAX)),
                payload_sha1: [255; 20],
                decoded_sha1: [255; 20],
                fetched_at: Timestamp::MAX,
                outcome: Outcome::FileIngested,
                read_by: Some(FieldsDigest(u32::MAX)),
            })),
            ..UrlHistory::default()
        },
        demand: Some(Box::new(largest_demand())),
        missing: Some(Box::new(MissingSign::Page(PagePrint {
            title: u64::MAX,
            words: u32::MAX,
            simhash: Simhash(u64::MAX),
        }))),
        uses: for_visit(vec![longest_statement(); 24]),
    }
}

fn longest_statement() -> UseStatement {
    let says = Purpose::ALL.into_iter().fold(UseStands::NOTHING, |says, use_| says.with(use_, UseStand::Reserved));
    UseStatement::new(UseSource::WellKnown, &"\u{10ffff}".repeat(300), says)
}

fn largest_demand() -> Demand {
    let half = || "\"".repeat(Demand::PATTERN_BYTES_MAX / 2).parse().unwrap();
    Demand { pattern: Some(half()), skip: vec![half()], depth: Some(u32::MAX), visits: Visits::All }
}

fn fetched(headers: Headers, reason: &str, body: &str) -> FetchOutcome {
    let response = FetchedResponse {
        status: 200,
        reason: reason.to_owned(),
        protocol: None,
        headers,
        body: body.as_bytes().to_vec().into(),
        truncated: None,
        decoded_sha1: *Sha1Digest::compute(body.as_bytes()).as_bytes(),
        decoded_bytes: body.len() as u64,
    };
    FetchOutcome {
        request_headers: Headers::from_iter([("user-agent", "Bot/1")]),
        remote: None,
        first_byte: None,
        elapsed: Duration::from_secs(1),
        archived_at: None,
        unprocessed: None,
        result: Ok(response),
    }
}

/// More than any body here.
const KEPT: Bodies = Bodies::Kept { bytes_max: 1 << 20 };

fn read(object: impl Into<Blob>, bodies: Bodies) -> ReadCaptures {
    captures(&object.into(), bodies).unwrap()
}

fn object_of(records: SegmentRecords) -> Vec<u8> {
    records.into_object().unwrap().0.bytes().unwrap().to_vec()
}

fn records(bits: u128) -> SegmentRecords {
    SegmentRecords::new(bits, &WarcInfo::default(), Timestamp::UNIX_EPOCH)
}

#[test]
fn the_largest_capture_is_read_back() {
    let url = longest_url("page");
    let visit = largest_visit();
    let mut records = records(1);
    let heads = [
        vec![("a".to_owned(), Vec::new()); FIELDS_MAX],
        vec![("a".to_owned(), vec![b'x'; (1 << 20) - "a: \r\n".len()])],
        vec![("transfer-encoding".to_owned(), vec![b'x'; 500]); FIELDS_MAX],
    ];
    for head in &heads {
        records.add_fetched(
            &url,
            Timestamp::MAX,
            &visit,
            &fetched(head.iter().cloned().collect(), &"é".repeat(REASON_BYTES_MAX), "body"),
        );
    }
    records.add_unsent(&url, Timestamp::MIN, &visit);
    let reading = read(object_of(records), KEPT);
    assert_eq!(reading.damage, None);
    assert_eq!(reading.captures.len(), heads.len() + 1);
    for (capture, head) in reading.captures.iter().zip(heads.iter().map(Some).chain([None])) {
        assert_eq!((&capture.url, &capture.visit, &capture.unreadable), (&url, &visit, &None));
        let fields = capture.response.as_ref().map(|response| response.headers.len());
        assert_eq!(fields, head.map(Vec::len), "every field");
    }
}

/// Three captures, the second with this body.
fn three(body: &str) -> (Vec<u8>, [usize; 4]) {
    let mut records = records(77);
    let mut ends = [0; 4];
    ends[0] = usize::try_from(records.len_bytes()).unwrap();
    for n in 0..3 {
        let url = CrawlUrl::try_from(format!("https://a.example/{n}")).unwrap();
        let visit =
            Visit { outcome: Outcome::FileIngested, known: UrlHistory::default(), exchange: None, ..largest_visit() };
        records.add_fetched(
            &url,
            Timestamp::UNIX_EPOCH,
            &visit,
            &fetched(Headers::default(), "", if n == 1 { body } else { "a page" }),
        );
        ends[n + 1] = usize::try_from(records.len_bytes()).unwrap();
    }
    (object_of(records), ends)
}

fn paths(object: Vec<u8>) -> (Vec<String>, bool) {
    let reading = read(object, Bodies::Dropped);
    let paths = reading.captures.iter().map(|capture| capture.url.path_and_query().to_owned());
    (paths.collect(), reading.damage.is_some())
}

#[test]
fn damage_costs_the_captures_that_it_struck() {
    let (whole, ends) = three("a page");
    let flipped = |at: usize| {
        let mut object = whole.clone();
        object[at] ^= 0xff;
        object
    };
    let cases: [(Vec<u8>, &[&str], &str); 6] = [
        (whole.clone(), &["/0", "/1", "/2"], "nothing is damaged"),
        (flipped(ends[0] + 40), &["/1", "/2"], "the first capture"),
        (flipped(ends[1]), &["/0", "/2"], "the start of the second"),
        (whole[..ends[2] + 9].to_vec(), &["/0", "/1"], "cut off"),
        (whole[..5].to_vec(), &[], "hardly anything left"),
        (flipped(3), &[], "the record that the others refer to"),
    ];
    for (object, expected, why) in cases {
        let is_damaged = object != whole;
        assert_eq!(paths(object), (expected.iter().map(|&path| path.to_owned()).collect(), is_damaged), "{why}");
    }
}

#[test]
fn behind_damage_no_part_of_a_body_is_taken_for_a_record() {
    // Written by another crawl, and stored verbatim within a body, as it cannot be compressed.
    let mut other = records(5);
    let url = CrawlUrl::try_from("https://a.example/forged".to_owned()).unwrap();
    other.add_unsent(&url, Timestamp::UNIX_EPOCH, &largest_visit());
    let foreign = object_of(other);
    let (mut object, ends) = three("a page");
    object[ends[0] + 40] ^= 0xff;
    let (head, tail) = object.split_at(ends[1]);
    let object = [head, &foreign, tail].concat();
    assert_eq!(paths(object).0, ["/1", "/2"]);
}

/// The record of a fetch's response, or the record in its place.
fn response_record(object: &[u8]) -> StoredRecord {
    let mut records = WarcReader::new(object, ReadLimits::default()).map(Result::unwrap);
    records.find(|record| matches!(record.record_type, RecordType::Response | RecordType::Revisit)).unwrap()
}

#[test]
fn a_revisit_names_the_very_date_of_the_record_that_it_stands_in_for() {
    let url = CrawlUrl::try_from("https://a.example/".to_owned()).unwrap();
    let visit = Visit { outcome: Outcome::FileIngested, known: UrlHistory::default(), ..largest_visit() };
    for at in ["2026-11-21T10:10:35.123987654Z", "2026-11-21T10:10:35.9999Z", "1969-12-31T23:59:59.0005Z"] {
        let (at, mut first, mut second): (Timestamp, _, _) = (at.parse().unwrap(), records(1), records(2));
        first.add_fetched(&url, at, &visit, &fetched(Headers::default(), "", "a page"));
        let first = object_of(first);
        let original = response_record(&first);
        // A database keeps three decimals of what the parser read.
        let kept = format!("{:.3}", read(first, Bodies::Dropped).captures[0].at).parse().unwrap();
        let payload_sha1 = *Sha1Digest::compute(b"a page").as_bytes();
        let last =
            largest_visit().known.last.map(|last| Box::new(LastCapture { fetched_at: kept, payload_sha1, ..*last }));
        let known = UrlHistory { last, ..UrlHistory::default() };
        let unchanged = Visit { outcome: Outcome::FileDidNotChange, known, ..visit.clone() };
        second.add_fetched(&url, Timestamp::UNIX_EPOCH, &unchanged, &fetched(Headers::default(), "", "a page"));
        let revisit = response_record(&object_of(second));
        assert_eq!(revisit.record_type, RecordType::Revisit);
        assert_eq!(revisit.refers_to_date(), original.date(), "{at}");
    }
}

#[test]
fn records_say_which_protocol_carried_a_response() {
    let url = CrawlUrl::try_from("https://a.example/".to_owned()).unwrap();
    let visit = Visit { outcome: Outcome::FileIngested, known: UrlHistory::default(), ..largest_visit() };
    for protocol in [None, Some(HttpProtocol::Http10), Some(HttpProtocol::Http11), Some(HttpProtocol::H2)] {
        let (mut records, mut fetched) = (records(1), fetched(Headers::default(), "", "a page"));
        if let Ok(response) = &mut fetched.result {
            response.protocol = protocol;
        }
        records.add_fetched(&url, Timestamp::UNIX_EPOCH, &visit, &fetched);
        let object = object_of(records);
        let told = WarcReader::new(&object[..], ReadLimits::default()).skip(1).map(|record| record.unwrap().protocol());
        assert_eq!(told.collect::<Vec<_>>(), [protocol, protocol], "the response and its request");
    }
}

/// How a URL ended.
#[derive(Clone, Debug)]
enum Ending {
    Unsent,
    Failed,
    Answered(FetchedResponse),
}

/// Header fields as servers send them, some of them about the body, and nonsense.
fn fields() -> impl Strategy<Value = Headers> {
    let names = vec!["content-type", "Content-Length", "transfer-encoding", "ETag", "Last-Modified", "location", "a b"];
    let values = ["text/html; charset=utf-8", "5", "chunked", "\"v1\"", " W/\"\u{e9}\" ", "", "a\r\nb: c", "\u{85}x"];
    let value = prop_oneof![
        proptest::sample::select(values.to_vec()).prop_map(|value| value.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    let fields = proptest::collection::vec((proptest::sample::select(names), value), 0..6);
    (fields, proptest::option::of(proptest::sample::select(vec!["gzip", "identity", "x-unknown"]))).prop_map(
        |(fields, coding)| {
            let coding = coding.map(|coding| ("Content-Encoding", coding.as_bytes().to_vec()));
            fields.into_iter().chain(coding).collect()
        },
    )
}

fn endings() -> impl Strategy<Value = Ending> {
    let status = proptest::sample::select(vec![200_u16, 204, 301, 304, 404, 503, 999]);
    let truncated = proptest::sample::select(vec![None, Some(Truncation::Length), Some(Truncation::Disconnect)]);
    let body = prop_oneof![Just(b"a page".to_vec()), proptest::collection::vec(any::<u8>(), 0..2_000)];
    let answer = (status, "[ -~\u{e9}\u{1}]{0,12}", fields(), body, truncated, any::<bool>()).prop_map(
        |(status, reason, headers, body, truncated, is_decoded_whole)| {
            let decoded = if is_decoded_whole { &body[..] } else { &body[..body.len() / 2] };
            Ending::Answered(FetchedResponse {
                status,
                reason,
                protocol: None,
                headers,
                truncated,
                decoded_sha1: *Sha1Digest::compute(decoded).as_bytes(),
                decoded_bytes: decoded.len() as u64,
                body: body.into(),
            })
        },
    );
    prop_oneof![1 => Just(Ending::Unsent), 1 => Just(Ending::Failed), 3 => answer]
}

proptest! {
    /// A parser gets the same captures by the handover as from the object, if the crawler died.
    #[test]
    fn what_is_handed_over_is_what_would_be_read_back(
        endings in proptest::collection::vec((endings(), any::<bool>()), 1..5),
        at in 0..1_000_000_000_i64,
    ) {
        let handover = Handover::new(1 << 20);
        let mut records = records(3).keeping_captures(&handover);
        let url = longest_url("page");
        for (ending, is_known) in endings {
            let mut visit = largest_visit();
            if let Some(last) = visit.known.last.as_mut().filter(|_| is_known) {
                last.payload_sha1 = *Sha1Digest::compute(b"a page").as_bytes();
            } else {
                visit.outcome = Outcome::FileIngested;
            }
            let at = Timestamp::from_microsecond(at).unwrap();
            let result = match ending {
                Ending::Unsent => {
                    records.add_unsent(&url, at, &visit);
                    continue;
                }
                Ending::Failed => {
                    let kind = FetchFailureKind::Timeout;
                    Err(FetchFailure { kind, detail: String::new() })
                }
                Ending::Answered(response) => Ok(response),
            };
            let fetched = FetchOutcome { result, ..fetched(Headers::default(), "", "") };
            records.add_fetched(&url, at, &visit, &fetched);
        }
        let (object, kept) = records.into_object().unwrap();
        let key = ObjectKey::try_from("raw/a".to_owned()).unwrap();
        handover.leave(&key, kept.unwrap(), Duration::ZERO);
        let reading = read(object, KEPT);
        prop_assert_eq!(reading.damage, None);
        prop_assert_eq!(handover.take(&key), Some(reading.captures));
    }
}

#[test]
fn of_a_body_on_disk_only_the_beginning_is_read_back_and_the_next_capture_is_found_behind_it() {
    use std::io::Write as _;

    const BODY_BYTES: usize = 3 << 20;
    let noise = || (1_u64..).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).take(BODY_BYTES);
    // It contains bytes that look like the start of a record.
    let body: Vec<u8> = b"\x1f\x8b\x08".iter().copied().chain(noise()).collect();
    let mut spooled = Spool::default().begin();
    spooled.write_all(&body).unwrap();
    let handover = Handover::new(64 << 20);
    let mut records = records(9).keeping_captures(&handover);
    let visit = Visit { outcome: Outcome::FileIngested, known: UrlHistory::default(), ..largest_visit() };
    let mut big = fetched(Headers::from_iter([("content-type", "image/png")]), "OK", "");
    let response = big.result.as_mut().unwrap();
    response.body = spooled.finish().unwrap();
    (response.decoded_sha1, response.decoded_bytes) = (*Sha1Digest::compute(&body).as_bytes(), body.len() as u64);
    let url = |name: &str| CrawlUrl::try_from(format!("https://a.example/{name}")).unwrap();
    records.add_fetched(&url("big"), Timestamp::UNIX_EPOCH, &visit, &big);
    records.add_fetched(&url("page"), Timestamp::UNIX_EPOCH, &visit, &fetched(Headers::default(), "", "a page"));
    let (object, kept) = records.into_object().unwrap();
    assert!(kept.is_none(), "the parser reads as much of it as it needs");
    assert!(object.len_bytes() > BODY_BYTES as u64 && object.in_memory().is_none());
    let reading = captures(&object, Bodies::Kept { bytes_max: 1_000 }).unwrap();
    assert_eq!(reading.damage, None);
    let [big, page] = reading.captures.as_slice() else { panic!("two captures: {}", reading.captures.len()) };
    let bytes = |capture: &super::Capture| capture.response.as_ref().unwrap().body.clone();
    assert_eq!(bytes(big), body[..1_000], "its beginning");
    assert_eq!(big.file.as_ref().unwrap().payload_sha1, *Sha1Digest::compute(&body).as_bytes(), "the digest is of all");
    assert_eq!(bytes(page), "a page", "what follows");
    let mut damaged = object.bytes().unwrap().to_vec();
    damaged[1_000_000] ^= 1;
    let reading = read(damaged, KEPT);
    let paths = reading.captures.iter().map(|capture| capture.url.path_and_query().to_owned()).collect::<Vec<_>>();
    assert_eq!((paths, reading.damage.is_some()), (vec!["/page".to_owned()], true), "damage costs the one capture");
}
