//! The replacements of answers whose bodies are in other records.
//!
//! Replay programs serve the head of a `revisit` record with the body of the record that it refers
//! to, which must not be a `revisit` itself. The head of a 304 would not do: its record gets the
//! head of the confirmed answer, and the server's own head is in a `metadata` record.

use dragline_formats::warc::{
    CaptureEvent, ExtensionField, ExtensionName, Record, RecordId, RefersTo, Revisit, Sha1Digest, StoredRecord,
    TargetUri, parse_http_response,
};
use jiff::Timestamp;

use crate::captures::{ConfirmedAnswer, WrittenBody};

/// The status of an answer that confirms an earlier one (RFC 9110 §15.4.5).
const NOT_MODIFIED: u16 = 304;

/// The fields that a record keeps when it is rewritten.
pub(crate) struct Identity {
    pub(crate) id: RecordId,
    pub(crate) date: Timestamp,
    pub(crate) url: String,
}

impl Identity {
    /// Returns the identity of a record; `None` if a field is missing, which does not happen in
    /// records of this program.
    pub(crate) fn from_record(record: &StoredRecord) -> Option<Self> {
        Some(Self { id: record.id()?, date: record.date()?, url: record.target_uri()?.to_owned() })
    }

    fn event(&self, record: &StoredRecord) -> CaptureEvent {
        CaptureEvent {
            date: self.date,
            target_uri: TargetUri::new(&self.url),
            ip_address: record.ip_address(),
            protocol: record.protocol(),
            warcinfo_id: record.warcinfo_id(),
        }
    }
}

/// Returns the HTTP head in a record's block.
pub(crate) fn head(record: &StoredRecord) -> Vec<u8> {
    let body_bytes = parse_http_response(&record.block).map_or(0, |response| response.body.len());
    record.block.get(..record.block.len() - body_bytes).unwrap_or_default().to_vec()
}

/// Returns whether a record is a 304.
pub(crate) fn is_not_modified(record: &StoredRecord) -> bool {
    parse_http_response(&record.block).is_ok_and(|response| response.status == NOT_MODIFIED)
}

/// Returns the record of an answer with this head whose body is in another record.
pub(crate) fn same_body(
    (identity, record): (&Identity, &StoredRecord),
    head: Vec<u8>,
    payload_digest: Sha1Digest,
    body_in: &WrittenBody,
) -> Record {
    let refers_to = RefersTo { target_uri: TargetUri::new(&body_in.url), date: body_in.date };
    let revisit = Revisit::IdenticalPayload { payload_digest };
    let revisit = Record::revisit(identity.id, &identity.event(record), head, &revisit, Some(refers_to));
    with_visit(revisit.referring_to(body_in.id), record)
}

/// Returns the records of an answer that confirms an earlier one: one to replay in its place, and
/// one with its own head.
pub(crate) fn not_modified((identity, record): (&Identity, &StoredRecord), confirmed: ConfirmedAnswer) -> Vec<Record> {
    let ConfirmedAnswer { head, payload_digest, body_in } = confirmed;
    let revisit = same_body((identity, record), head, payload_digest, &body_in);
    let Ok(answer) = parse_http_response(&record.block) else { return vec![revisit] };
    let sent =
        Record::response_head(derived_id(&format!("{} as it was sent", identity.id)), &identity.event(record), &answer);
    vec![revisit, sent.concurrent_to(identity.id).referring_to(identity.id)]
}

/// Returns the record of an answer whose body is missing: readers of the archive see it, but it is
/// not replayed as an empty page. `None` if it is not an answer.
pub(crate) fn bodiless((identity, record): (&Identity, &StoredRecord)) -> Option<Record> {
    let answer = parse_http_response(&record.block).ok()?;
    Some(with_visit(Record::response_head(identity.id, &identity.event(record), &answer), record))
}

fn with_visit(made: Record, record: &StoredRecord) -> Record {
    match record.extension(ExtensionName::VISIT) {
        Some(value) => made.extension(ExtensionField { name: ExtensionName::VISIT, value: value.to_owned() }),
        None => made,
    }
}

/// Returns a reproducible id for a record derived from existing data, such as another record.
pub(crate) fn derived_id(from: &str) -> RecordId {
    let digest = Sha1Digest::compute(from.as_bytes());
    let bits = digest.as_bytes().iter().take(16).fold(0, |bits: u128, &byte| bits << 8 | u128::from(byte));
    RecordId::from_bits(bits)
}
