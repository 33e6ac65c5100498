//! Stores of documents with one defect each.

use dragline_domain::document::{Disposition, Document};
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;

use super::{mutants, spoil_each};

mutants! {
    /// What is wrong with a store of documents.
    DocumentsMutation, for D, |this| this.inner;
    Documents<D: Documents> {
        fn load(segment: &SegmentRow) -> Option<Vec<Document>>;
            - EmptyIsAbsent: "an empty set counts as not put"
                but |documents| documents.take_if(|documents| documents.is_empty());
            - AbsentIsEmpty: "a set that was not put counts as empty" but |documents| documents.get_or_insert_default();
        fn load_each(origin: &OriginKey, places: &[VisitPlace]) -> Vec<Option<Document>>;
            - EachBackwards: "documents that are loaded one by one come in another order" but |each| each.reverse();
            - DifferencesLost: "how documents differ from those before them is lost"
                but |each| each.iter_mut().flatten().for_each(|document| document.difference = None);
            - BodiesLost: "where the bodies are is lost"
                but |each| each.iter_mut().flatten().for_each(|document| document.body = None);
        fn put_new(segment: &SegmentRow, documents: &[Document]) -> PutDocuments;
            - FoundIsStored: "a put that found documents claims to have stored its own" => {
                this.inner.put_new(segment, documents).await.map(|_| PutDocuments::Stored)
            };
            - OwnGivenBack: "a put that found documents gets its own back"
                but |put| if let PutDocuments::Found(found) = &mut put { *found = documents.to_vec() };
            - ReasonsLost: "the rules that block links are lost" {
                let documents = &spoil_each(documents, |document| for link in &mut document.links {
                    if let Disposition::Blocked(reason) = &mut link.disposition { reason.clear() }
                });
            };
            - EmptyPagesLost: "a page without text is dropped" {
                let documents = &spoil_each(documents, |it| _ = it.page.take_if(|page| page.text.is_empty()));
            };
            - TextsCut: "a text ends at its first line" {
                let documents = &spoil_each(documents, |document| if let Some(page) = &mut document.page {
                    page.text = page.text.lines().next().unwrap_or_default().into();
                });
            };
            - Renumbered: "documents are renumbered" {
                let mut numbers = 0..;
                let documents = &spoil_each(documents, |document| document.n = numbers.next().unwrap_or_default());
            };
    }
}
