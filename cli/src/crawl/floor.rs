//! The free disk space that a crawl keeps in reserve.

use std::path::Path;

use dragline_pipeline::crawl::StopSignal;

use crate::terminal::{Console, bytes};

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
    fn undercut(&self) -> Option<String> {
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

/// Stops a run when the disk has too little free space.
pub(crate) struct SpaceGuard<'a> {
    floor: Floor<'a>,
    console: &'a Console,
    is_reached: bool,
}

impl<'a> SpaceGuard<'a> {
    /// Returns a guard of this minimum.
    pub(crate) const fn new(floor: Floor<'a>, console: &'a Console) -> Self {
        Self { floor, console, is_reached: false }
    }

    /// Stops a run that goes on, if the disk has less than the minimum.
    pub(crate) fn check(&mut self, stop: &StopSignal) {
        if !stop.is_stopped()
            && let Some(told) = self.floor.undercut()
        {
            self.is_reached = true;
            self.console.warn(&told);
            stop.stop();
        }
    }

    /// Whether it stopped a run.
    pub(crate) const fn is_reached(&self) -> bool {
        self.is_reached
    }
}
