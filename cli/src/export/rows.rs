//! Rows on their way to standard output, in the form that was asked for.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::ops::ControlFlow;

use serde::Serialize;

use super::csv::{Reader, SafeCsv};
use crate::args::Format;
use crate::terminal::write_json;

/// Rows on their way out.
pub(super) struct Rows {
    to: To,
    /// The names of the fields, which are told where there is no row to tell them.
    fields: Vec<&'static str>,
    /// What went wrong first; after it nothing more is written.
    failed: Option<io::Error>,
}

enum To {
    Jsonl(BufWriter<StdoutLock<'static>>),
    Csv(Box<SafeCsv<StdoutLock<'static>>>),
}

impl Rows {
    /// Rows of this form with these fields.
    pub(super) fn new(format: Format, fields: Vec<&'static str>) -> Self {
        let out = io::stdout().lock();
        let reader = if out.is_terminal() { Reader::Person } else { Reader::Program };
        let to = match format {
            Format::Jsonl => To::Jsonl(BufWriter::new(out)),
            Format::Csv => To::Csv(Box::new(SafeCsv::new(out, reader))),
        };
        Self { to, fields, failed: None }
    }

    /// Writes a row, and says whether more are wanted.
    pub(super) fn write(&mut self, row: &impl Serialize) -> ControlFlow<()> {
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
    pub(super) fn finish(mut self) -> io::Result<()> {
        let flushed = match &mut self.to {
            To::Jsonl(out) => out.flush(),
            To::Csv(out) => out.write_head(&self.fields).and_then(|()| out.flush()),
        };
        match self.failed.map_or(flushed, Err) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}
