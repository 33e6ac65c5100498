//! What is said on standard error. Standard output is for data alone.

use std::io::{self, Write};

use dragline_local::SystemClock;
use dragline_ports::clock::Clock;
use indicatif::MultiProgress;
use jiff::Timestamp;
use serde::Serialize;
use tracing_subscriber::fmt::MakeWriter;

use super::{Colour, Shade, safe_lines, write_json};

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// What happens, errors, how things ended, and a line a URL.
    Urls,
    /// What happens, errors, and how things ended.
    Normal,
    /// Errors only.
    Quiet,
}

/// In which form things are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text for people.
    Text,
    /// One JSON object a line, and nothing else.
    Json,
}

/// Says things on standard error, above the progress display where there is one.
///
/// Its clones write to the same terminal.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    colour: Colour,
    verbosity: Verbosity,
    form: Form,
    bars: MultiProgress,
    clock: SystemClock,
}

/// Something that is said as JSON.
#[derive(Serialize)]
struct Said<'a, T> {
    event: &'a str,
    at: Timestamp,
    #[serde(flatten)]
    body: &'a T,
}

/// A text of ours.
#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

/// What went wrong.
#[derive(Serialize)]
struct Failure<'a> {
    text: &'a str,
    hints: &'a [String],
}

impl Console {
    /// Talks to this process's standard error.
    pub(crate) fn to_stderr(verbosity: Verbosity, form: Form) -> Self {
        let colour = match form {
            Form::Text => Colour::of_stream(&io::stderr()),
            Form::Json => Colour::Off,
        };
        Self { colour, verbosity, form, bars: MultiProgress::new(), clock: SystemClock::new() }
    }

    /// How much is said.
    pub(crate) const fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// In which form.
    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// Whether it is coloured.
    pub(crate) const fn colour(&self) -> Colour {
        self.colour
    }

    /// Where progress is drawn. It draws on standard error, and only if that is a terminal.
    pub(crate) const fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    /// Says something, unless told to be quiet. Line breaks in it are ours; what it quotes is made safe by the caller.
    pub(crate) fn say(&self, text: &str) {
        match (self.verbosity, self.form) {
            (Verbosity::Quiet, _) => {}
            (_, Form::Text) => self.write(text.as_bytes(), b"\n"),
            (_, Form::Json) => self.event("message", &Text { text }),
        }
    }

    /// Says what to do next, unless told to be quiet.
    pub(crate) fn hint(&self, text: &str) {
        match (self.verbosity, self.form) {
            (Verbosity::Quiet, _) => {}
            (_, Form::Text) => self.say(&format!("{} {}", self.colour.paint(Shade::Hint, "hint:"), safe_lines(text))),
            (_, Form::Json) => self.event("hint", &Text { text }),
        }
    }

    /// Says what went wrong and what to do about it, however quiet it is otherwise.
    pub(crate) fn error(&self, message: &str, hints: &[String]) {
        if self.form == Form::Json {
            return self.event("error", &Failure { text: message, hints });
        }
        let head = self.colour.paint(Shade::Error, "error:");
        self.write(format!("{head} {}", safe_lines(message)).as_bytes(), b"\n");
        for hint in hints {
            let head = self.colour.paint(Shade::Hint, "hint:");
            self.write(format!("{head} {}", safe_lines(hint)).as_bytes(), b"\n");
        }
    }

    /// Says something to a program: its fields, and before them what it is and what time it is.
    pub(crate) fn event(&self, event: &str, body: &impl Serialize) {
        let mut line = Vec::new();
        // Written at once, so that nothing comes between; and a vector takes everything.
        if write_json(&mut line, &Said { event, at: self.clock.now(), body }).is_ok() {
            self.write(&line, b"");
        }
    }

    fn write(&self, text: &[u8], end: &[u8]) {
        // Nobody is left to be told that standard error is closed.
        self.bars.suspend(|| {
            let _ = io::stderr().lock().write_all(&[text, end].concat());
        });
    }
}

/// The log is written between the lines that are said, and above the progress display.
impl<'a> MakeWriter<'a> for Console {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine(self)
    }
}

/// One line of the log, which comes in one piece.
pub(crate) struct LogLine<'a>(&'a Console);

impl Write for LogLine<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.0.form {
            Form::Text => self.0.write(line, b""),
            Form::Json => self.0.event("log", &Text { text: String::from_utf8_lossy(line).trim_end() }),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
