//! Reads text into values by their shape, and reports values with another shape.

use std::borrow::Cow;

use dragline_domain::definition::Key;
use dragline_domain::shown::without_credentials;
use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error, Location as YamlLocation, Options};

use super::error::{Diagnostic, Diagnostics, Location};
use super::known;
use super::mask::{self, BlankExtent};

/// The limit on the nesting of the YAML: conditions of the maximum depth, two levels each, and the
/// rules around them.
const DEPTH_MAX: usize = 48;
/// The limit on values: enough for every list at its limit.
const NODES_MAX: usize = 150_000;

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, (Location, Diagnostic)> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| explain(&error))
}

/// The limit on readings of a file, and so on the mistakes in its shape that are reported at once.
const READINGS_MAX: usize = 20;

/// Reads everything that has the right shape. The rest is left out and reported.
///
/// # Errors
/// Lists the mistakes, if nothing can be read despite them.
pub(super) fn parse_around<T: DeserializeOwned>(text: &str) -> Result<(T, Diagnostics), Diagnostics> {
    let mut found = Diagnostics::new();
    let mut masked = Cow::Borrowed(text);
    loop {
        let error = match serde_saphyr::from_str_with_options(&masked, options()) {
            Ok(read) => return Ok((read, found)),
            Err(error) => error,
        };
        let (location, diagnostic) = explain(&error);
        let wrong = wrong(&error);
        // Other errors may only follow from what was left out; so may a second mistake at the same
        // location.
        if found.is_empty() || (wrong.is_some() && found.iter().all(|(other, _)| *other != location)) {
            found.push((location, diagnostic));
        } else {
            return Err(found);
        }
        let without =
            wrong.filter(|_| found.len() < READINGS_MAX).and_then(|wrong| mask::blank_out(&masked, location, wrong));
        match without {
            Some(without) => masked = Cow::Owned(without),
            None => return Err(found),
        }
    }
}

/// Returns what to leave out so that the rest can be read; `None` if that is unknown.
fn wrong(error: &Error) -> Option<BlankExtent> {
    match error {
        Error::SerdeUnknownField { .. } | Error::DuplicateMappingKey { .. } => Some(BlankExtent::Key),
        Error::InvalidScalar { .. }
        | Error::Unexpected { .. }
        | Error::SerdeInvalidType { .. }
        | Error::SerdeInvalidValue { .. } => Some(BlankExtent::Value),
        // A word that is the value of a key.
        Error::SerdeUnknownVariant { expected, .. }
            if ["origin", "always", "money"].iter().any(|word| expected.contains(word)) =>
        {
            Some(BlankExtent::Value)
        }
        // In a list entry, which is not valid without it.
        Error::SerdeUnknownVariant { .. }
        | Error::SerdeMissingField { .. }
        | Error::ExpectedMappingEndAfterEnumVariantValue { .. }
        | Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. }
        | Error::UnexpectedValueForUnitEnumVariant { .. }
        | Error::NullIntoString { .. }
        | Error::Message { .. } => Some(BlankExtent::Within),
        _ => None,
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_events: 4 * NODES_MAX,
            // One more than needed, so that a second one gets its own diagnostic.
            max_documents: 2,
            max_aliases: 100,
            max_anchors: 100,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: NODES_MAX,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// Translates an error of the library into the terms of a definition.
fn explain(error: &Error) -> (Location, Diagnostic) {
    // The value of an alias is wrong: the location is that of the alias, as the anchor may be right
    // for others.
    if let Error::AliasError { error: inner, .. } = error {
        let location = error.location().map_or(Location::START, Location::from);
        return (location, explain(inner).1);
    }
    let known = error.location().filter(|location| *location != YamlLocation::UNKNOWN);
    (known.map_or(Location::START, Location::from), diagnostic(error))
}

fn diagnostic(error: &Error) -> Diagnostic {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            // It may be a seed that was read as a key.
            Diagnostic::new(format!("unknown key `{}`", without_credentials(field)))
                .hint(known::find_in_other_sections(field).map_or_else(|| suggest(field, expected), at_its_place))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } if expected.contains(&"prefix") => {
            Diagnostic::new(format!("`{variant}` is not a valid test"))
                .hint(format!("write one such as `{{ prefix: /a }}`; the tests are {}", expected.join(", ")))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            Diagnostic::new(format!("unknown word `{variant}`")).hint(suggest(variant, expected))
        }
        Error::SerdeMissingField { field, .. } => {
            Diagnostic::new(format!("the key `{field}` is missing")).hint(format!("add `{field}:` with its value"))
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("?");
            Diagnostic::new(format!("the key `{key}` appears twice")).hint("merge them, or remove one")
        }
        Error::InvalidScalar { ty, .. } if ty.starts_with(['u', 'i']) => {
            Diagnostic::new("not a whole number, or too large").hint("write digits only, such as `100`")
        }
        Error::InvalidScalar { ty, .. } if ty.starts_with('f') => {
            Diagnostic::new("not a number").hint("write digits with a dot, such as `100` or `0.5`")
        }
        Error::ExpectedMappingEndAfterEnumVariantValue { .. } => {
            Diagnostic::new("a condition has one key").hint("put several conditions into a list under `all` or `any`")
        }
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } | Error::UnexpectedValueForUnitEnumVariant { .. } => {
            Diagnostic::new("expected a word, or one key with its value")
        }
        Error::Unexpected { expected, .. } => {
            let expected = in_words(expected);
            let diagnostic = Diagnostic::new(format!("expected {expected}"));
            match how_to_write(expected) {
                Some(hint) => diagnostic.hint(hint),
                None => diagnostic,
            }
        }
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            Diagnostic::new(format!("found {unexpected} where {} was expected", in_words(expected)))
        }
        Error::NullIntoString { .. } => Diagnostic::new("a value is missing here"),
        Error::MultipleDocuments { .. } => {
            Diagnostic::new("a second document begins here").hint("write each crawl into a file of its own")
        }
        Error::MergeKeyNotAllowed { .. } => Diagnostic::new("`<<` is not supported").hint("write the keys out"),
        Error::UnsupportedTag { tag, .. } => {
            Diagnostic::new(format!("the tag `{tag}` is not supported")).hint("quote texts that begin with `!`")
        }
        Error::UnknownAnchor { .. } => Diagnostic::new("unknown anchor").hint("quote texts that begin with `*`"),
        Error::Budget { .. } | Error::AliasReplayLimitExceeded { .. } => {
            Diagnostic::new("the file is too large, or nested too deep")
                .hint("see docs/reference/definition.md for the limits")
        }
        // Patterns in conditions are the only texts that are parsed together with the shape.
        Error::Message { msg, .. } => {
            Diagnostic::new(msg.clone()).hint("docs/reference/definition.md says how patterns are written")
        }
        Error::ExternalMessage { msg, .. } => Diagnostic::new(format!("not YAML: {msg}"))
            .hint("check the indentation, and quote texts with `:` `#` `*` or `[`"),
        other => Diagnostic::new(format!("not YAML that can be read: {other}")),
    }
}

/// Translates the library's terms of YAML and Rust into those of users, who know lists and keys.
fn in_words(expected: &str) -> &str {
    match expected {
        "sequence start" | "a sequence" => "a list",
        "mapping start" | "a map" => "keys with values",
        "scalar" | "string scalar" | "string" | "a string" => "a text",
        expected if expected.starts_with("struct ") => "keys with values",
        expected => expected,
    }
}

fn how_to_write(expected: &str) -> Option<&'static str> {
    match expected {
        "a list" => Some("write `[a, b]`, or each entry on a line of its own after `- `"),
        "keys with values" => Some("write a line `key: value` for each, indented below"),
        "a text" => Some("write one value, in quotes if it begins with `[` or `{`"),
        _ => None,
    }
}

fn at_its_place(key: Key) -> String {
    format!("did you mean `{key}`? Check the indentation")
}

/// Suggests the word that was probably meant, or else lists all known ones.
fn suggest(word: &str, known: &[&'static str]) -> String {
    let near = known
        .iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3).min(3))
        .min_by_key(|(distance, _)| *distance);
    match near {
        Some((_, candidate)) => format!("did you mean `{candidate}`?"),
        None => format!("known here: {}", known.join(", ")),
    }
}
