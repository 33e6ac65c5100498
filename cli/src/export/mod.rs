//! `dragline export`: writes rows to standard output, one by one.

mod csv;
mod rows;

use dragline_domain::ids::Iteration;
use dragline_ports::reader::{CandidateRow, Cursor, Filter, LinkRow, LogRow, PageRow, Reader, SeenPageRow, each_row};

use crate::args::{ExportArgs, Of, What};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::found::{self, Found};
pub(crate) use rows::Rows;

/// The number of rows in one read.
const BATCH_ROWS: usize = 500;

/// Writes the requested rows, until the reader closes its end.
///
/// # Errors
/// There is no such crawl, it cannot be read, or the rows cannot be written.
pub(crate) async fn export(args: &ExportArgs) -> Result<Exit, CliError> {
    let mut rows = Rows::new(args.format, fields(args.what, args.iteration));
    read(args, &mut rows).await?;
    rows.finish().map_err(while_doing("writing to standard output"))?;
    Ok(Exit::Done)
}

/// Returns the field names of the rows: of an iteration, or as it is now.
fn fields(what: What, iteration: Option<Iteration>) -> Vec<&'static str> {
    match what {
        What::Pages if iteration.is_some() => SeenPageRow::fields().collect(),
        What::Pages => PageRow::fields().collect(),
        What::Links => LinkRow::fields().collect(),
        What::Log => LogRow::fields().collect(),
        What::Candidates => CandidateRow::fields().collect(),
    }
}

/// Reads the rows from the data directory or the stack.
async fn read(args: &ExportArgs, rows: &mut Rows) -> Result<(), CliError> {
    let wanted = args.iteration;
    match args.of.which()? {
        Of::Directory { data, crawl } => match found::in_directory(data, crawl)? {
            Some(found) => write(&found, args.what, wanted, rows).await,
            None => Err(found::nothing_begun(data)),
        },
        #[cfg(feature = "stack")]
        Of::Stack { crawl, stack } => write(&crate::stack::find(crawl, stack).await?, args.what, wanted, rows).await,
    }
}

/// Writes the rows of the given iteration. If none is given: pages and links as they are now, and the log of the latest.
async fn write(
    found: &Found<impl Reader>,
    what: What,
    wanted: Option<Iteration>,
    rows: &mut Rows,
) -> Result<(), CliError> {
    let iteration = match what {
        What::Candidates => found.iteration(wanted).await?,
        What::Pages | What::Links | What::Log => found.whole_iteration(wanted).await?,
    }
    .number;
    let (reader, of_iteration, of_all) = (&found.reader, &Filter::of_iteration(iteration), &Filter::default());
    macro_rules! each {
        ($stream:ident, $filter:ident) => {{
            let read = |after: Option<Cursor>| async move { reader.$stream($filter, after.as_ref(), BATCH_ROWS).await };
            each_row(read, |row| rows.write(&row)).await
        }};
    }
    let written = match (what, wanted) {
        (What::Pages, None) => each!(pages, of_all),
        (What::Pages, Some(_)) => each!(seen_pages, of_iteration),
        (What::Links, None) => each!(links, of_all),
        (What::Links, Some(_)) => each!(seen_links, of_iteration),
        (What::Log, _) => each!(log, of_iteration),
        // Candidates outlive iterations.
        (What::Candidates, _) => each!(candidates, of_all),
    };
    written.map_err(|error| found.failed(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_as_in_the_rows() {
        let row = LinkRow {
            crawl: String::new(),
            iteration: 1,
            from_url: String::new(),
            to_url: String::new(),
            kind: String::new(),
            disposition: String::new(),
            detail: None,
        };
        let json = serde_json::to_string(&row).unwrap();
        let mut rest = json.as_str();
        for field in fields(What::Links, None) {
            rest =
                rest.split_once(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field}, in its order: {json}")).1;
        }
        assert!(!rest.contains(':'), "no field is left out: {json}");
        assert!(fields(What::Log, None).contains(&"final"), "a Rust keyword is named without its `r#`");
    }
}
