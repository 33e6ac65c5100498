//! A report about a crawled site for its owner: what was found, what an owner may want to change, and how the crawl went.
//!
//! It is derived from a [`Reader`] and the link graph, so it is the same for a data directory and a stack. [`Report`] holds figures, charts and tables;
//! [`markdown`] and [`html`] show all of them without knowing what they are about, and its JSON is for programs.
//!
//! A table has the first rows of what there is and the exact number of all, so a report of a large site stays small.

mod findings;
mod histogram;
mod html;
mod log;
mod markdown;
mod rows;
mod shape;
mod site;
mod tree;

use std::ops::ControlFlow;

use dragline_domain::frontier::IterationRow;
use dragline_domain::item::Item;
use dragline_domain::outcome::OutcomeClass;
use dragline_domain::scripted;
use dragline_graph::{Graph, GraphError};
use dragline_ports::error::{PortError, PortResult};
use dragline_ports::reader::{Cursor, Filter, Reader, each_row};
use dragline_report::{Figures, Summary};
use foldhash::HashMap;
use jiff::Timestamp;

pub use findings::{KINDS, Kind};
pub use html::html;
pub use markdown::markdown;
pub use shape::{
    Bar, Branch, Cell, Chart, ChartKind, Column, FORMAT, Figure, Finding, Listing, Report, Section, SectionLinks,
    Sections, Series, Shade, Table, Unit,
};

use log::{Visits, number, time};
use rows::Rows;

/// The number of rows in one read.
const BATCH_ROWS: usize = 500;

/// The most types of items that are counted.
const TYPES_MAX: usize = 1000;

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The crawl could not be read.
    #[error(transparent)]
    Reader(#[from] PortError),
    /// The link graph could not be read.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Who makes a report, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Making {
    /// The program, with its version.
    pub program: String,
    /// The time.
    pub at: Timestamp,
}

/// Reports on a crawled site: what the graph tells of it as it is now, and what the log of this iteration tells.
///
/// # Errors
/// The crawl or the graph cannot be read.
pub async fn report(
    reader: &impl Reader,
    graph: &Graph,
    iteration: IterationRow,
    making: Making,
) -> Result<Report, ReportError> {
    let began_at = iteration.started_at;
    let visits = visits(reader, &iteration).await?;
    let (items, scripted) = of_documents(reader).await?;
    let Summary { standing, figures } = dragline_report::summary(reader, iteration).await?;
    let depths = ChartKind::Bars { bars: site::depths(graph)? };
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
    tables.push(items);
    tables.push(scripted);
    tables.extend(site::tables(graph)?);
    Ok(Report {
        format: FORMAT,
        crawl: standing.crawl.to_string(),
        iteration: standing.iteration.number(),
        made_at: time(making.at),
        program: making.program,
        began_at: time(began_at),
        ended_at: standing.closed_at.map(time),
        starts: site::starts(graph)?,
        figures,
        charts,
        findings: site::findings(graph)?,
        tables,
        tree: tree::tree(graph)?,
        sections: tree::sections(graph)?,
    })
}

async fn visits(reader: &impl Reader, iteration: &IterationRow) -> PortResult<Visits> {
    let filter = &Filter::of_iteration(iteration.number);
    let mut visits = Visits::since(iteration.started_at);
    let read = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
    each_row(read, |row| {
        visits.add(&row);
        ControlFlow::Continue(())
    })
    .await?;
    Ok(visits)
}

/// Counts the items of the site as it is now, by type, and lists the pages that show next to nothing without scripts.
async fn of_documents(reader: &impl Reader) -> PortResult<(Listing, Listing)> {
    const SCRIPTED: &[Column] = &[
        Column { id: "url", title: "URL", unit: Unit::Url },
        Column { id: "element", title: "Element that scripts fill", unit: Unit::Text },
    ];
    const COLUMNS: &[Column] = &[
        Column { id: "type", title: "Type", unit: Unit::Text },
        Column { id: "items", title: "Items", unit: Unit::Count },
        Column { id: "pages", title: "Pages", unit: Unit::Count },
    ];
    let all = &Filter::default();
    let mut types: HashMap<String, [u64; 2]> = HashMap::default();
    let mut scripted = Rows::new(SCRIPTED);
    let read = |after: Option<Cursor>| async move { reader.shown_documents(all, after.as_ref(), BATCH_ROWS).await };
    each_row(read, |row| {
        if let Some(element) = row.document.detail.as_deref().and_then(scripted::element_of_detail) {
            scripted.add(vec![Cell::Text(row.document.url.to_string()), Cell::Text(element.to_owned())]);
        }
        let mut of_page: Vec<String> =
            row.document.content.iter().flat_map(|content| &content.items).map(Item::table).collect();
        of_page.sort();
        for alike in of_page.chunk_by(|a, b| a == b) {
            let Some(name) = alike.first().filter(|name| types.len() < TYPES_MAX || types.contains_key(*name)) else {
                continue;
            };
            let [items, pages] = types.entry(name.clone()).or_default();
            *items += alike.len() as u64;
            *pages += 1;
        }
        ControlFlow::Continue(())
    })
    .await?;
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
    let mut rows = Rows::new(COLUMNS);
    for (name, [items, pages]) in types {
        rows.add(vec![Cell::Text(name), number(Some(items)), number(Some(pages))]);
    }
    let items = Listing {
        id: "items",
        title: "Structured data",
        about: "The items that pages describe for machines, by type. They are read at `content: items` and above.",
        table: rows.finish_whole(),
    };
    let scripted = Listing {
        id: "scripted",
        title: "Pages that need JavaScript",
        about: "Next to nothing is in these pages until a browser has run their scripts, so neither the crawl nor many search engines see their text and links. Let the server make them.",
        table: scripted.finish_whole(),
    };
    Ok((items, scripted))
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
        count("content", "With content", of_class(OutcomeClass::Content)),
        count("redirects", "Redirects", of_class(OutcomeClass::Redirect)),
        count("missing", "Missing", of_class(OutcomeClass::Missing)),
        count("failed", "Failed", of_class(OutcomeClass::Failed)),
        count("blocked", "Forbidden", of_class(OutcomeClass::Blocked)),
        count("requests", "Requests", figures.requests),
        figure("body_bytes", "Received", Cell::Whole(figures.body_bytes), Unit::Bytes),
        figure("took_ms", "Took", number(took_ms), Unit::Ms),
        figure("requests_per_second", "Requests per second", per_second, Unit::PerSecond),
        figure("median_ms", "Half of the requests took up to", number(visits.durations.quantile(500)), Unit::Ms),
        figure("ninety_percent_ms", "Nine of ten up to", number(visits.durations.quantile(900)), Unit::Ms),
        figure("first_byte_ms", "Half answered within", number(visits.first_bytes.quantile(500)), Unit::Ms),
    ]
}
