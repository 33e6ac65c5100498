//! Differences of pages.

use std::ops::ControlFlow;

use dragline_domain::change::{ChangeKind, Difference};
use dragline_domain::document::Document;
use dragline_domain::frontier::{PageFinding, VisitPlace};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, DocumentRow, Filter, LogRow, Reader, Rest, each_row};
use dragline_ports::row;
use jiff::Timestamp;

use super::compact::{Compact, Digest};
use super::{BATCH_ROWS, Net, PartSet, REMEMBERED_MAX, Span, Step, VisitResult};

/// A URL that differs between two iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageChange {
    /// The URL.
    pub url: String,
    /// How it differs.
    pub change: ChangeKind,
    /// The parts that differ.
    pub changed_parts: PartSet,
    /// The redirect target; `None` if it does not redirect.
    pub redirects_to: Option<String>,
    /// The iteration of the visit that changed it last.
    pub iteration: u32,
    /// When that visit was requested or decided.
    pub at: Timestamp,
    /// The status code of its answer; `None` without one.
    pub status: Option<u16>,
    /// Its outcome.
    pub outcome: Outcome,
}

row! {
    PageChange { url, change, changed_parts, redirects_to, iteration, at, status, outcome ["outcome", "outcome_name"] }
}

impl PageChange {
    /// Returns the difference of a URL, given the visit `row` that changed it last; `None` if there
    /// is none.
    fn from_net(row: LogRow, net: Net, shows: VisitResult) -> Option<Self> {
        Some(Self {
            url: row.url,
            change: net.kind()?,
            changed_parts: net.parts(),
            // The log also has the targets of canonical links.
            redirects_to: row.redirects_to.filter(|_| shows == VisitResult::Redirect),
            iteration: row.iteration,
            at: row.at,
            status: row.status,
            outcome: row.outcome,
        })
    }
}

/// Which URLs are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Changed ones.
    Changed,
    /// All visited ones.
    Visited,
}

impl Which {
    fn includes(self, kind: ChangeKind) -> bool {
        self == Self::Visited || kind != ChangeKind::Unchanged
    }
}

/// The state in memory for a URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangedUrl {
    pub(super) net: Net,
    /// Whether several visits changed it, so that the changes may cancel out.
    is_several: bool,
    /// The iteration of the visit that changed it last.
    last: Iteration,
}

impl ChangedUrl {
    /// Returns the net change, which is none if several changes cancelled out. Only the documents
    /// can tell; if they were pruned, the change counts.
    async fn net_change(&self, reader: &impl Reader, span: Span, row: &LogRow) -> PortResult<Net> {
        if !self.is_several || self.net.kind() != Some(ChangeKind::Changed) {
            return Ok(self.net);
        }
        let [before, now] = documents_at(reader, &row.url, [span.from(), span.to()]).await?;
        let difference = before.zip(now).map(|(before, now)| {
            let since = VisitPlace { iteration: span.from(), turn: Turn(0), segment: 0, n: 0 };
            Difference::between(since, before.outcome, &before, &now)
        });
        Ok(match difference {
            Some(difference) if difference.is_change() => self.net.with_parts(difference.parts.into_iter().collect()),
            Some(_) => self.net.unchanged(),
            None => self.net,
        })
    }
}

/// Returns the newest document of a URL up to each of two iterations; `None` if none is kept.
pub(super) async fn documents_at(
    reader: &impl Reader,
    url: &str,
    iterations: [Iteration; 2],
) -> PortResult<[Option<Document>; 2]> {
    let mut found = [None, None];
    let Ok(url) = CrawlUrl::try_from(url.to_owned()) else { return Ok(found) };
    let filter = &Filter { url: Some(url), ..Filter::default() };
    let read = |after: Option<Cursor>| async move { reader.documents(filter, after.as_ref(), BATCH_ROWS).await };
    let mut numbers = [None, None];
    each_row(read, |row: DocumentRow| {
        // A document that only records an outcome has no content to compare.
        if row.document.page.is_none() && row.document.outcome.page_finding() != PageFinding::Content {
            return ControlFlow::Continue(());
        }
        for ((iteration, number), document) in iterations.iter().zip(&mut numbers).zip(&mut found) {
            if row.iteration <= *iteration && number.is_none_or(|number| number <= row.iteration) {
                (*number, *document) = (Some(row.iteration), Some(row.document.clone()));
            }
        }
        ControlFlow::Continue(())
    })
    .await?;
    Ok(found)
}

/// Calls back with each changed URL, once, until told to stop. They come in the order of the log,
/// by the iteration that changed them last.
///
/// Only visited URLs can differ. If the later iteration is still open, these are the differences so
/// far.
///
/// # Errors
/// The crawl cannot be read.
pub async fn each_page_change(
    reader: &impl Reader,
    span: Span,
    which: Which,
    mut tell: impl FnMut(PageChange) -> ControlFlow<()>,
) -> PortResult<()> {
    each_within(reader, span, which, REMEMBERED_MAX, async |change| Ok(tell(change))).await
}

/// The same with an async callback, and with another maximum of URLs in memory.
pub(super) async fn each_within(
    reader: &impl Reader,
    span: Span,
    which: Which,
    remembered_max: usize,
    mut tell: impl AsyncFnMut(PageChange) -> PortResult<ControlFlow<()>>,
) -> PortResult<()> {
    if span.is_adjacent() {
        let mut steps = Steps::new(span.to());
        while let Some(batch) = steps.next(reader).await? {
            for (row, step) in batch {
                let change = PageChange::from_net(row, Net::add(None, step), step.shows);
                let change = change.filter(|change| which.includes(change.change));
                if let Some(change) = change
                    && tell(change).await?.is_break()
                {
                    return Ok(());
                }
            }
        }
        return Ok(());
    }
    let mut begin = Some(Digest::MIN);
    while let Some(from) = begin {
        let mut changed = collect(reader, span, which, Compact::new(from, remembered_max)).await?;
        begin = changed.next_start();
        for iteration in span.steps() {
            let mut steps = Steps::new(iteration);
            while !changed.is_empty()
                && let Some(batch) = steps.next(reader).await?
            {
                for (row, step) in batch {
                    let digest = Digest::compute([row.url.as_str()]);
                    let Some(found) = changed.get(digest).copied().filter(|found| found.last == iteration) else {
                        continue;
                    };
                    changed.remove(digest);
                    let net = found.net_change(reader, span, &row).await?;
                    let change =
                        PageChange::from_net(row, net, step.shows).filter(|change| which.includes(change.change));
                    if let Some(change) = change
                        && tell(change).await?.is_break()
                    {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Combines the visits of each URL, as far as memory allows, and returns the requested ones.
pub(super) async fn collect(
    reader: &impl Reader,
    span: Span,
    which: Which,
    mut changed: Compact<ChangedUrl>,
) -> PortResult<Compact<ChangedUrl>> {
    for iteration in span.steps() {
        let mut steps = Steps::new(iteration);
        while let Some(batch) = steps.next(reader).await? {
            for (row, step) in batch {
                changed.change(Digest::compute([row.url.as_str()]), |before: Option<ChangedUrl>| match before {
                    None => which.includes(step.kind).then(|| {
                        let (net, is_several) = (Net::add(None, step), false);
                        ChangedUrl { net, is_several, last: iteration }
                    }),
                    Some(before @ ChangedUrl { net, .. }) if step.kind == ChangeKind::Unchanged => {
                        Some(ChangedUrl { net: Net::add(Some(net), step), ..before })
                    }
                    Some(ChangedUrl { net, .. }) => {
                        Some(ChangedUrl { net: Net::add(Some(net), step), is_several: true, last: iteration })
                    }
                });
            }
        }
    }
    changed.retain(|changed| changed.net.kind().is_some_and(|kind| which.includes(kind)));
    Ok(changed)
}

/// The visits of an iteration with lasting effects, batch by batch.
struct Steps {
    filter: Filter,
    /// Where to continue; `None` at the end.
    after: Option<Option<Cursor>>,
}

impl Steps {
    fn new(iteration: Iteration) -> Self {
        Self { filter: Filter::by_iteration(iteration), after: Some(None) }
    }

    /// Reads the next batch; `None` at the end.
    async fn next(&mut self, reader: &impl Reader) -> PortResult<Option<Vec<(LogRow, Step)>>> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let Batch { rows, cursor, rest } = reader.log(&self.filter, after.as_ref(), BATCH_ROWS).await?;
        self.after = matches!(rest, Rest::More).then_some(cursor);
        Ok(Some(
            rows.into_iter()
                .filter_map(|row| Some((Step::from_row(&row)?, row)))
                .map(|(step, row)| (row, step))
                .collect(),
        ))
    }
}
