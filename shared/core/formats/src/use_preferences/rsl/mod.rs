//! RSL files: on which terms machines may use the pages of a site (Really Simple Licensing 1.0 of
//! the RSL collective, <https://rslstandard.org/rsl>).
//!
//! Dragline accepts no terms. So a licence allows only what it grants for nothing and to everybody;
//! what it grants on a condition is reserved, and so is what no licence of the same content grants.

mod reader;
mod terms;
#[cfg(test)]
mod tests;

use dragline_domain::shown::one_line;
use dragline_domain::url::Origin;
use dragline_domain::use_preferences::{
    Purpose, RslAnswer, UseSource, UseStand, UseStands, UseStatement, add_statements,
};

use self::reader::{Flaw, contents};
use crate::robots::{Licence, matches_pattern};

/// The limit on the file, in bytes.
pub const RSL_FILE_BYTES_MAX: usize = 64 * 1024;

/// The limit on the contents that are kept, and on their patterns together, in bytes: they are
/// stored with the origin's lease, which is written with every commit.
const CONTENTS_MAX: usize = 50;
const LOCATIONS_BYTES_MAX: usize = 4 * 1024;

/// The limit on the reason why a file cannot be read, in characters.
const REASON_CHARS_MAX: usize = 200;

/// The purposes that the vocabulary has a word for.
const LICENSED: [Purpose; 3] = [Purpose::Search, Purpose::AiInput, Purpose::AiTrain];

/// Reads a file that came with a good status, for the URLs of this origin.
///
/// A body whose root is not `<rsl>` is no such file: many servers send their home page for whatever
/// is missing. One that is and breaks off, is too large or too long may reserve something, so it is
/// unreadable.
///
/// ```
/// use dragline_domain::use_preferences::{RslAnswer, UseStand};
/// use dragline_formats::use_preferences::read_rsl_file;
/// let body = br#"<rsl xmlns="https://rslstandard.org/rsl"><content url="/essays/*">
///     <license><prohibits type="usage">ai-train</prohibits></license></content></rsl>"#;
/// let answer = read_rsl_file(body, &"https://a.example".parse()?);
/// let RslAnswer::Rules(terms) = answer else { panic!("it can be read") };
/// assert_eq!(terms[0].says.ai_train, Some(UseStand::Reserved));
/// # Ok::<(), dragline_domain::url::OriginError>(())
/// ```
#[must_use]
pub fn read_rsl_file(body: &[u8], origin: &Origin) -> RslAnswer {
    let contents = match contents(&String::from_utf8_lossy(body), origin) {
        Ok(contents) => contents,
        Err(Flaw::AnotherFile) => return RslAnswer::Missing,
        Err(Flaw::Broken(why)) => return unreadable(&why),
    };
    let bytes: usize = contents.iter().map(|content| content.location.len()).sum();
    if contents.len() > CONTENTS_MAX || bytes > LOCATIONS_BYTES_MAX {
        let limits = format!("{CONTENTS_MAX} contents, or {LOCATIONS_BYTES_MAX} bytes of their URLs");
        return unreadable(&format!("it has more than {limits}"));
    }
    RslAnswer::Rules(contents)
}

/// Returns the answer for a file that may be there and cannot be read.
fn unreadable(why: &str) -> RslAnswer {
    RslAnswer::Unreadable(one_line(why, REASON_CHARS_MAX))
}

/// Returns what the file says of a URL, by its path and query; `None` if it says nothing.
///
/// The longest URL of a content that matches decides, as in robots.txt; of equally long ones, all
/// of them. If the file could not be read, all that it has a word for is reserved: a failure is no
/// permission.
#[must_use]
pub fn rsl_statement(answer: &RslAnswer, path_and_query: &str) -> Option<UseStatement> {
    let (text, says) = match answer {
        RslAnswer::Missing => return None,
        RslAnswer::Unreadable(why) => {
            let reserve = |says: UseStands, purpose| says.with(purpose, UseStand::Reserved);
            let says = LICENSED.into_iter().fold(UseStands::NOTHING, reserve);
            (format!("cannot be read ({why}): reserved"), says)
        }
        RslAnswer::Rules(contents) => {
            let matching = contents.iter().filter(|content| matches_pattern(&content.location, path_and_query));
            let matching: Vec<_> = matching.collect();
            let longest = matching.iter().map(|content| content.location.len()).max()?;
            let mut decisive = matching.into_iter().filter(|content| content.location.len() == longest);
            let first = decisive.next()?;
            let says = decisive.fold(first.says, |says, content| says.and(content.says));
            (format!("content {}", first.location), says)
        }
    };
    Some(UseStatement::new(UseSource::Rsl, &text, says))
}

/// Adds what the file of a licence says to the statements about a URL, by its path and query. The
/// line of robots.txt that names it says nothing of its own any more if its file could be read.
pub fn apply_licence(statements: &mut Vec<UseStatement>, licence: &Licence, answer: &RslAnswer, path_and_query: &str) {
    if matches!(answer, RslAnswer::Rules(_)) {
        let of_line = licence.statement();
        statements.retain(|statement| *statement != of_line);
    }
    add_statements(statements, rsl_statement(answer, path_and_query));
}
