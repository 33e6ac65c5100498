//! A crawl's word index as objects: immutable files, and editions that list the files of an index.
//!
//! Editions are numbered, and the newest one is valid. A publisher puts the files first and then
//! the next edition, so that readers of an edition find all of its files. Superseded files and
//! editions are deleted later.

use std::future::Future;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use dragline_domain::ids::CrawlId;
use jiff::Timestamp;

use super::archive::PutResult;
use super::error::PortResult;

/// A stored edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEdition {
    /// Its number; higher is newer.
    pub number: u32,
    /// Its publisher's description of it; empty if there is no index any more.
    pub text: Bytes,
}

/// A store of word-index editions and their files. All of it is derived and can be rebuilt.
pub trait Editions: Clone + Send + Sync + 'static {
    /// Returns the newest edition; `None` if there never was one.
    fn newest_edition(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<StoredEdition>>> + Send;

    /// Puts an edition if there is none with this number. Numbering it one above the newest ensures
    /// that nobody has published in between.
    fn put_edition(
        &self,
        crawl: &CrawlId,
        edition: StoredEdition,
    ) -> impl Future<Output = PortResult<PutResult>> + Send;

    /// Puts a file of up to 5 GB (a limit of S3), replacing any existing one.
    fn put_index_file(&self, crawl: &CrawlId, name: &str, from: &Path) -> impl Future<Output = PortResult<()>> + Send;

    /// Copies a file to a path, replacing what is there. Fails if there is no such file.
    fn get_index_file(&self, crawl: &CrawlId, name: &str, to: &Path) -> impl Future<Output = PortResult<()>> + Send;

    /// Reads a range of a file; `None` if there is no such file.
    fn read_index_file(
        &self,
        crawl: &CrawlId,
        name: &str,
        range: Range<u64>,
    ) -> impl Future<Output = PortResult<Option<Bytes>>> + Send;

    /// Deletes a file if it exists.
    fn delete_index_file(&self, crawl: &CrawlId, name: &str) -> impl Future<Output = PortResult<()>> + Send;

    /// Deletes the files that were put before a time, except those with these names, and all
    /// editions before this one.
    fn delete_superseded(
        &self,
        crawl: &CrawlId,
        newest: u32,
        names_kept: &[&str],
        put_before: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;
}
