//! Remaking documents from the stored answers of earlier visits, by the current extractors and
//! rules. Nothing is requested or claimed: links that would be followed now, but were not before,
//! are left to the next crawl.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dragline_domain::capture::Visit;
use dragline_domain::conclusion::document_outcome;
use dragline_domain::document::{Disposition, Document, LinkKind, StoredBody};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_formats::blob::Blob;

use crate::World;
use crate::context::CrawlContext;
use crate::parse::make::document::{bare_document, document_of_answer, remake_document, stuck_document};
use crate::parse::make::earlier::EarlierDocuments;
use crate::parse::make::uses::uses_of_stored;
use crate::parse::read::records::{self, Bodies, Capture};
use dragline_ports::archive::Archive;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

/// Remakes the documents of a segment's entries, with one answer in memory at a time. If an answer
/// cannot be read, or breaks the extractor, the earlier document stays, and the new one is STUCK.
///
/// # Errors
/// Returns the archive's errors.
pub(crate) async fn documents(
    world: &impl World,
    context: &Arc<CrawlContext>,
    captures: &Arc<Vec<Capture>>,
    earlier: &EarlierDocuments,
) -> PortResult<Vec<Document>> {
    let mut documents = Vec::with_capacity(captures.len());
    for (n, capture) in (0..).zip(captures.iter()) {
        let document = match earlier.for_capture(capture) {
            None => bare_document(n, capture),
            Some(Document { body: None, .. }) => {
                remake_document(context, capture, earlier.for_capture(capture), bare_document(n, capture))
            }
            Some(earlier @ Document { body: Some(body), .. }) => match stored_answer(world, body).await? {
                Err(why) => stuck_document(n, capture, &why),
                Ok(bytes) => {
                    let (own, all, earlier) = (Arc::clone(context), Arc::clone(captures), earlier.clone());
                    let made = tokio::task::spawn_blocking(move || {
                        let capture = &all[n as usize];
                        make_from_record(
                            &own,
                            n,
                            capture,
                            (&earlier, LaterDirective::since_body(capture, &earlier)),
                            &bytes,
                        )
                    });
                    made.await.map_err(|error| {
                        PortError::new(PortErrorKind::Other, "make a document again", &capture.url, error.to_string())
                    })?
                }
            },
        };
        documents.push(document);
    }
    Ok(documents)
}

/// Reads the record of an answer; the inner error says why it is missing.
pub(crate) async fn stored_answer(world: &impl World, body: &StoredBody) -> PortResult<Result<Blob, String>> {
    let range = body.offset..body.offset.saturating_add(body.length);
    match world.archive().get_range(&body.object, range).await {
        Ok(Some(record)) => Ok(Ok(record)),
        Ok(None) => Ok(Err(format!("its stored answer is missing: {}", body.object))),
        Err(error) if matches!(error.kind, PortErrorKind::TooLarge | PortErrorKind::Corrupt) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// Makes a document from the record of an earlier answer, as if the URL were visited then, at its
/// current distance from the seeds. STUCK if that fails.
pub(crate) fn make_from_record(
    context: &CrawlContext,
    n: u32,
    capture: &Capture,
    (earlier, asked): (&Document, LaterDirective),
    record: &Blob,
) -> Document {
    let read = records::captures(record, Bodies::for_crawl(context)).unwrap_or_default();
    let answer = read.captures.into_iter().find(|answer| answer.url == capture.url);
    let Some(Capture { visit: then, response: Some(response), file, dom, .. }) = answer else {
        return stuck_document(n, capture, "its stored answer cannot be read");
    };
    let Visit { outcome, detail, missing, uses, exchange, .. } = then;
    // Prefers the sign known when the answer came; the current one is better than none.
    let missing = missing.or_else(|| capture.visit.missing.clone());
    let uses = uses_of_stored(earlier, uses);
    let visit = Visit { outcome, detail, missing, uses, exchange, ..capture.visit.clone() };
    let answered = Capture { visit, response: Some(response), file, dom, ..capture.clone() };
    let made = catch_unwind(AssertUnwindSafe(|| document_of_answer(context, &answered, bare_document(n, &answered))));
    let Ok(mut document) = made else { return stuck_document(n, capture, "the parser broke on it") };
    if asked == LaterDirective::ForNoindex {
        document.withhold();
        let by_itself = document_outcome(context.definition.canonical, &document, &document.links);
        (document.outcome, document.detail) = by_itself.unwrap_or_else(|| (earlier.outcome, earlier.detail.clone()));
    }
    leave_what_is_new(earlier, &mut document);
    Document { body: earlier.body.clone(), ..document }
}

/// The directives for crawlers in later answers without a body (304), which the stored answer
/// lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaterDirective {
    /// Not to index the page.
    ForNoindex,
    /// None.
    ForNothing,
}

impl LaterDirective {
    /// Returns the directive in the document of a visit without a body.
    pub(crate) fn from_document(document: &Document) -> Self {
        let asks_for_noindex = match &document.page {
            Some(page) => page.directives.noindex,
            None => document.outcome == Outcome::BlockedAtRequestOfRemote,
        };
        if asks_for_noindex { Self::ForNoindex } else { Self::ForNothing }
    }

    /// Returns the directive between a document's answer and the visit being remade.
    pub(crate) fn since_body(capture: &Capture, document: &Document) -> Self {
        let place = capture.visit.known.document.map(|document| document.place);
        let is_elsewhere = document.body.as_ref().map(|body| body.visit) != place;
        if is_elsewhere { Self::from_document(document) } else { Self::ForNothing }
    }
}

/// Leaves to the next crawl the links that would be followed now and were not before: only a crawl
/// claims URLs. What a visit found out by comparing with other pages stays.
pub(crate) fn leave_what_is_new(earlier: &Document, document: &mut Document) {
    let followed = earlier.links.iter().filter(|link| link.disposition.is_claimed());
    let followed: HashMap<(LinkKind, &CrawlUrl), &Disposition> =
        followed.map(|link| ((link.kind, &link.target), &link.disposition)).collect();
    for link in document.links.iter_mut().filter(|link| link.disposition.is_claimed()) {
        match followed.get(&(link.kind, &link.target)) {
            None => link.disposition = Disposition::Later,
            Some(order @ (Disposition::Last | Disposition::Changed)) if link.disposition == Disposition::Follow => {
                link.disposition = (*order).clone();
            }
            Some(_) => {}
        }
    }
    if let Some(truth) = earlier.content.as_ref().and_then(|content| content.lastmod) {
        document.content.get_or_insert_default().lastmod = Some(truth);
    }
}
