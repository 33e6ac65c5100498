//! Stores of documents with one defect each.

use dragline_domain::document::{Disposition, Document};
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;

use super::mutations;
use DocumentsMutation as M;

mutations! {
    /// What is wrong with a store of documents.
    DocumentsMutation {
        /// A put that found documents claims to have stored its own.
        FoundIsStored,
        /// A put that found documents gets its own back.
        OwnGivenBack,
        /// An empty set counts as not put.
        EmptyIsAbsent,
        /// A set that was not put counts as empty.
        AbsentIsEmpty,
        /// The rules that block links are lost.
        ReasonsLost,
        /// A page without text is dropped.
        EmptyPagesLost,
        /// A text ends at its first line.
        TextsCut,
        /// Documents are renumbered.
        Renumbered,
        /// Documents that are loaded one by one come in another order.
        EachBackwards,
        /// Whatever is asked for, the first document is returned.
        EachOfFirst,
        /// How documents differ from those before them is lost.
        DifferencesLost,
        /// Where the bodies are is lost.
        BodiesLost,
    }
}

/// A store of documents with one defect.
#[derive(Debug)]
pub struct MutantDocuments<D> {
    inner: D,
    mutation: DocumentsMutation,
}

impl<D: Documents> MutantDocuments<D> {
    /// Wraps a store of documents with this defect.
    #[must_use]
    pub const fn new(inner: D, mutation: DocumentsMutation) -> Self {
        Self { inner, mutation }
    }

    /// Returns a document as the defect leaves it.
    fn spoil(&self, (number, document): (u32, &Document)) -> Document {
        let mut document = document.clone();
        match self.mutation {
            M::ReasonsLost => {
                for link in &mut document.links {
                    if let Disposition::Blocked(reason) = &mut link.disposition {
                        reason.clear();
                    }
                }
            }
            M::EmptyPagesLost => document.page = document.page.filter(|page| !page.text.is_empty()),
            M::TextsCut => {
                if let Some(page) = &mut document.page {
                    page.text = page.text.lines().next().unwrap_or_default().into();
                }
            }
            M::Renumbered => document.n = number,
            _ => {}
        }
        document
    }
}

impl<D: Documents> Documents for MutantDocuments<D> {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        let documents = self.inner.load(segment).await?;
        Ok(match self.mutation {
            M::EmptyIsAbsent => documents.filter(|documents| !documents.is_empty()),
            M::AbsentIsEmpty => Some(documents.unwrap_or_default()),
            _ => documents,
        })
    }

    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        let mut documents = self.inner.load_each(origin, places).await?;
        match self.mutation {
            M::EachBackwards => documents.reverse(),
            M::EachOfFirst => {
                let first = documents.first().cloned().flatten();
                documents.iter_mut().for_each(|document| document.clone_from(&first));
            }
            M::DifferencesLost => documents.iter_mut().flatten().for_each(|document| document.difference = None),
            M::BodiesLost => documents.iter_mut().flatten().for_each(|document| document.body = None),
            _ => {}
        }
        Ok(documents)
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        let spoiled: Vec<Document> = (0..).zip(documents).map(|numbered| self.spoil(numbered)).collect();
        Ok(match self.inner.put_new(segment, &spoiled).await? {
            PutDocuments::Found(_) if self.mutation == M::FoundIsStored => PutDocuments::Stored,
            PutDocuments::Found(_) if self.mutation == M::OwnGivenBack => PutDocuments::Found(documents.to_vec()),
            put => put,
        })
    }
}
