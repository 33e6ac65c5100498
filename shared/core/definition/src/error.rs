//! Diagnostics: mistakes in a file, with their locations.

use std::fmt;

use dragline_domain::definition::Problem;
use dragline_domain::shown::{is_control, one_line, without_credentials};
use serde_saphyr::Location as YamlLocation;

/// The limit in characters on a message, a hint, or both on one line, as they quote the file.
const TEXT_CHARS_MAX: usize = 500;

/// A line and a column in a file, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Location {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

impl From<YamlLocation> for Location {
    fn from(location: YamlLocation) -> Self {
        let counted_from_1 = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
        Self { line: counted_from_1(location.line()), column: counted_from_1(location.column()) }
    }
}

/// A mistake and its remedy, without its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// The mistake, on one line.
    pub message: String,
    /// The remedy, on one line; `None` if the message says it all.
    pub hint: Option<String>,
    value: ShownValue,
}

/// Whether the value at the place of a mistake may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ShownValue {
    #[default]
    Shown,
    /// It may be a password.
    Hidden,
}

impl Diagnostic {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, value: ShownValue::Shown }
    }

    /// Returns the same about a value that is not shown, nor what follows it on its line.
    pub(super) fn about_secret(self) -> Self {
        Self { value: ShownValue::Hidden, ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn from_problem(problem: &Problem) -> Self {
        Self { hint: problem.mistake.hint(), ..Self::new(problem.to_string()) }
    }
}

/// The diagnostics of a file, each with its location.
pub(super) type Diagnostics = Vec<(Location, Diagnostic)>;

/// A diagnostic with its location in the file.
///
/// [`fmt::Display`] gives the location and the message (`crawl.yaml:12:5: no seeds`), then the line
/// with a mark below the column, then the hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionError {
    /// The file, as the caller named it.
    source_name: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The mistake, on one line.
    pub message: String,
    /// The remedy, on one line; `None` if the message says it all.
    pub hint: Option<String>,
    /// The line's text, or the part of it around the column.
    excerpt: Excerpt,
}

/// A line of the file that is safe to show: control characters and credentials replaced, long lines
/// cut.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// How many characters come before the column.
    before: usize,
}

impl Excerpt {
    const CHARS_MAX: usize = 100;
    const CHARS_BEFORE_MAX: usize = 60;

    /// Returns the part of a line around a column, up to the first column with a secret.
    fn new(line: &str, column: usize, secret_at: Option<usize>) -> Self {
        let start = (column - 1).saturating_sub(Self::CHARS_BEFORE_MAX);
        let shown: String = match secret_at {
            Some(secret_at) => line.chars().take(secret_at - 1).chain(['…']).collect(),
            None => line.to_owned(),
        };
        let line = without_credentials(&shown);
        let text = line.chars().skip(start).take(Self::CHARS_MAX).map(printable).collect();
        Self { text, before: column - 1 - start }
    }
}

/// Replaces one character with exactly one other, so that columns stay the same.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if is_control(c) => '\u{fffd}',
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

/// The errors of a file: at least one, in line order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionErrors(Vec<DefinitionError>);

impl DefinitionErrors {
    pub(super) fn new(text: &str, source: &str, mut found: Diagnostics) -> Self {
        found.sort_by_key(|(location, _)| *location);
        let lines = lines(text);
        let hidden = found.iter().filter(|(_, diagnostic)| diagnostic.value == ShownValue::Hidden);
        let hidden: Vec<Location> = hidden.map(|(location, _)| *location).collect();
        let secret_at = |line| hidden.iter().find(|secret| secret.line == line).map(|secret| secret.column);
        let located = |(location, diagnostic): (Location, Diagnostic)| DefinitionError {
            source_name: source.to_owned(),
            line: location.line,
            column: location.column,
            message: one_line(&diagnostic.message, TEXT_CHARS_MAX),
            hint: diagnostic.hint.map(|hint| one_line(&hint, TEXT_CHARS_MAX)),
            excerpt: Excerpt::new(
                lines.get(location.line - 1).copied().unwrap_or_default(),
                location.column,
                secret_at(location.line),
            ),
        };
        Self(found.into_iter().map(located).collect())
    }

    /// Returns the errors, in line order.
    pub fn iter(&self) -> impl Iterator<Item = &DefinitionError> {
        self.0.iter()
    }

    /// Returns the first error with its location, on one short line for a log.
    #[must_use]
    pub fn one_line(&self) -> String {
        let Some(first) = self.0.first() else { return String::new() };
        let hint = first.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let line = format!("{}:{}:{}: {}{hint}", first.source_name, first.line, first.column, first.message);
        one_line(&line, TEXT_CHARS_MAX)
    }
}

/// Splits a text into lines as YAML does: each ends in LF, CR or both (YAML 1.2, 5.4).
fn lines(text: &str) -> Vec<&str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')).collect()
}

/// Shows the errors, separated by blank lines.
impl fmt::Display for DefinitionErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let lead = if index == 0 { "" } else { "\n\n" };
            write!(f, "{lead}{error}")?;
        }
        Ok(())
    }
}
