//! Defects in how documents are kept.

use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;

use super::Mutation;

pub(crate) struct MutatedDocuments<D> {
    pub(crate) inner: D,
    pub(crate) mutation: Option<Mutation>,
}

impl<D: Documents> Documents for MutatedDocuments<D> {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        self.inner.load(segment).await
    }

    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        if self.mutation == Some(Mutation::EarlierForgotten) {
            return Ok(vec![None; places.len()]);
        }
        self.inner.load_each(origin, places).await
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        self.inner.put_new(segment, documents).await
    }
}
