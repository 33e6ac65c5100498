//! What parsers extracted from segments.

use std::future::Future;

use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};

use super::error::PortResult;

/// The result of putting a segment's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutDocuments {
    /// They are stored now.
    Stored,
    /// Another parse of the segment put these before. They count; ours do not.
    Found(Vec<Document>),
}

/// Keeps the documents of segments. Each set is put once, before its links are claimed, so a segment's links are fixed even if its parsers die.
pub trait Documents: Send + Sync {
    /// Returns the documents of a segment; `None` if none were put.
    fn load(&self, segment: &SegmentRow) -> impl Future<Output = PortResult<Option<Vec<Document>>>> + Send;

    /// Returns documents of an origin one by one, in the order of the request; `None` for each that is not there.
    fn load_each(
        &self,
        origin: &OriginKey,
        places: &[VisitPlace],
    ) -> impl Future<Output = PortResult<Vec<Option<Document>>>> + Send;

    /// Puts documents if there are none yet.
    fn put_new(
        &self,
        segment: &SegmentRow,
        documents: &[Document],
    ) -> impl Future<Output = PortResult<PutDocuments>> + Send;
}
