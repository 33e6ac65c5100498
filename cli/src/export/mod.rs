//! `dragline export`: writes rows to standard output, one by one.

mod chunks;
mod csv;
mod error;
mod graph;
mod items;
mod parquet;
mod rows;
mod sorted;
mod table;
mod times;

use std::io::{self, BufWriter, IsTerminal};
use std::ops::ControlFlow;

use ::parquet::errors::ParquetError;
use dragline_domain::document::Document;
use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader};
use dragline_report::FeedRow;
use serde::Serialize;

use crate::args::{CrawlSource, ExportArgs, ExportFormat, Format, RowKind};
use crate::crawl_handle::{self, CrawlHandle};
use crate::derived_files;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::Console;
pub(crate) use csv::Formulas;
use graph::GraphFormat;
use items::{Columns, Items};
use parquet::{RowsParquet, cells, item_columns};
pub(crate) use rows::Rows;
use sorted::{SortedError, each_sorted};
use table::{Column, Table, select_columns};

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
            Some(found) => write(&found, args, to, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => write(&crate::stack::find(crawl, stack).await?, args, to, console).await,
    }?;
    Ok(Exit::Done)
}

/// The destination of rows.
enum Destination {
    /// Lines of text or JSON.
    Lines(Format),
    /// A Parquet file.
    Parquet,
    /// A graph of the current site.
    Graph(GraphFormat),
}

/// Refuses contradictory arguments.
fn choose_destination(args: &ExportArgs) -> Result<Destination, Failure> {
    if args.formulas() == Formulas::Kept && args.format != ExportFormat::Csv {
        return Err(Failure::new("only CSV is changed without `--raw`: leave it out, or add `--format csv`"));
    }
    match (args.what, args.format) {
        (RowKind::Documents, _) | (_, ExportFormat::Graphml | ExportFormat::Dot) if !args.columns.is_empty() => {
            let message = "`--columns` is for pages, links, log, candidates, items and feeds as rows";
            Err(Failure::new(message))
        }
        (what, _) if what != RowKind::Items && args.item_type.is_some() => {
            Err(Failure::new("only items have a type: leave out `--type`, or add `--what items`"))
        }
        (RowKind::Documents, format) if format != ExportFormat::Jsonl => Err(error::format("documents", format)),
        (_, ExportFormat::Jsonl) => Ok(Destination::Lines(Format::Jsonl)),
        (_, ExportFormat::Csv) => Ok(Destination::Lines(Format::Csv)),
        (RowKind::Links, ExportFormat::Graphml | ExportFormat::Dot) if args.iteration.is_some() => {
            Err(Failure::new("a graph is of the site as it is now: leave out `--iteration`"))
        }
        (RowKind::Links, ExportFormat::Graphml) => Ok(Destination::Graph(GraphFormat::Graphml)),
        (RowKind::Links, ExportFormat::Dot) => Ok(Destination::Graph(GraphFormat::Dot)),
        (_, format @ (ExportFormat::Graphml | ExportFormat::Dot)) => {
            Err(error::format("rows other than links", format))
        }
        (_, ExportFormat::Parquet) if io::stdout().is_terminal() => {
            Err(Failure::new("a Parquet file is not text, which a terminal could not show")
                .with_hint("write it to a file: add `> FILE`"))
        }
        (_, ExportFormat::Parquet) => Ok(Destination::Parquet),
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
    to: Destination,
    console: &Console,
) -> Result<(), Failure> {
    let (what, wanted) = (args.what, args.iteration);
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
    let columns = select_columns(table::columns(what, wanted), &args.columns)?;
    let mut rows = match to {
        Destination::Graph(format) => return graph::write(&derived_files::graph(found, console).await?, format),
        Destination::Parquet => Table::parquet(what.name(), columns)?,
        Destination::Lines(format) => {
            let rows = Rows::new(format, columns.iter().map(|(name, _)| (*name).to_owned()).collect());
            let rows = rows.with_formulas(args.formulas());
            if args.columns.is_empty() { Table::Whole(rows) } else { Table::Picked(rows, columns) }
        }
    };
    let (reader, of_iteration, of_all) = (&found.reader, &Filter::by_iteration(iteration), &Filter::default());
    macro_rules! each {
        ($stream:ident, $filter:ident, $row:ident => $shown:expr) => {{
            let read = |after: Option<Cursor>| async move { reader.$stream($filter, after.as_ref(), BATCH_ROWS).await };
            each_sorted(read, |$row| rows.write(&$shown)).await
        }};
        ($stream:ident, $filter:ident) => {
            each!($stream, $filter, row => row)
        };
        ($stream:ident, $filter:ident, $row:ident; $several:expr) => {{
            let read = |after: Option<Cursor>| async move { reader.$stream($filter, after.as_ref(), BATCH_ROWS).await };
            each_sorted(read, |$row| $several.try_for_each(|shown| rows.write(&shown))).await
        }};
    }
    let written = match (what, wanted) {
        (RowKind::Pages, None) => each!(pages, of_all),
        (RowKind::Pages, Some(_)) => each!(seen_pages, of_iteration),
        (RowKind::Links, None) => each!(links, of_all),
        (RowKind::Links, Some(_)) => each!(seen_links, of_iteration),
        (RowKind::Log, _) => each!(log, of_iteration),
        (RowKind::Feeds, None) => each!(shown_documents, of_all, row; FeedRow::rows_of_document(&found.crawl, &row)),
        (RowKind::Feeds, Some(_)) => each!(documents, of_iteration, row; FeedRow::rows_of_document(&found.crawl, &row)),
        (RowKind::Documents, None) => each!(shown_documents, of_all, row => line(&found.crawl, &row)),
        (RowKind::Documents, Some(_)) => each!(documents, of_iteration, row => line(&found.crawl, &row)),
        (RowKind::Chunks, _) => {
            let mut add = |row: DocumentRow| {
                let mut written = chunks::chunk_rows(&found.crawl, &row).map(|chunk| rows.write(&chunk));
                written.find(ControlFlow::is_break).unwrap_or(ControlFlow::Continue(()))
            };
            let now =
                |after: Option<Cursor>| async move { reader.shown_documents(of_all, after.as_ref(), BATCH_ROWS).await };
            let then =
                |after: Option<Cursor>| async move { reader.documents(of_iteration, after.as_ref(), BATCH_ROWS).await };
            if wanted.is_none() { each_sorted(now, &mut add).await } else { each_sorted(then, &mut add).await }
        }
        // Candidates outlive iterations.
        (RowKind::Candidates, _) => each!(candidates, of_all),
        (RowKind::Items, _) => Ok(()),
    };
    written.map_err(|error| sort_error(found, error))?;
    rows.finish()
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
async fn write_items(found: &CrawlHandle<impl Reader>, args: &ExportArgs, to: Destination) -> Result<(), Failure> {
    let filter = args.iteration.map_or_else(Filter::default, Filter::by_iteration);
    let item_type = args.item_type.as_deref();
    let items = Items { crawl: &found.crawl, reader: &found.reader, filter, item_type };
    let failed = |error| found.read_error(error);
    let columns = match (&to, item_type) {
        (Destination::Lines(Format::Jsonl), _) if args.columns.is_empty() => Columns::new(),
        (_, None) => return Err(error::no_type(&items.types().await.map_err(failed)?)),
        (_, Some(wanted)) => known_columns(&items, wanted).await.map_err(failed)??,
    };
    let wanted = select_columns(item_columns(&columns), &args.columns)?;
    let format = match to {
        Destination::Lines(format) => format,
        Destination::Parquet | Destination::Graph(_) => {
            return write_parquet(&items, &wanted).await?.map_err(|error| sort_error(found, error));
        }
    };
    let rows = Rows::new(format, wanted.iter().map(|(name, _)| (*name).to_owned()).collect());
    let mut rows = rows.with_formulas(args.formulas());
    let written = items.each_sorted(|item| match args.columns.as_slice() {
        [] => rows.write_item(&item, &columns),
        _ => rows.write_cells(&wanted, &cells(&item, &wanted)),
    });
    let written = written.await.map_err(|error| sort_error(found, error))?;
    if let (0, Some(wanted)) = (written, item_type) {
        known_columns(&items, wanted).await.map_err(failed)??;
    }
    rows.finish().map_err(while_writing)
}

/// Returns the columns of a type. The inner error means that no item has or had it.
async fn known_columns<R: Reader>(items: &Items<'_, R>, wanted: &str) -> PortResult<Result<Columns, Failure>> {
    let known = items.type_info().await?;
    Ok(known.columns.ok_or_else(|| error::unknown_type(wanted, &known.types)))
}

/// Writes items as a Parquet file. The inner error is a failure to read them.
async fn write_parquet<R: Reader>(
    items: &Items<'_, R>,
    columns: &[Column<'_>],
) -> Result<Result<(), SortedError>, ParquetError> {
    let mut file = RowsParquet::new(BufWriter::new(io::stdout()), "item", columns)?;
    let mut written = Ok(());
    let read = items
        .each_sorted(|item| {
            written = file.write(cells(&item, columns));
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await;
    written?;
    file.finish()?;
    Ok(read.map(drop))
}

#[cfg(test)]
mod tests {
    use dragline_ports::reader::LinkRow;

    use super::*;

    #[test]
    fn fields_are_named_as_in_the_rows() {
        let fields = |what| table::columns(what, None).into_iter().map(|(name, _)| name);
        let row = LinkRow {
            crawl: String::new(),
            iteration: 1,
            from_url: String::new(),
            to_url: String::new(),
            kind: String::new(),
            disposition: String::new(),
            detail: None,
            anchor: None,
        };
        let json = serde_json::to_string(&row).unwrap();
        let mut rest = json.as_str();
        for field in fields(RowKind::Links) {
            rest =
                rest.split_once(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field}, in its order: {json}")).1;
        }
        assert!(!rest.contains(':'), "no field is left out: {json}");
        assert!(fields(RowKind::Log).any(|field| field == "final"), "a Rust keyword is named without its `r#`");
    }
}
