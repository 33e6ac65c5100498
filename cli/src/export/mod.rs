//! `dragline export`: rows on standard output, one by one.

mod csv;

use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::ops::ControlFlow;

use dragline_domain::ids::Iteration;
use dragline_local::LocalStore;
use dragline_local::query::{self, Iterations, Selection};
use serde::Serialize;

use crate::args::{ExportArgs, Format, What};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::stored::latest_iteration;
use crate::terminal::write_json;
use csv::{Reader, SafeCsv};

/// Writes the rows that were asked for, as long as somebody reads them.
///
/// # Errors
/// There is no data directory, it cannot be read, or the rows cannot be written.
pub(crate) fn export(args: &ExportArgs) -> Result<Exit, CliError> {
    let data = args.data.data.as_path();
    let latest = latest_iteration(data)?.map(|(_, latest)| latest);
    if let Some(wanted) = args.iteration.filter(|wanted| latest.is_none_or(|latest| *wanted > latest.number())) {
        return Err(CliError::NoIteration { data: data.to_owned(), wanted, latest });
    }
    let iterations = args.iteration.and_then(Iteration::new).map_or(Iterations::Latest, Iterations::Number);
    let selection = Selection { crawl: None, iterations };
    let connection = LocalStore::open_read_only(data)?;
    let mut rows = Rows::new(args.format);
    let read = match args.what {
        What::Pages => query::export_pages(&connection, &selection, &mut |row| rows.write(&row)),
        What::Links => query::export_links(&connection, &selection, &mut |row| rows.write(&row)),
        What::Log => query::export_log(&connection, &selection, &mut |row| rows.write(&row)),
        What::Candidates => query::export_candidates(&connection, &selection, &mut |row| rows.write(&row)),
    };
    read.map_err(|source| CliError::Query { data: data.to_owned(), source })?;
    rows.finish().map_err(while_doing("writing to standard output"))?;
    Ok(Exit::Done)
}

/// Rows on their way out.
struct Rows {
    to: To,
    /// What went wrong first; after it nothing more is written.
    failed: Option<io::Error>,
}

enum To {
    Jsonl(BufWriter<StdoutLock<'static>>),
    Csv(Box<SafeCsv<StdoutLock<'static>>>),
}

impl Rows {
    fn new(format: Format) -> Self {
        let out = io::stdout().lock();
        let reader = if out.is_terminal() { Reader::Person } else { Reader::Program };
        let to = match format {
            Format::Jsonl => To::Jsonl(BufWriter::new(out)),
            Format::Csv => To::Csv(Box::new(SafeCsv::new(out, reader))),
        };
        Self { to, failed: None }
    }

    /// Writes a row, and says whether more are wanted.
    fn write(&mut self, row: &impl Serialize) -> ControlFlow<()> {
        let written = match &mut self.to {
            To::Jsonl(out) => write_json(out, row),
            To::Csv(out) => out.write(row),
        };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Writes what is held back, and says whether all went well. A reader that had enough is no failure.
    fn finish(mut self) -> io::Result<()> {
        let flushed = match &mut self.to {
            To::Jsonl(out) => out.flush(),
            To::Csv(out) => out.flush(),
        };
        match self.failed.map_or(flushed, Err) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}
