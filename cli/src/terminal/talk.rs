//! What is said on standard error. Standard output is for data alone.

use std::io::{self, Write};

use indicatif::MultiProgress;

use super::{Colour, Shade, safe_lines};

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// What happens, errors, and how things ended.
    Normal,
    /// Errors only.
    Quiet,
}

/// Says things on standard error, above the progress display where there is one.
///
/// Its clones talk to the same terminal.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    colour: Colour,
    loudness: Loudness,
    bars: MultiProgress,
}

impl Talk {
    /// Talks to this process's standard error.
    pub(crate) fn to_stderr(loudness: Loudness) -> Self {
        Self { colour: Colour::of_stream(&io::stderr()), loudness, bars: MultiProgress::new() }
    }

    /// How much is said.
    pub(crate) const fn loudness(&self) -> Loudness {
        self.loudness
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
        if self.loudness == Loudness::Normal {
            self.write(text);
        }
    }

    /// Says what to do next, unless told to be quiet.
    pub(crate) fn hint(&self, text: &str) {
        self.say(&format!("{} {}", self.colour.paint(Shade::Hint, "hint:"), safe_lines(text)));
    }

    /// Says what went wrong and what to do about it, however quiet it is otherwise.
    pub(crate) fn error(&self, message: &str, hints: &[String]) {
        self.write(&format!("{} {}", self.colour.paint(Shade::Error, "error:"), safe_lines(message)));
        for hint in hints {
            self.write(&format!("{} {}", self.colour.paint(Shade::Hint, "hint:"), safe_lines(hint)));
        }
    }

    fn write(&self, text: &str) {
        // Nobody is left to be told that standard error is closed.
        self.bars.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{text}");
        });
    }
}
