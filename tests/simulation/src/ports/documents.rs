//! The documents behind the conductor.

use dragline_domain::document::Document;
use dragline_domain::frontier::SegmentRow;
use dragline_pipeline::ports::documents::{Documents, PutDocuments};
use dragline_pipeline::ports::error::PortResult;

use super::Gate;

pub(crate) struct GatedDocuments<D> {
    pub(crate) gate: Gate,
    pub(crate) inner: D,
}

impl<D: Documents> Documents for GatedDocuments<D> {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        self.gate.pass("documents.load", &segment.id, self.inner.load(segment)).await
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        self.gate.pass("documents.put_new", &segment.id, self.inner.put_new(segment, documents)).await
    }
}
