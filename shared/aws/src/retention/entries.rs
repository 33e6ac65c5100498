//! All entries of the URLs of some segments, from the logs of their origin.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dragline_domain::capture::{Finality, LogEntry, RecordKind};
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, Says, SegmentId, SegmentRow, VisitPlace};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::retention::{Entry, Made, Pointers, Stay, stays};
use dragline_domain::url::CrawlUrl;
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use jiff::Timestamp;

use crate::documents::S3Documents;
use crate::frontier::{DynamoFrontier, Listed};

/// How many logs are requested at the same time.
const LOGS_MAX: usize = 8;

/// How many segments are listed at once.
const LISTED_MAX: usize = 200;

type Placed = Entry<VisitPlace>;

/// The URLs of some segments, each with all of its entries.
pub(super) struct Group {
    by_url: HashMap<CrawlUrl, Vec<Placed>>,
}

impl Group {
    /// Loads the entries of these segments, and then those of their URLs in the origin's other segments.
    pub(super) async fn load(
        frontier: &DynamoFrontier,
        documents: &S3Documents,
        origin: &OriginKey,
        segments: &[SegmentRow],
    ) -> PortResult<Self> {
        let mut by_url: HashMap<CrawlUrl, Vec<Placed>> = HashMap::new();
        let mut loaded = loads(frontier, documents, segments.to_vec());
        while let Some(entries) = loaded.try_next().await? {
            for (url, entry) in entries {
                by_url.entry(url).or_default().push(entry);
            }
        }
        let own: BTreeSet<&SegmentId> = segments.iter().map(|segment| &segment.id).collect();
        let mut after = None;
        loop {
            let Listed { rows, next } = frontier.list_segments(origin, after, LISTED_MAX).await?;
            let others = rows.into_iter().filter(|row| !own.contains(&row.id)).collect();
            let mut loaded = loads(frontier, documents, others);
            while let Some(entries) = loaded.try_next().await? {
                for (url, entry) in entries {
                    if let Some(entries) = by_url.get_mut(&url) {
                        entries.push(entry);
                    }
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        by_url.values_mut().for_each(|entries| entries.sort_unstable_by_key(|entry| entry.place));
        Ok(Self { by_url })
    }

    /// Returns what stays of each entry. Candidates are read without consistency: what refers to a dropped iteration is never new.
    pub(super) async fn stays(
        &self,
        frontier: &DynamoFrontier,
        crawl: &CrawlId,
        cut: Iteration,
    ) -> PortResult<BTreeMap<VisitPlace, Stay>> {
        let urls: Vec<CrawlUrl> = self.by_url.keys().cloned().collect();
        let mut found = BTreeMap::new();
        for urls in urls.chunks(1_000) {
            let known = frontier.load_known_urls(crawl, urls).await?;
            for url in urls {
                let known = known.get(url).map(|known| &known.known);
                let pointers = Pointers {
                    document: known.and_then(|known| known.document).map(|document| document.place),
                    compared_with: known.and_then(|known| known.last.as_ref()).map(|last| in_millis(last.fetched_at)),
                };
                let entries = &self.by_url[url];
                found.extend(entries.iter().map(|entry| entry.place).zip(stays(entries, &pointers, cut)));
            }
        }
        Ok(found)
    }

    /// Returns the entries of one of the segments.
    pub(super) fn of_segment(&self, segment: &SegmentRow) -> Vec<&Placed> {
        let is_of = |entry: &&Placed| (entry.place.turn, entry.place.segment) == (segment.id.turn, segment.id.n);
        self.by_url.values().flatten().filter(is_of).collect()
    }
}

fn loads<'a>(
    frontier: &'a DynamoFrontier,
    documents: &'a S3Documents,
    segments: Vec<SegmentRow>,
) -> impl TryStreamExt<Ok = Vec<(CrawlUrl, Placed)>, Error = dragline_ports::error::PortError> + Unpin + 'a {
    let load = move |segment: SegmentRow| async move { of_segment(frontier, documents, &segment).await };
    Box::pin(stream::iter(segments).map(load).buffered(LOGS_MAX))
}

/// Returns the entries of a segment by its log; by its documents if the log is forgotten.
async fn of_segment(
    frontier: &DynamoFrontier,
    documents: &S3Documents,
    segment: &SegmentRow,
) -> PortResult<Vec<(CrawlUrl, Placed)>> {
    let Some(log) = frontier.load_log(segment).await? else {
        let documents = documents.load(segment).await?.unwrap_or_default();
        return Ok(documents
            .into_iter()
            .map(|document| (document.url.clone(), of_document(segment, &document)))
            .collect());
    };
    // Only a document says of which body it was made if that was fetched before.
    let is_remade = |entry: &LogEntry| made(entry) == Made::Document && !has_body(entry);
    let remade = match log.entries.iter().any(is_remade) {
        true => documents.load(segment).await?.unwrap_or_default(),
        false => Vec::new(),
    };
    let entries = log.entries.into_iter().map(|entry| {
        let document = remade.iter().find(|document| document.n == entry.n);
        let placed = of_log(segment, &entry, document);
        (entry.url, placed)
    });
    Ok(entries.collect())
}

fn place(segment: &SegmentRow, n: u32) -> VisitPlace {
    VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n }
}

fn of_log(segment: &SegmentRow, entry: &LogEntry, document: Option<&Document>) -> Placed {
    let place = place(segment, entry.n);
    let stored = document.and_then(|document| document.body.as_ref()).map(|body| body.visit);
    Entry {
        place,
        iteration: segment.iteration,
        at: in_millis(entry.at),
        finality: entry.visit.finality,
        change: entry.change.as_ref().map(|change| change.kind),
        made: made(entry),
        unchanged_since: entry.unchanged_since.map(in_millis),
        body: stored.or_else(|| has_body(entry).then_some(place)),
    }
}

fn of_document(segment: &SegmentRow, document: &Document) -> Placed {
    let is_good = document.outcome.says() == Says::Content || document.page.is_some();
    Entry {
        place: place(segment, document.n),
        iteration: segment.iteration,
        at: document.body.as_ref().map_or(segment.committed_at, |body| in_millis(body.at)),
        finality: Finality::Final,
        change: None,
        made: if is_good { Made::Document } else { Made::Nothing },
        unchanged_since: None,
        body: document.body.as_ref().map(|body| body.visit),
    }
}

/// Whether a good document was put for an entry. A page that asks for noindex shares its outcome with a refusal, which changes nothing else.
fn made(entry: &LogEntry) -> Made {
    let asks_for_noindex =
        entry.visit.outcome == Outcome::BlockedAtRequestOfRemote && entry.status.is_some_and(|status| status < 400);
    let is_good =
        entry.visit.finality != Finality::Retried && (entry.visit.outcome.says() == Says::Content || asks_for_noindex);
    if is_good { Made::Document } else { Made::Nothing }
}

fn has_body(entry: &LogEntry) -> bool {
    entry.file.as_ref().is_some_and(|file| file.record == RecordKind::Response)
}

/// Rounds to the precision in which some rows store instants, so that they can be compared.
fn in_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
