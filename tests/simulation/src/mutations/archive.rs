//! Defects in how objects are named and deleted.

use std::ops::Range;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::Blob;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::PortResult;

use super::Mutation;

pub(crate) struct MutatedArchive<A> {
    pub(crate) inner: A,
    pub(crate) mutation: Option<Mutation>,
}

impl<A: Archive> MutatedArchive<A> {
    /// Overwrites the objects of other holders for the same segment, as if all shared one key.
    async fn overwrite_rivals(&self, key: &ObjectKey, object: &Blob) -> PortResult<()> {
        let Some((segment, _token)) = key.as_str().rsplit_once('-') else { return Ok(()) };
        for rival in self.inner.list(&format!("{segment}-"), None, 10).await? {
            self.inner.delete(&rival).await?;
            self.inner.put_new(&rival, object.clone()).await?;
        }
        Ok(())
    }
}

impl<A: Archive> Archive for MutatedArchive<A> {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<PutResult> {
        if self.mutation == Some(Mutation::OneObjectForAllHolders) {
            self.overwrite_rivals(key, &object).await?;
        }
        self.inner.put_new(key, object).await
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        self.inner.replace(key, object).await
    }

    async fn get(&self, key: &ObjectKey, bytes_max: u64) -> PortResult<Option<Blob>> {
        self.inner.get(key, bytes_max).await
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> PortResult<Option<Blob>> {
        self.inner.get_range(key, range).await
    }

    async fn list(&self, prefix: &str, after: Option<&ObjectKey>, limit: usize) -> PortResult<Vec<ObjectKey>> {
        self.inner.list(prefix, after, limit).await
    }

    async fn delete(&self, key: &ObjectKey) -> PortResult<()> {
        if self.mutation == Some(Mutation::ObjectsStay) {
            return Ok(());
        }
        self.inner.delete(key).await
    }
}
