//! The crawl log: the entries of a segment, deflated, in as many items as needed.

use std::sync::Arc;

use dragline_domain::capture::{LogEntry, SegmentLog};
use dragline_domain::frontier::SegmentRow;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::CrawlLog;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Role, Write, text};
use crate::errors::{StoreError, at};
use crate::rows::{self, keys};
use crate::tables::SORT;

/// The most bytes of a part's JSON. Deflated it is hardly ever larger: an item holds 400 KB.
const PART_BYTES_MAX: usize = 300_000;

const OBJECT: &str = "object";
const AGENT: &str = "agent";
const ENTRIES: &str = "entries";
const JSON_BYTES: &str = "json_bytes";

impl CrawlLog for DynamoFrontier {
    /// Puts each part once: existing parts stay.
    async fn put_log(&self, log: &Arc<SegmentLog>) -> PortResult<()> {
        at("put log", &log.segment, async {
            for (number, entries) in parts(&log.entries)?.into_iter().enumerate() {
                let key = keys::log(&log.segment, log.iteration, number);
                let (packed, json_bytes) = rows::pack(&entries)?;
                let attributes = [
                    (OBJECT, text(log.object.as_str())),
                    (AGENT, text(&log.agent)),
                    (ENTRIES, packed),
                    (JSON_BYTES, json_bytes),
                ];
                // Counted from the commit, on which all tries agree, so they all put the same.
                let expires = self.log_kept.map(|kept| rows::expires(log.committed_at, kept));
                let item = rows::row(&key, attributes.into_iter().chain(expires));
                let _was_there = self.db.write(&Write::put(Role::Other, &key, item).if_absent()).await?;
            }
            Ok(())
        })
        .await
    }
}

impl DynamoFrontier {
    /// Returns the log of a segment, for display; `None` if it was not put yet, or is forgotten.
    pub(crate) async fn load_log(&self, segment: &SegmentRow) -> PortResult<Option<SegmentLog>> {
        at("load log", &segment.id, self.logged(segment)).await
    }

    /// Like [`Self::load_log`], but read consistently, for decisions.
    pub(crate) async fn logged(&self, segment: &SegmentRow) -> Result<Option<SegmentLog>, StoreError> {
        let parts = self.db.all(keys::log_parts(&segment.id, segment.iteration)).await?;
        let Some(first) = parts.first() else { return Ok(None) };
        let head = rows::fields(first)?;
        let mut log = SegmentLog {
            segment: segment.id.clone(),
            iteration: segment.iteration,
            object: head.parsed(OBJECT)?,
            committed_at: segment.committed_at,
            agent: head.text(AGENT)?.to_owned(),
            entries: Vec::new(),
        };
        for part in &parts {
            log.entries.extend(rows::unpack::<Vec<LogEntry>>(rows::fields(part)?, ENTRIES, JSON_BYTES)?);
        }
        Ok(Some(log))
    }
}

impl DynamoFrontier {
    /// Changes entries of a segment's log, each part by itself, and decides again if others changed
    /// it meanwhile. Missing parts stay missing. Returns the result of `change` for each part.
    pub(crate) async fn change_log<T: Send>(
        &self,
        segment: &SegmentRow,
        change: impl Fn(&mut Vec<LogEntry>) -> T + Send + Sync,
    ) -> Result<Vec<T>, StoreError> {
        let range = keys::log_parts(&segment.id, segment.iteration);
        let mut changed = Vec::new();
        for part in self.db.all(range.clone()).await? {
            let key = range.key(Fields(&part).text(SORT)?);
            let (mut read, mut rounds) = (Some(part), self.db.rounds());
            while let Some(mut item) = read {
                rounds.begin().await?;
                let before: Vec<LogEntry> = rows::unpack(rows::fields(&item)?, ENTRIES, JSON_BYTES)?;
                let mut entries = before.clone();
                let made = change(&mut entries);
                if entries != before {
                    let (packed, json_bytes) = rows::pack(&entries)?;
                    let was = item.insert(ENTRIES.to_owned(), packed);
                    item.insert(JSON_BYTES.to_owned(), json_bytes);
                    let Some(was) = was else { return Err(StoreError::Damaged("a log without entries".to_owned())) };
                    let as_read = Expression::new(format!("#{ENTRIES} = :was")).with(":was", was);
                    if self.db.write(&Write::put(Role::Other, &key, item).when(as_read)).await?.is_err() {
                        read = self.db.get(&key).await?;
                        continue;
                    }
                }
                changed.push(made);
                break;
            }
        }
        Ok(changed)
    }
}

/// Cuts entries into parts that fit an item; a log without entries has one empty part. The same
/// entries give the same parts.
fn parts(entries: &[LogEntry]) -> Result<Vec<&[LogEntry]>, StoreError> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (n, entry) in entries.iter().enumerate() {
        let size = serde_json::to_vec(entry)?.len() + 1;
        if n > start && bytes + size > PART_BYTES_MAX {
            parts.push(&entries[start..n]);
            (start, bytes) = (n, 0);
        }
        bytes += size;
    }
    parts.push(&entries[start..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use dragline_domain::capture::{CrawlType, Finality, Visit};
    use dragline_domain::frontier::{Sighting, UrlHistory};
    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::CrawlUrl;

    use super::*;

    fn entry(n: u32, detail_bytes: usize) -> LogEntry {
        let visit = Visit {
            sighting: Sighting::SEED,
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 1,
            outcome: Outcome::FileNotFound,
            finality: Finality::Final,
            detail: Some("x".repeat(detail_bytes)),
            exchange: None,
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        };
        LogEntry {
            n,
            url: CrawlUrl::try_from("https://a.example/".to_owned()).unwrap(),
            at: jiff::Timestamp::UNIX_EPOCH,
            visit,
            status: None,
            file: None,
            redirect: None,
            unchanged_since: None,
            change: None,
        }
    }

    #[test]
    fn a_log_is_split_by_the_size_of_items() {
        for (sizes, expected, why) in [
            (&[][..], &[0][..], "an empty one is put as well"),
            (&[10, 10], &[2], "a small one is one part"),
            (&[140_000, 140_000, 140_000], &[2, 1], "two fit"),
            (&[400_000, 10], &[1, 1], "one that is too large stands alone"),
        ] {
            let entries: Vec<LogEntry> = (0..).zip(sizes).map(|(n, &size)| entry(n, size)).collect();
            let parts = parts(&entries).unwrap();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), expected, "{why}");
            assert_eq!(parts.concat(), entries, "{why}: nothing is lost");
        }
    }
}
