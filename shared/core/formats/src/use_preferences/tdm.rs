//! The TDM Reservation Protocol of W3C's community group (final report of May 2024): whether text
//! and data mining is reserved, in the sense of Directive (EU) 2019/790, article 4.

use dragline_domain::shown::one_line;
use dragline_domain::use_preferences::{TdmAnswer, TdmRule, UseSource, UseStand, UseStands, UseStatement};
use serde::Deserialize;
use serde_json::Value;

use crate::robots::matches_pattern;

/// The path of the file.
pub const TDM_PATH: &str = "/.well-known/tdmrep.json";

/// The header field and the `<meta>` element.
pub const TDM_RESERVATION: &str = "tdm-reservation";

/// The limit on the file, in bytes.
pub const TDM_FILE_BYTES_MAX: usize = 64 * 1024;

/// The limit on the rules that are kept, and on their patterns together, in bytes: they are stored
/// with the origin's lease, which is written with every commit.
const RULES_MAX: usize = 50;
const LOCATIONS_BYTES_MAX: usize = 4 * 1024;

/// The limit on the reason why a file cannot be read, in characters.
const REASON_CHARS_MAX: usize = 200;

/// Reads the value of the field or element; `None` if it is neither `0` nor `1`.
#[must_use]
pub fn tdm_reservation(value: &str) -> Option<UseStand> {
    match value.trim() {
        "0" => Some(UseStand::Allowed),
        "1" => Some(UseStand::Reserved),
        _ => None,
    }
}

/// Reads a file that came with a good status.
///
/// A body that is not JSON is no such file: many servers send their home page for whatever is
/// missing. JSON that is not such a list, is too large or too long may reserve something, so it is
/// unreadable.
///
/// ```
/// use dragline_domain::use_preferences::TdmAnswer;
/// use dragline_formats::use_preferences::read_tdm_file;
/// let body = br#"[{"location": "/essays/*", "tdm-reservation": 1}]"#;
/// assert!(matches!(read_tdm_file(body), TdmAnswer::Rules(rules) if rules[0].location == "/essays/*"));
/// assert_eq!(read_tdm_file(b"<!doctype html><title>Home</title>"), TdmAnswer::Missing);
/// ```
#[must_use]
pub fn read_tdm_file(body: &[u8]) -> TdmAnswer {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii();
    if !body.starts_with(b"[") && !body.starts_with(b"{") {
        return TdmAnswer::Missing;
    }
    if body.len() > TDM_FILE_BYTES_MAX {
        return unreadable(&format!("it is larger than {TDM_FILE_BYTES_MAX} bytes"));
    }
    let entries: Result<Vec<Entry>, _> = match body {
        [b'[', ..] => serde_json::from_slice(body),
        // What some write: a single rule.
        _ => serde_json::from_slice(body).map(|entry| vec![entry]),
    };
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return unreadable(&format!("it is not a list of rules: {error}")),
    };
    let rules: Vec<TdmRule> = entries.into_iter().filter_map(Entry::into_rule).collect();
    let bytes: usize = rules.iter().map(|rule| rule.location.len()).sum();
    if rules.len() > RULES_MAX || bytes > LOCATIONS_BYTES_MAX {
        return unreadable(&format!("it has more than {RULES_MAX} rules, or {LOCATIONS_BYTES_MAX} bytes of locations"));
    }
    TdmAnswer::Rules(rules)
}

/// Returns the answer for a file that may be there and cannot be read.
fn unreadable(why: &str) -> TdmAnswer {
    TdmAnswer::Unreadable(one_line(why, REASON_CHARS_MAX))
}

#[derive(Deserialize)]
struct Entry {
    location: String,
    #[serde(rename = "tdm-reservation")]
    reservation: Value,
}

impl Entry {
    /// Returns the rule; `None` if it says nothing, by a value that has no meaning. The report
    /// wants a number; some write a text or a boolean.
    fn into_rule(self) -> Option<TdmRule> {
        let stand = match self.reservation {
            Value::Number(number) => tdm_reservation(&number.to_string()),
            Value::String(text) => tdm_reservation(&text),
            Value::Bool(true) => Some(UseStand::Reserved),
            Value::Bool(false) => Some(UseStand::Allowed),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        let location = self.location.trim();
        let location = if location.is_empty() { "/" } else { location };
        Some(TdmRule { location: location.to_owned(), stand: stand? })
    }
}

/// Returns what the file says of a URL, by its path and query; `None` if it says nothing.
///
/// The longest location that matches decides, as in robots.txt; of equally long ones, one that
/// reserves. If the file could not be read, mining is reserved: a failure is no permission.
#[must_use]
pub fn tdm_statement(answer: &TdmAnswer, path_and_query: &str) -> Option<UseStatement> {
    let (text, stand) = match answer {
        TdmAnswer::Missing => return None,
        TdmAnswer::Unreadable(why) => (format!("cannot be read ({why}): reserved"), UseStand::Reserved),
        TdmAnswer::Rules(rules) => {
            let matching = rules.iter().filter(|rule| matches_pattern(&rule.location, path_and_query));
            let rule = matching.max_by_key(|rule| (rule.location.len(), rule.stand))?;
            let value = if rule.stand == UseStand::Reserved { 1 } else { 0 };
            (format!("location {}, {TDM_RESERVATION} {value}", rule.location), rule.stand)
        }
    };
    Some(UseStatement::new(UseSource::WellKnown, &text, UseStands::of_mining(stand)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_says_what_is_reserved() {
        const FILE: &[u8] = br#"[
            {"location": "/", "tdm-reservation": 1, "tdm-policy": "https://a.example/policy"},
            {"location": "/open/*", "tdm-reservation": 0},
            {"location": "/open/*.pdf$", "tdm-reservation": "1"},
            {"location": "/odd", "tdm-reservation": 7}
        ]"#;
        let answer = read_tdm_file(FILE);
        for (path, expected, why) in [
            ("/", Some(UseStand::Reserved), "all is reserved"),
            ("/essay?x", Some(UseStand::Reserved), "all of it"),
            ("/open/a", Some(UseStand::Allowed), "but for this"),
            ("/open/a.pdf", Some(UseStand::Reserved), "by the longest location"),
            ("/odd", Some(UseStand::Reserved), "a value that means nothing says nothing"),
        ] {
            let said = tdm_statement(&answer, path);
            assert_eq!(said.and_then(|said| said.says.ai_train), expected, "{path}: {why}");
        }
        let none = read_tdm_file(br#"[{"location": "/a/", "tdm-reservation": 1}]"#);
        assert_eq!(tdm_statement(&none, "/b"), None, "nothing is said of the rest");
        let said = tdm_statement(&none, "/a/b").unwrap();
        assert_eq!(said.to_string(), "/.well-known/tdmrep.json: location /a/, tdm-reservation 1");
        assert_eq!((said.says.search, said.says.archive), (None, None), "an index is not mining");
        let both = br#"[{"location": "/a", "tdm-reservation": 0}, {"location": "/a", "tdm-reservation": 1}]"#;
        let said = tdm_statement(&read_tdm_file(both), "/a").unwrap();
        assert_eq!(said.says.ai_train, Some(UseStand::Reserved), "the more restrictive of two");
    }

    #[test]
    fn what_cannot_be_read_reserves() {
        let many = format!("[{}]", vec![r#"{"location": "/a", "tdm-reservation": 0}"#; RULES_MAX + 1].join(","));
        let long = format!(r#"[{{"location": "/{}", "tdm-reservation": 0}}]"#, "a".repeat(LOCATIONS_BYTES_MAX));
        let huge = format!("[{}]", " ".repeat(TDM_FILE_BYTES_MAX));
        let deep = "[".repeat(60_000);
        for (body, expected, why) in [
            ("", "missing", "nothing"),
            ("<html>", "missing", "a page in the place of a missing file"),
            ("Not found", "missing", "a text"),
            ("[]", "read", "an empty list says nothing"),
            (r#"{"location": "/", "tdm-reservation": 1}"#, "read", "a rule outside a list"),
            ("\u{feff}[]", "read", "with a mark"),
            ("{}", "unreadable", "JSON of another kind"),
            ("[1]", "unreadable", "a list of something else"),
            (r#"[{"location": "/", "tdm-reservation": 1}"#, "unreadable", "it broke off"),
            (many.as_str(), "unreadable", "too many rules"),
            (long.as_str(), "unreadable", "too long"),
            (huge.as_str(), "unreadable", "too large"),
            (deep.as_str(), "unreadable", "too deep"),
        ] {
            let answer = read_tdm_file(body.as_bytes());
            let found = match answer {
                TdmAnswer::Missing => "missing",
                TdmAnswer::Rules(_) => "read",
                TdmAnswer::Unreadable(_) => "unreadable",
            };
            assert_eq!(found, expected, "{why}");
            if let Some(said) = tdm_statement(&answer, "/anything").filter(|_| expected == "unreadable") {
                assert_eq!(said.says, UseStands::of_mining(UseStand::Reserved), "{why}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_file_is_read(body in prop::collection::vec(any::<u8>(), 0..200), path in "/[a-z*$%]{0,12}") {
            let _ = tdm_statement(&read_tdm_file(&[b"[", body.as_slice()].concat()), &path);
        }
    }
}
