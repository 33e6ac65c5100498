//! `dragline export`: rows on standard output, one by one.

mod csv;
mod rows;

use std::path::Path;

use dragline_domain::ids::Iteration;
use dragline_local::LocalStore;
use dragline_local::query::{self, CandidateRow, Iterations, LinkRow, LogRow, PageRow, Selection};

use crate::args::{ExportArgs, What};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::stored::latest_iteration;
pub(crate) use rows::Rows;

/// Writes the rows that were asked for, as long as somebody reads them.
///
/// # Errors
/// There is no such crawl, it cannot be read, or the rows cannot be written.
pub(crate) fn export(args: &ExportArgs) -> Result<Exit, CliError> {
    let mut rows = Rows::new(args.format, fields(args.what));
    read(args, &mut rows)?;
    rows.finish().map_err(while_doing("writing to standard output"))?;
    Ok(Exit::Done)
}

/// The names of the fields of its rows.
fn fields(what: What) -> Vec<&'static str> {
    match what {
        What::Pages => PageRow::fields().collect(),
        What::Links => LinkRow::fields().collect(),
        What::Log => LogRow::fields().collect(),
        What::Candidates => CandidateRow::fields().collect(),
    }
}

/// Reads the rows from where the crawl is.
fn read(args: &ExportArgs, rows: &mut Rows) -> Result<(), CliError> {
    let iteration = args.iteration.and_then(Iteration::new);
    #[cfg(feature = "stack")]
    if let Some((crawl, stack)) = args.of.deployed()? {
        return crate::block_on(crate::stack::export(crawl, stack, args.what, iteration, rows));
    }
    read_local(&args.of.data.data, args.what, iteration, rows)
}

/// Reads the rows of a data directory.
fn read_local(data: &Path, what: What, wanted: Option<Iteration>, rows: &mut Rows) -> Result<(), CliError> {
    let latest = latest_iteration(data)?.map(|(_, latest)| latest);
    if let Some(wanted) = wanted.filter(|wanted| latest.is_none_or(|latest| *wanted > latest)) {
        return Err(CliError::NoIteration { data: data.to_owned(), wanted, latest });
    }
    let selection = Selection { crawl: None, iterations: wanted.map_or(Iterations::Latest, Iterations::Number) };
    let connection = LocalStore::open_read_only(data)?;
    let read = match what {
        What::Pages => query::export_pages(&connection, &selection, &mut |row| rows.write(&row)),
        What::Links => query::export_links(&connection, &selection, &mut |row| rows.write(&row)),
        What::Log => query::export_log(&connection, &selection, &mut |row| rows.write(&row)),
        What::Candidates => query::export_candidates(&connection, &selection, &mut |row| rows.write(&row)),
    };
    read.map_err(|source| CliError::Query { data: data.to_owned(), source })
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
            fate: String::new(),
            detail: None,
        };
        let json = serde_json::to_string(&row).unwrap();
        let mut rest = json.as_str();
        for field in fields(What::Links) {
            rest =
                rest.split_once(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field}, in its order: {json}")).1;
        }
        assert!(!rest.contains(':'), "no field is left out: {json}");
        assert!(fields(What::Log).contains(&"final"), "a word of the language is named without its mark");
    }
}
