//! The crawl log: each segment's is put once and whole.

use std::sync::Arc;

use dragline_domain::capture::{CrawlType, Finality, LogEntry, SegmentLog, Visit};
use dragline_domain::frontier::{ReadAs, SegmentRow, Sighting, UrlHistory};
use dragline_domain::outcome::Outcome;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{Filter, Reader};

use super::lag::assert_comes_to;
use super::samples::{at, key, url};
use super::world::{UNLIMITED, World, long_path};

/// Runs every behaviour of a log on `((frontier, reader), guard)`, which the future given makes;
/// the reader reads [`crawl`](crate::conformance::reader::crawl), and the guard is dropped after
/// the test.
#[macro_export]
macro_rules! log_suite {
    ($make:expr) => {
        $crate::log_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { log, $make;
            a_log_is_put_once
            a_log_without_entries_is_put_like_any_other
            a_log_beyond_the_size_of_an_item_is_whole
        }
    };
}

/// Begins an iteration and commits its first segment.
async fn segment(frontier: &impl Frontier) -> SegmentRow {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    world.crawl_until_idle(&origin, 1, 0).await
}

/// The log of a segment in which these paths had these outcomes.
fn log(segment: &SegmentRow, ended: &[(String, Outcome)]) -> Arc<SegmentLog> {
    let entry = |(n, (path, outcome)): (u32, &(String, Outcome))| LogEntry {
        n,
        url: url(&format!("https://a.example{path}")),
        at: at(2),
        visit: Visit {
            sighting: Sighting {
                depth: 1,
                via: Some(url("https://a.example/")),
                requisite_steps: 0,
                read_as: ReadAs::Typed,
            },
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 1,
            outcome: *outcome,
            finality: Finality::Final,
            detail: None,
            exchange: None,
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        status: None,
        file: None,
        redirect: None,
        unchanged_since: None,
        change: None,
    };
    Arc::new(SegmentLog {
        segment: segment.id.clone(),
        iteration: segment.iteration,
        object: segment.object.clone(),
        committed_at: segment.committed_at,
        agent: "agent".to_owned(),
        entries: (0..).zip(ended).map(entry).collect(),
    })
}

/// Each URL and its outcome, as put.
fn logged(log: &SegmentLog) -> Vec<(String, Outcome)> {
    log.entries.iter().map(|entry| (entry.url.to_string(), entry.visit.outcome)).collect()
}

/// Each URL and its outcome, as read.
async fn read(reader: &impl Reader) -> Vec<(String, Outcome)> {
    let rows = reader.log(&Filter::default(), None, 1_000).await.unwrap().rows;
    rows.into_iter().map(|row| (row.url, row.outcome)).collect()
}

/// Putting a segment's log again, the same or another, changes nothing.
pub async fn a_log_is_put_once((frontier, reader): &(impl Frontier, impl Reader)) {
    let segment = segment(frontier).await;
    let first = log(&segment, &[("/".into(), Outcome::FileIngested), ("/b".into(), Outcome::FileNotFound)]);
    let other = log(&segment, &[("/c".into(), Outcome::FileGone)]);
    for (put, why) in [(&first, "the first"), (&first, "the same again"), (&other, "another")] {
        frontier.put_log(put).await.unwrap();
        assert_comes_to(async || read(reader).await, logged(&first), why).await;
    }
}

/// A log may be empty, and counts as put.
pub async fn a_log_without_entries_is_put_like_any_other((frontier, reader): &(impl Frontier, impl Reader)) {
    let segment = segment(frontier).await;
    for ended in [&[][..], &[("/".into(), Outcome::FileIngested)]] {
        frontier.put_log(&log(&segment, ended)).await.unwrap();
    }
    assert_comes_to(async || read(reader).await, Vec::new(), "the empty log was put first").await;
}

/// A log of over 400 KB, the limit of a DynamoDB item, is read back whole, however often it is put.
pub async fn a_log_beyond_the_size_of_an_item_is_whole((frontier, reader): &(impl Frontier, impl Reader)) {
    let segment = segment(frontier).await;
    let ended: Vec<_> = (0..220).map(|number| (long_path(number), Outcome::BlockedUrlByLocalPolicy)).collect();
    let log = log(&segment, &ended);
    assert!(log.entries.iter().map(|entry| entry.url.as_str().len()).sum::<usize>() > 400 << 10, "its URLs alone");
    for why in ["put", "put again"] {
        frontier.put_log(&log).await.unwrap();
        let is_whole = async || read(reader).await == logged(&log);
        assert_comes_to(is_whole, true, why).await;
    }
}
