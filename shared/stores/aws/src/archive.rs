//! The [`Archive`] over S3: WARC objects under the same keys as in every other archive.

use std::ops::Range;
use std::sync::Arc;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::{Blob, Spool};
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::clock::Rng;
use dragline_ports::error::PortResult;

use crate::AwsClients;
use crate::errors::StoreError;
use crate::kinds::{Kind, WARC};
use crate::objects::Bucket;

/// Stores objects in a bucket.
#[derive(Clone, Debug)]
pub struct S3Archive {
    bucket: Bucket,
    spool: Spool,
}

impl S3Archive {
    /// Returns the archive in this bucket. `rng` gives the random waits of a put after a conflict
    /// with another.
    #[must_use]
    pub fn new(clients: &AwsClients, bucket: &str, rng: Arc<dyn Rng>) -> Self {
        Self { bucket: Bucket::new(clients.s3.clone(), bucket, rng), spool: Spool::default() }
    }

    async fn part(&self, key: &ObjectKey, range: Range<u64>) -> Result<Option<Blob>, StoreError> {
        match range.end.checked_sub(1).filter(|&last| last >= range.start) {
            Some(last) => self.bucket.get_range_blob(key, (range.start, last), &self.spool).await,
            // HTTP has no empty ranges.
            None => Ok(self.bucket.holds(key).await?.then(Blob::default)),
        }
    }
}

impl Archive for S3Archive {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<PutResult> {
        self.bucket.put_new(key, WARC, object).await.map_err(|e| e.at("put object", key))
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        self.bucket.replace(key, WARC, object).await.map_err(|e| e.at("replace object", key))
    }

    async fn get(&self, key: &ObjectKey, bytes_max: u64) -> PortResult<Option<Blob>> {
        let kind = Kind { bytes_max, ..WARC };
        self.bucket.get_blob(key, kind, &self.spool).await.map_err(|e| e.at("get object", key))
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> PortResult<Option<Blob>> {
        self.part(key, range).await.map_err(|e| e.at("get part of object", key))
    }

    async fn list(&self, prefix: &str, after: Option<&ObjectKey>, limit: usize) -> PortResult<Vec<ObjectKey>> {
        self.bucket.list(prefix, after, limit).await.map_err(|e| e.at("list objects", prefix))
    }

    fn spool(&self) -> Spool {
        self.spool.clone()
    }

    async fn delete(&self, key: &ObjectKey) -> PortResult<()> {
        self.bucket.delete(key).await.map_err(|e| e.at("delete object", key))
    }
}
