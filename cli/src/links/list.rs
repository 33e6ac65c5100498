//! A list that is written as text, cut by default, or as rows.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::ops::ControlFlow;

use dragline_ports::row::Row;

use crate::args::ListArgs;
use crate::export::Rows;
use crate::terminal::{Colour, Shade, count, unless_closed};

/// The number of entries per section, unless all are requested.
const SHOWN: u64 = 25;

/// A writer of a list.
pub(crate) struct List {
    to: ListSink,
}

enum ListSink {
    Text(Box<Text>),
    Rows(Rows),
}

struct Text {
    out: BufWriter<StdoutLock<'static>>,
    colour: Colour,
    /// The maximum number of entries per section.
    shown_max: u64,
    /// The number of entries in this section so far.
    entries: u64,
    failed: io::Result<()>,
}

impl List {
    pub(crate) fn new(args: &ListArgs) -> Self {
        let to = match args.format() {
            Some(format) => ListSink::Rows(Rows::new(format, &[])),
            None => ListSink::Text(Box::new(Text {
                out: BufWriter::new(io::stdout().lock()),
                colour: Colour::for_stream(&io::stdout()),
                shown_max: if args.all { u64::MAX } else { SHOWN },
                entries: 0,
                failed: Ok(()),
            })),
        };
        Self { to }
    }

    /// Returns whether it writes rows for programs.
    pub(crate) const fn has_rows(&self) -> bool {
        matches!(self.to, ListSink::Rows(_))
    }

    /// Returns whether it writes all entries.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.to {
            ListSink::Rows(_) => true,
            ListSink::Text(text) => text.shown_max == u64::MAX,
        }
    }

    /// Writes text for people; skipped in rows.
    pub(crate) fn write_text(&mut self, words: impl FnOnce(Colour) -> String) {
        if let ListSink::Text(text) = &mut self.to {
            let words = words(text.colour);
            text.write(&words);
        }
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, head: &str) {
        if let ListSink::Text(text) = &mut self.to {
            text.end_section();
            let head = format!("\n{}\n", text.colour.paint(Shade::Head, head));
            text.write(&head);
        }
    }

    /// Adds an entry, and returns whether to go on.
    pub(crate) fn add(&mut self, row: impl Row, words: impl FnOnce(Colour) -> String) -> ControlFlow<()> {
        self.add_all([row], words)
    }

    /// Adds an entry of several rows, and returns whether to go on.
    pub(crate) fn add_all<R: Row>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
        words: impl FnOnce(Colour) -> String,
    ) -> ControlFlow<()> {
        match &mut self.to {
            ListSink::Rows(out) => rows.into_iter().try_for_each(|row| out.write(row)),
            ListSink::Text(text) => text.add(words),
        }
    }

    /// Writes text for people after the entries.
    pub(crate) fn write_text_after(&mut self, words: &str) {
        if let ListSink::Text(text) = &mut self.to {
            text.end_section();
            text.write(words);
        }
    }

    /// Flushes the buffer. A closed pipe is not an error.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.to {
            ListSink::Rows(rows) => rows.finish(),
            ListSink::Text(mut text) => {
                text.end_section();
                unless_closed(text.failed.and_then(|()| text.out.flush()))
            }
        }
    }
}

impl Text {
    fn write(&mut self, words: &str) {
        if self.failed.is_ok() {
            self.failed = self.out.write_all(words.as_bytes());
        }
    }

    /// All entries are counted, even those that are not shown.
    fn add(&mut self, words: impl FnOnce(Colour) -> String) -> ControlFlow<()> {
        self.entries += 1;
        if self.entries <= self.shown_max {
            let words = words(self.colour);
            self.write(&words);
        }
        if self.failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn end_section(&mut self) {
        let more = self.entries.saturating_sub(self.shown_max);
        self.entries = 0;
        if more > 0 {
            let words = format!("... and {} more; --all shows them\n", count(more));
            self.write(&words);
        }
    }
}
