//! An archive whose process dies when it changes an object.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::Blob;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

/// Deletes or replaces so many objects, and then none.
pub(super) struct Dying<A> {
    inner: A,
    left: AtomicU64,
}

impl<A> Dying<A> {
    pub(super) fn after(inner: A, changes: u64) -> Self {
        Self { inner, left: AtomicU64::new(changes) }
    }

    fn live_on(&self, key: &ObjectKey) -> PortResult<()> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| PortError::new(PortErrorKind::Other, "change object", key, "the process died"))
    }

    /// How many objects it would still change.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
}

impl<A: Archive> Archive for Dying<A> {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<PutResult> {
        self.inner.put_new(key, object).await
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        self.live_on(key)?;
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
        self.live_on(key)?;
        self.inner.delete(key).await
    }
}
