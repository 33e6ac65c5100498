//! Sample visits and records for tests.

use dragline_domain::capture::CrawlType;
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::{CaptureEvent, Record, TargetUri, WarcWriter};
use dragline_ports::reader::LogRow;
use jiff::Timestamp;

/// Returns an unanswered visit.
pub(super) fn visit(iteration: u32, outcome: Outcome) -> LogRow {
    LogRow {
        crawl: "docs".to_owned(),
        iteration,
        url: "https://example.org/".to_owned(),
        depth: 0,
        via: None,
        crawl_type: CrawlType::Queued,
        outcome,
        r#final: true,
        tries: 1,
        resends: None,
        at: "2026-03-01T12:00:00.500Z".parse().unwrap(),
        status: None,
        duration_ms: None,
        first_byte_ms: None,
        remote: None,
        detail: None,
        content_type: None,
        body_bytes: None,
        truncated: None,
        redirects_to: None,
        record: None,
        agent: String::new(),
        change: None,
        page_requests: None,
    }
}

/// Returns a capture event for this URL.
pub(super) fn event(url: &str) -> CaptureEvent {
    CaptureEvent {
        date: Timestamp::UNIX_EPOCH,
        target_uri: TargetUri::new(url),
        ip_address: None,
        protocol: None,
        warcinfo_id: None,
    }
}

/// Returns a record as a gzip member.
pub(super) fn member(record: &Record) -> Vec<u8> {
    let mut writer = WarcWriter::new();
    writer.write(record);
    writer.take_file().unwrap().bytes().unwrap().to_vec()
}
