//! The archive behind the conductor.

use std::ops::Range;
use std::sync::Arc;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::Blob;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::PortResult;

use super::Gate;
use crate::faults::Loss;

pub(crate) struct GatedArchive<A> {
    pub(crate) gate: Gate,
    pub(crate) inner: Arc<A>,
}

impl<A: Archive + 'static> Archive for GatedArchive<A> {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<PutResult> {
        if self.gate.put_off.holds("archive.put_new") {
            let (gate, inner, key) = (self.gate.without_delay(), Arc::clone(&self.inner), key.clone());
            self.gate.put_off.put_off(async move {
                gate.pass("archive.put_new", &key, inner.put_new(&key, object)).await.map(drop)
            });
            return Ok(PutResult::Stored);
        }
        // The client tried again because the first answer was lost.
        self.gate.pass_again("archive.put_new", key, |_| PutResult::Exists, self.inner.put_new(key, object)).await
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        self.gate.pass("archive.replace", key, self.inner.replace(key, object)).await
    }

    async fn get(&self, key: &ObjectKey, bytes_max: u64) -> PortResult<Option<Blob>> {
        if let Some(loss) = self.gate.conductor.loses(key.as_str()) {
            let whole = self.inner.get(key, bytes_max).await?.unwrap_or_default();
            self.inner.delete(key).await?;
            if loss == Loss::CutShort {
                self.inner.put_new(key, whole.part(0..whole.len_bytes() / 2)).await?;
            }
        }
        self.gate.pass("archive.get", key, self.inner.get(key, bytes_max)).await
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> PortResult<Option<Blob>> {
        self.gate.pass("archive.get_range", key, self.inner.get_range(key, range)).await
    }

    async fn list(&self, prefix: &str, after: Option<&ObjectKey>, limit: usize) -> PortResult<Vec<ObjectKey>> {
        self.gate.pass("archive.list", prefix, self.inner.list(prefix, after, limit)).await
    }

    async fn delete(&self, key: &ObjectKey) -> PortResult<()> {
        self.gate.pass("archive.delete", key, self.inner.delete(key)).await
    }
}
