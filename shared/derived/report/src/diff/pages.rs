//! The pages that differ.

use std::ops::ControlFlow;

use dragline_domain::change::{ChangeKind, Difference};
use dragline_domain::document::Document;
use dragline_domain::frontier::{Says, VisitPlace};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, DocumentRow, Filter, LogRow, Reader, Rest, each_row};
use serde::Serialize;

use super::compact::{Compact, Digest};
use super::{BATCH_ROWS, Net, REMEMBERED_MAX, Shows, Span, Step};

/// A URL that differs between two iterations. The field names are those of JSON lines and of CSV.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageChange {
    /// The URL.
    pub url: String,
    /// How it differs.
    pub change: ChangeKind,
    /// The parts that differ, separated by commas; `None` if there are none.
    pub changed_parts: Option<String>,
    /// Where it redirects to; `None` if it does not.
    pub redirects_to: Option<String>,
    /// The iteration with the visit that changed it last.
    pub iteration: u32,
    /// When that visit was requested or decided on, ISO 8601 in UTC.
    pub at: String,
    /// The status code of its answer; `None` without one.
    pub status: Option<u16>,
    /// The number of its outcome.
    pub outcome: i16,
    /// The name of the outcome.
    pub outcome_name: String,
}

impl PageChange {
    /// The names of the fields, in order.
    pub const FIELDS: [&'static str; 9] =
        ["url", "change", "changed_parts", "redirects_to", "iteration", "at", "status", "outcome", "outcome_name"];

    /// Returns what differs at a URL, of which `row` is the visit that changed it last; `None` if nothing does.
    fn from_net(row: LogRow, net: Net, shows: Shows) -> Option<Self> {
        let (change, parts) = (net.kind()?, net.parts());
        let names = parts.names().collect::<Vec<_>>().join(",");
        Some(Self {
            url: row.url,
            change,
            changed_parts: (!parts.is_empty()).then_some(names),
            // The log also says where canonical links lead.
            redirects_to: row.redirects_to.filter(|_| shows == Shows::Redirect),
            iteration: row.iteration,
            at: row.at,
            status: row.status,
            outcome: row.outcome,
            outcome_name: row.outcome_name,
        })
    }
}

/// Which URLs are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that differ.
    Changed,
    /// Also those that were visited and do not differ.
    Visited,
}

impl Which {
    fn includes(self, kind: ChangeKind) -> bool {
        self == Self::Visited || kind != ChangeKind::Unchanged
    }
}

/// What is remembered of a URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    pub(super) net: Net,
    /// Whether several visits changed it, so that it may be again what it was.
    is_several: bool,
    /// The iteration with the visit that changed it last.
    last: Iteration,
}

impl Changed {
    /// Returns the net change, which is none if several changes led back to what was there: the log does not say, the documents do. Where they are
    /// gone, what changed has changed.
    async fn checked(&self, reader: &impl Reader, span: Span, row: &LogRow) -> PortResult<Net> {
        if !self.is_several || self.net.kind() != Some(ChangeKind::Changed) {
            return Ok(self.net);
        }
        let [before, now] = documents_at(reader, &row.url, [span.from(), span.to()]).await?;
        let difference = before.zip(now).map(|(before, now)| {
            let since = VisitPlace { iteration: span.from(), turn: Turn(0), segment: 0, n: 0 };
            Difference::between(since, before.outcome, &before, &now)
        });
        Ok(match difference {
            Some(difference) if difference.is_change() => self.net.with(difference.parts.into_iter().collect()),
            Some(_) => self.net.unchanged(),
            None => self.net,
        })
    }
}

/// Returns the newest document of a URL in each of two iterations or before; `None` where none is kept.
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
        // What only says how a visit ended says nothing of what the URL shows.
        if row.document.page.is_none() && row.document.outcome.says() != Says::Content {
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

/// Calls back with each URL that differs, once, until told to stop. They come in the order of the log, by the iteration that changed them last.
///
/// Only what was visited can differ. If the later iteration is still under way, this is what it found so far.
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

/// The same with a callback that may read, and with another number of URLs that are remembered at once.
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
        begin = changed.rest();
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
                    let net = found.checked(reader, span, &row).await?;
                    let change = PageChange::from_net(row, net, step.shows).filter(|change| which.includes(change.change));
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

/// Puts the visits of each URL together, as far as they fit, and returns those that are wanted.
pub(super) async fn collect(
    reader: &impl Reader,
    span: Span,
    which: Which,
    mut changed: Compact<Changed>,
) -> PortResult<Compact<Changed>> {
    for iteration in span.steps() {
        let mut steps = Steps::new(iteration);
        while let Some(batch) = steps.next(reader).await? {
            for (row, step) in batch {
                changed.change(Digest::compute([row.url.as_str()]), |before: Option<Changed>| match before {
                    None => which.includes(step.kind).then(|| {
                        let (net, is_several) = (Net::add(None, step), false);
                        Changed { net, is_several, last: iteration }
                    }),
                    Some(before @ Changed { net, .. }) if step.kind == ChangeKind::Unchanged => {
                        Some(Changed { net: Net::add(Some(net), step), ..before })
                    }
                    Some(Changed { net, .. }) => {
                        Some(Changed { net: Net::add(Some(net), step), is_several: true, last: iteration })
                    }
                });
            }
        }
    }
    changed.retain(|changed| changed.net.kind().is_some_and(|kind| which.includes(kind)));
    Ok(changed)
}

/// The visits of an iteration that say something lasting, batch by batch.
struct Steps {
    filter: Filter,
    /// Where to go on; `None` at the end.
    after: Option<Option<Cursor>>,
}

impl Steps {
    fn new(iteration: Iteration) -> Self {
        Self { filter: Filter::of_iteration(iteration), after: Some(None) }
    }

    /// Reads the next of them; `None` at the end.
    async fn next(&mut self, reader: &impl Reader) -> PortResult<Option<Vec<(LogRow, Step)>>> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let Batch { rows, cursor, rest } = reader.log(&self.filter, after.as_ref(), BATCH_ROWS).await?;
        self.after = matches!(rest, Rest::More).then_some(cursor);
        Ok(Some(
            rows.into_iter().filter_map(|row| Some((Step::from_row(&row)?, row))).map(|(step, row)| (row, step)).collect(),
        ))
    }
}
