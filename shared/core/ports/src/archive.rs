//! Storage of WARC objects: written once, and changed only when a URL is forgotten.

use std::future::Future;
use std::ops::Range;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::{Blob, Spool};

use super::error::PortResult;

/// The result of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutResult {
    /// The object is now stored durably.
    Stored,
    /// An object with this key exists already and is unchanged. An earlier attempt may have stored
    /// it without its answer arriving.
    Exists,
}

/// A store of objects by key.
///
/// ```no_run
/// use dragline_domain::frontier::ObjectKey;
/// use dragline_ports::archive::{Archive, PutResult};
/// use dragline_ports::error::PortResult;
///
/// /// Copies an object to another key. Returns whether there is such an object.
/// async fn copy(archive: &impl Archive, from: &ObjectKey, to: &ObjectKey) -> PortResult<bool> {
///     let Some(object) = archive.get(from, 1 << 20).await? else { return Ok(false) };
///     match archive.put_new(to, object).await? {
///         PutResult::Stored | PutResult::Exists => Ok(true),
///     }
/// }
/// ```
pub trait Archive: Send + Sync {
    /// Stores a new object; it is durable once this returns. Never overwrites.
    fn put_new(&self, key: &ObjectKey, object: Blob) -> impl Future<Output = PortResult<PutResult>> + Send;

    /// Replaces an object's bytes; the change is durable once this returns. Concurrent readers get
    /// all of the old bytes or all of the new ones. Does nothing if there is no such object.
    fn replace(&self, key: &ObjectKey, object: Blob) -> impl Future<Output = PortResult<()>> + Send;

    /// Returns the whole object, in memory if it is short and otherwise in a file; `None` if there
    /// is none. An object over `bytes_max` is an error of kind `TooLarge`, raised before anything
    /// is read. The result does not change if the object is replaced meanwhile.
    fn get(&self, key: &ObjectKey, bytes_max: u64) -> impl Future<Output = PortResult<Option<Blob>>> + Send;

    /// Returns part of an object, clipped at the object's end, as [`Self::get`] does; `None` if
    /// there is none.
    fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> impl Future<Output = PortResult<Option<Blob>>> + Send;

    /// Lists the keys that start with a prefix, in order, after `after`, at most `limit`.
    fn list(
        &self,
        prefix: &str,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<ObjectKey>>> + Send;

    /// Returns the place for objects that are being built, and for large ones that were read. The
    /// default is the machine's directory for temporary files.
    fn spool(&self) -> Spool {
        Spool::default()
    }

    /// Deletes an object. Deleting one that does not exist is not an error.
    fn delete(&self, key: &ObjectKey) -> impl Future<Output = PortResult<()>> + Send;
}
