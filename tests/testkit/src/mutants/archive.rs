//! Archives with one defect each.

use std::ops::Range;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::Blob;
use dragline_ports::archive::{Archive, Put};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

use super::mutations;
use ArchiveMutation as M;

mutations! {
    /// What is wrong with an archive.
    ArchiveMutation {
        /// A put overwrites what is there.
        Overwrites,
        /// A put that found an object claims to have stored its own.
        ExistsIsStored,
        /// Nothing is replaced.
        ReplaceForgotten,
        /// A missing object is put when it is replaced.
        ReplacePuts,
        /// Of what is in a file only the first MiB is put.
        FilesCutShort,
        /// What is large is read into memory.
        LargeInMemory,
        /// A range beyond the end of an object returns the whole object.
        RangeNotClipped,
        /// A range of a missing object is empty.
        RangeOfNothingEmpty,
        /// An object over the limit is read all the same.
        LimitIgnored,
        /// An object over the limit is reported as missing.
        TooLargeIsAbsent,
        /// A list matches whole directories only: part of a name finds nothing.
        ListByDirectory,
        /// A list includes the key that it should begin after.
        ListAgain,
        /// A list ignores its limit.
        ListUnlimited,
        /// A list is in reverse order.
        ListBackwards,
        /// Deleting a missing object fails.
        DeleteOfNothingFails,
        /// Nothing is deleted.
        DeleteForgotten,
    }
}

/// An archive with one defect.
#[derive(Debug)]
pub struct MutantArchive<A> {
    inner: A,
    mutation: ArchiveMutation,
}

impl<A: Archive> MutantArchive<A> {
    /// Wraps an archive with this defect.
    #[must_use]
    pub const fn new(inner: A, mutation: ArchiveMutation) -> Self {
        Self { inner, mutation }
    }

    async fn is_there(&self, key: &ObjectKey) -> PortResult<bool> {
        Ok(self.inner.get_range(key, 0..1).await?.is_some())
    }
}

impl<A: Archive> Archive for MutantArchive<A> {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<Put> {
        if self.mutation == M::Overwrites {
            // Repeats until it stores, so that of many concurrent puts each is told that it did.
            while self.inner.put_new(key, object.clone()).await? == Put::Exists {
                self.inner.delete(key).await?;
            }
            return Ok(Put::Stored);
        }
        let is_cut = self.mutation == M::FilesCutShort && object.in_memory().is_none();
        let object = if is_cut { object.part(0..1 << 20) } else { object };
        Ok(match self.inner.put_new(key, object).await? {
            Put::Exists if self.mutation == M::ExistsIsStored => Put::Stored,
            put => put,
        })
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        match self.mutation {
            M::ReplaceForgotten => Ok(()),
            M::ReplacePuts if !self.is_there(key).await? => self.inner.put_new(key, object).await.map(drop),
            _ => self.inner.replace(key, object).await,
        }
    }

    async fn get(&self, key: &ObjectKey, bytes_max: u64) -> PortResult<Option<Blob>> {
        let limit = if self.mutation == M::LimitIgnored { u64::MAX } else { bytes_max };
        match self.inner.get(key, limit).await {
            Err(error) if self.mutation == M::TooLargeIsAbsent && error.kind == PortErrorKind::TooLarge => Ok(None),
            Ok(Some(object)) if self.mutation == M::LargeInMemory => object
                .bytes()
                .map(|bytes| Some(bytes.into()))
                .map_err(|error| PortError::new(PortErrorKind::Other, "get", key, error)),
            got => got,
        }
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> PortResult<Option<Blob>> {
        let part = self.inner.get_range(key, range.clone()).await?;
        let wanted = range.end.saturating_sub(range.start);
        Ok(match (self.mutation, part) {
            (M::RangeOfNothingEmpty, None) => Some(Blob::default()),
            (M::RangeNotClipped, Some(part)) if part.len_bytes() < wanted => {
                self.inner.get_range(key, 0..u64::MAX).await?
            }
            (_, part) => part,
        })
    }

    async fn list(&self, prefix: &str, after: Option<&ObjectKey>, limit: usize) -> PortResult<Vec<ObjectKey>> {
        if self.mutation == M::ListByDirectory && !prefix.is_empty() && !prefix.ends_with('/') {
            return Ok(Vec::new());
        }
        let limit = if self.mutation == M::ListUnlimited { usize::MAX } else { limit };
        let mut keys = self.inner.list(prefix, after, limit).await?;
        match (self.mutation, after) {
            (M::ListAgain, Some(after)) if self.is_there(after).await? => keys.insert(0, after.clone()),
            (M::ListBackwards, _) => keys.reverse(),
            _ => {}
        }
        Ok(keys)
    }

    async fn delete(&self, key: &ObjectKey) -> PortResult<()> {
        match self.mutation {
            M::DeleteForgotten => return Ok(()),
            M::DeleteOfNothingFails if !self.is_there(key).await? => {
                return Err(PortError::new(PortErrorKind::Other, "delete", key, "there is no such object"));
            }
            _ => {}
        }
        self.inner.delete(key).await
    }
}
