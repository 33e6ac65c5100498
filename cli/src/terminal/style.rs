//! Colours of text on a terminal.

use std::env;
use std::ffi::OsStr;
use std::io::IsTerminal;

use clap::builder::StyledStr;
use clap::builder::styling::{AnsiColor, Style};

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Coloured.
    On,
    /// Not coloured: the stream is not a terminal, or colours are turned off.
    Off,
}

/// The meaning of a colour. Colour never carries information on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shade {
    /// An error.
    Error,
    /// A hint about what to do.
    Hint,
    /// The heading of a section.
    Head,
    /// Something added.
    Added,
    /// Something removed.
    Removed,
    /// Something changed.
    Changed,
}

impl Colour {
    /// Decides whether to colour output to a stream of this process.
    pub(crate) fn for_stream(stream: &impl IsTerminal) -> Self {
        let (no_color, term) = (env::var_os("NO_COLOR"), env::var_os("TERM"));
        Self::choose(stream.is_terminal(), no_color.as_deref(), term.as_deref())
    }

    /// Decides from the stream and the environment.
    ///
    /// Only terminals that support colours get them; a non-empty `NO_COLOR` turns them off
    /// (no-color.org).
    fn choose(is_terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let unwanted = no_color.is_some_and(|value| !value.is_empty()) || term.is_some_and(|term| term == "dumb");
        if is_terminal && !unwanted { Self::On } else { Self::Off }
    }

    /// Renders a text of clap, which would apply its own colour rules if it printed it itself.
    pub(crate) fn paint_styled(self, text: &StyledStr) -> String {
        match self {
            Self::On => text.ansi().to_string(),
            Self::Off => text.to_string(),
        }
    }

    /// Returns the text in its colour.
    pub(crate) fn paint(self, shade: Shade, text: &str) -> String {
        let style = match shade {
            Shade::Error => Style::new().fg_color(Some(AnsiColor::Red.into())).bold(),
            Shade::Hint => Style::new().fg_color(Some(AnsiColor::Cyan.into())),
            Shade::Head => Style::new().bold(),
            Shade::Added => Style::new().fg_color(Some(AnsiColor::Green.into())),
            Shade::Removed => Style::new().fg_color(Some(AnsiColor::Red.into())),
            Shade::Changed => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        };
        match self {
            Self::On => format!("{style}{text}{style:#}"),
            Self::Off => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_that_want_it() {
        let os = OsStr::new;
        for (is_terminal, no_color, term, expected, why) in [
            (true, None, Some(os("xterm")), Colour::On, "a terminal"),
            (false, None, Some(os("xterm")), Colour::Off, "a file or a pipe"),
            (true, Some(os("1")), Some(os("xterm")), Colour::Off, "NO_COLOR"),
            (true, Some(os("0")), Some(os("xterm")), Colour::Off, "whatever its value"),
            (true, Some(os("")), Some(os("xterm")), Colour::On, "but an empty one"),
            (true, None, Some(os("dumb")), Colour::Off, "a terminal without colours"),
        ] {
            assert_eq!(Colour::choose(is_terminal, no_color, term), expected, "{why}");
        }
        assert_eq!(Colour::Off.paint(Shade::Error, "error:"), "error:");
        assert_eq!(Colour::On.paint(Shade::Hint, "hint:"), "\u{1b}[36mhint:\u{1b}[0m");
    }
}
