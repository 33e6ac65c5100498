//! A report about a crawled site for its owner: what was found, what to fix, and how the crawl
//! went.
//!
//! It is derived from a [`Reader`] and the link graph, so it is the same for a data directory and a
//! stack. [`Report`] holds figures, charts and tables; [`markdown`] and [`html`] show them without
//! knowing their meaning, and its JSON is for programs.
//!
//! A table has the first rows and the exact number of all rows, so a report of a large site stays
//! small.

mod accepted;
mod findings;
mod gathered;
mod histogram;
mod html;
mod junit;
mod link_graph;
mod log;
mod markdown;
mod rows;
mod sarif;
mod shape;
mod tree;

use std::ops::ControlFlow;

use crate::{Figures, Summary};
use dragline_domain::frontier::IterationRow;
use dragline_domain::outcome::OutcomeClass;
use dragline_graph::{Graph, GraphError};
use dragline_ports::error::PortError;
use dragline_ports::reader::Reader;
use jiff::Timestamp;

pub use accepted::{AcceptedError, AcceptedFindings};
pub use findings::Kind;
pub use gathered::ReportTotals;
pub use html::html;
pub use junit::junit;
pub use markdown::markdown;
pub use rows::RowsKept;
pub use sarif::sarif;
pub use shape::{
    Bar, Branch, Cell, Chart, ChartKind, Column, FORMAT, Figure, Finding, Listing, Report, Section, SectionLinks,
    Sections, Series, Shade, Table, Unit,
};

use log::{Visits, number, time};

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The crawl could not be read.
    #[error(transparent)]
    Reader(#[from] PortError),
    /// The link graph could not be read.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// The author and time of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportStamp {
    /// The program and its version.
    pub program: String,
    /// The time.
    pub at: Timestamp,
}

/// What a report leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportExtent {
    /// Findings that are not reported.
    pub accepted: AcceptedFindings,
    /// Which rows of the others are.
    pub rows: RowsKept,
}

/// Reports on a crawled site, from the graph of its current state and the log of an iteration.
///
/// # Errors
/// The crawl or the graph cannot be read.
pub async fn report(
    reader: &impl Reader,
    graph: &Graph,
    iteration: IterationRow,
    (making, extent): (ReportStamp, &ReportExtent),
) -> Result<Report, ReportError> {
    let mut gathered = ReportTotals::new(iteration.started_at);
    gathered.add_documents(reader).await?;
    // Never interrupted.
    _ = gathered.add_log(reader, &iteration, || ControlFlow::Continue(())).await?;
    report_from_totals(reader, graph, iteration, (gathered, making, extent)).await
}

/// Reports on a crawled site from gathered totals.
///
/// # Errors
/// The crawl or the graph cannot be read.
pub async fn report_from_totals(
    reader: &impl Reader,
    graph: &Graph,
    iteration: IterationRow,
    (gathered, making, extent): (ReportTotals, ReportStamp, &ReportExtent),
) -> Result<Report, ReportError> {
    let began_at = iteration.started_at;
    let ReportTotals { visits, tally, types, scripted, rendered, notes, .. } = gathered;
    let Summary { standing, figures } = crate::summary_from_tally(reader, iteration, tally).await?;
    let to_go = if standing.closed_at.is_some() { None } else { Some(figures.waiting) };
    let (findings, left_out) = link_graph::findings(graph, &extent.accepted, extent.rows)?;
    let accepted = (left_out > 0).then(|| format!("Left out, as they are accepted: {left_out} findings."));
    let not_checked = graph.unchecked(to_go)?.lines().into_iter().chain(notes).chain(accepted).collect();
    let depths = ChartKind::Bars { bars: link_graph::depths(graph)? };
    let figures = headline(&figures, &visits, standing.closed_at.map(|closed_at| closed_at.duration_since(began_at)));
    let mut charts = visits.charts();
    charts.push(Chart {
        id: "depths",
        title: "Depth",
        about: "How many clicks the pages are from where the crawl starts.",
        unit: Unit::Count,
        kind: depths,
    });
    let mut tables = visits.tables();
    tables.extend(gathered::tables(types, scripted, rendered));
    tables.extend(link_graph::tables(graph)?);
    Ok(Report {
        format: FORMAT,
        crawl: standing.crawl.to_string(),
        iteration: standing.iteration.number(),
        made_at: time(making.at),
        program: making.program,
        began_at: time(began_at),
        ended_at: standing.closed_at.map(time),
        starts: link_graph::starts(graph)?,
        not_checked,
        figures,
        charts,
        findings,
        tables,
        tree: tree::tree(graph)?,
        sections: tree::sections(graph)?,
    })
}

#[expect(clippy::cast_precision_loss, reason = "no number of a crawl is that large")]
fn headline(figures: &Figures, visits: &Visits, took: Option<jiff::SignedDuration>) -> Vec<Figure> {
    let of_class = |class: OutcomeClass| {
        let counted = figures.outcomes.iter().filter(|counted| counted.class == class.name());
        counted.map(|counted| counted.urls).sum::<u64>()
    };
    let seconds = took.map(|took| took.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    let urls = figures.outcomes.iter().map(|counted| counted.urls).sum::<u64>();
    let figure = |id, title, value, unit| Figure { id, title, value, unit };
    let count = |id, title, number: u64| figure(id, title, Cell::Whole(number), Unit::Count);
    let per_second = seconds
        .map_or(Cell::Nothing, |seconds| Cell::Number((figures.requests as f64 / seconds * 100.0).round() / 100.0));
    let took_ms = took.and_then(|took| u64::try_from(took.as_millis()).ok());
    vec![
        count("urls", "URLs", urls),
        count("content", "Pages and files", of_class(OutcomeClass::Content)),
        count("redirects", "Redirects", of_class(OutcomeClass::Redirect)),
        count("missing", "Missing", of_class(OutcomeClass::Missing)),
        count("failed", "Failed", of_class(OutcomeClass::Failed)),
        count("blocked", "Forbidden", of_class(OutcomeClass::Blocked)),
        count("requests", "Requests", figures.requests),
        figure("body_bytes", "Received", Cell::Whole(figures.body_bytes), Unit::Bytes),
        count("bodies_cut", "Bodies cut", figures.bodies_cut),
        figure("took_ms", "Duration", number(took_ms), Unit::Ms),
        figure("requests_per_second", "Requests per second", per_second, Unit::PerSecond),
        figure("median_ms", "Median response time", number(visits.durations.quantile(500)), Unit::Ms),
        figure(
            "ninety_percent_ms",
            "90th percentile of response times",
            number(visits.durations.quantile(900)),
            Unit::Ms,
        ),
        figure("first_byte_ms", "Median time to first byte", number(visits.first_bytes.quantile(500)), Unit::Ms),
    ]
}
