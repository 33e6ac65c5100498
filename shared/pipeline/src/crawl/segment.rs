//! The WARC object of a segment, record by record.

use dragline_domain::capture::{Exchange, Visit};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_formats::warc::{
    self, CaptureEvent, ExtensionField, ExtensionName, Metadata, Record, RecordId, RefersTo, Revisit, Sha1Digest,
    TargetUri, WarcInfo, WarcWriter, http_request_block, http_response_block, http_response_head,
};
use jiff::Timestamp;

use dragline_ports::fetcher::{Fetched, FetchedResponse, Truncation};

/// The field that carries a [`Visit`] as JSON: on the `response`, `revisit` or `metadata` record of each URL.
pub const VISIT_FIELD: ExtensionName = ExtensionName::new("Dragline-Visit").expect("a good name");

/// Writes a segment's records.
pub struct SegmentRecords {
    writer: WarcWriter,
    ids: u128,
    warcinfo: RecordId,
}

impl SegmentRecords {
    /// Begins an object with its `warcinfo` record. The records' names are made from the random `bits`.
    #[must_use]
    pub fn new(bits: u128, crawl: &CrawlId, iteration: Iteration, user_agent: &str, now: Timestamp) -> Self {
        let mut records = Self { writer: WarcWriter::new(), ids: bits, warcinfo: RecordId::from_bits(bits) };
        let info = WarcInfo {
            software: concat!("Dragline/", env!("CARGO_PKG_VERSION")).to_owned(),
            user_agent: Some(user_agent.to_owned()),
            robots: Some("obey".to_owned()),
            is_part_of: Some(format!("{crawl}-{iteration}")),
        };
        records.warcinfo = records.next_id();
        let record = Record::warcinfo(records.warcinfo, now, &info);
        records.writer.write(&record);
        records
    }

    /// Returns the object's size so far.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.writer.len_bytes()
    }

    /// Returns the whole object.
    #[must_use]
    pub fn into_object(mut self) -> Vec<u8> {
        self.writer.take_file()
    }

    fn next_id(&mut self) -> RecordId {
        self.ids = self.ids.wrapping_add(1);
        RecordId::from_bits(self.ids)
    }

    fn event(&self, url: &CrawlUrl, at: Timestamp, fetched: Option<&Fetched>) -> CaptureEvent {
        CaptureEvent {
            date: in_milliseconds(at),
            target_uri: TargetUri::new(url.as_str()),
            ip_address: fetched.and_then(|fetched| fetched.remote).map(|remote| remote.ip()),
            protocol: fetched.and_then(|fetched| fetched.result.as_ref().ok()?.protocol),
            warcinfo_id: Some(self.warcinfo),
        }
    }

    /// Adds a URL for which nothing was sent: the visit says what decided that.
    pub fn add_unsent(&mut self, url: &CrawlUrl, at: Timestamp, visit: &Visit) {
        let event = self.event(url, at, None);
        let record = self.metadata(&event, visit);
        self.writer.write(&record);
    }

    /// Adds a URL that was requested: its request, and its response, a reference to an earlier one, or the fact that there was none.
    pub fn add_fetched(&mut self, url: &CrawlUrl, at: Timestamp, visit: &Visit, fetched: &Fetched) {
        let event = self.event(url, at, Some(fetched));
        let capture = match &fetched.result {
            Ok(response) => self.capture(&event, visit, response),
            Err(_) => self.metadata(&event, visit),
        };
        if fetched.remote.is_some() || fetched.result.is_ok() {
            let block = http_request_block("GET", url.path_and_query(), &fetched.request_headers);
            let request = Record::request(self.next_id(), &event, block).concurrent_to(capture.id());
            self.writer.write(&capture);
            self.writer.write(&request);
        } else {
            self.writer.write(&capture);
        }
    }

    fn capture(&mut self, event: &CaptureEvent, visit: &Visit, response: &FetchedResponse) -> Record {
        let id = self.next_id();
        let digest = Sha1Digest::of(&response.body);
        let last = visit.known.last.as_ref().filter(|_| visit.outcome == Outcome::FileDidNotChange);
        let revisit = last.and_then(|last| {
            let known = Sha1Digest::from(last.payload_sha1);
            let refers_to = RefersTo { target_uri: event.target_uri.clone(), date: last.fetched_at };
            match response.status {
                304 => Some((Revisit::ServerNotModified { payload_digest: Some(known) }, refers_to)),
                _ if known == digest => Some((Revisit::IdenticalPayload { payload_digest: digest }, refers_to)),
                // The same content in other bytes, perhaps compressed again: stored, as no earlier record has these bytes.
                _ => None,
            }
        });
        let field = visit_field(visit);
        if let Some((revisit, refers_to)) = revisit {
            let head = http_response_head(response.status, &response.reason, &response.headers);
            return Record::revisit(id, event, head, &revisit, Some(refers_to)).extension(field);
        }
        let block = http_response_block(response.status, &response.reason, &response.headers, &response.body);
        let record = Record::response(id, event, block, digest).extension(field);
        match response.truncated {
            None => record,
            Some(reason) => record.truncated(warc_truncation(reason)),
        }
    }

    fn metadata(&mut self, event: &CaptureEvent, visit: &Visit) -> Record {
        let metadata = Metadata {
            via: visit.sighting.via.as_ref().map(ToString::to_string),
            fetch_time: visit.exchange.as_ref().map(|exchange: &Exchange| exchange.elapsed),
        };
        Record::metadata(self.next_id(), event, &metadata).extension(visit_field(visit))
    }
}

/// Rounds to the precision in which instants are stored, so that later references to the record have the same date.
fn in_milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

fn visit_field(visit: &Visit) -> ExtensionField {
    let json = serde_json::to_string(visit).expect("a visit is made of texts and numbers");
    // A control character would become a space in the field. JSON escapes those of ASCII; others occur only in strings.
    let escaped = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    let value = if json.contains(char::is_control) { json.chars().map(escaped).collect() } else { json };
    ExtensionField { name: VISIT_FIELD, value }
}

const fn warc_truncation(reason: Truncation) -> warc::Truncation {
    match reason {
        Truncation::Length => warc::Truncation::Length,
        Truncation::Time => warc::Truncation::Time,
        Truncation::Disconnect => warc::Truncation::Disconnect,
    }
}
