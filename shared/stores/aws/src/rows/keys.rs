//! The key of each row. Numbers are zero-padded, so that they sort numerically.

use data_encoding::HEXLOWER;
use dragline_domain::frontier::{ChunkKey, Leftover, OriginKey, Seeding, SegmentId, TodoPlace, TodoSource};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId, Turn};
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_ports::frontier::Fact;
use sha2::{Digest as _, Sha256};

use crate::dynamo::{Key, Range};
use crate::errors::StoreError;
use crate::tables::Table;

/// The longest sort key, in bytes.
const SORT_BYTES_MAX: usize = 1_024;

const ORIGIN: &str = "origin#";

const SEGMENT: &str = "segment#";

const LEFTOVER: &str = "leftover#";

const NOTICE: &str = "notice#";

/// The partition with the names of all crawls. No name has a `#`.
const NAMES: &str = "#crawls";

/// The partition of where the crawls' definitions came from.
const LINKS: &str = "#links";

fn crawl_key(crawl: &CrawlId, sort: impl Into<String>) -> Key {
    Key { table: Table::Crawls, partition: crawl.to_string(), sort: sort.into() }
}

fn origin_key(table: Table, origin: &OriginKey, sort: impl Into<String>) -> Key {
    Key { table, partition: origin.to_string(), sort: sort.into() }
}

fn range(key: &Key, prefix: &str) -> Range {
    let Key { table, partition, .. } = key.clone();
    Range { table, partition, prefix: Some(prefix.to_owned()), after: None }
}

/// Returns the origin of a partition of [`Table::Frontier`].
pub(crate) fn parse_origin(partition: &str) -> Result<OriginKey, StoreError> {
    let damaged = || StoreError::Damaged(format!("`{partition}` is not an origin of a crawl"));
    let (crawl, origin) = partition.split_once('#').ok_or_else(damaged)?;
    Ok(OriginKey { crawl: crawl.parse().map_err(|_| damaged())?, origin: origin.parse().map_err(|_| damaged())? })
}

pub(crate) fn crawl(crawl: &CrawlId) -> Key {
    crawl_key(crawl, "spec")
}

/// Returns the key of a crawl's name among all.
pub(crate) fn name(crawl: &CrawlId) -> Key {
    Key { table: Table::Crawls, partition: NAMES.to_owned(), sort: crawl.to_string() }
}

/// Returns the range of the names of all crawls.
pub(crate) fn names() -> Range {
    Range { table: Table::Crawls, partition: NAMES.to_owned(), prefix: None, after: None }
}

/// Returns the key of where the crawl's definition came from, among those of all crawls.
pub(crate) fn link(crawl: &CrawlId) -> Key {
    Key { table: Table::Crawls, partition: LINKS.to_owned(), sort: crawl.to_string() }
}

/// Returns the range of where the definitions of all crawls came from.
pub(crate) fn links() -> Range {
    Range { table: Table::Crawls, partition: LINKS.to_owned(), prefix: None, after: None }
}

/// Returns the key of a version of a crawl's definition.
pub(crate) fn definition(crawl: &CrawlId, version: u32) -> Key {
    crawl_key(crawl, format!("spec#{version:010}"))
}

/// Returns the key of a further part of a definition that is too large for one row.
pub(crate) fn definition_part(crawl: &CrawlId, version: u32, part: u32) -> Key {
    crawl_key(crawl, format!("spec#{version:010}#{part:03}"))
}

/// Returns the key of the origin that joined the crawl's scope as this number.
pub(crate) fn joined(crawl: &CrawlId, place: u64) -> Key {
    crawl_key(crawl, format!("joined#{place:010}"))
}

/// Returns the key of the progress of remaking the crawl's documents.
pub(crate) fn remake(crawl: &CrawlId) -> Key {
    crawl_key(crawl, "remake")
}

/// Returns the key of the number of times that URLs of the crawl were forgotten.
pub(crate) fn forgotten(crawl: &CrawlId) -> Key {
    crawl_key(crawl, "forgotten")
}

pub(crate) fn trigger(crawl: &CrawlId, trigger: &TriggerId) -> Key {
    crawl_key(crawl, format!("trigger#{trigger}"))
}

pub(crate) fn iteration(crawl: &CrawlId, number: Iteration) -> Key {
    crawl_key(crawl, format!("iteration#{:010}", number.number()))
}

/// Returns the key of one of an iteration's count rows. Each has a partition of its own, as each
/// commit adds to one.
pub(crate) fn counts(crawl: &CrawlId, number: Iteration, shard: u8) -> Key {
    let (partition, sort) = (format!("counts#{crawl}#{shard:02}"), format!("{:010}", number.number()));
    Key { table: Table::Frontier, partition, sort }
}

pub(crate) fn iterations(crawl: &CrawlId) -> Range {
    range(&crawl_key(crawl, ""), "iteration#")
}

/// Returns the key of an origin in the crawl's list.
pub(crate) fn listed(origin: &OriginKey) -> Key {
    crawl_key(&origin.crawl, format!("{ORIGIN}{}", origin.origin))
}

/// Returns the range of a crawl's origins after one of them.
pub(crate) fn listed_after(crawl: &CrawlId, after: Option<&Origin>) -> Range {
    Range { after: after.map(|origin| format!("{ORIGIN}{origin}")), ..range(&crawl_key(crawl, ""), ORIGIN) }
}

/// Returns the origin of a sort key in the list.
pub(crate) fn origin_listed(sort: &str) -> Result<Origin, StoreError> {
    let origin = sort.strip_prefix(ORIGIN).and_then(|origin| origin.parse().ok());
    origin.ok_or_else(|| StoreError::Damaged(format!("`{sort}` is not an origin in a list")))
}

pub(crate) fn leftover(origin: &OriginKey, leftover: &Leftover) -> Key {
    let Leftover { iteration, turn: Turn(turn), .. } = leftover;
    crawl_key(&origin.crawl, format!("{}{}#{turn:020}", leftover_prefix(*iteration), origin.origin))
}

/// Returns the range of leftovers of a crawl, an iteration, or one of its origins.
pub(crate) fn leftovers(crawl: &CrawlId, iteration: Option<Iteration>, origin: Option<&Origin>) -> Range {
    let prefix = match (iteration, origin) {
        (Some(iteration), Some(origin)) => format!("{}{origin}#", leftover_prefix(iteration)),
        (Some(iteration), None) => leftover_prefix(iteration),
        (None, _) => LEFTOVER.to_owned(),
    };
    range(&crawl_key(crawl, ""), &prefix)
}

fn leftover_prefix(iteration: Iteration) -> String {
    format!("{LEFTOVER}{:010}#", iteration.number())
}

/// Returns the iteration and origin of a leftover's sort key.
pub(crate) fn parse_leftover(sort: &str) -> Result<(Iteration, Origin), StoreError> {
    let parse = || {
        let (iteration, rest) = sort.strip_prefix(LEFTOVER)?.split_once('#')?;
        let (origin, _turn) = rest.rsplit_once('#')?;
        Some((Iteration::new(iteration.parse().ok()?)?, origin.parse().ok()?))
    };
    parse().ok_or_else(|| StoreError::Damaged(format!("`{sort}` is not a leftover")))
}

/// Returns the key of a host's row, in a partition that cannot be an origin's: there, a scheme
/// follows the `#`.
pub(crate) fn host(host: &HostKey) -> Key {
    Key { table: Table::Frontier, partition: format!("host#{host}"), sort: "host".to_owned() }
}

/// Returns the key of a registered domain's row, likewise.
pub(crate) fn domain(domain: &DomainKey) -> Key {
    Key { table: Table::Frontier, partition: format!("domain#{domain}"), sort: "domain".to_owned() }
}

pub(crate) fn notice(crawl: &CrawlId, key: &str) -> Key {
    crawl_key(crawl, format!("{NOTICE}{key}"))
}

/// Returns the key of the mark that people were told about a fact.
pub(crate) fn told_mark(crawl: &CrawlId, fact: &Fact) -> Key {
    crawl_key(crawl, format!("told#{fact}"))
}

/// Returns the key of a notice, within its crawl, from a sort key.
pub(crate) fn notice_key(sort: &str) -> Result<String, StoreError> {
    let key = sort.strip_prefix(NOTICE).map(str::to_owned);
    key.ok_or_else(|| StoreError::Damaged(format!("`{sort}` is not a notice")))
}

pub(crate) fn lease(origin: &OriginKey) -> Key {
    origin_key(Table::Frontier, origin, "lease")
}

pub(crate) fn inbox(origin: &OriginKey) -> Key {
    origin_key(Table::Frontier, origin, "inbox")
}

/// Returns the key of a seeding's mark.
pub(crate) fn seeding(origin: &OriginKey, iteration: Iteration, seeding: &Seeding) -> Key {
    origin_key(Table::Frontier, origin, format!("seeding#{:010}#{}", iteration.number(), seeding.as_str()))
}

pub(crate) fn robots(origin: &OriginKey) -> Key {
    origin_key(Table::Frontier, origin, "robots")
}

pub(crate) fn segment(id: &SegmentId) -> Key {
    origin_key(Table::Frontier, &id.origin, format!("{SEGMENT}{:020}#{:020}", id.turn.0, id.n))
}

/// Returns a sort key before the segments of a turn and after those of earlier ones.
pub(crate) fn before_turn(turn: Turn) -> String {
    format!("{SEGMENT}{:020}#", turn.0)
}

/// Returns the range of an origin's segments, in commit order.
pub(crate) fn segments(origin: &OriginKey) -> Range {
    range(&origin_key(Table::Frontier, origin, ""), SEGMENT)
}

/// Returns the segment of a sort key.
pub(crate) fn segment_id(origin: &OriginKey, sort: &str) -> Result<SegmentId, StoreError> {
    match owed(sort)? {
        OwedRow::Segment { turn, n } => Ok(SegmentId { origin: origin.clone(), turn, n }),
        OwedRow::Lease | OwedRow::Inbox => Err(StoreError::Damaged(format!("`{sort}` is not a segment"))),
    }
}

pub(crate) fn chunk(origin: &OriginKey, key: &ChunkKey) -> Key {
    let ChunkKey { iteration, place, source, part } = key;
    let sort = format!("{}{:010}#{}#{part:010}", todo_prefix(*iteration), place.stored(), source.as_str());
    origin_key(Table::Frontier, origin, sort)
}

/// Returns the range of an origin's todo in an iteration, breadth first.
pub(crate) fn chunks(origin: &OriginKey, iteration: Iteration) -> Range {
    range(&origin_key(Table::Frontier, origin, ""), &todo_prefix(iteration))
}

fn todo_prefix(iteration: Iteration) -> String {
    format!("todo#{:010}#", iteration.number())
}

/// Returns the chunk of a sort key.
pub(crate) fn chunk_key(sort: &str) -> Result<ChunkKey, StoreError> {
    let parse = || {
        let (iteration, rest) = sort.strip_prefix("todo#")?.split_once('#')?;
        let (place, rest) = rest.split_once('#')?;
        let (source, part) = rest.rsplit_once('#')?;
        Some(ChunkKey {
            iteration: Iteration::new(iteration.parse().ok()?)?,
            place: TodoPlace::from_stored(place.parse().ok()?),
            source: TodoSource::from_stored(source.to_owned()),
            part: part.parse().ok()?,
        })
    };
    parse().ok_or_else(|| StoreError::Damaged(format!("`{sort}` is not a todo chunk")))
}

/// The rows of [`Table::Frontier`] that appear in the index, by their sort keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwedRow {
    Lease,
    Inbox,
    Segment { turn: Turn, n: u64 },
}

/// Returns the row for a sort key found in the index.
pub(crate) fn owed(sort: &str) -> Result<OwedRow, StoreError> {
    let segment = |rest: &str| {
        let (turn, n) = rest.split_once('#')?;
        Some(OwedRow::Segment { turn: Turn(turn.parse().ok()?), n: n.parse().ok()? })
    };
    let row = match sort {
        "lease" => Some(OwedRow::Lease),
        "inbox" => Some(OwedRow::Inbox),
        other => other.strip_prefix(SEGMENT).and_then(segment),
    };
    row.ok_or_else(|| StoreError::Damaged(format!("`{sort}` is not owed anything")))
}

/// Returns the key of a candidate's row: its path or, if that is too long for a sort key, a hash of
/// it.
pub(crate) fn candidate(origin: &OriginKey, path_and_query: &str) -> Key {
    origin_key(Table::Candidates, origin, candidate_sort(path_and_query))
}

/// Returns the range of an origin's candidates after one of them.
pub(crate) fn candidates_after(origin: &OriginKey, after: Option<&str>) -> Range {
    let Key { table, partition, .. } = origin_key(Table::Candidates, origin, "");
    Range { table, partition, prefix: None, after: after.map(candidate_sort) }
}

/// Returns the sort key. A path starts with `/` and a hash with `#`, so they cannot be confused; a
/// hash stays as it is.
fn candidate_sort(path_and_query: &str) -> String {
    if path_and_query.len() <= SORT_BYTES_MAX {
        path_and_query.to_owned()
    } else {
        format!("#{}", HEXLOWER.encode(&Sha256::digest(path_and_query)))
    }
}

pub(crate) fn log(segment: &SegmentId, iteration: Iteration, part: usize) -> Key {
    origin_key(Table::Log, &segment.origin, format!("{}{part:04}", log_prefix(segment, iteration)))
}

/// Returns the range of the parts of a segment's log.
pub(crate) fn log_parts(segment: &SegmentId, iteration: Iteration) -> Range {
    range(&origin_key(Table::Log, &segment.origin, ""), &log_prefix(segment, iteration))
}

fn log_prefix(segment: &SegmentId, iteration: Iteration) -> String {
    let SegmentId { turn: Turn(turn), n, .. } = segment;
    format!("{:010}#{turn:020}#{n:020}#", iteration.number())
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::{CHECK_DEPTH, LeftoverReason};

    use super::*;

    fn origin() -> OriginKey {
        OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example:8443".parse().unwrap() }
    }

    #[test]
    fn keys_are_read_back() {
        let origin = origin();
        assert_eq!(parse_origin(&lease(&origin).partition).unwrap(), origin);
        assert_eq!(origin_listed(&listed(&origin).sort).unwrap(), origin.origin);
        let id = SegmentId { origin: origin.clone(), turn: Turn(7), n: 3 };
        let committed_at = jiff::Timestamp::from_second(1_795_000_000).unwrap();
        let seeds = TodoSource::seeds(&Seeding::new(&TriggerId("a#b".into()), 0));
        for source in [TodoSource::segment(&id, committed_at), seeds] {
            let key = ChunkKey { iteration: Iteration::FIRST, place: TodoPlace::by_depth(2), source, part: 11 };
            assert_eq!(chunk_key(&chunk(&origin, &key).sort).unwrap(), key);
        }
        assert!(matches!(owed(&segment(&id).sort), Ok(OwedRow::Segment { turn: Turn(7), n: 3 })));
        assert_eq!(segment_id(&origin, &segment(&id).sort).unwrap(), id);
        let left = Leftover { iteration: Iteration::FIRST, turn: Turn(7), reason: LeftoverReason::Stopped, count: 3 };
        assert_eq!(parse_leftover(&leftover(&origin, &left).sort).unwrap(), (Iteration::FIRST, origin.origin));
    }

    #[test]
    fn chunks_sort_as_their_keys_do() {
        let trigger = |name: &str| TodoSource::seeds(&Seeding::new(&TriggerId(name.into()), 0));
        let key = |place, source: &TodoSource, part| ChunkKey {
            iteration: Iteration::FIRST,
            place,
            source: source.clone(),
            part,
        };
        let (at, behind) = (TodoPlace::by_depth, TodoPlace::behind);
        let ordered = [
            key(at(0), &trigger("t"), 2),
            key(at(0), &trigger("t"), 10),
            key(at(0), &trigger("u"), 0),
            key(at(2), &trigger("a"), 0),
            key(at(10), &trigger("a"), 0),
            key(behind(1), &trigger("a"), 0),
            key(at(CHECK_DEPTH), &trigger("a"), 0),
        ];
        assert!(ordered.is_sorted(), "as the domain orders them");
        assert!(ordered.iter().map(|key| chunk(&origin(), key).sort).is_sorted(), "as DynamoDB does");
    }

    #[test]
    fn long_paths_are_hashed_once() {
        let long = format!("/{}", "a".repeat(1_024));
        let hashed = candidate(&origin(), &long).sort;
        assert_eq!((hashed.len(), hashed.starts_with('#')), (65, true), "it fits");
        assert_eq!(candidate(&origin(), &hashed).sort, hashed, "a cursor of sort keys stays where it is");
        assert_eq!(candidate(&origin(), "/a").sort, "/a", "what fits is unchanged");
    }

    #[test]
    fn damaged_keys_are_reported() {
        for sort in ["todo#x#1#s#1", "todo#1", "chunk#1#1#s#1"] {
            assert!(chunk_key(sort).is_err(), "{sort}");
        }
        for sort in ["robots", "segment#1", "segment#a#b"] {
            assert!(owed(sort).is_err(), "{sort}");
        }
        assert!(segment_id(&origin(), "lease").is_err(), "another row");
        for sort in ["leftover#1", "leftover#0#https://a.example#1", "leftover#1#a#1", "origin#https://a.example"] {
            assert!(parse_leftover(sort).is_err(), "{sort}");
        }
    }
}
