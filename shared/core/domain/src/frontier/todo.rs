//! Claimed URLs that are waiting to be fetched, in chunks.

use serde::{Deserialize, Serialize};

use super::{ChunkKey, Demand, FollowUp, LastCapture, ReadAs, Sighting, TodoPlace, TodoSource, UrlHistory};
use crate::ids::Iteration;
use crate::url::CrawlUrl;

/// The limit on a chunk's entries as JSON, in bytes. Deflated, they stay below 64 KB, however badly
/// they compress.
pub const CHUNK_BYTES_MAX: usize = 60_000;

/// A claimed URL that is waiting to be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TodoEntry {
    /// The URL within its origin.
    #[serde(rename = "u")]
    pub path_and_query: String,
    /// The page that led to it; `None` for a seed.
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub via: Option<CrawlUrl>,
    /// Redirects and canonical links followed in a row to get here.
    #[serde(rename = "r", default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub redirects: u8,
    /// Requisites followed in a row to get here ([`Sighting::requisite_steps`]).
    #[serde(rename = "q", default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub requisite_steps: u8,
    /// How its body is parsed ([`Sighting::read_as`]).
    #[serde(rename = "s", default, skip_serializing_if = "ReadAs::is_typed")]
    pub read_as: ReadAs,
    /// The data of earlier iterations about it.
    #[serde(rename = "k", default, skip_serializing_if = "UrlHistory::is_empty")]
    pub known: UrlHistory,
    /// The demand that led to it; `None` if the crawl itself did.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<Box<Demand>>,
    /// The follow-up that its server demanded; `None` before that. Only retries have it.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<Box<FollowUp>>,
}

/// Todo of one origin and place from one source. Written once, consumed by offset, deleted when
/// exhausted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoChunk {
    /// Its key, which determines its order.
    pub key: ChunkKey,
    /// The URLs, in the order in which they were found.
    pub entries: Vec<TodoEntry>,
}

impl TodoEntry {
    /// Creates the entry of a new URL without a page that links to it.
    #[must_use]
    pub fn new(path_and_query: impl Into<String>) -> Self {
        Self {
            path_and_query: path_and_query.into(),
            via: None,
            redirects: 0,
            requisite_steps: 0,
            read_as: ReadAs::Typed,
            known: UrlHistory::default(),
            demand: None,
            follow_up: None,
        }
    }

    /// Whether its request counts for the budget of pages. Asking whether a URL is there does not,
    /// nor does what a page needs to be shown.
    #[must_use]
    pub fn counts_as_page(&self) -> bool {
        self.read_as != ReadAs::Check && self.requisite_steps == 0
    }

    /// Returns the URL's sighting, at this depth.
    #[must_use]
    pub fn sighting(&self, depth: u32) -> Sighting {
        Sighting { depth, via: self.via.clone(), requisite_steps: self.requisite_steps, read_as: self.read_as }
    }

    /// The limit on an entry of a chunk as JSON, in bytes: two URLs, a capture's validators and a
    /// demand, each of the maximum length.
    pub const JSON_BYTES_MAX: usize =
        json_bytes(2 * CrawlUrl::LEN_MAX, Some(LastCapture::ETAG_BYTES_MAX + LastCapture::LAST_MODIFIED_BYTES_MAX))
            + 257
            + Demand::JSON_BYTES_MAX;

    /// The limit on the entry of a retry, which may be a follow-up, in bytes.
    pub(super) const WITH_FOLLOW_UP_JSON_BYTES_MAX: usize = Self::JSON_BYTES_MAX + 5 + FollowUp::JSON_BYTES_MAX;

    /// Returns an upper bound of the entry's size as JSON, in bytes.
    pub(super) fn json_bytes_max(&self) -> usize {
        let urls = self.path_and_query.len() + self.via.as_ref().map_or(0, |via| via.as_str().len());
        let validators =
            self.known.last.as_ref().map(|last| {
                last.etag.as_ref().map_or(0, String::len) + last.last_modified.as_ref().map_or(0, String::len)
            });
        let UrlHistory { last: _, document, interval_ms, away } = &self.known;
        let of_steps = if self.requisite_steps > 0 { 8 } else { 0 };
        let of_reading = self.read_as.name().map_or(0, |name| name.len() + 7);
        let of_known = [document.map(|_| 120), interval_ms.map(|_| 40), away.map(|_| 75)];
        let of_demand = self.demand.as_ref().map_or(0, |demand| 6 + demand.json_bytes_max());
        let of_follow_up = self.follow_up.as_ref().map_or(0, |follow_up| 5 + follow_up.json_bytes_max());
        json_bytes(urls, validators)
            + of_steps
            + of_reading
            + of_known.into_iter().flatten().sum::<usize>()
            + of_demand
            + of_follow_up
    }
}

/// Returns an upper bound of the JSON of an entry with this many bytes of URLs, and of validators
/// if it has a capture. URLs are ASCII with next to nothing to escape; validators may contain
/// anything.
const fn json_bytes(urls: usize, validators: Option<usize>) -> usize {
    let last = match validators {
        Some(validators) => 500 + 6 * validators,
        None => 0,
    };
    urls + last + 50
}

/// Splits the todo of one origin, source and place into chunks within the size limit. The same
/// entries yield the same chunks.
#[must_use]
pub fn split_into_chunks(
    iteration: Iteration,
    place: TodoPlace,
    source: &TodoSource,
    entries: impl IntoIterator<Item = TodoEntry>,
) -> Vec<TodoChunk> {
    let mut chunks: Vec<TodoChunk> = Vec::new();
    let mut bytes = usize::MAX;
    for entry in entries {
        let size = entry.json_bytes_max();
        match chunks.last_mut() {
            Some(chunk) if bytes.saturating_add(size) <= CHUNK_BYTES_MAX => {
                chunk.entries.push(entry);
                bytes += size;
            }
            _ => {
                let part = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
                let key = ChunkKey { iteration, place, source: source.clone(), part };
                chunks.push(TodoChunk { key, entries: vec![entry] });
                bytes = size;
            }
        }
    }
    chunks
}

/// Creates the longest possible entry of a chunk.
#[cfg(test)]
pub(super) fn longest_entry() -> TodoEntry {
    let long = |url: &str| format!("{url}{}", "x".repeat(CrawlUrl::LEN_MAX - url.len()));
    let last = LastCapture {
        etag: Some("\u{1}".repeat(LastCapture::ETAG_BYTES_MAX)),
        last_modified: Some("\u{1}".repeat(LastCapture::LAST_MODIFIED_BYTES_MAX)),
        payload_sha1: [255; 20],
        decoded_sha1: [255; 20],
        fetched_at: jiff::Timestamp::MAX,
        outcome: crate::outcome::Outcome::BlockedByRobotsTxt,
        read_by: Some(super::FieldsDigest(u32::MAX)),
    };
    let via = CrawlUrl::try_from(long("https://a.example/")).unwrap();
    let place = super::VisitPlace {
        iteration: Iteration::new(u32::MAX).unwrap(),
        turn: crate::ids::Turn(u64::MAX),
        segment: u64::MAX,
        n: u32::MAX,
    };
    let links = super::LinkDecisions { by: super::RulesDigest(u32::MAX), depth: u32::MAX };
    let standing = super::DocumentStanding::Withdrawn;
    let document = super::LastDocument { place, outcome: crate::outcome::Outcome::UnknownError, standing, links };
    let away = crate::recrawl::Absence::Failing { since: jiff::Timestamp::MAX };
    let known = UrlHistory {
        last: Some(Box::new(last)),
        document: Some(document),
        interval_ms: Some(u64::MAX),
        away: Some(away),
    };
    let pattern = |text: &str| text.repeat(Demand::PATTERN_BYTES_MAX / 2).parse().unwrap();
    let (pattern, skip) = (Some(pattern("\"")), vec![pattern("\"")]);
    let demand = Demand { pattern, skip, depth: Some(u32::MAX), visits: super::Visits::All };
    let demand = Some(Box::new(demand));
    TodoEntry {
        path_and_query: long("/"),
        via: Some(via),
        redirects: u8::MAX,
        requisite_steps: u8::MAX,
        read_as: ReadAs::Sitemap,
        known,
        demand,
        follow_up: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_exceeds_its_upper_bound() {
        let bare = TodoEntry::new("/");
        let follow_up = Some(Box::new(super::super::follow_up::longest_follow_up()));
        let retried = TodoEntry { follow_up, ..longest_entry() };
        for (entry, bytes_max, why) in [
            (longest_entry(), TodoEntry::JSON_BYTES_MAX, "all of it"),
            (bare, TodoEntry::JSON_BYTES_MAX, "next to nothing"),
            (retried, TodoEntry::WITH_FOLLOW_UP_JSON_BYTES_MAX, "with a follow-up"),
        ] {
            let json = serde_json::to_string(&entry).unwrap();
            assert!(json.len() <= entry.json_bytes_max(), "{why}: {} bytes", json.len());
            assert!(entry.json_bytes_max() <= bytes_max, "{why}");
        }
    }
}
