//! What parsers made of segments.

use std::future::Future;

use dragline_domain::document::Document;
use dragline_domain::frontier::SegmentRow;

use super::error::PortResult;

/// What became of putting a segment's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutDocuments {
    /// They are there now.
    Stored,
    /// Another parse of the segment put these before. They count, ours do not.
    Found(Vec<Document>),
}

/// Keeps the documents of segments, each set put once, before its links are claimed: so a segment's links are fixed, however its parsers die.
pub trait Documents: Send + Sync {
    /// The documents of a segment; `None` if none were put.
    fn load(&self, segment: &SegmentRow) -> impl Future<Output = PortResult<Option<Vec<Document>>>> + Send;

    /// Puts them if there are none.
    fn put_new(
        &self,
        segment: &SegmentRow,
        documents: &[Document],
    ) -> impl Future<Output = PortResult<PutDocuments>> + Send;
}
