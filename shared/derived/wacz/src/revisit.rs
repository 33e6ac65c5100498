//! What is written in place of answers whose bodies are in other records.
//!
//! Programs that replay archives serve the head of a `revisit` record with the body of the record that it refers to, which must be no `revisit` itself.
//! A 304 has no head that would do: its record gets that of the answer which it confirms, and what the server sent with it is in a `metadata` record.

use dragline_formats::warc::{
    CaptureEvent, ExtensionField, ExtensionName, Record, RecordId, RefersTo, Revisit, Sha1Digest, StoredRecord,
    TargetUri, parse_http_response,
};
use jiff::Timestamp;

use crate::captures::{Confirmed, Written};

/// The status of an answer that confirms an earlier one (RFC 9110 §15.4.5).
const NOT_MODIFIED: u16 = 304;

/// What all records have that can be written in another form.
pub(crate) struct Identity {
    pub(crate) id: RecordId,
    pub(crate) date: Timestamp,
    pub(crate) url: String,
}

impl Identity {
    /// Returns that of a record; `None` if it lacks a part, as no record of this program does.
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

/// Whether a record is that of a 304.
pub(crate) fn is_not_modified(record: &StoredRecord) -> bool {
    parse_http_response(&record.block).is_ok_and(|response| response.status == NOT_MODIFIED)
}

/// Returns the record of an answer that came with this head, and whose body is in another record.
pub(crate) fn same_body(
    (identity, record): (&Identity, &StoredRecord),
    head: Vec<u8>,
    payload_digest: Sha1Digest,
    body_in: &Written,
) -> Record {
    let refers_to = RefersTo { target_uri: TargetUri::new(&body_in.url), date: body_in.date };
    let revisit = Revisit::IdenticalPayload { payload_digest };
    let revisit = Record::revisit(identity.id, &identity.event(record), head, &revisit, Some(refers_to));
    with_visit(revisit.referring_to(body_in.id), record)
}

/// Returns the records of an answer that confirms an earlier one: one that is replayed as that, and one with what came.
pub(crate) fn not_modified((identity, record): (&Identity, &StoredRecord), confirmed: Confirmed) -> Vec<Record> {
    let Confirmed { head, payload_digest, body_in } = confirmed;
    let revisit = same_body((identity, record), head, payload_digest, &body_in);
    let Ok(answer) = parse_http_response(&record.block) else { return vec![revisit] };
    let sent =
        Record::head_alone(derived(&format!("{} as it was sent", identity.id)), &identity.event(record), &answer);
    vec![revisit, sent.concurrent_to(identity.id).referring_to(identity.id)]
}

/// Returns the record of an answer whose body is nowhere: it is there for whoever reads the archive, and not replayed as an empty page. `None` if it is
/// no answer.
pub(crate) fn bodiless((identity, record): (&Identity, &StoredRecord)) -> Option<Record> {
    let answer = parse_http_response(&record.block).ok()?;
    Some(with_visit(Record::head_alone(identity.id, &identity.event(record), &answer), record))
}

fn with_visit(made: Record, record: &StoredRecord) -> Record {
    match record.extension(ExtensionName::VISIT) {
        Some(value) => made.extension(ExtensionField { name: ExtensionName::VISIT, value: value.to_owned() }),
        None => made,
    }
}

/// Returns the id of a record that is made of what is already there, such as another record: the same each time.
pub(crate) fn derived(from: &str) -> RecordId {
    let digest = Sha1Digest::compute(from.as_bytes());
    let bits = digest.as_bytes().iter().take(16).fold(0, |bits: u128, &byte| bits << 8 | u128::from(byte));
    RecordId::from_bits(bits)
}
