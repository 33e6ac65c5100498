//! The [`Editions`] over S3: files below `search/CRAWL/files/`, and the editions of the index, as
//! JSON, below `search/CRAWL/editions/`.
//!
//! Objects are never changed: if two publishers put the same edition, the second one is told that
//! it exists.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use dragline_domain::frontier::{ObjectKey, ObjectKeyError};
use dragline_domain::ids::CrawlId;
use dragline_ports::archive::PutResult;
use dragline_ports::editions::{Editions, StoredEdition};
use dragline_ports::error::PortResult;
use jiff::Timestamp;

use crate::documents::S3Documents;
use crate::errors::{StoreError, at};
use crate::kinds::{EDITION, INDEX_FILE};
use crate::objects::Bucket;

/// Stores word indexes in a bucket.
#[derive(Clone, Debug)]
pub struct S3Editions {
    bucket: Bucket,
}

impl S3Editions {
    /// Returns the word indexes in the same bucket as these documents.
    #[must_use]
    pub fn beside(documents: &S3Documents) -> Self {
        Self { bucket: documents.bucket().clone() }
    }

    async fn newest(&self, crawl: &CrawlId) -> Result<Option<StoredEdition>, StoreError> {
        loop {
            let keys = self.bucket.list(&ObjectKey::editions_prefix(crawl), None, 1).await?;
            let Some((key, number)) = keys.first().and_then(|key| Some((key, key.edition_number()?))) else {
                return Ok(None);
            };
            // A newer edition may have replaced this one.
            if let Some(object) = self.bucket.get(key, EDITION).await? {
                return Ok(Some(StoredEdition { number, text: object.bytes }));
            }
        }
    }

    /// Deletes all editions and files of a crawl's index, as they may contain forgotten URLs. A
    /// publication that began before fails.
    ///
    /// # Errors
    /// Fails if S3 does.
    pub(crate) async fn withdraw(&self, crawl: &CrawlId) -> PortResult<()> {
        let withdrawn = async {
            loop {
                let number = self.newest(crawl).await?.map_or(1, |newest| newest.number + 1);
                let key = ObjectKey::for_edition(crawl, number);
                if self.bucket.put_new(&key, EDITION, Bytes::new()).await? == PutResult::Stored {
                    return self.superseded(crawl, number, &[], Timestamp::MAX).await;
                }
            }
        };
        at("withdraw an index", crawl, withdrawn).await
    }

    async fn superseded(
        &self,
        crawl: &CrawlId,
        newest: u32,
        names_kept: &[&str],
        put_before: Timestamp,
    ) -> Result<(), StoreError> {
        for (key, put_at) in self.bucket.list_dated(&ObjectKey::index_prefix(crawl)).await? {
            let is_superseded = match key.edition_number() {
                Some(number) => number < newest,
                None => {
                    let name = key.as_str().rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
                    put_at < put_before && !names_kept.contains(&name)
                }
            };
            if is_superseded {
                self.bucket.delete(&key).await?;
            }
        }
        Ok(())
    }
}

impl From<ObjectKeyError> for StoreError {
    fn from(error: ObjectKeyError) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl Editions for S3Editions {
    async fn newest_edition(&self, crawl: &CrawlId) -> PortResult<Option<StoredEdition>> {
        at("load an edition", crawl, self.newest(crawl)).await
    }

    async fn put_edition(&self, crawl: &CrawlId, edition: StoredEdition) -> PortResult<PutResult> {
        let key = ObjectKey::for_edition(crawl, edition.number);
        at("put an edition", &key, self.bucket.put_new(&key, EDITION, edition.text)).await
    }

    async fn put_index_file(&self, crawl: &CrawlId, name: &str, from: &Path) -> PortResult<()> {
        at("put a file of an index", name, async {
            self.bucket.put_file(&ObjectKey::for_index_file(crawl, name)?, INDEX_FILE, from).await
        })
        .await
    }

    async fn get_index_file(&self, crawl: &CrawlId, name: &str, to: &Path) -> PortResult<()> {
        at("get a file of an index", name, async {
            self.bucket.get_file(&ObjectKey::for_index_file(crawl, name)?, to).await
        })
        .await
    }

    async fn read_index_file(&self, crawl: &CrawlId, name: &str, range: Range<u64>) -> PortResult<Option<Bytes>> {
        at("read a file of an index", name, async {
            let key = ObjectKey::for_index_file(crawl, name)?;
            match range.end.checked_sub(1).filter(|last| *last >= range.start) {
                Some(last) => self.bucket.get_range(&key, range.start, last).await,
                None => Ok(Some(Bytes::new())),
            }
        })
        .await
    }

    async fn delete_index_file(&self, crawl: &CrawlId, name: &str) -> PortResult<()> {
        at("delete a file of an index", name, async {
            self.bucket.delete(&ObjectKey::for_index_file(crawl, name)?).await
        })
        .await
    }

    async fn delete_superseded(
        &self,
        crawl: &CrawlId,
        newest: u32,
        names_kept: &[&str],
        put_before: Timestamp,
    ) -> PortResult<()> {
        at("delete what is superseded of an index", crawl, self.superseded(crawl, newest, names_kept, put_before)).await
    }
}
