//! Crawl definitions in YAML, read and written, and commands that may contain one.
//!
//! [`parse`] works in two steps, which both know locations in the file: it reads the YAML,
//! including texts such as durations and patterns (`read`, by the domain's description of the
//! keys), and then runs the domain's checks. Each mistake that does not follow from another one
//! (`mask`) gets a diagnostic with its location and a hint.

mod command;
mod error;
mod known;
mod mask;
mod read;
#[cfg(test)]
mod reference;
pub mod selectors;
mod shape;
#[cfg(test)]
mod tests;
mod units;
mod write;

pub use command::{COMMAND_BYTES_MAX, parse_command};
pub use error::{DefinitionError, DefinitionErrors, Diagnostic};
pub use units::{duration, size};
pub use write::{scalar, write};

use dragline_domain::definition::{Condition, Definition, ItemMistake, Mistake, RunsWhere, stack_problems};
use error::{Diagnostics, Location};
use read::ReadDraft;
use serde::de::DeserializeOwned;

/// The limit on a definition, in bytes.
pub const TEXT_BYTES_MAX: usize = 2 << 20;

/// Reads a definition from YAML. `source` is the file's name in messages.
///
/// ```
/// let definition = dragline_definition::parse("seeds: [https://example.org/]", "crawl.yaml").unwrap();
/// assert_eq!(definition.name.as_str(), "example.org");
/// let errors = dragline_definition::parse("seedz: []", "crawl.yaml").unwrap_err();
/// assert!(errors.to_string().contains("unknown key `seedz`"));
/// ```
///
/// # Errors
/// Lists the mistakes, each with line, column and a hint. Never empty.
pub fn parse(text: &str, source: &str) -> Result<Definition, DefinitionErrors> {
    parse_for(text, source, RunsWhere::Anywhere)
}

/// Reads a definition as [`parse`] does, for a crawl that runs there.
///
/// # Errors
/// Lists the mistakes, and what exceeds the limits of where it runs.
pub fn parse_for(text: &str, source: &str, runs: RunsWhere) -> Result<Definition, DefinitionErrors> {
    let errors = |found: Diagnostics| DefinitionErrors::new(text, source, found);
    if text.len() > TEXT_BYTES_MAX {
        let diagnostic = Diagnostic::new(format!("the file has more than {TEXT_BYTES_MAX} bytes"));
        return Err(errors(vec![(Location::START, diagnostic)]));
    }
    let (read, found) = shape::parse_around(text).map_err(errors)?;
    check_draft(read, found, runs).map_err(errors)
}

/// Reads the YAML of a definition into the caller's own type, such as JSON values, to pass it on.
/// Checks only its form.
///
/// # Errors
/// Fails if it is not YAML, or not of that type.
pub fn parse_as<T: DeserializeOwned>(text: &str, source: &str) -> Result<T, DefinitionErrors> {
    shape::parse(text).map_err(|found| DefinitionErrors::new(text, source, vec![found]))
}

/// Reads a condition over URLs, written as under `when` in a definition. `source` is its name in
/// messages.
///
/// ```
/// let condition = dragline_definition::condition("path: { prefix: /archive/ }", "--where").unwrap();
/// let url = "https://example.org/archive/1".to_owned().try_into().unwrap();
/// assert!(condition.matches(&url));
/// ```
///
/// # Errors
/// Lists the mistakes, with locations and hints.
pub fn condition(text: &str, source: &str) -> Result<Condition, DefinitionErrors> {
    let errors = |found| DefinitionErrors::new(text, source, vec![found]);
    let condition: Condition = shape::parse(text).map_err(errors)?;
    match condition.mistake() {
        None => Ok(condition),
        Some(mistake) => Err(errors((Location::START, Diagnostic::new(mistake.to_string())))),
    }
}

/// Checks a draft that was read; `found` are the mistakes in its shape.
fn check_draft(read: ReadDraft, mut found: Diagnostics, runs: RunsWhere) -> Result<Definition, Diagnostics> {
    let ReadDraft { draft, locations, diagnostics, consequences } = read;
    if found.is_empty() {
        found.extend(consequences);
    }
    found.extend(diagnostics);
    let problems = match Definition::new(draft) {
        Ok(definition) if found.is_empty() => {
            let beyond = stack_problems(&definition, runs);
            found.extend(beyond.iter().map(|problem| (locations.locate(problem), Diagnostic::from_problem(problem))));
            return if found.is_empty() { Ok(definition) } else { Err(found) };
        }
        Ok(_) => return Err(found),
        Err(problems) => problems,
    };
    let is_alone = found.is_empty();
    let problems = problems.iter().filter(|problem| is_alone || stands_alone(&problem.mistake));
    found.extend(problems.map(|problem| (locations.locate(problem), Diagnostic::from_problem(problem))));
    Err(found)
}

/// Whether a mistake is reported whatever else is wrong. Others may only follow from values that
/// were left out and so have their defaults.
const fn stands_alone(mistake: &Mistake) -> bool {
    match mistake {
        Mistake::TooMany { .. }
        | Mistake::OutOfRange { .. }
        | Mistake::BeyondStack { .. }
        | Mistake::ValueOnStack(_)
        | Mistake::NotOnStack
        | Mistake::NoBrowserOnStack
        | Mistake::ExcludesSeed(_)
        | Mistake::Condition(_)
        | Mistake::Item { mistake: ItemMistake::Double(_) | ItemMistake::NoJson, .. }
        | Mistake::PatternsTooLarge
        | Mistake::Reason
        | Mistake::ParameterName(_)
        | Mistake::NotAHost => true,
        Mistake::NoSeeds
        | Mistake::MoreThan { .. }
        | Mistake::LessThan { .. }
        | Mistake::NoInterval(_)
        | Mistake::NoEffect(_)
        | Mistake::EmptyRule
        | Mistake::NoSelector
        | Mistake::Item { .. }
        | Mistake::IncludesNoSeed(_)
        | Mistake::BlocksEverySeed { .. }
        | Mistake::NoKey => false,
    }
}
