//! Where addresses of names come from.

use std::io;
use std::net::IpAddr;

use futures_util::future::BoxFuture;

/// Finds the addresses of a name. A trait so that tests can have names of their own.
pub trait NameLookup: Send + Sync + 'static {
    /// All addresses of `host`, in the order in which they should be tried; empty if it has none.
    ///
    /// # Errors
    /// The name does not exist, or the lookup did not work.
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver, with its cache, hosts file and search order.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl NameLookup for SystemLookup {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
