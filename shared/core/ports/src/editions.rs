//! A crawl's word index as objects: files that never change, and editions that say which files are an index.
//!
//! Editions are numbered, and the newest one counts. Whoever publishes puts the files first and then the next edition, so that a reader finds every
//! file of the edition that it has read. What has been superseded is deleted later.

use std::future::Future;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use dragline_domain::ids::CrawlId;
use jiff::Timestamp;

use super::archive::Put;
use super::error::PortResult;

/// An edition as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEdition {
    /// Its number: higher ones are newer.
    pub number: u32,
    /// What its publisher says of it; empty if there is no index any more.
    pub text: Bytes,
}

/// Stores editions of word indexes and their files. All of it is derived, and can be made again.
pub trait Editions: Clone + Send + Sync + 'static {
    /// Returns the newest edition; `None` if there never was one.
    fn newest_edition(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<StoredEdition>>> + Send;

    /// Puts an edition if there is none with this number. The number after the newest one's makes sure that nobody published in between.
    fn put_edition(&self, crawl: &CrawlId, edition: StoredEdition) -> impl Future<Output = PortResult<Put>> + Send;

    /// Puts a file of up to 5 GB (a limit of S3), whether or not it is there.
    fn put_index_file(&self, crawl: &CrawlId, name: &str, from: &Path) -> impl Future<Output = PortResult<()>> + Send;

    /// Copies a file to a path, in place of what is there. Fails if there is no such file.
    fn get_index_file(&self, crawl: &CrawlId, name: &str, to: &Path) -> impl Future<Output = PortResult<()>> + Send;

    /// Reads a range of a file; `None` if there is no such file.
    fn read_index_file(
        &self,
        crawl: &CrawlId,
        name: &str,
        range: Range<u64>,
    ) -> impl Future<Output = PortResult<Option<Bytes>>> + Send;

    /// Deletes a file, if it is there.
    fn delete_index_file(&self, crawl: &CrawlId, name: &str) -> impl Future<Output = PortResult<()>> + Send;

    /// Deletes the files that were put before a time, except those with these names; and the editions before this one, which stays.
    fn delete_superseded(
        &self,
        crawl: &CrawlId,
        newest: u32,
        names_kept: &[&str],
        put_before: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;
}
