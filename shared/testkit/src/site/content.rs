//! What a site is made of.

use std::io;
use std::time::SystemTime;

use bytes::Bytes;

/// What answers a site's paths: a directory, pages made up on the spot.
pub trait Content: Send + Sync + 'static {
    /// What stands at a path, which starts with `/`, is percent-encoded and has no query.
    ///
    /// # Errors
    /// What is there cannot be read; the site answers 500.
    fn find(&self, path: &str) -> io::Result<Found>;
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Something to send.
    Page(Page),
    /// A directory named without its slash: the site redirects to the path with one, or relative links would break.
    Directory,
    /// Nothing.
    Missing,
}

/// A body and what a web server says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The `Content-Type`.
    pub media_type: &'static str,
    /// The `Last-Modified`; the wire has whole seconds only.
    pub modified: SystemTime,
    /// The opaque part of the `ETag`, without quotes; printable ASCII without `"`.
    pub tag: String,
    /// The body, not compressed.
    pub body: Bytes,
}

/// A site of nothing but its replies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl Content for Nothing {
    fn find(&self, _path: &str) -> io::Result<Found> {
        Ok(Found::Missing)
    }
}
