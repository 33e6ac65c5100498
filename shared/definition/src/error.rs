//! What is wrong with a file, and where.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use dragline_domain::definition::Place;
use regex::{Captures, Regex};
use serde_saphyr::Location;

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Spot {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

impl From<Location> for Spot {
    fn from(location: Location) -> Self {
        let counted_from_1 = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
        Self { line: counted_from_1(location.line()), column: counted_from_1(location.column()) }
    }
}

/// What is wrong, before it is known where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Complaint {
    /// What is wrong, on one line.
    pub message: String,
    /// What to do about it, on one line; absent where the message says it all.
    pub hint: Option<String>,
}

impl Complaint {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn about(self, place: Place) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }
}

/// What is wrong, and where.
pub(super) type Complaints = Vec<(Spot, Complaint)>;

/// One thing that is wrong with a definition's file.
///
/// [`fmt::Display`] gives the place and the message (`crawl.yaml:12:5: no seeds`), then the line with a mark below the
/// column, then the hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionError {
    /// The file, as the caller named it.
    pub source_name: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, on one line.
    pub message: String,
    /// What to do about it, on one line; absent where the message says it all.
    pub hint: Option<String>,
    /// The line's text, or the part of it around the column.
    pub excerpt: Excerpt,
}

/// A line of the file made fit to be shown: control characters and credentials replaced, long lines cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    text: String,
    /// How many characters stand before the place that is meant.
    before: usize,
}

impl Excerpt {
    const CHARS_MAX: usize = 100;
    const CHARS_BEFORE_MAX: usize = 60;

    fn new(line: &str, column: usize) -> Self {
        let start = (column - 1).saturating_sub(Self::CHARS_BEFORE_MAX);
        let line = without_credentials(line);
        let text = line.chars().skip(start).take(Self::CHARS_MAX).map(printable).collect();
        Self { text, before: column - 1 - start }
    }
}

/// Replaces user names and passwords in URLs, which are never printed; the columns stay as they are. What stands between two slashes and an `@`
/// may be either, wherever it was mistyped.
fn without_credentials(line: &str) -> Cow<'_, str> {
    static CREDENTIALS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(?P<slashes>//)\S*@|[^\s/@'"\[\],]+:[^\s/@]*@"#).expect("a sound pattern"));
    CREDENTIALS.replace_all(line, |found: &Captures<'_>| {
        let slashes = found.name("slashes").map_or("", |slashes| slashes.as_str());
        format!("{slashes}{}", "*".repeat(found[0].chars().count() - slashes.len()))
    })
}

fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}:{}: {}", self.source_name, self.line, self.column, self.message)?;
        let number = self.line.to_string();
        writeln!(f, "{number} | {}", self.excerpt.text)?;
        write!(f, "{:width$} | {:before$}^", "", "", width = number.len(), before = self.excerpt.before)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that was found wrong with a file: at least one thing, in the order of the lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionErrors(Vec<DefinitionError>);

impl DefinitionErrors {
    pub(super) fn new(text: &str, source: &str, mut found: Vec<(Spot, Complaint)>) -> Self {
        found.sort_by_key(|(spot, _)| *spot);
        let lines = lines(text);
        let located = |(spot, complaint): (Spot, Complaint)| DefinitionError {
            source_name: source.to_owned(),
            line: spot.line,
            column: spot.column,
            message: one_line(&complaint.message),
            hint: complaint.hint.as_deref().map(one_line),
            excerpt: Excerpt::new(lines.get(spot.line - 1).copied().unwrap_or_default(), spot.column),
        };
        Self(found.into_iter().map(located).collect())
    }

    /// The errors, in the order of the lines.
    pub fn iter(&self) -> impl Iterator<Item = &DefinitionError> {
        self.0.iter()
    }

    /// The first error with its place, on one short line that is fit for a log.
    #[must_use]
    pub fn one_line(&self) -> String {
        const CHARS_MAX: usize = 500;
        let Some(first) = self.0.first() else { return String::new() };
        let hint = first.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let line = format!("{}:{}:{}: {}{hint}", first.source_name, first.line, first.column, first.message);
        line.chars().take(CHARS_MAX).collect()
    }
}

/// The lines of a text as YAML counts them: each ends in LF, CR or both (YAML 1.2, 5.4).
fn lines(text: &str) -> Vec<&str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')).collect()
}

/// Messages quote the file, and may be shown on a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { ' ' } else { printable(c) }).collect()
}

/// The errors, with an empty line between them.
impl fmt::Display for DefinitionErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let lead = if index == 0 { "" } else { "\n\n" };
            write!(f, "{lead}{error}")?;
        }
        Ok(())
    }
}
