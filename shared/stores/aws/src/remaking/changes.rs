//! When URLs last changed, by the logs of an origin.
//!
//! No index lists the visits of a URL, so the logs are read once, in the order in which documents
//! are remade; a process that continues in the middle reads the earlier ones first. Takes some 40
//! bytes of memory for each URL of one origin.

use std::collections::HashMap;

use dragline_domain::capture::{Finality, LogEntry};
use dragline_domain::change::{ChangeKind, Part};
use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::errors::StoreError;
use crate::frontier::DynamoFrontier;

/// The number of segments listed at once.
const LISTED_MAX: usize = 200;

/// The beginning of a URL's SHA-256.
type UrlDigest = [u8; 16];

/// The times when the URLs of an origin last changed, up to a segment.
#[derive(Default)]
pub(super) struct LastChanges {
    origin: Option<OriginKey>,
    /// The last segment whose log was read.
    after: Option<SegmentId>,
    at: HashMap<UrlDigest, Timestamp>,
}

impl LastChanges {
    /// Reads the unread logs of all segments before this one.
    pub(super) async fn read_until(
        &mut self,
        frontier: &DynamoFrontier,
        segment: &SegmentId,
    ) -> Result<(), StoreError> {
        let is_behind = self.after.as_ref().is_some_and(|after| (after.turn, after.n) >= (segment.turn, segment.n));
        if self.origin.as_ref() != Some(&segment.origin) || is_behind {
            *self = Self { origin: Some(segment.origin.clone()), ..Self::default() };
        }
        loop {
            let listed = frontier.parsed_segments(&segment.origin, self.after.as_ref(), LISTED_MAX).await?;
            if listed.is_empty() {
                return Ok(());
            }
            for row in listed {
                if (row.id.turn, row.id.n) >= (segment.turn, segment.n) {
                    return Ok(());
                }
                let log = frontier.logged(&row).await?;
                log.iter().flat_map(|log| &log.entries).for_each(|entry| self.add(entry));
                self.after = Some(row.id);
            }
        }
    }

    /// Returns when a URL last changed; `None` if no log says so.
    pub(super) fn get(&self, url: &CrawlUrl) -> Option<Timestamp> {
        self.at.get(&digest(url)).copied()
    }

    fn add(&mut self, entry: &LogEntry) {
        if entry.visit.finality == Finality::Final && has_changed(entry) {
            self.at.insert(digest(&entry.url), entry.at);
        }
    }
}

/// Whether a visit found that its URL shows something else. A page that returned unchanged counts
/// as unchanged.
fn has_changed(entry: &LogEntry) -> bool {
    entry.change.as_ref().is_some_and(|change| match change.kind {
        ChangeKind::New | ChangeKind::Changed | ChangeKind::Moved => true,
        ChangeKind::Back => change.parts.iter().any(|part| *part != Part::Rest),
        ChangeKind::Gone | ChangeKind::OutOfScope | ChangeKind::Unchanged => false,
    })
}

fn digest(url: &CrawlUrl) -> UrlDigest {
    let mut start = UrlDigest::default();
    start.iter_mut().zip(Sha256::digest(url.as_str())).for_each(|(byte, of)| *byte = of);
    start
}
