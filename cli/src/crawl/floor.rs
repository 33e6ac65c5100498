//! The free space that a crawl leaves on the disk.

use std::path::Path;

use crate::terminal::bytes;

/// How much space the disk of a data directory is to keep free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor<'a> {
    /// The data directory.
    pub(super) data: &'a Path,
    /// The least number of bytes that are to be free.
    pub(super) free_bytes_min: u64,
}

impl Floor<'_> {
    /// Returns what to tell if the disk has less free space than it is to keep. Costs one system call. Where the system cannot tell, the crawl goes on
    /// until the disk is full.
    pub(super) fn undercut(&self) -> Option<String> {
        let free = dragline_local::free_bytes(self.data).unwrap_or(u64::MAX);
        (free < self.free_bytes_min).then(|| {
            let Self { data, free_bytes_min } = self;
            format!(
                "the disk of {} has {} free, less than the {} of --keep-free; finishing the requests under way",
                data.display(),
                bytes(free),
                bytes(*free_bytes_min)
            )
        })
    }
}
