//! The documents behind the conductor.

use std::sync::Arc;

use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;

use super::Gate;

pub(crate) struct GatedDocuments<D> {
    pub(crate) gate: Gate,
    pub(crate) inner: Arc<D>,
}

impl<D: Documents + 'static> Documents for GatedDocuments<D> {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        self.gate.pass("documents.load", &segment.id, self.inner.load(segment)).await
    }

    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        self.gate.pass("documents.load_each", origin, self.inner.load_each(origin, places)).await
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        if self.gate.put_off.holds("documents.put_new") {
            let (gate, inner) = (self.gate.without_delay(), Arc::clone(&self.inner));
            let (segment, documents) = (segment.clone(), documents.to_vec());
            self.gate.put_off.put_off(async move {
                gate.pass("documents.put_new", &segment.id, inner.put_new(&segment, &documents)).await.map(drop)
            });
            return Ok(PutDocuments::Stored);
        }
        self.gate.pass("documents.put_new", &segment.id, self.inner.put_new(segment, documents)).await
    }
}
