//! Decides what stays of an origin's entries, by the logs of its segments.

use std::collections::{BTreeSet, HashMap};

use dragline_domain::capture::{Finality, LogEntry, RecordKind};
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, PageFinding, SegmentId, SegmentRow, SegmentState, VisitPlace};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::retention::{Entry, GoodDocument, Pointers, References, RetainedPart};
use dragline_domain::url::CrawlUrl;
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::documents::S3Documents;
use crate::frontier::{DynamoFrontier, ListedRows};
use crate::rows::keys;

/// The most concurrent requests for logs.
const LOGS_MAX: usize = 8;

/// The number of URLs looked up at once.
const KNOWN_MAX: usize = 1_000;

type Placed = Entry<VisitPlace>;

/// A URL in memory: part of its SHA-256.
type UrlPrint = [u8; 16];

/// A walk through an origin's segments, newest first: entries refer only to earlier ones, so each
/// log is read once. For each URL of the origin it remembers, in some 150 bytes, which earlier
/// entries are needed.
#[derive(Debug)]
pub(super) struct BackwardWalk {
    origin: OriginKey,
    cut: Iteration,
    /// The last segment decided. It and newer ones are done.
    decided: Option<SegmentId>,
    /// The sort key of the last segment read.
    read: Option<String>,
    urls: HashMap<UrlPrint, UrlReferences>,
}

/// The references to a URL's entries.
#[derive(Debug)]
struct UrlReferences {
    wanted: References<VisitPlace>,
    /// Whether its candidate was read; that happens when the URL first occurs in a dropped
    /// iteration.
    is_candidate_read: bool,
}

/// A segment of a dropped iteration, and what stays of its entries.
#[derive(Debug)]
pub(super) struct DecidedSegment {
    pub(super) segment: SegmentRow,
    /// The number of its entries.
    pub(super) visits: u64,
    /// The number of entries with a document.
    pub(super) documents: u64,
    /// The number of entries that stay complete because something refers to them.
    pub(super) kept: u64,
}

impl BackwardWalk {
    /// Returns a walk that decides about the segments before this one; about all if it is `None`.
    pub(super) fn new(origin: OriginKey, cut: Iteration, decided: Option<SegmentId>) -> Self {
        Self { origin, cut, decided, read: None, urls: HashMap::new() }
    }

    /// Whether the walk continues from there.
    pub(super) fn is_at(&self, origin: &OriginKey, cut: Iteration, decided: &SegmentId) -> bool {
        self.origin == *origin && self.cut == cut && self.decided.as_ref() == Some(decided)
    }

    /// Returns the last segment decided.
    pub(super) const fn decided(&self) -> Option<&SegmentId> {
        self.decided.as_ref()
    }

    /// Reads about this many segments, and decides about the parsed ones of dropped iterations.
    /// `None` if there are no more.
    pub(super) async fn next(
        &mut self,
        frontier: &DynamoFrontier,
        documents: &S3Documents,
        limit: usize,
    ) -> PortResult<Option<Vec<DecidedSegment>>> {
        let ListedRows { rows, next } = frontier.list_newest_segments(&self.origin, self.read.take(), limit).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.read = Some(keys::segment(&last.id).sort);
        let mut loaded = Vec::with_capacity(rows.len());
        let load = |segment: SegmentRow| async move {
            load_entries(frontier, documents, &segment).await.map(|entries| (segment, entries))
        };
        let mut loads = Box::pin(stream::iter(rows).map(load).buffered(LOGS_MAX));
        while let Some(segment) = loads.try_next().await? {
            loaded.push(segment);
        }
        self.read_candidates(frontier, &loaded).await?;
        let mut decided = Vec::new();
        for (segment, entries) in loaded {
            let stays: Vec<RetainedPart> =
                entries.iter().rev().map(|(url, entry)| self.references(url).wanted.visit_entry(entry)).collect();
            let was_decided = self.decided.as_ref().is_some_and(|last| is_since(&segment.id, last));
            if segment.iteration > self.cut || segment.state != SegmentState::Processed || was_decided {
                continue;
            }
            self.decided = Some(segment.id.clone());
            let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
            decided.push(DecidedSegment {
                segment,
                visits: count(entries.len()),
                documents: count(entries.iter().filter(|(_, entry)| entry.made == GoodDocument::Document).count()),
                kept: count(stays.iter().filter(|stay| **stay == RetainedPart::Whole).count()),
            });
        }
        if next.is_none() && decided.is_empty() { Ok(None) } else { Ok(Some(decided)) }
    }

    /// Reads the references of the candidates of URLs that occur in a dropped iteration for the
    /// first time. Eventually consistent reads suffice: references to a dropped iteration are never
    /// new.
    async fn read_candidates(
        &mut self,
        frontier: &DynamoFrontier,
        loaded: &[(SegmentRow, Vec<(CrawlUrl, Placed)>)],
    ) -> PortResult<()> {
        let dropped = loaded.iter().filter(|(segment, _)| segment.iteration <= self.cut);
        let urls: BTreeSet<&CrawlUrl> = dropped.flat_map(|(_, entries)| entries.iter().map(|(url, _)| url)).collect();
        let unread: Vec<CrawlUrl> =
            urls.into_iter().filter(|url| !self.references(url).is_candidate_read).cloned().collect();
        for urls in unread.chunks(KNOWN_MAX) {
            let found = frontier.load_known_urls(&self.origin.crawl, urls).await?;
            for url in urls {
                let candidate = found.get(url).map(|known| &known.known);
                let known = self.references(url);
                known.is_candidate_read = true;
                known.wanted.add_candidate(&Pointers {
                    document: candidate.and_then(|known| known.document).map(|document| document.place),
                    compared_with: candidate
                        .and_then(|known| known.last.as_ref())
                        .map(|last| in_millis(last.fetched_at)),
                });
            }
        }
        Ok(())
    }

    fn references(&mut self, url: &CrawlUrl) -> &mut UrlReferences {
        let cut = self.cut;
        let known = || UrlReferences { wanted: References::new(cut), is_candidate_read: false };
        self.urls.entry(print(url)).or_insert_with(known)
    }
}

/// Whether a segment is this one, or was committed after it.
fn is_since(segment: &SegmentId, other: &SegmentId) -> bool {
    (segment.turn, segment.n) >= (other.turn, other.n)
}

fn print(url: &CrawlUrl) -> UrlPrint {
    let digest = Sha256::digest(url.as_str());
    let mut print = UrlPrint::default();
    print.copy_from_slice(&digest[..16]);
    print
}

/// Returns the entries of a segment by its log, or by its documents if the log has expired.
async fn load_entries(
    frontier: &DynamoFrontier,
    documents: &S3Documents,
    segment: &SegmentRow,
) -> PortResult<Vec<(CrawlUrl, Placed)>> {
    let Some(log) = frontier.load_log(segment).await? else {
        let documents = documents.load(segment).await?.unwrap_or_default();
        return Ok(documents
            .into_iter()
            .map(|document| (document.url.clone(), from_document(segment, &document)))
            .collect());
    };
    // Only a document names its body if that was fetched by an earlier visit.
    let is_remade = |entry: &LogEntry| stored_kind(entry) == GoodDocument::Document && !has_body(entry);
    let remade = match log.entries.iter().any(is_remade) {
        true => documents.load(segment).await?.unwrap_or_default(),
        false => Vec::new(),
    };
    let entries = log.entries.into_iter().map(|entry| {
        let document = remade.iter().find(|document| document.n == entry.n);
        let placed = from_log(segment, &entry, document);
        (entry.url, placed)
    });
    Ok(entries.collect())
}

fn place(segment: &SegmentRow, n: u32) -> VisitPlace {
    VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n }
}

fn from_log(segment: &SegmentRow, entry: &LogEntry, document: Option<&Document>) -> Placed {
    let place = place(segment, entry.n);
    let stored = document.and_then(|document| document.body.as_ref()).map(|body| body.visit);
    Entry {
        place,
        iteration: segment.iteration,
        at: in_millis(entry.at),
        finality: entry.visit.finality,
        change: entry.change.as_ref().map(|change| change.kind),
        made: stored_kind(entry),
        unchanged_since: entry.unchanged_since.map(in_millis),
        confirmed: entry.confirmed(),
        body: stored.or_else(|| has_body(entry).then_some(place)),
    }
}

fn from_document(segment: &SegmentRow, document: &Document) -> Placed {
    let is_good = document.outcome.page_finding() == PageFinding::Content || document.page.is_some();
    Entry {
        place: place(segment, document.n),
        iteration: segment.iteration,
        at: document.body.as_ref().map_or(segment.committed_at, |body| in_millis(body.at)),
        finality: Finality::Final,
        change: None,
        made: if is_good { GoodDocument::Document } else { GoodDocument::Nothing },
        unchanged_since: None,
        confirmed: None,
        body: document.body.as_ref().map(|body| body.visit),
    }
}

/// Returns what was stored for an entry. A page that asks for noindex shares its outcome with a
/// refusal, which changes nothing else, and one whose use is reserved with a URL that was not
/// requested.
fn stored_kind(entry: &LogEntry) -> GoodDocument {
    let may_be_withheld = matches!(entry.visit.outcome, Outcome::BlockedAtRequestOfRemote | Outcome::UseReserved);
    let is_withheld = may_be_withheld && entry.status.is_some_and(|status| status < 400);
    let is_good = entry.visit.finality != Finality::Retried
        && (entry.visit.outcome.page_finding() == PageFinding::Content || is_withheld);
    if is_good { GoodDocument::Document } else { GoodDocument::Nothing }
}

fn has_body(entry: &LogEntry) -> bool {
    entry.file.as_ref().is_some_and(|file| file.record == RecordKind::Response)
}

/// Rounds to the precision of times in some rows, for comparison.
fn in_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
