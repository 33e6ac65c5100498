//! The [`Documents`] over S3: one gzipped object per segment, with one JSON document per line.
//!
//! The object is a series of gzip members (RFC 1952 §2.2) of some documents each, so that the
//! uncompressed whole is never in memory.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use dragline_domain::document::Document;
use dragline_domain::frontier::{ObjectKey, OriginKey, SegmentId, SegmentRow, VisitPlace};
use dragline_domain::ids::Iteration;
use dragline_formats::deflated::{CompressionGoal, gzip};
use dragline_ports::archive::PutResult;
use dragline_ports::clock::Rng;
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;
use flate2::read::MultiGzDecoder;

use crate::AwsClients;
use crate::errors::StoreError;
use crate::kinds::DOCUMENTS;
use crate::objects::{Bucket, Object, PutOver};

/// The maximum inflated size, for both puts and gets.
const JSON_BYTES_MAX: u64 = 512 << 20;

/// A member ends with the document that brings it to this size, before compression.
const MEMBER_BYTES: usize = 1 << 20;

/// The documents of a segment before and after a change.
pub(crate) struct DocumentChange {
    pub(crate) before: Vec<Document>,
    pub(crate) after: Vec<Document>,
}

/// Stores documents in a bucket.
#[derive(Clone, Debug)]
pub struct S3Documents {
    bucket: Bucket,
    kept: Option<Arc<ObjectCache>>,
}

/// Compressed objects that were read, kept for callers that read all of them several times. The
/// first ones are kept, as they are read in the same order each time.
#[derive(Debug)]
struct ObjectCache {
    objects: Mutex<HashMap<ObjectKey, Bytes>>,
    bytes_left: AtomicUsize,
}

impl ObjectCache {
    fn get(&self, key: &ObjectKey) -> Option<Bytes> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn keep(&self, key: &ObjectKey, bytes: &Bytes) {
        let less = |left: usize| left.checked_sub(bytes.len());
        if self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            self.objects.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), bytes.clone());
        }
    }
}

impl S3Documents {
    /// Returns the documents in this bucket. `rng` gives the random waits of a put after a conflict
    /// with another.
    #[must_use]
    pub fn new(clients: &AwsClients, bucket: &str, rng: Arc<dyn Rng>) -> Self {
        Self { bucket: Bucket::new(clients.s3.clone(), bucket, rng), kept: None }
    }

    /// Returns the same documents with a cache, for callers that read all of them several times
    /// within a short time: up to this many compressed bytes are read once and kept in memory.
    /// Concurrent changes and deletions are not seen.
    #[must_use]
    pub fn with_cache(&self, bytes_max: usize) -> Self {
        let kept = ObjectCache { objects: Mutex::default(), bytes_left: AtomicUsize::new(bytes_max) };
        Self { bucket: self.bucket.clone(), kept: Some(Arc::new(kept)) }
    }

    pub(crate) const fn bucket(&self) -> &Bucket {
        &self.bucket
    }

    async fn read(&self, id: &SegmentId, iteration: Iteration) -> Result<Option<Vec<Document>>, StoreError> {
        let key = ObjectKey::for_documents(id, iteration);
        if let Some(bytes) = self.kept.as_ref().and_then(|kept| kept.get(&key)) {
            return decode(&bytes, JSON_BYTES_MAX).map(Some);
        }
        let Some((documents, object)) = self.read_object(&key).await? else { return Ok(None) };
        if let Some(kept) = &self.kept {
            kept.keep(&key, &object.bytes);
        }
        Ok(Some(documents))
    }

    async fn read_object(&self, key: &ObjectKey) -> Result<Option<(Vec<Document>, Object)>, StoreError> {
        let Some(object) = self.bucket.get(key, DOCUMENTS).await? else { return Ok(None) };
        match object.format.as_deref() {
            Some(format) if format == DOCUMENTS.format => Ok(Some((decode(&object.bytes, JSON_BYTES_MAX)?, object))),
            other => Err(StoreError::Damaged(format!("documents have the unknown format {other:?}"))),
        }
    }

    /// Replaces the documents of a segment by the result of `decide`, which runs again if others
    /// changed them meanwhile. Returns the documents after and before; `None` if there are none.
    pub(crate) async fn change(
        &self,
        segment: &SegmentRow,
        decide: impl Fn(&[Document]) -> Vec<Document> + Send,
    ) -> Result<Option<DocumentChange>, StoreError> {
        let (key, mut rounds) = (key(segment), self.bucket.rounds());
        loop {
            rounds.begin().await?;
            let Some((before, object)) = self.read_object(&key).await? else { return Ok(None) };
            let after = decide(&before);
            if after == before
                || self.bucket.put_over(&key, DOCUMENTS, encode(&after, JSON_BYTES_MAX)?.into(), &object).await?
                    == PutOver::Stored
            {
                return Ok(Some(DocumentChange { before, after }));
            }
        }
    }

    /// Deletes the documents of a segment.
    pub(crate) async fn delete(&self, segment: &SegmentRow) -> PortResult<()> {
        self.bucket.delete(&key(segment)).await.map_err(|e| e.at("delete documents", &segment.id))
    }

    async fn put(&self, segment: &SegmentRow, documents: &[Document]) -> Result<PutDocuments, StoreError> {
        match self.bucket.put_new(&key(segment), DOCUMENTS, encode(documents, JSON_BYTES_MAX)?).await? {
            PutResult::Stored => Ok(PutDocuments::Stored),
            PutResult::Exists => match self.read(&segment.id, segment.iteration).await? {
                Some(found) => Ok(PutDocuments::Found(found)),
                None => Err(StoreError::Damaged("documents that existed are missing".to_owned())),
            },
        }
    }
}

impl Documents for S3Documents {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        self.read(&segment.id, segment.iteration).await.map_err(|e| e.at("load documents", &segment.id))
    }

    /// Reads each object once, one after the other, as each may be large.
    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        let mut wanted: BTreeMap<(Iteration, SegmentId), Vec<usize>> = BTreeMap::new();
        for (n, place) in places.iter().enumerate() {
            wanted.entry((place.iteration, place.segment_id(origin))).or_default().push(n);
        }
        let mut found = vec![None; places.len()];
        for ((iteration, id), asked) in wanted {
            let documents = self.read(&id, iteration).await.map_err(|e| e.at("load documents", &id))?;
            for document in documents.unwrap_or_default() {
                for &n in asked.iter().filter(|&&n| places[n].n == document.n) {
                    found[n] = Some(document.clone());
                }
            }
        }
        Ok(found)
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        self.put(segment, documents).await.map_err(|e| e.at("put documents", &segment.id))
    }
}

fn key(segment: &SegmentRow) -> ObjectKey {
    ObjectKey::for_documents(&segment.id, segment.iteration)
}

fn encode(documents: &[Document], json_bytes_max: u64) -> Result<Vec<u8>, StoreError> {
    let (mut members, mut lines, mut size) = (Vec::new(), Vec::new(), 0);
    for document in documents {
        let before = lines.len();
        serde_json::to_writer(&mut lines, document)?;
        lines.push(b'\n');
        size = check(size, lines.len() - before, json_bytes_max)?;
        if lines.len() >= MEMBER_BYTES {
            members.extend(gzip(&lines, CompressionGoal::Time));
            lines.clear();
        }
    }
    if !lines.is_empty() || members.is_empty() {
        members.extend(gzip(&lines, CompressionGoal::Time));
    }
    Ok(members)
}

fn decode(gzip: &[u8], json_bytes_max: u64) -> Result<Vec<Document>, StoreError> {
    // One byte beyond the limit distinguishes objects over it from those that just fit.
    let mut lines = BufReader::new(MultiGzDecoder::new(gzip).take(json_bytes_max + 1));
    let (mut documents, mut size, mut line) = (Vec::new(), 0, String::new());
    loop {
        line.clear();
        let read =
            lines.read_line(&mut line).map_err(|e| StoreError::Damaged(format!("documents are damaged: {e}")))?;
        size = check(size, read, json_bytes_max)?;
        if read == 0 {
            return Ok(documents);
        }
        documents.push(serde_json::from_str(&line)?);
    }
}

/// Returns the size plus `more`, unless that is too large.
fn check(size: u64, more: usize, size_max: u64) -> Result<u64, StoreError> {
    let size = size.saturating_add(more as u64);
    StoreError::check_size("the documents' bytes", size, size_max)?;
    Ok(size)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::CrawlUrl;
    use serde_json::Value;

    use super::*;

    fn document(n: u32) -> Document {
        let url = CrawlUrl::try_from("https://a.example/".to_owned()).unwrap();
        Document { detail: Some("line\nbreak".into()), ..Document::bare(n, url, Outcome::FileNotFound) }
    }

    #[test]
    fn documents_are_read_back_and_damage_is_reported() {
        let documents = vec![document(0), document(1)];
        let encoded = encode(&documents, 10_000).unwrap();
        assert_eq!(decode(&encoded, 10_000).unwrap(), documents);
        assert_eq!(decode(&encode(&[], 10_000).unwrap(), 10_000).unwrap(), [], "none are none");
        let long = |n| Document { detail: Some("long ".repeat(MEMBER_BYTES / 10)), ..document(n) };
        let many = vec![long(0), long(1), long(2), document(3)];
        assert_eq!(decode(&encode(&many, 4 << 20).unwrap(), 4 << 20).unwrap(), many, "in two members");
        assert!(encode(&many, 1 << 20).is_err(), "nothing is written that would not be read");
        let (cut, _) = encoded.split_at(encoded.len() - 9);
        for (bytes, max, why) in
            [(&encoded[..], 50, "over the limit"), (cut, 10_000, "cut"), (&b"x"[..], 10_000, "not gzip")]
        {
            assert!(decode(bytes, max).is_err(), "{why}");
        }
    }

    #[test]
    fn the_table_has_these_columns_and_the_schema_this_format() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../../docs/reference/document.schema.json")).unwrap();
        assert_eq!(schema["$id"], format!("urn:dragline:document:{}", DOCUMENTS.format));
        let template = include_str!("../../../../infra/template.yaml");
        let (_, table) = template.split_once("\n  DocumentsTable:\n").unwrap();
        let (_, columns) = table.split_once("          Columns:\n").unwrap();
        let columns = columns.lines().map_while(|line| line.trim().strip_prefix("- { Name: "));
        let columns: BTreeSet<&str> =
            columns.map(|column| column.split_once(',').unwrap().0.trim_matches('"')).collect();
        let keys: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(columns, keys, "the table's columns, and the keys of a document");
    }
}
