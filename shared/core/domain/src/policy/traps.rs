//! Sites that generate endless URLs: calendars, relative links that pile up, sessions in the path.

use std::fmt;

use crate::definition::{Key, TrapLimits};
use crate::url::CrawlUrl;

/// The reason why a URL looks like one of an endless number of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// One segment occurs in the path too often.
    SegmentRepeats {
        /// The limit.
        max: u32,
    },
    /// The path has too many segments.
    Segments {
        /// The limit.
        max: u32,
    },
    /// The whole URL is too long.
    UrlBytes {
        /// The limit in bytes.
        max: u32,
    },
}

impl Trap {
    /// Returns the key of the limit that was exceeded.
    #[must_use]
    pub const fn key(self) -> Key {
        match self {
            Self::SegmentRepeats { .. } => Key::TrapsSegmentRepeatsMax,
            Self::Segments { .. } => Key::TrapsSegmentsMax,
            Self::UrlBytes { .. } => Key::TrapsUrlBytesMax,
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SegmentRepeats { max } => write!(f, "a path segment repeats more than {max} times"),
            Self::Segments { max } => write!(f, "the path has more than {max} segments"),
            Self::UrlBytes { max } => write!(f, "the URL is longer than {max} bytes"),
        }
    }
}

/// Returns the limit that the URL exceeds, if any: checks its length, then the number of its
/// segments, then their repetition.
///
/// Empty segments, as in `/a//b`, count like others; the one after a trailing slash does not.
#[must_use]
pub fn trap(url: &CrawlUrl, limits: &TrapLimits) -> Option<Trap> {
    if exceeds(url.as_str().len(), limits.url_bytes_max) {
        return Some(Trap::UrlBytes { max: limits.url_bytes_max });
    }
    let path = inner(url.path());
    let count = path.bytes().filter(|byte| *byte == b'/').count() + 1;
    if exceeds(count, limits.segments_max) {
        return Some(Trap::Segments { max: limits.segments_max });
    }
    // Most paths are too short to repeat anything, and need no sorted copy.
    if !exceeds(count, limits.segment_repeats_max) {
        return None;
    }
    let mut sorted: Vec<&str> = path.split('/').collect();
    sorted.sort_unstable();
    let repeats = sorted.chunk_by(|a, b| a == b).any(|run| exceeds(run.len(), limits.segment_repeats_max));
    repeats.then_some(Trap::SegmentRepeats { max: limits.segment_repeats_max })
}

/// Returns a path's segments, with the slashes between them.
fn inner(path: &str) -> &str {
    let inner = path.strip_prefix('/').unwrap_or(path);
    inner.strip_suffix('/').unwrap_or(inner)
}

fn exceeds(count: usize, max: u32) -> bool {
    u32::try_from(count).map_or(true, |count| count > max)
}
