//! Where objects are kept: WARC files, written once, and changed only where a URL is forgotten.

use std::future::Future;
use std::ops::Range;

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::{Blob, Spool};

use super::error::PortResult;

/// The result of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The object is there now, and survives a crash.
    Stored,
    /// An object with this key existed before and is unchanged. It may come from an earlier attempt at the same put whose answer was lost.
    Exists,
}

/// Keeps objects by key.
///
/// ```no_run
/// use dragline_domain::frontier::ObjectKey;
/// use dragline_ports::archive::{Archive, Put};
/// use dragline_ports::error::PortResult;
///
/// /// Copies an object to another key. Returns whether there is such an object.
/// async fn copy(archive: &impl Archive, from: &ObjectKey, to: &ObjectKey) -> PortResult<bool> {
///     let Some(object) = archive.get(from, 1 << 20).await? else { return Ok(false) };
///     match archive.put_new(to, object).await? {
///         Put::Stored | Put::Exists => Ok(true),
///     }
/// }
/// ```
pub trait Archive: Send + Sync {
    /// Stores a new object, durably once it returns. Never overwrites.
    fn put_new(&self, key: &ObjectKey, object: Blob) -> impl Future<Output = PortResult<Put>> + Send;

    /// Puts other bytes in place of an object, durably once it returns. Whoever reads it meanwhile gets all of the one or all of the other. Does
    /// nothing if there is no such object.
    fn replace(&self, key: &ObjectKey, object: Blob) -> impl Future<Output = PortResult<()>> + Send;

    /// Returns the whole object, in memory if it is short and else in a file; `None` if there is none. An object over `bytes_max` is an error of kind
    /// `TooLarge`, found before it is read. It stays what it was while others replace it.
    fn get(&self, key: &ObjectKey, bytes_max: u64) -> impl Future<Output = PortResult<Option<Blob>>> + Send;

    /// Returns part of an object, clipped at the object's end, as [`Self::get`] does; `None` if there is none.
    fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> impl Future<Output = PortResult<Option<Blob>>> + Send;

    /// Lists the keys that start with a prefix, in order, after `after`, at most `limit`.
    fn list(
        &self,
        prefix: &str,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<ObjectKey>>> + Send;

    /// Returns where objects wait that are being made, and those that were read and are large. By default that is where the machine has temporary files.
    fn spool(&self) -> Spool {
        Spool::default()
    }

    /// Deletes an object. Deleting one that does not exist is not an error.
    fn delete(&self, key: &ObjectKey) -> impl Future<Output = PortResult<()>> + Send;
}
