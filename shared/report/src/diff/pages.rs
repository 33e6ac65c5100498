//! The pages that differ.

use std::ops::ControlFlow;

use dragline_domain::change::ChangeKind;
use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader, each_row};
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
    fn of(row: LogRow, net: Net, shows: Shows) -> Option<Self> {
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
    /// The iteration with the visit that changed it last.
    last: Iteration,
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
    tell: impl FnMut(PageChange) -> ControlFlow<()>,
) -> PortResult<()> {
    each_within(reader, span, which, REMEMBERED_MAX, tell).await
}

pub(super) async fn each_within(
    reader: &impl Reader,
    span: Span,
    which: Which,
    remembered_max: usize,
    mut tell: impl FnMut(PageChange) -> ControlFlow<()>,
) -> PortResult<()> {
    if span.is_adjacent() {
        return each_step(reader, span.to(), |row, step| match PageChange::of(row, Net::add(None, step), step.shows) {
            Some(change) if which.includes(change.change) => tell(change),
            _ => ControlFlow::Continue(()),
        })
        .await;
    }
    let mut flow = ControlFlow::Continue(());
    let mut begin = Some(Digest::MIN);
    while let Some(from) = begin {
        let mut changed = collect(reader, span, which, Compact::new(from, remembered_max)).await?;
        begin = changed.rest();
        for iteration in span.steps() {
            if changed.is_empty() {
                break;
            }
            each_step(reader, iteration, |row, step| {
                let digest = Digest::of([row.url.as_str()]);
                let Some(Changed { net, last }) = changed.get(digest).copied() else {
                    return ControlFlow::Continue(());
                };
                if last != iteration {
                    return ControlFlow::Continue(());
                }
                changed.remove(digest);
                flow = PageChange::of(row, net, step.shows).map_or(ControlFlow::Continue(()), &mut tell);
                flow
            })
            .await?;
            if flow.is_break() {
                return Ok(());
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
        each_step(reader, iteration, |row, step| {
            changed.change(Digest::of([row.url.as_str()]), |before: Option<Changed>| match before {
                None => which.includes(step.kind).then(|| Changed { net: Net::add(None, step), last: iteration }),
                Some(Changed { net, last }) => {
                    let last = if step.kind == ChangeKind::Unchanged { last } else { iteration };
                    Some(Changed { net: Net::add(Some(net), step), last })
                }
            });
            ControlFlow::Continue(())
        })
        .await?;
    }
    changed.retain(|changed| changed.net.kind().is_some_and(|kind| which.includes(kind)));
    Ok(changed)
}

/// Calls back with each visit of an iteration that says something lasting.
async fn each_step(
    reader: &impl Reader,
    iteration: Iteration,
    mut visit: impl FnMut(LogRow, Step) -> ControlFlow<()>,
) -> PortResult<()> {
    let filter = &Filter::of_iteration(iteration);
    let read = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
    each_row(read, |row| match Step::of(&row) {
        Some(step) => visit(row, step),
        None => ControlFlow::Continue(()),
    })
    .await
}
