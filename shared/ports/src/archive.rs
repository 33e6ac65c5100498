//! Where objects are kept: WARC files, written once and never changed.

use std::future::Future;
use std::ops::Range;

use bytes::Bytes;
use dragline_domain::frontier::ObjectKey;

use super::error::PortResult;

/// What became of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The object is there now, and survives a crash.
    Stored,
    /// An object of this key was there before; it is unchanged. It may be of an earlier try of the same put, whose answer got lost.
    Exists,
}

/// Keeps objects by key.
pub trait Archive: Send + Sync {
    /// Stores a new object. Never overwrites. Durable once it returns.
    fn put_new(&self, key: &ObjectKey, bytes: Bytes) -> impl Future<Output = PortResult<Put>> + Send;

    /// The whole object; `None` if there is none. One over `bytes_max` is an error of kind `TooLarge`, found before it is read.
    fn get(&self, key: &ObjectKey, bytes_max: u64) -> impl Future<Output = PortResult<Option<Bytes>>> + Send;

    /// Part of an object, clipped at its end; `None` if there is none.
    fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> impl Future<Output = PortResult<Option<Bytes>>> + Send;

    /// The keys that start with a prefix, in order, after `after`, at most `limit`.
    fn list(
        &self,
        prefix: &str,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<ObjectKey>>> + Send;

    /// Deletes an object. Deleting one that is not there is no error.
    fn delete(&self, key: &ObjectKey) -> impl Future<Output = PortResult<()>> + Send;
}
