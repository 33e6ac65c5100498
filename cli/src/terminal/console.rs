//! Messages on standard error. Standard output is for data only.

use std::io::{self, Write};

use dragline_local::SystemClock;
use dragline_ports::clock::Clock;
use indicatif::MultiProgress;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use super::{Colour, Shade, safe_lines, write_json};

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Messages, errors, the summary, and a line per URL.
    Urls,
    /// Messages, errors, and the summary.
    Normal,
    /// Errors only.
    Quiet,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text for people.
    Text,
    /// One JSON object per line, and nothing else.
    Json,
}

/// Prints messages on standard error, above the progress display if there is one.
///
/// Clones share the same terminal.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    colour: Colour,
    verbosity: Verbosity,
    form: Form,
    bars: MultiProgress,
    clock: SystemClock,
}

/// The envelope of an event in JSON.
#[derive(Serialize)]
struct Envelope<'a, T> {
    event: &'a str,
    at: Timestamp,
    #[serde(flatten)]
    body: &'a T,
}

/// The body of an event that only has text.
#[derive(Serialize)]
struct Text<'a> {
    /// How much it matters: `info`, `warn` or `error`.
    level: &'static str,
    text: &'a str,
}

/// The body of the event `log`: a line of the engine's log.
#[derive(Serialize)]
struct LogEvent<'a> {
    level: String,
    target: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    fields: serde_json::Map<String, Value>,
}

impl<'a> LogEvent<'a> {
    /// Returns the event of a line, as `tracing-subscriber` writes it as JSON.
    fn from_line(line: &'a Value) -> Self {
        let text = |key: &str| line[key].as_str().unwrap_or_default();
        let known = ["timestamp", "level", "target", "message"];
        let fields = line.as_object().into_iter().flatten();
        let fields = fields.filter(|(key, _)| !known.contains(&key.as_str()));
        let fields = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        Self { level: text("level").to_lowercase(), target: text("target"), text: text("message"), fields }
    }
}

/// The body of the event `error`.
#[derive(Serialize)]
struct Failure<'a> {
    level: &'static str,
    text: &'a str,
    hints: &'a [String],
}

impl Console {
    /// Returns a console on this process's standard error.
    pub(crate) fn to_stderr(verbosity: Verbosity, form: Form) -> Self {
        let colour = match form {
            Form::Text => Colour::for_stream(&io::stderr()),
            Form::Json => Colour::Off,
        };
        Self { colour, verbosity, form, bars: MultiProgress::new(), clock: SystemClock::new() }
    }

    /// Returns how much is printed.
    pub(crate) const fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// Returns whether text is coloured.
    pub(crate) const fn colour(&self) -> Colour {
        self.colour
    }

    /// Returns the progress display, which is drawn only if standard error is a terminal.
    pub(crate) const fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    /// Prints a message, unless quiet. It may have several lines; the caller escapes quotations.
    pub(crate) fn say(&self, text: &str) {
        match (self.verbosity, self.form) {
            (Verbosity::Quiet, _) => {}
            (_, Form::Text) => self.write(text.as_bytes(), b"\n"),
            (_, Form::Json) => self.event("message", &Text { level: "info", text }),
        }
    }

    /// Prints an important message, even if quiet.
    pub(crate) fn warn(&self, text: &str) {
        match self.form {
            Form::Text => self.write(safe_lines(text).as_bytes(), b"\n"),
            Form::Json => self.event("message", &Text { level: "warn", text }),
        }
    }

    /// Prints what to do next, unless quiet.
    pub(crate) fn hint(&self, text: &str) {
        match (self.verbosity, self.form) {
            (Verbosity::Quiet, _) => {}
            (_, Form::Text) => self.say(&format!("{} {}", self.colour.paint(Shade::Hint, "hint:"), safe_lines(text))),
            (_, Form::Json) => self.event("hint", &Text { level: "info", text }),
        }
    }

    /// Prints an error and what to do about it, even if quiet.
    pub(crate) fn error(&self, message: &str, hints: &[String]) {
        if self.form == Form::Json {
            return self.event("error", &Failure { level: "error", text: message, hints });
        }
        let head = self.colour.paint(Shade::Error, "error:");
        self.write(format!("{head} {}", safe_lines(message)).as_bytes(), b"\n");
        for hint in hints {
            let head = self.colour.paint(Shade::Hint, "hint:");
            self.write(format!("{head} {}", safe_lines(hint)).as_bytes(), b"\n");
        }
    }

    /// Prints an event as JSON: its name, the time, and the fields of the body.
    pub(crate) fn event(&self, event: &str, body: &impl Serialize) {
        let mut line = Vec::new();
        // Written in one piece, so that no other output comes between. Writing to a vector cannot
        // fail.
        if write_json(&mut line, &Envelope { event, at: self.clock.now(), body }).is_ok() {
            self.write(&line, b"");
        }
    }

    fn write(&self, text: &[u8], end: &[u8]) {
        // If standard error is closed, there is nowhere to report it.
        self.bars.suspend(|| {
            let _ = io::stderr().lock().write_all(&[text, end].concat());
        });
    }
}

/// The log is written between the messages, above the progress display.
impl<'a> MakeWriter<'a> for Console {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine(self)
    }
}

/// A writer of one log line, which tracing writes in one piece.
pub(crate) struct LogLine<'a>(&'a Console);

impl Write for LogLine<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.0.form {
            Form::Text => self.0.write(line, b""),
            Form::Json => match serde_json::from_slice::<Value>(line) {
                Ok(line) => self.0.event("log", &LogEvent::from_line(&line)),
                Err(_) => {
                    self.0.event("log", &Text { level: "info", text: String::from_utf8_lossy(line).trim_end() });
                }
            },
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
