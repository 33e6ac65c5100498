//! Archives with one defect each.

use std::ops::Range;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::Blob;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

use super::{Mutant, mutants};

impl<A: Archive> Mutant<A, ArchiveMutation> {
    async fn is_there(&self, key: &ObjectKey) -> PortResult<bool> {
        Ok(self.inner.get_range(key, 0..1).await?.is_some())
    }
}

mutants! {
    /// What is wrong with an archive.
    ArchiveMutation, for A, |this| this.inner;
    Archive<A: Archive> {
        fn put_new(key: &ObjectKey, object: Blob) -> PutResult;
            - Overwrites: "a put overwrites what is there" => {
                // Repeats until it stores, so that of many concurrent puts each is told that it
                // did.
                while this.inner.put_new(key, object.clone()).await? == PutResult::Exists {
                    this.inner.delete(key).await?;
                }
                Ok(PutResult::Stored)
            };
            - ExistsIsStored: "a put that found an object claims to have stored its own" => {
                this.inner.put_new(key, object).await.map(|_| PutResult::Stored)
            };
            - FilesCutShort: "of what is in a file only the first MiB is put" {
                let is_file = object.in_memory().is_none();
                let object = if is_file { object.part(0..1 << 20) } else { object };
            };
        fn replace(key: &ObjectKey, object: Blob) -> ();
            - ReplaceForgotten: "nothing is replaced" => Ok(());
            - ReplacePuts: "a missing object is put when it is replaced"
                { this.inner.put_new(key, object.clone()).await?; };
        fn get(key: &ObjectKey, bytes_max: u64) -> Option<Blob>;
            - LargeInMemory: "what is large is read into memory" => {
                let Some(object) = this.inner.get(key, bytes_max).await? else { return Ok(None) };
                let bytes = object.bytes().map_err(|e| PortError::new(PortErrorKind::Other, "get", key, e))?;
                Ok(Some(bytes.into()))
            };
            - LimitIgnored: "an object over the limit is read all the same" { let bytes_max = u64::MAX; };
            - TooLargeIsAbsent: "an object over the limit is reported as missing"
                => match this.inner.get(key, bytes_max).await {
                    Err(error) if error.kind == PortErrorKind::TooLarge => Ok(None),
                    got => got,
                };
        fn get_range(key: &ObjectKey, range: Range<u64>) -> Option<Blob>;
            - RangeNotClipped: "a range beyond the end of an object returns the whole object" {
                let part = this.inner.get_range(key, range.clone()).await?;
                let is_clipped = part.is_some_and(|part| part.len_bytes() < range.end.saturating_sub(range.start));
                let range = if is_clipped { 0..u64::MAX } else { range };
            };
            - RangeOfNothingEmpty: "a range of a missing object is empty" but |part| part.get_or_insert_default();
        fn list(prefix: &str, after: Option<&ObjectKey>, limit: usize) -> Vec<ObjectKey>;
            - ListByDirectory: "a list matches whole directories only: part of a name finds nothing"
                but |keys| if !prefix.is_empty() && !prefix.ends_with('/') { keys.clear() };
            - ListAgain: "a list includes the key that it should begin after" => {
                let mut keys = this.inner.list(prefix, after, limit).await?;
                if let Some(after) = after && this.is_there(after).await? {
                    keys.insert(0, after.clone());
                }
                Ok(keys)
            };
            - ListUnlimited: "a list ignores its limit" { let limit = usize::MAX; };
            - ListBackwards: "a list is in reverse order" but |keys| keys.reverse();
        fn delete(key: &ObjectKey) -> ();
            - DeleteOfNothingFails: "deleting a missing object fails" {
                if !this.is_there(key).await? {
                    return Err(PortError::new(PortErrorKind::Other, "delete", key, "there is no such object"));
                }
            };
            - DeleteForgotten: "nothing is deleted" => Ok(());
    }
}
