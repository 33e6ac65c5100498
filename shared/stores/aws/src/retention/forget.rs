//! Forgetting URLs of a stack: segment by segment, as no index lists the logs of a URL. It reads
//! the whole crawl, so it is for operators and not for a step.

use std::collections::BTreeSet;

use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Origins;
use dragline_ports::reader::Cursor;
use dragline_ports::retention::{ForgetTotals, Forgetting, ObjectsNaming};

use super::{DynamoRetained, LISTED_MAX};
use crate::editions::S3Editions;
use crate::errors::at;
use crate::frontier::ListedRows;
use crate::publications::S3Publications;

/// Separates the origin from the sort key of a segment in a cursor. No origin contains a space.
const SEPARATOR: char = ' ';

impl Forgetting for DynamoRetained {
    async fn objects_naming(
        &self,
        crawl: &CrawlId,
        urls: &[CrawlUrl],
        after: Option<&Cursor>,
    ) -> PortResult<ObjectsNaming> {
        let urls: BTreeSet<&CrawlUrl> = urls.iter().collect();
        let (passed, within) = match after {
            None => (None, None),
            Some(cursor) => {
                let (origin, sort) = cursor.as_str().split_once(SEPARATOR).unwrap_or((cursor.as_str(), ""));
                (origin.parse::<Origin>().ok(), Some(sort.to_owned()).filter(|sort| !sort.is_empty()))
            }
        };
        // Continues within an origin, or begins the next one.
        let origin = match (passed, &within) {
            (Some(origin), Some(_)) => Some(origin),
            (passed, _) => self.frontier.list_origins(crawl, passed.as_ref(), 1).await?.pop(),
        };
        let Some(origin) = origin else { return Ok(ObjectsNaming::default()) };
        let key = OriginKey { crawl: crawl.clone(), origin };
        let ListedRows { rows, next } = self.frontier.list_segments(&key, within, LISTED_MAX).await?;
        let mut objects = Vec::new();
        for segment in rows {
            if self.names(&segment, &urls).await? {
                objects.push(segment.object);
            }
        }
        let sort = next.unwrap_or_default();
        Ok(ObjectsNaming { objects, next: Some(Cursor::new(format!("{}{SEPARATOR}{sort}", key.origin))) })
    }

    async fn forget_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> PortResult<ForgetTotals> {
        let urls: BTreeSet<&CrawlUrl> = urls.iter().collect();
        let (mut forgotten, mut visited) = (ForgetTotals::default(), BTreeSet::new());
        let mut passed: Option<Origin> = None;
        while let Some(origin) = self.frontier.list_origins(crawl, passed.as_ref(), 1).await?.pop() {
            let key = OriginKey { crawl: crawl.clone(), origin };
            self.forget_in(&key, &urls, &mut forgotten, &mut visited).await?;
            visited.extend(self.frontier.forget_candidates(&key, &urls).await?);
            passed = Some(key.origin);
        }
        // Publications are made from documents, of which those of these URLs are deleted by now. A
        // publisher checks this number after putting files made before; so one of the two always
        // finds the other's work.
        self.frontier.count_forgetting(crawl).await?;
        // For every iteration: an earlier run may have died after the documents.
        for row in self.frontier.iterations(crawl).await? {
            S3Publications::beside(&self.documents).forget(crawl, row.number, &urls).await?;
        }
        S3Editions::beside(&self.documents).withdraw(crawl).await?;
        S3Publications::beside(&self.documents).withdraw_reports(crawl).await?;
        forgotten.urls = visited.len() as u64;
        Ok(forgotten)
    }
}

impl DynamoRetained {
    /// Whether the log of a segment has visits of these URLs, or of URLs found on them. If the log
    /// has expired, the segment's object is searched.
    async fn names(&self, segment: &SegmentRow, urls: &BTreeSet<&CrawlUrl>) -> PortResult<bool> {
        let log = self.frontier.load_log(segment).await?;
        Ok(log.is_none_or(|log| {
            log.entries.iter().any(|entry| {
                urls.contains(&entry.url) || entry.visit.sighting.via.as_ref().is_some_and(|via| urls.contains(via))
            })
        }))
    }

    /// Forgets the visits and the documents of an origin's segments.
    async fn forget_in(
        &self,
        origin: &OriginKey,
        urls: &BTreeSet<&CrawlUrl>,
        forgotten: &mut ForgetTotals,
        visited: &mut BTreeSet<CrawlUrl>,
    ) -> PortResult<()> {
        let mut after = None;
        loop {
            let ListedRows { rows, next } = self.frontier.list_segments(origin, after, LISTED_MAX).await?;
            for segment in rows {
                // The documents first: the log tells which segments have any.
                if self.names(&segment, urls).await? {
                    forgotten.documents += self.forget_documents(&segment, urls).await?;
                    let gone = self.frontier.forget_visits(&segment, urls).await?;
                    forgotten.visits += gone.len() as u64;
                    visited.extend(gone);
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn forget_documents(&self, segment: &SegmentRow, urls: &BTreeSet<&CrawlUrl>) -> PortResult<u64> {
        let left = |documents: &[Document]| {
            documents.iter().filter(|document| !urls.contains(&document.url)).cloned().collect()
        };
        let changed = at("forget documents", &segment.id, self.documents.change(segment, left)).await?;
        Ok(changed.map_or(0, |changed| changed.before.len() - changed.after.len()) as u64)
    }
}
