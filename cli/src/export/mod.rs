//! `dragline export`: writes rows to standard output, one by one.

mod chunks;
mod csv;
mod elsewhere;
mod error;
mod graph;
mod items;
mod rows;
mod sorted;
mod table;

use std::io::{self, IsTerminal};

use dragline_domain::document::Document;
use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader};
use dragline_ports::row::Row as _;
use dragline_report::FeedRow;
use dragline_sink::parquet::{ItemColumns, item_cells};
use serde::Serialize;

use crate::args::{CrawlSource, ExportArgs, ExportFormat, Format, RowKind};
use crate::crawl_handle::{self, CrawlHandle};
use crate::derived_files;
use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::Console;
pub(crate) use csv::Formulas;
use graph::GraphFormat;
use items::Items;
pub(crate) use rows::Rows;
use sorted::{SortedError, each_sorted, keep_document};
use table::{Selection, Table};

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// Writes the requested rows until all are written or the reader closes the pipe.
///
/// # Errors
/// The crawl does not exist or cannot be read, or the rows cannot be written.
pub(crate) async fn export(args: &ExportArgs, console: &Console) -> Result<Exit, Failure> {
    let to = choose_destination(args)?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => write_to(&found, args, to, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            write_to(&crate::stack::find(crawl, stack).await?, args, to, console).await
        }
    }?;
    Ok(Exit::Done)
}

async fn write_to(
    found: &CrawlHandle<impl Reader>,
    args: &ExportArgs,
    to: Destination<'_>,
    console: &Console,
) -> Result<(), Failure> {
    match to {
        Destination::Elsewhere(place) => elsewhere::write(found, place, &args.database, console).await,
        Destination::Output(what, to) => write(found, args, what, to, console).await,
    }
}

/// Where everything goes, or some rows.
enum Destination<'a> {
    /// A database or a directory, as the argument names it.
    Elsewhere(&'a str),
    /// Rows of a kind to standard output.
    Output(RowKind, Output),
}

/// The form of rows on standard output.
enum Output {
    /// Lines of text or JSON.
    Lines(Format),
    /// A Parquet file.
    Parquet,
    /// A graph of the current site.
    Graph(GraphFormat),
}

/// Refuses contradictory arguments.
fn choose_destination(args: &ExportArgs) -> Result<Destination<'_>, Failure> {
    match (&args.database.to, args.what) {
        (Some(place), _) => Ok(Destination::Elsewhere(place)),
        (None, Some(what)) => Ok(Destination::Output(what, choose_output(args, what)?)),
        // The arguments are declared so that one of them is there.
        (None, None) => Err(Failure::new("there is nothing to write: add `--what`, or `--to`")),
    }
}

/// Refuses contradictory arguments for standard output.
fn choose_output(args: &ExportArgs, what: RowKind) -> Result<Output, Failure> {
    if args.formulas() == Formulas::Kept && args.format != ExportFormat::Csv {
        return Err(Failure::new("only CSV is changed without `--raw`: leave it out, or add `--format csv`"));
    }
    match (what, args.format) {
        (RowKind::Documents, _) | (_, ExportFormat::Graphml | ExportFormat::Dot) if !args.columns.is_empty() => {
            let message = "`--columns` is for pages, links, log, candidates, items and feeds as rows";
            Err(Failure::new(message))
        }
        (what, _) if what != RowKind::Items && args.item_type.is_some() => {
            Err(Failure::new("only items have a type: leave out `--type`, or add `--what items`"))
        }
        (RowKind::Documents, format) if format != ExportFormat::Jsonl => Err(error::format("documents", format)),
        (_, ExportFormat::Jsonl) => Ok(Output::Lines(Format::Jsonl)),
        (_, ExportFormat::Csv) => Ok(Output::Lines(Format::Csv)),
        (RowKind::Links, ExportFormat::Graphml | ExportFormat::Dot) if args.iteration.is_some() => {
            Err(Failure::new("a graph is of the site as it is now: leave out `--iteration`"))
        }
        (RowKind::Links, ExportFormat::Graphml) => Ok(Output::Graph(GraphFormat::Graphml)),
        (RowKind::Links, ExportFormat::Dot) => Ok(Output::Graph(GraphFormat::Dot)),
        (_, format @ (ExportFormat::Graphml | ExportFormat::Dot)) => {
            Err(error::format("rows other than links", format))
        }
        (_, ExportFormat::Parquet) if io::stdout().is_terminal() => {
            Err(Failure::new("a Parquet file is not text, which a terminal could not show")
                .with_hint("write it to a file: add `> FILE`"))
        }
        (_, ExportFormat::Parquet) => Ok(Output::Parquet),
    }
}

/// A document with its origin.
#[derive(Serialize)]
struct DocumentLine<'d> {
    crawl: &'d str,
    iteration: u32,
    #[serde(flatten)]
    document: &'d Document,
}

fn line<'d>(crawl: &'d CrawlId, row: &'d DocumentRow) -> DocumentLine<'d> {
    DocumentLine { crawl: crawl.as_str(), iteration: row.iteration.number(), document: &row.document }
}

/// Writes the rows of an iteration. Without one: the current pages, links, items, feeds and
/// documents, and the log of the latest iteration.
async fn write(
    found: &CrawlHandle<impl Reader>,
    args: &ExportArgs,
    what: RowKind,
    to: Output,
    console: &Console,
) -> Result<(), Failure> {
    let wanted = args.iteration;
    let iteration = match what {
        RowKind::Candidates => found.iteration(wanted).await?,
        RowKind::Pages
        | RowKind::Links
        | RowKind::Log
        | RowKind::Items
        | RowKind::Feeds
        | RowKind::Chunks
        | RowKind::Documents => found.whole_iteration(wanted).await?,
    }
    .number;
    if what == RowKind::Items {
        return write_items(found, args, to).await;
    }
    let selection = &Selection::new(table::columns(what, wanted), &args.columns)?;
    let mut table = match to {
        Output::Graph(format) => return graph::write(&derived_files::graph(found, console).await?, format),
        Output::Parquet => Table::parquet(what.name(), &selection.columns)?,
        Output::Lines(format) => Table::lines(format, args.formulas(), &selection.columns),
    };
    let (reader, of_iteration, of_all) = (&found.reader, &Filter::by_iteration(iteration), &Filter::default());
    macro_rules! each {
        ($stream:ident, $filter:ident, $keep:expr, $visit:expr) => {{
            let read = |after: Option<Cursor>| async move { reader.$stream($filter, after.as_ref(), BATCH_ROWS).await };
            each_sorted(read, $keep, $visit).await
        }};
        ($stream:ident, $filter:ident, $url:ident) => {
            each!($stream, $filter, |row| (row.$url.clone(), row.cells()), |cells| table.write(selection, cells))
        };
    }
    macro_rules! each_document {
        ($row:ident => $write:expr) => {
            match wanted {
                None => each!(shown_documents, of_all, keep_document, |$row| $write),
                Some(_) => each!(documents, of_iteration, keep_document, |$row| $write),
            }
        };
        ($row:ident; $rows:expr) => {
            each_document!($row => $rows.try_for_each(|row| table.write(selection, row.cells())))
        };
    }
    let written = match (what, wanted) {
        (RowKind::Pages, None) => each!(pages, of_all, url),
        (RowKind::Pages, Some(_)) => each!(seen_pages, of_iteration, url),
        (RowKind::Links, None) => each!(links, of_all, from_url),
        (RowKind::Links, Some(_)) => each!(seen_links, of_iteration, from_url),
        (RowKind::Log, _) => each!(log, of_iteration, url),
        // Candidates outlive iterations.
        (RowKind::Candidates, _) => each!(candidates, of_all, url),
        (RowKind::Feeds, _) => each_document!(row; FeedRow::rows_of_document(&found.crawl, &row)),
        (RowKind::Chunks, _) => each_document!(row; chunks::chunk_rows(&found.crawl, &row)),
        (RowKind::Documents, _) => each_document!(row => table.write_json(&line(&found.crawl, &row))),
        (RowKind::Items, _) => Ok(()),
    };
    written.map_err(|error| sort_error(found, error))?;
    table.finish()
}

/// Returns the error for rows that could not be read in order.
fn sort_error(found: &CrawlHandle<impl Reader>, error: SortedError) -> Failure {
    match error {
        SortedError::Reading(error) => found.read_error(error),
        SortedError::Sorting(error) => Failure::new(format!("the rows cannot be sorted in a temporary file: {error}"))
            .caused_by(&error)
            .with_hint("SQLITE_TMPDIR names the directory for such files"),
    }
}

/// Writes items. Formats with a header need a single type.
async fn write_items(found: &CrawlHandle<impl Reader>, args: &ExportArgs, to: Output) -> Result<(), Failure> {
    let filter = args.iteration.map_or_else(Filter::default, Filter::by_iteration);
    let item_type = args.item_type.as_deref();
    let items = Items { crawl: &found.crawl, reader: &found.reader, filter, item_type };
    let failed = |error| found.read_error(error);
    let columns = match (&to, item_type) {
        (Output::Lines(Format::Jsonl), _) if args.columns.is_empty() => ItemColumns::default(),
        (_, None) => return Err(error::no_type(&items.types().await.map_err(failed)?)),
        (_, Some(wanted)) => known_columns(&items, wanted).await.map_err(failed)??,
    };
    let all = columns.all();
    let selection = &Selection::new(all.clone(), &args.columns)?;
    let is_whole = matches!(to, Output::Lines(Format::Jsonl)) && args.columns.is_empty();
    let mut table = match to {
        Output::Lines(format) => Table::lines(format, args.formulas(), &selection.columns),
        Output::Parquet | Output::Graph(_) => Table::parquet("item", &selection.columns)?,
    };
    let written = items.each_sorted(|item| {
        if is_whole { table.write_json(&item) } else { table.write(selection, item_cells(&item, &all)) }
    });
    let written = written.await.map_err(|error| sort_error(found, error))?;
    if let (0, Some(wanted)) = (written, item_type) {
        known_columns(&items, wanted).await.map_err(failed)??;
    }
    table.finish()
}

/// Returns the columns of a type. The inner error means that no item has or had it.
async fn known_columns<R: Reader>(items: &Items<'_, R>, wanted: &str) -> PortResult<Result<ItemColumns, Failure>> {
    let known = items.type_info().await?;
    Ok(known.columns.ok_or_else(|| error::unknown_type(wanted, &known.types)))
}
