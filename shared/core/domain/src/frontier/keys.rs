//! The keys of rows and objects.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ids::{CrawlId, Iteration, LeaseToken, TriggerId, Turn};
use crate::url::Origin;

/// An origin within a crawl: the unit of leasing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OriginKey {
    /// The crawl.
    pub crawl: CrawlId,
    /// The origin.
    pub origin: Origin,
}

impl fmt::Display for OriginKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.crawl, self.origin)
    }
}

/// The key of a segment: the n-th of its origin in its iteration, committed in this turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SegmentId {
    /// The origin of its captures.
    pub origin: OriginKey,
    /// The turn that committed it.
    pub turn: Turn,
    /// The lease's count of segments when it was committed. With the turn, which never restarts, it
    /// is unique.
    pub n: u64,
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}-{}", self.origin, self.turn, self.n)
    }
}

/// The key of a stored object: `/`-separated, each part of `A-Z a-z 0-9 . _ - ,`, no part empty or
/// of dots only.
///
/// It is used both as a path below the data directory and as a key in a bucket, so it must not be
/// able to lead elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectKey(String);

/// A text that is not a valid object key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid object key")]
pub struct ObjectKeyError(String);

/// The limit on one part of a key, in bytes: that of file systems on a name.
const PART_BYTES_MAX: usize = 255;

/// The limit on a key, in bytes: that of S3.
const KEY_BYTES_MAX: usize = 1024;

impl ObjectKey {
    /// Returns the key of the segment's WARC object. It includes the token, so that two workers
    /// that both believe they hold the lease never write the same object.
    #[must_use]
    pub fn for_segment(id: &SegmentId, iteration: Iteration, token: &LeaseToken) -> Self {
        Self(format!("{}{}-{}-{token}.warc.gz", Self::origin_prefix(&id.origin, iteration), id.turn, id.n))
    }

    /// Returns the key of a segment's documents. All parsers of the segment share one key, so that
    /// the first result stays.
    #[must_use]
    pub fn for_documents(id: &SegmentId, iteration: Iteration) -> Self {
        Self(format!("documents/{}{}-{}.jsonl.gz", Self::origin_path(&id.origin, iteration), id.turn, id.n))
    }

    /// Returns the key of a part of an iteration's items of one type. `table` is the type's
    /// [`Item::table`](crate::item::Item::table).
    #[must_use]
    pub fn for_items(crawl: &CrawlId, iteration: Iteration, table: &str, part: u32) -> Self {
        Self(format!("{}{table}/{part:05}.jsonl.gz", Self::items_prefix(crawl, iteration)))
    }

    /// Returns the prefix of the keys of an iteration's items.
    #[must_use]
    pub fn items_prefix(crawl: &CrawlId, iteration: Iteration) -> String {
        format!("items/{crawl}/{iteration}/")
    }

    /// Returns the key of a file of the crawl's word index.
    ///
    /// # Errors
    /// Fails if the name is not a valid file name.
    pub fn for_index_file(crawl: &CrawlId, name: &str) -> Result<Self, ObjectKeyError> {
        let key = Self::try_from(format!("{}files/{name}", Self::index_prefix(crawl)))?;
        if name.contains('/') { Err(ObjectKeyError(name.to_owned())) } else { Ok(key) }
    }

    /// Returns the key of an edition of the crawl's word index, by its number. S3 lists keys only
    /// in ascending order, so the newest comes first.
    #[must_use]
    pub fn for_edition(crawl: &CrawlId, number: u32) -> Self {
        Self(format!("{}{:010}.json", Self::editions_prefix(crawl), u32::MAX - number))
    }

    /// Returns the number of the edition with this key; `None` if it belongs to another object.
    #[must_use]
    pub fn edition_number(&self) -> Option<u32> {
        let (_, name) = self.0.rsplit_once("/editions/")?;
        Some(u32::MAX - name.strip_suffix(".json")?.parse::<u32>().ok()?)
    }

    /// Returns the prefix of the keys of a crawl's editions.
    #[must_use]
    pub fn editions_prefix(crawl: &CrawlId) -> String {
        format!("{}editions/", Self::index_prefix(crawl))
    }

    /// Returns the prefix of the keys of a crawl's word index.
    #[must_use]
    pub fn index_prefix(crawl: &CrawlId) -> String {
        format!("search/{crawl}/")
    }

    /// Returns the key of the report on an iteration in the form with this extension, such as
    /// `html`.
    #[must_use]
    pub fn for_report(crawl: &CrawlId, iteration: Iteration, extension: &str) -> Self {
        Self(format!("{}{iteration}.{extension}", Self::reports_prefix(crawl)))
    }

    /// Returns the prefix of the keys of a crawl's reports.
    #[must_use]
    pub fn reports_prefix(crawl: &CrawlId) -> String {
        format!("reports/{crawl}/")
    }

    /// Returns the prefix of the keys of a turn's objects. After a takeover, an object there with
    /// another token is an orphan.
    #[must_use]
    pub fn turn_prefix(origin: &OriginKey, iteration: Iteration, turn: Turn) -> String {
        format!("{}{turn}-", Self::origin_prefix(origin, iteration))
    }

    fn origin_prefix(origin: &OriginKey, iteration: Iteration) -> String {
        format!("raw/{}", Self::origin_path(origin, iteration))
    }

    fn origin_path(origin: &OriginKey, iteration: Iteration) -> String {
        format!("{}/{iteration}/{}/", origin.crawl, path_safe(&origin.origin))
    }

    /// Returns it as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes an origin as one part of a path: `https,example.org` or `http,127.0.0.1,8080`. IPv6
/// brackets and colons become `_`. One that is too long keeps its beginning, and ends in a digest
/// of the whole.
fn path_safe(origin: &Origin) -> String {
    let whole = path_safe_whole(origin);
    if whole.len() <= PART_BYTES_MAX {
        return whole;
    }
    let digest: String =
        Sha256::digest(origin.as_str().as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    // No origin has two commas in a row, so this cannot collide with a short one. By now it is all
    // ASCII.
    format!("{},,{digest}", &whole[..PART_BYTES_MAX - 2 - digest.len()])
}

fn path_safe_whole(origin: &Origin) -> String {
    origin
        .as_str()
        .replacen("://", ",", 1)
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
        .map_or_else(|| origin.as_str().replacen("://", ",", 1), |(host, port)| format!("{host},{port}"))
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ',') { c } else { '_' })
        .collect()
}

impl TryFrom<String> for ObjectKey {
    type Error = ObjectKeyError;

    fn try_from(text: String) -> Result<Self, ObjectKeyError> {
        let part_is_good = |part: &str| {
            !part.bytes().all(|b| b == b'.')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b','))
        };
        if text.len() <= KEY_BYTES_MAX && text.split('/').all(part_is_good) {
            Ok(Self(text))
        } else {
            Err(ObjectKeyError(text))
        }
    }
}

impl From<ObjectKey> for String {
    fn from(key: ObjectKey) -> Self {
        key.0
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The seeds of one origin that a trigger adds at once. If they do not fit into a transaction, it
/// adds them in parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seeding(String);

impl Seeding {
    /// Names this part of the trigger's seeds, counted from 0.
    #[must_use]
    pub fn new(trigger: &TriggerId, part: u32) -> Self {
        Self(format!("{trigger}#{part:04}"))
    }

    /// Returns it as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Restores the result of [`Seeding::as_str`].
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

/// The source of todo: the part of a chunk's key that orders chunks of one depth and makes them
/// unique.
///
/// A segment's name starts with the time of its commit, so that within one depth, links of earlier
/// pages are followed first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TodoSource(String);

impl TodoSource {
    /// Names seeds, which come before all links.
    #[must_use]
    pub fn seeds(seeding: &Seeding) -> Self {
        Self(format!("0#{}", seeding.0))
    }

    /// Names the links of a segment.
    #[must_use]
    pub fn segment(id: &SegmentId, committed_at: jiff::Timestamp) -> Self {
        Self(format!("1#{:015}#{}#{}-{}", committed_at.as_millisecond(), id.origin.origin, id.turn, id.n))
    }

    /// Returns it as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Restores the result of [`TodoSource::as_str`].
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

/// A place in the line of an origin's todo: breadth first, then what waits behind all others, then
/// checks ([`super::CHECK_DEPTH`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TodoPlace(u32);

impl TodoPlace {
    /// The place behind all URLs of whatever depth. None is as deep, and no check as near.
    const BEHIND: u32 = 500_000;

    /// Returns the place of URLs at this depth.
    #[must_use]
    pub const fn by_depth(depth: u32) -> Self {
        Self(depth)
    }

    /// Returns the place of URLs at this depth that wait behind all others.
    #[must_use]
    pub const fn behind(depth: u32) -> Self {
        Self(Self::BEHIND + depth)
    }

    /// Returns the depth of its URLs, in links from a seed.
    #[must_use]
    pub const fn depth(self) -> u32 {
        if self.0 >= Self::BEHIND && self.0 < super::CHECK_DEPTH { self.0 - Self::BEHIND } else { self.0 }
    }

    /// Returns the stored number, in the same order.
    #[must_use]
    pub const fn stored(self) -> u32 {
        self.0
    }

    /// Returns the place with this stored number.
    #[must_use]
    pub const fn from_stored(stored: u32) -> Self {
        Self(stored)
    }
}

/// The key of a todo chunk within its origin. Chunks are taken in key order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChunkKey {
    /// Its iteration.
    pub iteration: Iteration,
    /// Its place in the line.
    #[serde(rename = "depth")]
    pub place: TodoPlace,
    /// Its source.
    pub source: TodoSource,
    /// Its number among the chunks of that source and place.
    pub part: u32,
}

impl ChunkKey {
    /// Returns the distance of its URLs from a seed, in links.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.place.depth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_keys_cannot_lead_elsewhere() {
        let key = |origin: &str| {
            let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: origin.parse().unwrap() };
            let id = SegmentId { origin, turn: Turn(7), n: 3 };
            ObjectKey::for_segment(&id, Iteration::FIRST, &LeaseToken::from_bits(0xfe)).to_string()
        };
        let token = "000000000000000000000000000000fe";
        for (origin, path) in [
            ("https://example.org", "https,example.org"),
            ("http://127.0.0.1:8080", "http,127.0.0.1,8080"),
            ("http://[::1]:8080", "http,___1_,8080"),
            ("http://[::1]", "http,___1_"),
        ] {
            assert_eq!(key(origin), format!("raw/docs/1/{path}/7-3-{token}.warc.gz"));
            assert!(ObjectKey::try_from(key(origin)).is_ok(), "{origin}");
        }
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "http://[::1]".parse().unwrap() };
        let documents = ObjectKey::for_documents(&SegmentId { origin, turn: Turn(7), n: 3 }, Iteration::FIRST);
        assert_eq!(documents.as_str(), "documents/docs/1/http,___1_/7-3.jsonl.gz");
        for (text, why) in [
            ("", "empty"),
            ("/etc/passwd", "absolute"),
            ("raw/../x", "leads up"),
            ("raw//x", "an empty part"),
            ("raw/a b", "a space"),
            ("raw\\x", "a backslash"),
        ] {
            assert!(ObjectKey::try_from(text.to_owned()).is_err(), "{why}");
        }
    }

    #[test]
    fn the_newest_edition_of_an_index_is_listed_first() {
        let crawl: CrawlId = "docs".parse().unwrap();
        let keys: Vec<ObjectKey> = [0, 1, 2, 9, 10, 1_000_000].map(|n| ObjectKey::for_edition(&crawl, n)).into();
        assert!(keys.is_sorted_by(|older, newer| newer < older), "{keys:?}");
        let numbers: Vec<Option<u32>> = keys.iter().map(ObjectKey::edition_number).collect();
        assert_eq!(numbers, [0, 1, 2, 9, 10, 1_000_000].map(Some));
        let file = ObjectKey::for_index_file(&crawl, "0123abcd.store").unwrap();
        assert_eq!(file.as_str(), "search/docs/files/0123abcd.store");
        assert_eq!(file.edition_number(), None);
        for (name, why) in [("", "empty"), ("..", "leads up"), ("a/b", "a folder"), ("../editions/1.json", "another")] {
            assert!(ObjectKey::for_index_file(&crawl, name).is_err(), "{why}");
        }
    }

    #[test]
    fn parts_of_keys_fit_into_file_names() {
        // The longest valid name: 253 characters, in labels of 63.
        let host = |letters: usize| {
            let text: String = (1..=letters).map(|n| if n % 63 == 0 { '.' } else { 'h' }).collect();
            text.trim_end_matches('.').to_owned()
        };
        let longest = "c".repeat(CrawlId::LEN_MAX).parse::<CrawlId>().unwrap();
        let key_of = |origin: &str| OriginKey { crawl: longest.clone(), origin: origin.parse().unwrap() };
        for (origin, is_whole, why) in [
            (format!("http://{}", host(250)), true, "255 bytes as a directory"),
            (format!("https://{}", host(250)), false, "256 bytes"),
            (format!("https://{}", host(253)), false, "the longest name"),
            (format!("https://{}:65535", host(253)), false, "and a port"),
            (format!("http://{}:8080", host(248)), false, "a name of 248 letters and a port"),
        ] {
            let key = key_of(&origin);
            let id = SegmentId { origin: key.clone(), turn: Turn(u64::MAX), n: u64::MAX };
            let iteration = Iteration::new(u32::MAX).unwrap();
            let token = LeaseToken::from_bits(u128::MAX);
            let object = ObjectKey::for_segment(&id, iteration, &token);
            for written in [&object, &ObjectKey::for_documents(&id, iteration)] {
                // Local files have a suffix while they are being written.
                let longest = written.as_str().split('/').map(str::len).max().unwrap();
                assert!(longest <= 255 && written.as_str().len() <= 1024, "{why}: {written}");
                assert!(ObjectKey::try_from(written.to_string()).is_ok(), "{why}: {written}");
                assert_eq!(written.as_str().contains(",,"), !is_whole, "{why}: {written}");
            }
            let prefix = ObjectKey::turn_prefix(&key, iteration, id.turn);
            assert!(object.as_str().starts_with(&prefix), "an orphan is found by it: {why}");
        }
        let (one, other) = (format!("https://{}a", host(251)), format!("https://{}b", host(251)));
        let prefix = |origin: &str| ObjectKey::turn_prefix(&key_of(origin), Iteration::FIRST, Turn(1));
        assert_ne!(prefix(&one), prefix(&other), "what differs in its end alone is told apart");
    }

    #[test]
    fn chunks_are_ordered_breadth_first_then_by_time() {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://example.org".parse().unwrap() };
        let segment = |n, second| {
            let id = SegmentId { origin: origin.clone(), turn: Turn(1), n };
            TodoSource::segment(&id, jiff::Timestamp::from_second(second).unwrap())
        };
        let place = TodoPlace::by_depth;
        let chunk = |depth, source, part| ChunkKey { iteration: Iteration::FIRST, place: place(depth), source, part };
        let seeds = |part| TodoSource::seeds(&Seeding::new(&TriggerId("t".into()), part));
        let ordered = [
            chunk(0, seeds(0), 0),
            chunk(0, seeds(2), 0),
            chunk(0, seeds(10), 0),
            chunk(1, segment(9, 1_000), 0),
            chunk(1, segment(9, 1_000), 1),
            chunk(1, segment(2, 20_000), 0),
            chunk(2, segment(1, 500), 0),
        ];
        assert!(ordered.is_sorted());
    }
}
