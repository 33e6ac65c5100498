//! Differences of links.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use dragline_domain::change::{ChangeKind, PageLink, Part};
use dragline_domain::document::{Document, LinkKind};
use dragline_domain::frontier::PageFinding;
use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use dragline_ports::{fields, row};

use super::compact::{Compact, Digest};
use super::pages::{ChangedUrl, Which, collect};
use super::{BATCH_ROWS, Net, REMEMBERED_MAX, Span};

/// Whether a link was added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChangeKind {
    /// The page has the link now.
    Added,
    /// The page had the link.
    Removed,
}

impl LinkChangeKind {
    /// Returns the name as shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }

    const fn sign(self) -> i8 {
        match self {
            Self::Added => 1,
            Self::Removed => -1,
        }
    }
}

/// A link that differs between two iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkChange {
    /// The page.
    pub from_url: String,
    /// Whether it was added or removed.
    pub change: LinkChangeKind,
    /// The kind of link.
    pub kind: LinkKind,
    /// The target.
    pub to_url: String,
}

fields! { Text LinkChangeKind => |kind| kind.name().to_owned().into(); }

row! { LinkChange { from_url, change, kind, to_url } }

impl LinkChange {
    fn new(document: &Document, change: LinkChangeKind, link: &PageLink) -> Self {
        let PageLink { kind, target } = link;
        Self { from_url: document.url.to_string(), change, kind: *kind, to_url: target.to_string() }
    }

    /// Identifies the link, whether it was added or removed.
    fn digest(&self) -> Digest {
        Digest::compute([self.from_url.as_str(), self.kind.name(), &self.to_url])
    }
}

/// Which links of a page differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DifferingLinks {
    /// The differences recorded in its documents.
    Some,
    /// All current links: the page is new, or back.
    AllNow,
    /// All previous links: the page is gone, or out of scope.
    AllBefore,
}

impl DifferingLinks {
    /// Returns which links differ; `None` if none.
    fn from_net(net: Net) -> Option<Self> {
        match net.kind()? {
            ChangeKind::New | ChangeKind::Back => Some(Self::AllNow),
            ChangeKind::Gone | ChangeKind::OutOfScope => Some(Self::AllBefore),
            ChangeKind::Changed | ChangeKind::Moved => net.parts().contains(Part::Links).then_some(Self::Some),
            ChangeKind::Unchanged => None,
        }
    }
}

/// Changed pages, by the digest of their URL.
type Pages = Compact<ChangedUrl>;

/// Calls back with each added or removed link, once, until told to stop. The links of one document
/// come together.
///
/// If a page is new or back, all its links are added; if it is gone, all are removed. They are in
/// the page's last document, which any iteration may have stored: documents are read from the
/// newest back, until all are found.
///
/// # Errors
/// The crawl cannot be read.
pub async fn each_link_change(
    reader: &impl Reader,
    span: Span,
    tell: impl FnMut(LinkChange) -> ControlFlow<()>,
) -> PortResult<()> {
    each_within(reader, span, REMEMBERED_MAX, tell).await
}

pub(super) async fn each_within(
    reader: &impl Reader,
    span: Span,
    remembered_max: usize,
    mut tell: impl FnMut(LinkChange) -> ControlFlow<()>,
) -> PortResult<()> {
    let mut begin = Some(Digest::MIN);
    while let Some(from) = begin {
        let mut pages = collect(reader, span, Which::Changed, Compact::new(from, remembered_max)).await?;
        begin = pages.next_start();
        pages.retain(|page| DifferingLinks::from_net(page.net).is_some());
        let told = match tell_some(reader, span, &pages, remembered_max, &mut tell).await? {
            ControlFlow::Continue(()) => tell_all(reader, span, pages, &mut tell).await?,
            told => told,
        };
        if told.is_break() {
            break;
        }
    }
    Ok(())
}

/// Reports the changed links of pages that existed before.
async fn tell_some(
    reader: &impl Reader,
    span: Span,
    pages: &Pages,
    remembered_max: usize,
    tell: &mut impl FnMut(LinkChange) -> ControlFlow<()>,
) -> PortResult<ControlFlow<()>> {
    let is_wanted = |net| DifferingLinks::from_net(net) == Some(DifferingLinks::Some);
    let differences_of = |document: &Document| {
        let page = pages.get(Digest::compute([document.url.as_str()]));
        page.filter(|page| is_wanted(page.net)).map_or_else(Vec::new, |_| differences(document))
    };
    if !pages.any(|page| is_wanted(page.net)) {
        return Ok(ControlFlow::Continue(()));
    }
    if span.is_adjacent() {
        return each_document(reader, span.to(), |document| {
            differences_of(&document).into_iter().try_for_each(&mut *tell)
        })
        .await;
    }
    // A link that was added and removed again does not differ, so the differences of several
    // documents are summed first.
    let mut begin = Some(Digest::MIN);
    while let Some(from) = begin {
        let mut sums: Compact<i8> = Compact::new(from, remembered_max);
        for iteration in span.steps() {
            _ = each_document(reader, iteration, |document| {
                for link in differences_of(&document) {
                    let add = |sum: Option<i8>| (sum.unwrap_or(0) + link.change.sign()).clamp(-1, 1);
                    sums.change(link.digest(), |sum| Some(add(sum)).filter(|sum| *sum != 0));
                }
                ControlFlow::Continue(())
            })
            .await?;
        }
        begin = sums.next_start();
        for iteration in span.steps() {
            if sums.is_empty() {
                break;
            }
            let told = each_document(reader, iteration, |document| {
                differences_of(&document).into_iter().try_for_each(|link| {
                    if sums.get(link.digest()) != Some(&link.change.sign()) {
                        return ControlFlow::Continue(());
                    }
                    sums.remove(link.digest());
                    tell(link)
                })
            });
            if told.await?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Reports the links of pages that came or went.
async fn tell_all(
    reader: &impl Reader,
    span: Span,
    mut pages: Pages,
    tell: &mut impl FnMut(LinkChange) -> ControlFlow<()>,
) -> PortResult<ControlFlow<()>> {
    pages.retain(|page| DifferingLinks::from_net(page.net) != Some(DifferingLinks::Some));
    for iteration in span.back_to_first() {
        if pages.is_empty() {
            break;
        }
        let told = each_document(reader, iteration, |document| {
            let digest = Digest::compute([document.url.as_str()]);
            let change = match pages.get(digest).and_then(|page| DifferingLinks::from_net(page.net)) {
                Some(DifferingLinks::AllNow) => LinkChangeKind::Added,
                Some(DifferingLinks::AllBefore) if iteration <= span.from() => LinkChangeKind::Removed,
                _ => return ControlFlow::Continue(()),
            };
            if !is_content(&document) {
                return ControlFlow::Continue(());
            }
            pages.remove(digest);
            let links: BTreeSet<PageLink> =
                document.links.iter().map(|link| PageLink { kind: link.kind, target: link.target.clone() }).collect();
            links.iter().map(|link| LinkChange::new(&document, change, link)).try_for_each(&mut *tell)
        });
        if told.await?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Returns whether a document has content, rather than being a note of a visit that found nothing,
/// or nothing new.
fn is_content(document: &Document) -> bool {
    document.page.is_some() || !document.links.is_empty() || document.outcome.page_finding() == PageFinding::Content
}

/// Returns the changed links between a document and its predecessor.
fn differences(document: &Document) -> Vec<LinkChange> {
    let Some(difference) = &document.difference else { return Vec::new() };
    let of = |change, links: &[PageLink]| -> Vec<LinkChange> {
        links.iter().map(|link| LinkChange::new(document, change, link)).collect()
    };
    let mut changes = of(LinkChangeKind::Added, &difference.links_added);
    changes.extend(of(LinkChangeKind::Removed, &difference.links_removed));
    changes
}

/// Calls back with each document of an iteration, until told to stop.
async fn each_document(
    reader: &impl Reader,
    iteration: Iteration,
    mut visit: impl FnMut(Document) -> ControlFlow<()>,
) -> PortResult<ControlFlow<()>> {
    let filter = &Filter::by_iteration(iteration);
    let read = |after: Option<Cursor>| async move { reader.documents(filter, after.as_ref(), BATCH_ROWS).await };
    let mut told = ControlFlow::Continue(());
    each_row(read, |row: DocumentRow| {
        told = visit(row.document);
        told
    })
    .await?;
    Ok(told)
}
