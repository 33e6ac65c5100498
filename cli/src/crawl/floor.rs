//! The free disk space that a crawl keeps in reserve.

use std::path::Path;

use crate::terminal::bytes;

/// The minimum of free space on the disk of a data directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor<'a> {
    pub(crate) data: &'a Path,
    /// The minimum, in bytes.
    pub(crate) free_bytes_min: u64,
}

impl Floor<'_> {
    /// Returns a message if the disk has less free space than the minimum. Costs one system call.
    /// If the system cannot tell, the crawl continues until the disk is full.
    pub(crate) fn undercut(&self) -> Option<String> {
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
