//! Finding the original bodies of revisits.

use std::collections::HashMap;

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::warc::{RecordId, Sha1Digest, StoredRecord};
use jiff::Timestamp;

use crate::index::RecordLocation;

/// A revisit's reference to the record with its body.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    at: Option<Address>,
    id: Option<RecordId>,
    digest: Option<Sha1Digest>,
}

/// The digest of a record's URL and time.
type Address = [u8; 20];

impl Reference {
    pub(crate) fn from_record(record: &StoredRecord) -> Self {
        let (uri, date) = (record.refers_to_target_uri(), record.refers_to_date());
        let at = uri.zip(date).map(|(uri, date)| address(uri, date));
        Self { at, id: record.refers_to(), digest: stated_digest(record) }
    }
}

/// The bodies of all files, by the ways in which revisits refer to them.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    by_address: HashMap<Address, RecordLocation>,
    by_id: HashMap<RecordId, RecordLocation>,
    by_digest: HashMap<Sha1Digest, RecordLocation>,
}

impl Bodies {
    /// Adds a record with a body. If several have the same reference, the first one counts.
    pub(crate) fn add(&mut self, record: &StoredRecord, place: RecordLocation) {
        if let Some((uri, date)) = record.target_uri().zip(record.date()) {
            self.by_address.entry(address(uri, date)).or_insert(place);
        }
        if let Some(id) = record.id() {
            self.by_id.entry(id).or_insert(place);
        }
        if let Some(digest) = stated_digest(record) {
            self.by_digest.entry(digest).or_insert(place);
        }
    }

    /// Returns the record with the body: by its URL and time, by its id, or else any record with
    /// the digest.
    pub(crate) fn find(&self, Reference { at, id, digest }: &Reference) -> Option<RecordLocation> {
        let at = at.as_ref().and_then(|at| self.by_address.get(at));
        let id = || id.as_ref().and_then(|id| self.by_id.get(id));
        let digest = || digest.as_ref().and_then(|digest| self.by_digest.get(digest));
        at.or_else(id).or_else(digest).copied()
    }
}

/// Returns a hash of the digest stated in a record, of any algorithm.
fn stated_digest(record: &StoredRecord) -> Option<Sha1Digest> {
    let stated = record.fields.get("WARC-Payload-Digest")?;
    Some(record.payload_digest().unwrap_or_else(|| Sha1Digest::compute(stated.trim().to_ascii_lowercase().as_bytes())))
}

fn address(uri: &str, date: Timestamp) -> Address {
    let url = CrawlUrl::parse(uri, &UrlRules::keep_all());
    let uri = url.as_ref().map_or(uri, CrawlUrl::as_str);
    *Sha1Digest::compute(format!("{} {uri}", date.as_millisecond()).as_bytes()).as_bytes()
}
