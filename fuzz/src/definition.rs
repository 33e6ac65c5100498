//! Crawl definitions in YAML, and commands.

use dragline_definition::{DefinitionErrors, parse, parse_command};
use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, StackBrowsers};

use crate::shown::assert_one_line;

/// The most characters shown of a line of the file: 100, the line's number, and what is around
/// them.
const SHOWN_LINE_CHARS_MAX: usize = 140;

/// Input: a definition, or a message with a command.
///
/// What is read is the same when stored and read back; what is wrong is reported with its location,
/// safe for a terminal.
///
/// # Panics
/// If one of these does not hold.
pub fn definition(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match parse(&text, "crawl.yaml") {
        Ok(definition) => check(&definition),
        Err(errors) => check_errors(&errors, &text),
    }
    match parse_command(&text, StackBrowsers::Missing) {
        Ok(Command::Define(definition) | Command::PutCrawl(definition)) => check(&definition),
        Ok(Command::Url(url)) => assert_eq!(url.check_invariants(), Ok(())),
        Ok(_) => {}
        Err(errors) => check_errors(&errors, &text),
    }
}

fn check(definition: &Definition) {
    let stored = serde_json::to_string(definition).expect("texts and numbers");
    let again: Definition = serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{error}: {stored}"));
    assert_eq!(&again, definition, "stored and read back");
    assert!(!definition.seeds.is_empty());
    for seed in &definition.seeds {
        assert_eq!(seed.check_invariants(), Ok(()));
    }
}

fn check_errors(errors: &DefinitionErrors, text: &str) {
    assert!(errors.iter().next().is_some(), "refused without a reason");
    assert_one_line(&errors.one_line(), 500);
    for error in errors.iter() {
        assert!(error.line >= 1 && error.column >= 1, "{error}");
        assert!(error.line <= text.matches(['\n', '\r']).count() + 1, "line {} is not in the file", error.line);
        let shown = error.to_string();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        let excerpt = shown.lines().nth(1).unwrap_or_default();
        assert_one_line(excerpt, SHOWN_LINE_CHARS_MAX);
    }
}
