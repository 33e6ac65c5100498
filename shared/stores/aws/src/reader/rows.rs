//! Converts a stack's data to the rows of a data directory's views: the same fields, with the same
//! values.

use data_encoding::HEXLOWER;
use dragline_domain::capture::{Finality, LogEntry, SegmentLog};
use dragline_domain::document::{Document, Page};
use dragline_domain::frontier::{OriginKey, SegmentRow, Sighting};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::recrawl::Absence;
use dragline_domain::url::CrawlUrl;
use dragline_formats::warc::Truncation;
use dragline_ports::reader::{
    CandidateRow, LinkRow, LogRow, PageRequests, PageRow, RecordPlace, SeenPageRow, StoredSegment, Uses,
};

use super::described::DocumentsByEntry;
use crate::rows::known::KnownUrl;

/// Whether a page stands for itself, or is a copy of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copy {
    /// It stands for itself.
    Original,
    /// Another page stands for it.
    OfAnother,
}

/// Returns the visits of a segment.
pub(super) fn log(log: &SegmentLog) -> Vec<LogRow> {
    log.entries.iter().map(|entry| visit(log, entry)).collect()
}

fn visit(log: &SegmentLog, entry: &LogEntry) -> LogRow {
    let LogEntry { visit, file, .. } = entry;
    let (exchange, file) = (visit.exchange.as_ref(), file.as_ref());
    LogRow {
        crawl: log.segment.origin.crawl.to_string(),
        iteration: log.iteration.number(),
        url: entry.url.to_string(),
        depth: visit.sighting.depth,
        via: via(&visit.sighting),
        crawl_type: visit.crawl_type,
        outcome: visit.outcome,
        r#final: visit.finality == Finality::Final,
        tries: visit.tries,
        resends: exchange.map(|exchange| exchange.resends.into()),
        at: entry.at,
        status: exchange.and(entry.status),
        duration_ms: exchange.map(|exchange| u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX)),
        first_byte_ms: exchange.and_then(|exchange| exchange.first_byte_ms),
        remote: exchange.and_then(|exchange| exchange.remote).map(|remote| remote.to_string()),
        detail: visit.detail.clone(),
        content_type: file.and_then(|file| file.content_type.clone()),
        body_bytes: file.map(|file| file.body_bytes),
        truncated: file.and_then(|file| Some(Truncation::from_reason(file.truncated.as_deref()?))),
        redirects_to: entry.redirect.as_ref().map(|redirect| redirect.target.to_string()),
        record: file.map(|file| RecordPlace { object: log.object.clone(), offset: file.offset, length: file.length }),
        agent: log.agent.clone(),
        change: entry.change.clone(),
        page_requests: exchange.and_then(|exchange| PageRequests::from_exchange(exchange)),
    }
}

/// Returns the answers among the visits of a segment, each with the content of the document for
/// what the URL showed then.
pub(super) fn seen_pages(log: &SegmentLog, visits: Vec<LogRow>, documents: &DocumentsByEntry) -> Vec<SeenPageRow> {
    let answered = log.entries.iter().zip(visits).filter(|(_, visit)| visit.r#final);
    answered
        .filter_map(|(entry, visit)| {
            let document = documents.get(&entry.n);
            seen_page(visit, document)
        })
        .collect()
}

/// Returns a visit as a page; `None` if nothing of it was stored.
fn seen_page(visit: LogRow, document: Option<&Document>) -> Option<SeenPageRow> {
    let page = document.and_then(|document| document.page.as_ref());
    let text = |of: fn(&Page) -> &Option<String>| page.and_then(|page| of(page).clone());
    let is_copy = visit.outcome == Outcome::NotCanonical;
    Some(SeenPageRow {
        crawl: visit.crawl,
        iteration: visit.iteration,
        url: visit.url,
        outcome: visit.outcome,
        depth: visit.depth,
        status: visit.status,
        content_type: visit.content_type,
        body_bytes: visit.body_bytes,
        at: visit.at,
        title: text(|page| &page.title),
        description: text(|page| &page.description),
        language: text(|page| &page.language),
        charset: text(|page| &page.charset),
        canonical: page.and_then(|page| page.canonical.as_ref()).map(CrawlUrl::to_string),
        text: page.map(|page| if is_copy { String::new() } else { page.text.clone() }),
        record: visit.record?,
        uses: document.and_then(Uses::from_document),
    })
}

/// Returns the page that the site shows now at the URL of a segment's document; `None` if the place
/// of its body is unknown.
pub(super) fn page(segment: &SegmentRow, document: &Document, known: &KnownUrl, copy: Copy) -> Option<PageRow> {
    let (body, page) = (document.body.as_ref()?, document.page.as_ref());
    let text = |of: fn(&Page) -> &Option<String>| page.and_then(|page| of(page).clone());
    let outcome = match (known.known.document?.outcome, copy) {
        (Outcome::FileIngested | Outcome::NotCanonical, Copy::OfAnother) => Outcome::NotCanonical,
        (Outcome::FileIngested | Outcome::NotCanonical, Copy::Original) => Outcome::FileIngested,
        (other, _) => other,
    };
    Some(PageRow {
        crawl: segment.id.origin.crawl.to_string(),
        iteration: body.visit.iteration.number(),
        url: document.url.to_string(),
        outcome,
        depth: known.sighting.depth,
        status: Some(body.status),
        content_type: body.content_type.clone(),
        body_bytes: Some(body.body_bytes),
        at: body.at,
        title: text(|page| &page.title),
        description: text(|page| &page.description),
        language: text(|page| &page.language),
        charset: text(|page| &page.charset),
        canonical: page.and_then(|page| page.canonical.as_ref()).map(CrawlUrl::to_string),
        text: page.map(|page| if outcome == Outcome::NotCanonical { String::new() } else { page.text.clone() }),
        record: RecordPlace { object: body.object.clone(), offset: body.offset, length: body.length },
        first_seen: known.first_seen,
        last_checked: known.checked_at,
        last_changed: known.changed_at,
        last_outcome: known.last.map(|last| last.outcome),
        uses: Uses::from_document(document),
        markup: document.content.as_ref().and_then(|content| content.markup.clone()),
    })
}

/// Returns the iteration whose answer a segment's document shows.
pub(super) fn answered_in(segment: &SegmentRow, document: &Document) -> Iteration {
    document.body.as_ref().map_or(segment.iteration, |body| body.visit.iteration)
}

/// Returns the links of a segment's documents, each with its iteration.
pub(super) fn links<'d>(
    segment: &SegmentRow,
    documents: impl IntoIterator<Item = (Iteration, &'d Document)>,
) -> Vec<LinkRow> {
    let links = documents
        .into_iter()
        .flat_map(|(iteration, document)| document.links.iter().map(move |link| (iteration, &document.url, link)));
    links
        .map(|(iteration, from, link)| LinkRow {
            crawl: segment.id.origin.crawl.to_string(),
            iteration: iteration.number(),
            from_url: from.to_string(),
            to_url: link.target.to_string(),
            kind: link.kind,
            disposition: link.disposition.clone(),
            anchor: link.anchor.clone(),
        })
        .collect()
}

/// Converts a known URL.
pub(super) fn candidate(origin: &OriginKey, known: &KnownUrl) -> CandidateRow {
    let (last, capture) = (known.last, known.known.last.as_ref());
    CandidateRow {
        crawl: origin.crawl.to_string(),
        url: format!("{}{}", origin.origin, known.path_and_query),
        queued_in: known.queued_in.number(),
        first_seen: known.first_seen,
        depth: known.sighting.depth,
        via: via(&known.sighting),
        due_at: known.due_at,
        interval_ms: known.known.interval_ms,
        last_outcome: last.map(|last| last.outcome),
        last_at: last.map(|last| last.at),
        last_iteration: last.map(|last| last.iteration.number()),
        last_contentful_outcome: known.contentful.map(|(outcome, _)| outcome),
        last_contentful_at: known.contentful.map(|(_, at)| at),
        etag: capture.and_then(|capture| capture.etag.clone()),
        last_modified: capture.and_then(|capture| capture.last_modified.clone()),
        decoded_sha1: capture.map(|capture| HEXLOWER.encode(&capture.decoded_sha1)),
        standing: known.known.document.map(|document| document.standing),
        away_since: known.known.away.map(Absence::since),
    }
}

/// Returns the stored data of a segment.
pub(super) fn stored_segment(segment: SegmentRow) -> StoredSegment {
    let SegmentRow { id, iteration, object, object_bytes, committed_at, .. } = segment;
    StoredSegment { iteration, origin: id.origin.origin, object, object_bytes, committed_at }
}

fn via(sighting: &Sighting) -> Option<String> {
    sighting.via.as_ref().map(CrawlUrl::to_string)
}
