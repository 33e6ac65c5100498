//! The documents for the visits of a segment: those put for them and, for visits that found their
//! bodies unchanged, the confirmed ones, which earlier segments put.

use std::collections::BTreeMap;

use dragline_domain::capture::SegmentLog;
use dragline_domain::document::Document;
use dragline_domain::frontier::{SegmentRow, VisitPlace};
use dragline_domain::url::CrawlUrl;
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;

use super::DynamoReader;

/// Documents by the number of the visit's entry.
pub(super) type DocumentsByEntry = BTreeMap<u32, Document>;

impl DynamoReader {
    /// Returns the wanted documents. Without a log, which may have expired, these are the segment's
    /// own.
    ///
    /// The objects of earlier segments are read one after the other, each once, as
    /// [`Documents::load_each`] does.
    pub(super) async fn load_described(
        &self,
        segment: &SegmentRow,
        log: Option<&SegmentLog>,
        wanted: Option<&CrawlUrl>,
    ) -> PortResult<DocumentsByEntry> {
        let own = self.load_documents(segment, wanted).await?.into_iter();
        let mut described: DocumentsByEntry = own.map(|document| (document.n, document)).collect();
        let entries = log.map_or(&[][..], |log| &log.entries).iter();
        let entries = entries.filter(|entry| wanted.is_none_or(|url| entry.url == *url));
        let without_own = entries.filter(|entry| described.get(&entry.n).is_none_or(is_bare));
        let (entries, places): (Vec<u32>, Vec<VisitPlace>) =
            without_own.filter_map(|entry| Some((entry.n, entry.confirmed()?))).unzip();
        let confirmed = self.documents.load_each(&segment.id.origin, &places).await?;
        described.extend(entries.into_iter().zip(confirmed).filter_map(|(n, document)| Some((n, document?))));
        Ok(described)
    }
}

/// Whether a document only says how its URL ended.
const fn is_bare(document: &Document) -> bool {
    document.page.is_none() && document.body.is_none()
}
