//! The documents that parsers extracted from segments.

use std::future::Future;

use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};

use super::error::PortResult;

/// The result of putting a segment's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutDocuments {
    /// They are stored now.
    Stored,
    /// Another parse of the segment stored these before. They are valid; ours are dropped.
    Found(Vec<Document>),
}

/// A store of the documents of segments. Each set is put once, before its links are claimed, so a
/// segment's links are fixed even if its parsers die.
pub trait Documents: Send + Sync {
    /// Returns the documents of a segment; `None` if none are stored.
    fn load(&self, segment: &SegmentRow) -> impl Future<Output = PortResult<Option<Vec<Document>>>> + Send;

    /// Returns documents of an origin, one for each request and in its order; `None` for each that
    /// is not stored.
    fn load_each(
        &self,
        origin: &OriginKey,
        places: &[VisitPlace],
    ) -> impl Future<Output = PortResult<Vec<Option<Document>>>> + Send;

    /// Stores documents if there are none yet.
    fn put_new(
        &self,
        segment: &SegmentRow,
        documents: &[Document],
    ) -> impl Future<Output = PortResult<PutDocuments>> + Send;
}
