//! The YAML of a crawl definition, and commands that may hold one.
//!
//! [`parse`] reads it in three steps, each of which knows where in the file it is: the YAML's shape (`raw`), the texts in
//! it such as durations and patterns (`read`), and the checks of the domain. A file with mistakes gets all of those
//! that the step can see, each with its place and a hint.

mod command;
mod error;
mod raw;
mod read;
mod shape;
#[cfg(test)]
mod tests;
mod units;

pub use command::{COMMAND_BYTES_MAX, parse_command};
pub use error::{Complaint, DefinitionError, DefinitionErrors, Excerpt};
pub use units::duration;

use dragline_domain::definition::Definition;
use error::Spot;
use raw::RawDefinition;
use serde::de::DeserializeOwned;

/// The longest definition that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 2 << 20;

/// Reads a definition from YAML. `source` is the file's name, for the messages.
///
/// # Errors
/// What is wrong, with line, column and a hint. Never empty.
pub fn parse(text: &str, source: &str) -> Result<Definition, DefinitionErrors> {
    let errors = |found: Vec<(Spot, Complaint)>| DefinitionErrors::new(text, source, found);
    if text.len() > TEXT_BYTES_MAX {
        let complaint = Complaint::new(format!("the file has more than {TEXT_BYTES_MAX} bytes"));
        return Err(errors(vec![(Spot::START, complaint)]));
    }
    let raw = shape::parse(text).map_err(|found| errors(vec![found]))?;
    checked(raw).map_err(errors)
}

/// The YAML of a definition as the caller's own type, such as JSON's values, for passing it on. Only its form is checked.
///
/// # Errors
/// It is no YAML, or not of that type.
pub fn parse_as<T: DeserializeOwned>(text: &str, source: &str) -> Result<T, DefinitionErrors> {
    shape::parse(text).map_err(|found| DefinitionErrors::new(text, source, vec![found]))
}

/// Reads the texts of a definition and checks it.
fn checked(raw: RawDefinition) -> Result<Definition, Vec<(Spot, Complaint)>> {
    let read = read::read(raw)?;
    Definition::new(read.draft).map_err(|problems| {
        let located = problems.iter().map(|problem| {
            let complaint = Complaint { message: problem.mistake.to_string(), hint: problem.mistake.hint() };
            (read.spots.of(problem), complaint.about(problem.place))
        });
        located.collect()
    })
}
