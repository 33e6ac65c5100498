//! The content of a site.

use std::io;
use std::time::SystemTime;

use bytes::Bytes;

/// A source of a site's content: a directory, or generated pages.
pub trait Content: Send + Sync + 'static {
    /// Returns what is at a path, which starts with `/`, is percent-encoded and has no query.
    ///
    /// # Errors
    /// If what is there cannot be read; the site answers 500.
    fn find(&self, path: &str) -> io::Result<PathContent>;
}

impl Content for Box<dyn Content> {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        (**self).find(path)
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathContent {
    /// Something to send.
    Page(Page),
    /// A directory named without its slash: the site redirects to the path with one, as relative
    /// links would break otherwise.
    Directory,
    /// Nothing.
    Missing,
}

/// A body and the metadata that a web server sends with it.
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
    /// The same in gzip, if that is at hand; `None` if the site compresses it for each request.
    pub zipped: Option<Bytes>,
}

/// No content: the site has only its replies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl Content for Nothing {
    fn find(&self, _path: &str) -> io::Result<PathContent> {
        Ok(PathContent::Missing)
    }
}
